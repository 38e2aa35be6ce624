"""`levers`: the catalogue, and for a study which of them fit and what to expect of them."""

from __future__ import annotations

from typing import Any

import click

from engine.catalogue import Entry, catalogue
from engine.cli.door import door, say_json, say_table
from engine.environment import describe


@click.command("levers")
@click.option(
    "--for", "study_ref", metavar="STUDY", help="Say which fit the model of this study, what to expect, and why."
)
@click.option("--group", metavar="FAMILY", help="Only one family: quantisation, pruning, distillation or export.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON with every parameter.")
def command(study_ref: str | None, group: str | None, as_json: bool) -> None:
    """List what can be done to a model."""
    manifest = None
    if study_ref:
        with door() as opened:
            manifest = opened.ledger.model(opened.ledger.study(study_ref).model_id)
    entries = sorted(catalogue(manifest, describe()), key=lambda one: one.name)
    rows = [{**_row(one), **(_for(one) if study_ref else {})} for one in entries if group in (None, one.group)]
    if as_json:
        say_json(rows)
        return
    columns = ("lever", "title", "takes", "gives", *(("expect", "fits") if study_ref else ()))
    say_table([{column: row[column] for column in columns} for row in rows], "no levers")


def _row(entry: Entry) -> dict[str, Any]:
    cls = entry.lever
    properties = cls.model_json_schema().get("properties", {})
    return {
        "lever": entry.name,
        "title": cls.title,
        "summary": (cls.__doc__ or "").strip().splitlines()[0],
        "takes": " or ".join(sorted(cls.accepts)),
        "gives": cls.produces or "the same",
        "params": {
            key: {
                what: spec.get(what)
                for what in ("type", "enum", "default", "minimum", "maximum", "description")
                if what in spec
            }
            for key, spec in properties.items()
        },
        "group": entry.group,
        "what": entry.story.what,
        "more": entry.story.more,
        "helps": entry.story.helps,
        "hurts": entry.story.hurts,
        "source": entry.story.source,
    }


def _for(entry: Entry) -> dict[str, Any]:
    """About one model on this machine."""
    return {
        "fits": "yes" if entry.reason is None else f"no: {entry.reason}",
        "after": entry.bridge,
        "expect": entry.prediction.word if entry.prediction else None,
        "expect_reason": entry.prediction.reason if entry.prediction else None,
    }

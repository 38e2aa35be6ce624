"""`experiments`: what was run, newest first."""

from __future__ import annotations

import click

from engine.cli.door import door, say_json, say_table


@click.command("experiments")
@click.option("--study", "study_ref", metavar="STUDY", help="Only those of this study.")
@click.option("--json", "as_json", is_flag=True, help="Print the full records as JSON.")
def command(study_ref: str | None, as_json: bool) -> None:
    """List experiments with their state."""
    from engine.reports.compare import recipe_text

    with door() as opened:
        study_id = opened.ledger.study(study_ref).id if study_ref else None
        if as_json:
            whole = opened.ledger.experiments(study_id=study_id, newest_first=True)
            say_json([experiment.model_dump(mode="json") for experiment in whole])
            return
        found = reversed(opened.ledger.summaries(study_id))
    rows = [
        {
            "experiment": experiment.id,
            "status": experiment.status,
            "recipe": recipe_text(experiment.spec.recipe),
            "runtime": experiment.spec.runtime.name,
            "created": experiment.created_at.strftime("%Y-%m-%d %H:%M"),
            "by": experiment.created_by,
            "reason": experiment.error.message if experiment.error else "",
        }
        for experiment in found
    ]
    say_table(rows, "nothing was run yet")

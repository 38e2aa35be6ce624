"""`plan pack`: which models fit on one machine, and how few machines hold them all."""

from __future__ import annotations

from pathlib import Path

import click

from engine.cli.door import say_json, say_table
from engine.cli.plan.pairs import numbers, read_text
from engine.errors import InvalidRequest
from engine.records.checked import checked
from engine.records.packing import CoRun, Item, Node
from engine.reports.plan_pack import answer, notes, rows


@click.command("pack")
@click.option(
    "--items",
    "path",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="CSV: name, memory_mb, compute_milli, and priority, noisy, dedicated, latency_sensitive.",
)
@click.option("--item", "given", multiple=True, metavar="NAME:MB:MILLI", help="A model; milli: thousandths of a core.")
@click.option("--node", "size", required=True, metavar="MB:MILLI")
@click.option("--memory-fraction", type=float, default=0.9, show_default=True, help="Of memory, to plan with.")
@click.option("--runtime-mb", type=int, default=0, show_default=True, help="Taken on every node.")
@click.option("--busy-limit", type=float, default=0.7, show_default=True, help="Beside a latency-sensitive model.")
@click.option("--apart", multiple=True, metavar="NAME:NAME", help="Two that must not share a node.")
@click.option(
    "--co-run", multiple=True, metavar="NAME:NAME:SOLO:TOGETHER", help="Measured p99 in ms; beyond 1.2 times: apart."
)
@click.option("--max-nodes", type=click.IntRange(1), help="Only so many: low priority may be left out.")
@click.option("--seconds", type=click.FloatRange(0, 600), default=5.0, show_default=True, help="Of the exact search.")
@click.option("--price", type=float, default=0.0, show_default=True, help="Of a node, per hour.")
@click.option("--currency", default="USD", show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    path: Path | None,
    given: tuple[str, ...],
    size: str,
    memory_fraction: float,
    runtime_mb: int,
    busy_limit: float,
    apart: tuple[str, ...],
    co_run: tuple[str, ...],
    max_nodes: int | None,
    seconds: float,
    price: float,
    currency: str,
    as_json: bool,
) -> None:
    """Pack models by memory and compute."""
    from engine.planning.item_file import read_items
    from engine.planning.packing import pack

    memory_mb, compute_milli = numbers("--node", size, 2)
    node = checked(
        Node,
        memory_mb=memory_mb,
        compute_milli=compute_milli,
        memory_fraction=memory_fraction,
        runtime_mb=runtime_mb,
        busy_limit=busy_limit,
        price_per_hour=price,
    )
    items = [*(read_items(read_text(path)) if path else ()), *(_item(text) for text in given)]
    pairs = [_names("--apart", text, 2) for text in apart]
    plan = pack(
        items,
        node,
        apart=[(pair[0], pair[1]) for pair in pairs],
        co_runs=[_co_run(text) for text in co_run],
        most_nodes=max_nodes,
        seconds=seconds,
    )
    if as_json:
        say_json({"answer": answer(plan, currency), "currency": currency, **plan.model_dump(mode="json")})
        return
    click.echo(answer(plan, currency) + "\n")
    say_table(rows(plan), "no node")
    click.echo("\n".join(["", *notes(plan)]))


def _names(option: str, text: str, count: int) -> list[str]:
    parts = text.split(":")
    if len(parts) != count:
        raise InvalidRequest(f"{option} {text[:80]!r} cannot be read: write {count} parts with : between them")
    return parts


def _item(text: str) -> Item:
    name, memory_mb, compute_milli = _names("--item", text, 3)
    item: Item = checked(Item, name=name, memory_mb=memory_mb, compute_milli=compute_milli)
    return item


def _co_run(text: str) -> CoRun:
    first, second, solo, together = _names("--co-run", text, 4)
    found: CoRun = checked(CoRun, first=first, second=second, solo_p99_ms=solo, together_p99_ms=together)
    return found

"""`plan cache`: what a cache before the model saves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from engine.cli.door import say_json, say_table
from engine.cli.plan.pairs import read_text
from engine.errors import InvalidRequest
from engine.records.caching import CacheSettings
from engine.records.checked import checked
from engine.reports.plan_cache import answer, notes, rows


@click.command("cache")
@click.option(
    "--keys",
    "log",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A log of keys in the order they were asked for, one a line.",
)
@click.option("--n-keys", type=int, help="Instead: so many keys with Zipf popularity.")
@click.option("--zipf", "exponent", type=float, default=1.0, show_default=True, help="Its exponent; 0 is uniform.")
@click.option("--capacity", type=int, required=True, help="Answers that the cache holds.")
@click.option("--rate", "rate_per_s", type=float, required=True, help="Requests/s.")
@click.option("--ttl-s", type=float, help="Age after which an answer is not used any more.")
@click.option("--hit-ms", type=float, default=1.0, show_default=True)
@click.option("--lookup-ms", type=float, default=1.0, show_default=True, help="Spent before a miss is known.")
@click.option("--model-ms", type=float, required=True)
@click.option("--replica-per-s", type=float, help="Requests/s of one replica: says how many and what they cost.")
@click.option("--price", "price_per_hour", type=float, default=0.0, show_default=True, help="Of a replica, per hour.")
@click.option("--cache-price", "cache_price_per_hour", type=float, default=0.0, show_default=True)
@click.option("--headroom", type=float, default=0.3, show_default=True)
@click.option("--min-replicas", type=int, default=1, show_default=True)
@click.option("--currency", default="USD", show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    log: Path | None, n_keys: int | None, exponent: float, currency: str, as_json: bool, **settings: Any
) -> None:
    """Replay a log of keys, or take Zipf popularity, and plan with warm and empty cache."""
    from engine.planning.caching import plan_from_log, plan_from_zipf

    known = checked(CacheSettings, **settings)
    if (log is None) == (n_keys is None):
        raise InvalidRequest("which keys? Give --keys with a file, or --n-keys and --zipf")
    if log is not None:
        plan = plan_from_log([line for line in read_text(log).splitlines() if line.strip()], known)
    else:
        plan = plan_from_zipf(n_keys or 0, exponent, known)
    if as_json:
        say_json({"answer": answer(plan, currency), "currency": currency, **plan.model_dump(mode="json")})
        return
    click.echo(answer(plan, currency) + "\n")
    say_table(rows(plan), "a cache that holds nothing")
    click.echo("\n".join(["", *notes(plan)]))

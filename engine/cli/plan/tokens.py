"""`plan tokens`: serving a language model: memory, batching, cost; or reading another tool's benchmark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from engine.cli.door import say_json, say_table
from engine.cli.plan.pairs import numbers, read_text
from engine.errors import InvalidRequest
from engine.records.checked import checked
from engine.records.tokens import ModelShape, TokenMemory, TokenSettings
from engine.reports.plan_tokens import answer, benchmark_rows, memory_sentence, notes, rows

STEP = ("fixed_ms", "per_sequence_ms", "per_prompt_token_ms", "cap", "slo_ttft_ms", "slo_tpot_ms", "price_per_hour")
SHAPE = ("layers", "kv_heads", "head_dim", "weight_gb", "memory_gb")


@click.command("tokens")
@click.option(
    "--benchmark",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Instead of a plan: show the JSON that vllm bench, GuideLLM or AIPerf saved, under one set of names.",
)
@click.option("--fixed-ms", type=float, help="Of a step.")
@click.option("--per-sequence-ms", type=float, default=0.0, show_default=True, help="More for every sequence decoded.")
@click.option(
    "--per-prompt-token-ms", type=float, default=0.0, show_default=True, help="More for every token prefilled."
)
@click.option("--cap", type=int, default=32, show_default=True, help="Most sequences at a time.")
@click.option("--kv-tokens", type=int, help="Tokens the KV memory holds; or from the shape.")
@click.option("--rate", type=float, help="Requests/s.")
@click.option("--requests", "n_requests", type=int, default=2000, show_default=True, help="To simulate.")
@click.option("--prompt", default="50:400", show_default=True, metavar="LEAST:MOST", help="Prompt tokens, uniform.")
@click.option("--output-mean", type=float, default=128.0, show_default=True, help="Output tokens, geometric.")
@click.option("--output-most", type=int, default=1024, show_default=True)
@click.option("--slo-ttft-ms", type=float, default=2000.0, show_default=True)
@click.option("--slo-tpot-ms", type=float, default=200.0, show_default=True)
@click.option("--layers", type=int, help="Shape of the model: with the next four, its KV memory.")
@click.option("--kv-heads", type=int)
@click.option("--head-dim", type=int)
@click.option("--weight-gb", type=float)
@click.option("--memory-gb", type=float, help="Of the device.")
@click.option("--bytes-per-value", type=float, default=2.0, show_default=True)
@click.option("--bandwidth-gb-s", type=float, help="Of the device's memory.")
@click.option("--price", "price_per_hour", type=float, default=0.0, show_default=True, help="Of the engine, per hour.")
@click.option("--currency", default="USD", show_default=True)
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(benchmark: Path | None, currency: str, as_json: bool, **given: Any) -> None:
    """Simulate continuous against static batching, with memory and cost."""
    if benchmark is not None:
        _show(benchmark, as_json)
        return
    from engine.planning.tokens import made_up, plan_tokens

    fits = _memory(given)
    if given["rate"] is None or given["fixed_ms"] is None:
        if fits is None:
            raise InvalidRequest("what to plan? Give --rate and --fixed-ms, or the shape of a model, or --benchmark")
        say_json(fits.model_dump(mode="json")) if as_json else click.echo(memory_sentence(fits))
        return
    kv_tokens = given["kv_tokens"] or (fits.kv_tokens if fits else None)
    settings = checked(TokenSettings, kv_tokens=kv_tokens, **{name: given[name] for name in STEP})
    low, high = numbers("--prompt", given["prompt"], 2)
    asked = made_up(
        given["rate"],
        given["n_requests"],
        (int(low), int(high)),
        given["output_mean"],
        given["output_most"],
        given["seed"],
    )
    plan = plan_tokens(asked, settings)
    if as_json:
        more = {"memory": fits.model_dump(mode="json") if fits else None, "notes": notes(plan)}
        say_json({"answer": answer(plan, currency), "currency": currency, **plan.model_dump(mode="json"), **more})
        return
    click.echo(answer(plan, currency) + "\n")
    say_table(rows(plan, currency), "no run")
    click.echo("\n".join(["", *([memory_sentence(fits)] if fits else []), *notes(plan)]))


def _memory(given: dict[str, Any]) -> TokenMemory | None:
    from engine.planning.tokens import memory

    missing = [name for name in SHAPE if given[name] is None]
    if len(missing) == len(SHAPE):
        return None
    if missing:
        raise InvalidRequest(f"the shape of a model also needs --{', --'.join(missing).replace('_', '-')}")
    names = (*SHAPE, "bytes_per_value", "bandwidth_gb_s")
    return memory(checked(ModelShape, **{name: given[name] for name in names}))


def _show(path: Path, as_json: bool) -> None:
    from engine.planning.token_benchmark import read_benchmark

    found = read_benchmark(read_text(path))
    if as_json:
        say_json([one.model_dump(mode="json") for one in found])
        return
    say_table(benchmark_rows(found), "no run")
    click.echo("\n".join(sorted({line for one in found for line in one.renamed})))

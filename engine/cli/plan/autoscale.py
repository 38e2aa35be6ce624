"""`plan autoscale`: a fleet that scales beside one that does not, on one trace, and the YAML of its rules."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import click

from engine.cli.door import say_json, say_table
from engine.cli.plan.pairs import number_pairs, read_text
from engine.records.autoscaling import FleetSettings, Hpa, Keda, Knative, RayServe, Rules, Signal
from engine.records.checked import checked
from engine.reports.autoscale_yaml import manifest
from engine.reports.plan_autoscale import answer, notes, rows


@click.command("autoscale")
@click.option(
    "--trace",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="When requests came: seconds, one a line.",
)
@click.option("--rate", "rates", multiple=True, metavar="REQUESTS/S:SECONDS", help="Instead: made-up traffic in steps.")
@click.option("--service-ms", type=float, required=True, help="Mean time of one request on a replica.")
@click.option("--service-cv", type=float, default=0.5, show_default=True, help="Its coefficient of variation.")
@click.option("--scaler", type=click.Choice(["hpa", "keda", "knative", "ray-serve"]), default="hpa", show_default=True)
@click.option(
    "--signal", type=click.Choice(get_args(Signal)), default="requests", show_default=True, help="Of HPA and KEDA."
)
@click.option("--target", type=float, required=True, help="Per replica: busy share, requests/s, or in flight.")
@click.option("--min", "min_replicas", type=int, default=2, show_default=True)
@click.option("--max", "max_replicas", type=int, default=100, show_default=True)
@click.option("--initial", "initial_replicas", type=int, help="Ready when the trace begins; else the minimum.")
@click.option("--concurrency", type=int, default=1, show_default=True, help="Requests of a replica side by side.")
@click.option("--startup-s", type=float, multiple=True, default=(60.0,), show_default=True, help="Several: drawn from.")
@click.option("--load-s", type=float, default=0.0, show_default=True, help="Loading the model.")
@click.option("--first-call-s", type=float, default=0.0, show_default=True, help="Of a replica without warm-up.")
@click.option("--timeout-s", type=float, help="After which a waiting client gives up.")
@click.option("--max-waiting", type=int, help="Who comes to a longer queue is turned away.")
@click.option("--slo-ms", type=float, default=200.0, show_default=True)
@click.option("--sync-s", type=float, default=15.0, show_default=True, help="How often the HPA looks.")
@click.option("--down-window-s", type=float, default=300.0, show_default=True, help="Stabilisation when shrinking.")
@click.option("--tolerance", type=float, default=0.1, show_default=True)
@click.option("--polling-s", type=float, default=30.0, show_default=True, help="KEDA; 0: every request is seen.")
@click.option("--cooldown-s", type=float, default=300.0, show_default=True, help="KEDA; quiet time before zero.")
@click.option("--static", "n_static", type=click.IntRange(1), help="Replicas of the static fleet; else sized by peak.")
@click.option("--others", is_flag=True, help="Also try three other targets.")
@click.option("--price", type=float, default=0.0, show_default=True, help="Of a replica, per hour.")
@click.option("--currency", default="USD", show_default=True)
@click.option("--deployment", default="model", show_default=True, help="Name in the YAML.")
@click.option("--yaml", "as_yaml", is_flag=True, help="Print only the YAML.")
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    trace: Path | None,
    rates: tuple[str, ...],
    service_ms: float,
    service_cv: float,
    currency: str,
    deployment: str,
    n_static: int | None,
    others: bool,
    seed: int,
    as_yaml: bool,
    as_json: bool,
    **given: Any,
) -> None:
    """Simulate HPA, KEDA, Knative or Ray Serve on a trace, beside a static fleet."""
    from engine.planning.autoscale import at_target, plan_autoscale
    from engine.simulation.arrivals import lognormal_service, read_times, steps

    fleet = checked(FleetSettings, **{name: given[name] for name in FLEET}, price_per_hour=given["price"])
    rules = _rules(given)
    if as_yaml:
        click.echo(manifest(fleet, rules, deployment), nl=False)
        return
    arrivals = steps(number_pairs("--rate", rates), seed) if trace is None else read_times(read_text(trace))
    services = lognormal_service(service_ms / 1000, service_cv, len(arrivals), seed + 1)
    plan = plan_autoscale(arrivals, services, fleet, rules, n_static=n_static, others=others, seed=seed)
    text = manifest(fleet, rules if plan.best is None else at_target(rules, plan.best[0]), deployment)
    if as_json:
        kept = "static" if plan.best is None else {"target": plan.best[0]}
        head = {"answer": answer(plan, currency), "recommended": kept, "currency": currency}
        say_json({**head, **plan.model_dump(mode="json"), "yaml": text})
        return
    click.echo(answer(plan, currency) + "\n")
    say_table(rows(plan, currency), "no fleet")
    about = "# the rules as simulated; fixed replicas are recommended" if plan.best is None else "# recommended"
    click.echo("\n".join(["", *notes(plan), "", about, text]), nl=False)


FLEET = (
    "min_replicas", "max_replicas", "initial_replicas", "concurrency", "startup_s", "load_s", "first_call_s",
    "timeout_s", "max_waiting", "slo_ms",
)  # fmt: skip


def _rules(given: dict[str, Any]) -> Rules:
    if given["scaler"] in ("knative", "ray-serve"):  # by requests in flight, whatever --signal says
        cls: type[Knative | RayServe] = Knative if given["scaler"] == "knative" else RayServe
        return checked(cls, target=given["target"])
    hpa = checked(Hpa, **{name: given[name] for name in ("signal", "target", "sync_s", "down_window_s", "tolerance")})
    if given["scaler"] == "hpa":
        return hpa
    return checked(Keda, hpa=hpa, polling_s=given["polling_s"], cooldown_s=given["cooldown_s"])

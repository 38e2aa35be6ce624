"""`plan cost`: how many machines of each type, what they cost, and from which peak on another type pays off."""

from __future__ import annotations

from pathlib import Path

import click

from engine.cli.door import say_json, say_table
from engine.errors import BadData, InvalidRequest
from engine.records import Interval
from engine.records.checked import checked
from engine.records.planning import Demand, Machine, Reserve
from engine.reports.plan_cost import answer, day_rows, figures, formulas, rows, saving_sentence, slo_sentences


@click.command("cost")
@click.option("--peak", type=float, help="Requests/s at the busiest time; the highest of --day where that is given.")
@click.option("--average", type=float, help="Requests/s of an average moment; else the mean of the day, else the peak.")
@click.option("--headroom", type=float, default=0.3, show_default=True, help="Share of the peak added to it.")
@click.option("--min-replicas", type=int, default=2, show_default=True)
@click.option("--spare", is_flag=True, help="N+1: the peak fits even after one replica is lost.")
@click.option(
    "--machine",
    "machines",
    multiple=True,
    metavar="NAME:REQUESTS/S:PRICE/H[:LOW:HIGH]",
    help="A type of machine; LOW and HIGH bound its requests/s. Several times.",
)
@click.option("--baseline", metavar="NAME", help="Say what every other machine saves a month against this one.")
@click.option("--p99-ms", type=click.FloatRange(0, min_open=True), help="Say how many replicas keep this p99.")
@click.option("--currency", default="USD", show_default=True)
@click.option(
    "--day",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Requests/s by equal parts of a day: a number a line, or CSV with the column requests_per_s.",
)
@click.option(
    "--day-low", type=click.FloatRange(0, 1), help="Instead of --day: one wave down to this share of the peak."
)
@click.option("--day-peak-hour", type=click.FloatRange(0, 24), default=14.0, show_default=True)
@click.option("--arrival-variation", type=float, default=1.0, show_default=True, help="cv² of the gaps; Poisson is 1.")
@click.option("--service-variation", type=float, default=1.0, show_default=True, help="cv² of a call's time.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    peak: float | None,
    average: float | None,
    headroom: float,
    min_replicas: int,
    spare: bool,
    machines: tuple[str, ...],
    baseline: str | None,
    p99_ms: float | None,
    currency: str,
    day: Path | None,
    day_low: float | None,
    day_peak_hour: float,
    arrival_variation: float,
    service_variation: float,
    as_json: bool,
) -> None:
    """Size a fleet of every machine type for a peak, and compare what they cost."""
    from engine.planning.cost import plan_cost, savings

    parts = _day(day, day_low, day_peak_hour, peak)
    demand = checked(
        Demand,
        peak_per_s=max(parts, default=0.0) if peak is None else peak,
        average_per_s=average,
        day_per_s=parts,
        arrival_variation=arrival_variation,
    )
    reserve = checked(Reserve, headroom=headroom, min_replicas=min_replicas, spare=spare)
    types = [_machine(text, service_variation) for text in machines]
    plan = plan_cost(types, demand, reserve, currency, p99_ms)
    saved = savings(*_split(types, baseline), demand, reserve) if baseline else ()
    if as_json:
        more = [
            {"name": one.fleet.machine.name, "saved_per_month": one.saved_per_month.model_dump(mode="json")}
            for one in saved
        ]
        say_json(figures(plan) | ({"baseline": baseline, "savings": more} if baseline else {}))
        return
    click.echo(answer(plan) + "\n")
    say_table(rows(plan), "no machine")
    if plan.day:
        click.echo("")
        say_table(day_rows(plan), "no day")
    told = [f"{one.fleet.machine.name} {saving_sentence(one, currency)}" for one in saved]
    click.echo("\n".join(["", *told, *slo_sentences(plan), *formulas(plan)]))


def _day(path: Path | None, low: float | None, peak_hour: float, peak: float | None) -> tuple[float, ...]:
    from engine.planning.traffic import day_wave, read_day

    if path is not None and low is not None:
        raise InvalidRequest("give the day by --day or by --day-low, not both")
    if path is not None:
        try:
            return read_day(path.read_text(encoding="utf-8"))
        except UnicodeDecodeError:
            raise BadData(f"{path.name} is no text in UTF-8") from None
    if peak is None:
        raise InvalidRequest("how much traffic? Give --peak, or --day with a file")
    return () if low is None else day_wave(peak, low, peak_hour)


def _machine(text: str, service_variation: float) -> Machine:
    name, *numbers = text.split(":")
    try:
        rate, price, *bounds = [float(number) for number in numbers]
        low, high = bounds or (None, None)
    except ValueError:
        raise InvalidRequest(
            f"--machine {text!r} cannot be read: write name:requests_per_s:price_per_hour, as cpu:50:40, and where the "
            "throughput has an interval :low:high after it"
        ) from None
    machine: Machine = checked(
        Machine,
        name=name,
        requests_per_s=Interval(value=rate, low=low, high=high),
        price_per_hour=price,
        service_variation=service_variation,
    )
    return machine


def _split(machines: list[Machine], baseline: str) -> tuple[Machine, list[Machine]]:
    found = [machine for machine in machines if machine.name == baseline]
    if not found:
        raise InvalidRequest(f"no machine is called {baseline!r}; there are {', '.join(m.name for m in machines)}")
    return found[0], [machine for machine in machines if machine.name != baseline]

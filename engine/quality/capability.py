"""What an evaluation set can show about a band, before anything is measured (METHODS §2.3 and §2.5).

Every certificate is judged at alpha / n_certificates, so everything here is said at that alpha.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from engine.quality.metrics import ONE_LABEL
from engine.quality.power import rows_to_decide
from engine.quality.slices import CLASS_COLUMN, LABEL_COLUMN, LEAST_GROUPS, LEAST_PER_CLASS, TWO_CLASSES, least_rows
from engine.records import METRICS, Band, Census, Metric, PartRows

MANY_ROWS = 3_000
Unit = Literal["rows", "queries", "groups", "rows of the rarer class"]


@dataclass(frozen=True)
class Coverage:
    """Whether one part of the certification rows gets a verdict. needed None: no number of rows is enough."""

    column: str | None
    value: str
    n_rows: int
    unit: Unit
    n: int
    needed: int | None

    @property
    def covered(self) -> bool:
        """There is enough of what is counted."""
        return self.needed is not None and self.n >= self.needed

    @property
    def more(self) -> int | None:
        """How much of it is missing."""
        return None if self.needed is None else max(0, self.needed - self.n)


def certificate_alpha(band: Band) -> float:
    """The alpha of one certificate, so that all of a promise together keep the band's."""
    return band.alpha / band.n_certificates


def coverage(census: Census, band: Band) -> tuple[Coverage, ...]:
    """All rows first, then every slice, class and label that the band judges."""
    if band.metric is None:
        return ()
    metric, alpha = band.metric, certificate_alpha(band)
    judged = [part for part in census.slices if part.column in band.slices and part.rows.get("certification")]
    if METRICS[metric].class_wise:
        judged += [part for part in census.classes if part.column == CLASS_COLUMN and part.rows.get("certification")]
    found = [_covered(census.whole, metric, band.max_drop, alpha)]
    found += [_covered(part, metric, band.slice_max_drop, alpha) for part in judged]
    if metric in ONE_LABEL:
        alone = ONE_LABEL[metric]
        labels = [part for part in census.classes if part.column == LABEL_COLUMN]
        if not METRICS[alone].class_wise:  # it looks at the rows with and at those without the label
            every = {"n_judged": census.whole.n_judged, "n_groups": census.whole.n_groups}
            labels = [part.model_copy(update=every) for part in labels]
        found += [_covered(part, alone, band.slice_max_drop, alpha) for part in labels]
    return tuple(found)


def _covered(part: PartRows, metric: Metric, limit: float, alpha: float) -> Coverage:
    """The first of the counts that is too small, in the order in which a certificate looks at them; else the rows."""
    least = least_rows(metric, limit, alpha)
    unit: Unit = "queries" if metric == "ndcg_at_10" else "rows"
    counts: list[tuple[Unit, int, int | None]] = [(unit, part.n_judged, least)]
    if part.n_groups is not None:
        counts.append(("groups", part.n_groups, LEAST_GROUPS))
    if metric in TWO_CLASSES and part.n_rarer is not None:
        counts.append(("rows of the rarer class", part.n_rarer, LEAST_PER_CLASS))
    short = (one for one in counts if one[2] is None or one[1] < one[2])
    unit, n, needed = next(short, counts[0])
    return Coverage(part.column, part.value, part.rows.get("certification", 0), unit, n, needed)


def part_name(column: str | None, value: str) -> str:
    """'region = north', 'class churn', 'all rows'."""
    if column is None:
        return "all rows"
    kinds = {CLASS_COLUMN: "class", LABEL_COLUMN: "label"}
    return f"{kinds[column]} {value}" if column in kinds else f"{column} = {value}"


def capability(n_rows: int, band: Band) -> str:
    """What n_rows certification rows can and cannot show about the band's limit, in one or two sentences."""
    assert band.metric is not None
    delta, alpha = band.max_drop, certificate_alpha(band)
    if delta <= 0.0:
        return "With a drop limit of 0 only identical answers can be certified, whatever the number of rows"
    if delta >= 1.0:
        return "With a drop limit of 1 every variant is good enough; set a smaller one"
    least, good = least_rows(band.metric, delta, alpha), rows_to_decide(band.metric, delta, alpha)
    assert least is not None
    limit = f"a drop limit of {delta:g}"
    each = f"each of {band.n_certificates} certificates" if band.n_certificates > 1 else "the certificate"
    decide = (
        f"{good:,} decide four times out of five when 2 % of the answers change"
        if good is not None
        else "how many decide, the first variants show"
    )
    if n_rows < least:
        return (
            f"{n_rows:,} certification rows cannot certify {limit}: even without one lost row a larger loss is not "
            f"ruled out. For {each} {least:,} rows are the least, {decide}"
        )
    if good is None:
        return f"{n_rows:,} certification rows are more than the least for {limit}, {least:,}; {decide}"
    if n_rows < good:
        return (
            f"{n_rows:,} certification rows certify {limit} only for variants that change few answers. For {each} "
            f"{decide}"
        )
    return (
        f"{n_rows:,} certification rows are enough for {limit}: {decide}. A slice needs "
        f"{least_rows(band.metric, band.slice_max_drop, alpha) or 0:,} rows of its own"
    )

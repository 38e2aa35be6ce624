"""A certificate for people: one page to print, Markdown, plain text, and the JSON that `certify --check` reads."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from engine.records import METRICS, Certificate, Comparison, QualityVerdict, SliceQuality
from engine.reports import document, numbers
from engine.reports.compare import choice_text, recipe_text
from engine.reports.conformance import edges_line
from engine.reports.document import Document, Section, Table

SAYS: dict[QualityVerdict, str] = {
    "pass": "Certified",
    "exact": "Certified: exact",
    "fail": "Fail",
    "not certified": "Not certified: the rows cannot tell",
    "too few rows": "Not certified: too few rows",
    "not judged": "Not judged",
}
ORDER: tuple[QualityVerdict, ...] = ("fail", "not certified", "pass", "exact")
FLAGS_SHOWN = 12
FEW_SPEEDS = 6  # as many stand on half of the width


def to_json(certificate: Certificate) -> bytes:
    """The record itself."""
    return (certificate.model_dump_json(indent=1) + "\n").encode()


def to_html(certificate: Certificate) -> bytes:
    """One self-contained page for A4."""
    return document.to_html(as_document(certificate))


def to_markdown(certificate: Certificate) -> bytes:
    """GitHub Markdown."""
    return document.to_markdown(as_document(certificate))


def to_text(certificate: Certificate) -> bytes:
    """For a terminal."""
    return document.to_text(as_document(certificate))


def headline(certificate: Certificate) -> str:
    """What was found, in one sentence."""
    report = certificate.quality
    title = METRICS[report.metric].title if report.metric else "quality"
    limit = numbers.loss_amount(certificate.promise.band.max_drop, relative=report.relative)
    if report.verdict == "exact":
        return f"Every answer is bit for bit the original's on all {report.n_rows:,} certification rows."
    if report.verdict == "pass":
        bound = numbers.loss_amount(report.bound, relative=report.relative)
        return (
            f"The loss in {title} is at most {bound}; {limit} were allowed. Every covered slice keeps its limit, too."
        )
    return f"{report.reason[0].upper()}{report.reason[1:]}." if report.reason else SAYS[report.verdict] + "."


def as_document(certificate: Certificate) -> Document:
    """The certificate in sections, what is not covered first."""
    report = certificate.quality
    tone = "good" if certificate.holds else "bad" if report.verdict == "fail" else "open"
    number = f"Certificate {certificate.number} of {certificate.limit} on this split"
    if certificate.n_elsewhere:
        number += f"; {certificate.n_elsewhere} more were issued on the same rows in other studies"
    sections = [
        _not_covered(certificate),
        _promise(certificate),
        _agreement(certificate),
        _figures(certificate),
        *_found(certificate),
        *_more(certificate),
        _judged(certificate),
        _environment(certificate),
        _protocol(certificate),
    ]
    return Document(
        title=f"Certificate · {certificate.study_name}",
        verdict=SAYS[report.verdict],
        lines=(
            headline(certificate),
            f"{recipe_text(certificate.recipe)}, run by {choice_text(certificate.runtime)}",
            f"{number}, issued {_when(certificate.created_at)} by {certificate.created_by}. Id {certificate.id}",
        ),
        tone=tone,
        sections=tuple(sections),
    )


def _not_covered(certificate: Certificate) -> Section:
    heading, total = "Not covered", max(1, certificate.quality.n_rows)
    if not certificate.quality.slices:
        return Section(heading, ("No slices were declared; the certificate speaks of all rows together.",))
    if not certificate.not_covered:
        return Section(heading, ("Nothing: every declared slice has rows enough.",))
    rows = tuple(
        (_name(one), f"{one.n_rows:,}", numbers.percent(one.n_rows / total, 1), one.reason or "")
        for one in sorted(certificate.not_covered, key=lambda one: -one.n_rows)
    )
    return Section(
        heading,
        ("Of these slices nothing is said. They do not count as kept.",),
        Table(("Slice", "Rows", "Share", "Why"), rows),
    )


def _promise(certificate: Certificate) -> Section:
    band, relative = certificate.promise.band, certificate.quality.relative
    rows = [
        ("Metric", METRICS[band.metric].title if band.metric else "none"),
        ("Loss allowed overall", numbers.loss_amount(band.max_drop, relative=relative)),
        ("Loss allowed in a slice", numbers.loss_amount(band.slice_max_drop, relative=relative)),
        ("Slices", ", ".join(band.slices) or "none declared"),
        ("All slices required", "yes" if band.require_all_slices else "no"),
        ("Certainty", f"{1 - band.alpha:.0%} over {band.n_certificates} certificates, so "
                      f"{1 - band.alpha / band.n_certificates:.2%} for each"),
        ("Frozen", f"{_when(certificate.promise_frozen_at)}, before any variant was run"),
        ("SHA-256", certificate.promise_sha256),
    ]  # fmt: skip
    return Section("The promise", (), Table((), tuple(rows)), half=True)


def _figures(certificate: Certificate) -> Section:
    report, band = certificate.quality, certificate.promise.band
    title = METRICS[report.metric].title if report.metric else "Quality"
    whole = SliceQuality(
        column="", value="", n_rows=report.n_rows, baseline=report.baseline, candidate=report.candidate,
        drop=report.drop, bound=report.bound, verdict=report.verdict, reason=report.reason,
    )  # fmt: skip
    covered = sorted(
        (one for one in report.slices if one not in certificate.not_covered),
        key=lambda one: (ORDER.index(one.verdict) if one.verdict in ORDER else -1, -(one.bound or 0.0)),
    )
    rows = [_row("All rows", whole, certificate, band.max_drop)]
    rows += [_row(_name(one), one, certificate, band.slice_max_drop) for one in covered]
    worse = [_name(one) for one in report.slices if one.harm_p is not None and one.harm_p < band.alpha]
    note = f"Bound: {METRICS[report.metric].bound}." if report.metric else None
    said = (f"Slices that did get worse, beyond chance (Holm): {', '.join(worse)}.",) if worse else ()
    if report.n_groups is not None:
        said = (f"Rows come in {report.n_groups:,} groups; the groups are what is resampled and counted.", *said)
    header = ("", "Rows", f"{title}, original", "Variant", "Loss", "At most", "Allowed", "Verdict")
    return Section("What was found", said, Table(header, tuple(rows)), note)


def _row(name: str, one: SliceQuality, certificate: Certificate, limit: float) -> tuple[str, ...]:
    metric, relative = certificate.quality.metric, certificate.quality.relative
    return (
        name,
        f"{one.n_rows:,}",
        numbers.quality(one.baseline, metric),
        numbers.quality(one.candidate, metric),
        numbers.loss_amount(one.drop, relative=relative),
        numbers.loss_amount(one.bound, relative=relative),
        numbers.loss_amount(limit, relative=relative),
        one.verdict,
    )


def _found(certificate: Certificate) -> Iterator[Section]:
    if certificate.quality.found:
        rows = tuple(
            (
                " and ".join(f"{column} = {value}" for column, value in one.conditions.items()),
                f"{one.n_rows:,}",
                f"{one.mean_loss:.3g}",
                f"{one.mean_loss_elsewhere:.3g}",
                "yes" if one.confirmed else "no",
            )
            for one in certificate.quality.found
        )
        yield Section(
            "Slices nobody declared (exploratory)",
            ("Found on one half of the rows, looked at again on the other. They do not change the verdict.",),
            Table(("Slice", "Rows", "Extra loss per row", "Elsewhere", "Confirmed"), rows),
        )


def _agreement(certificate: Certificate) -> Section:
    found = certificate.quality.agreement
    rows = [
        ("Bit for bit identical", "yes" if found.identical else "no"),
        (
            "Label decisions changed" if found.n_labels else "Most likely class changed",
            numbers.percent(found.flip_fraction, 2),
        ),
        ("… right before, wrong now", numbers.percent(found.bad_flip_fraction, 2)),
        ("… wrong before, right now", numbers.percent(found.good_flip_fraction, 2)),
        ("Rows with a changed label", numbers.percent(found.row_flip_fraction, 2)),
        ("Largest difference of an output", _number(found.max_abs_diff)),
        ("99 % of the rows differ by at most", _number(found.p99_abs_diff)),
        ("KL divergence, mean and largest", f"{_number(found.mean_kl_nats)}, {_number(found.max_kl_nats)}"),
    ]
    shown = tuple((name, value) for name, value in rows if numbers.MISSING not in value)
    edges = edges_line(certificate.conformance)
    return Section("Agreement with the original", (edges,) if edges else (), Table((), shown), half=True)


def _more(certificate: Certificate) -> Iterator[Section]:
    report = certificate.quality
    rows = [
        (
            METRICS[one.metric].title,
            numbers.quality(one.baseline, one.metric),
            numbers.quality(one.candidate, one.metric),
        )
        for one in report.figures
    ]
    if report.calibration:
        before, after = report.calibration.equal_width
        rows.append(("calibration error (15 bins)", numbers.percent(before, 2), numbers.percent(after, 2)))
    if rows:
        yield Section("Without a verdict", (), Table(("", "Original", "Variant"), tuple(rows)), half=True)
    if certificate.comparisons:
        speeds = tuple(
            (
                f"{one.workload.batch_size:,}",
                f"{one.workload.threads}",
                _quantity(one),
                f"{numbers.times(1 / one.ratio)} ({1 / one.high:.2f} to {1 / one.low:.2f})",
                one.verdict,
            )
            for one in certificate.comparisons
        )
        header = ("Batch", "Threads", "Of the calls", "Speed-up (95 %)", "Verdict")
        yield Section("Measured speed, not certified", (), Table(header, speeds), half=len(speeds) <= FEW_SPEEDS)


def _judged(certificate: Certificate) -> Section:
    hashes = certificate.hashes
    rows = (
        ("Original model", f"{certificate.model_id}, run by {choice_text(certificate.baseline_runtime)}"),
        ("Variant", f"{certificate.artefact.id} ({certificate.artefact.format}, "
                    f"{numbers.size(certificate.artefact.size_bytes)})"),
        ("Evaluation set", certificate.eval_set_id),
        ("Certification rows", hashes.rows),
        ("Labels", hashes.labels),
        ("Original's answers", hashes.baseline_outputs),
        ("Variant's answers", hashes.candidate_outputs),
        ("Experiment", certificate.experiment_id),
    )  # fmt: skip
    return Section("What was judged (SHA-256)", certificate.notes, Table((), rows))


def _environment(certificate: Certificate) -> Section:
    found = certificate.environment
    flags = " ".join(found.get("cpu_flags", [])[:FLAGS_SHOWN]) or "none that matter"
    libraries = ", ".join(f"{name} {version}" for name, version in found.get("libraries", {}).items())
    rows = (
        ("Processor", f"{found.get('processor', 'unknown')}; measured on: {flags}"),
        ("System", f"{found.get('system', 'unknown')}, Python {found.get('python', 'unknown')}"),
        ("Libraries", libraries or "unknown"),
        ("Commit", str(found.get("git_commit") or "unknown")),
    )
    note = "Low precision may give other answers on a processor with other flags; check again there."
    return Section("Where", (), Table((), rows), note, half=True)


def _protocol(certificate: Certificate) -> Section:
    band = certificate.promise.band
    return Section(
        "How",
        (
            "Both models answered the same rows in the same order. No lever saw these rows, no comparison showed them, "
            "and none of them is among the training or calibration rows, by id, group and content as far as the data "
            "have them; exceptions are noted above.",
            f"A part passes when the one-sided {1 - band.alpha / band.n_certificates:.2%} bound of its loss is within "
            "the limit, fails when the loss itself is beyond it, and is not certified otherwise. All covered parts "
            f"have to pass. Every bootstrap has the seed {certificate.seed}; protocol {certificate.protocol}.",
            "Check it where the files are: python -m engine certify --check FILE.json. How every figure is computed: "
            "docs/measuring.md.",
        ),
        half=True,
    )


def _quantity(one: Comparison) -> str:
    text = "mean" if one.quantile is None else f"p{one.quantile * 100:g}"
    return f"{text}, processor time" if one.clock == "cpu" else text


def _name(one: SliceQuality) -> str:
    return f"{one.column} = {one.value}"


def _number(value: float | None) -> str:
    return numbers.MISSING if value is None else f"{value:.3g}"


def _when(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC"

import re
from datetime import UTC, datetime

import pytest

from engine.records import (
    Agreement,
    Band,
    Calibration,
    Certificate,
    Choice,
    FoundSlice,
    Hashes,
    Interval,
    MetricFigure,
    Promise,
    QualityReport,
    Recipe,
    SliceQuality,
    Step,
)
from engine.reports.certificate import as_document, headline, to_html, to_json, to_markdown, to_text
from engine.reports.numbers import SPACE
from tests.engine.reports.conftest import SIGNATURE, Lab

WHEN = datetime(2030, 1, 1, 12, tzinfo=UTC)
NASTY = '<script>alert("x")</script> | =cmd() `x` \x1b[31m'


def part(value, verdict="pass", drop=0.001, bound=0.004, n_rows=900, reason=None, harm_p=None):
    return SliceQuality(
        column="carrier", value=value, n_rows=n_rows, baseline=0.9, candidate=None if drop is None else 0.9 - drop,
        drop=drop, bound=bound, harm_p=harm_p, verdict=verdict, reason=reason,
    )  # fmt: skip


def certificate(verdict="pass", reason=None, slices=(), metric="accuracy", relative=False, **more):
    band = Band(metric=metric, max_drop=0.01, slice_max_drop=0.02, slices=("carrier",), relative=relative)
    values = {
        "id": "0" * 26, "experiment_id": "1" * 26, "study_id": "s", "study_name": "Flights",
        "created_at": WHEN, "created_by": "ada", "number": 2, "promise": Promise(band=band),
        "promise_sha256": "p" * 64, "promise_frozen_at": WHEN, "model_id": "m" * 64, "artefact": Lab().manifest(),
        "recipe": Recipe(steps=(Step(lever="pruning.fewer_trees", params={"keep_fraction": 0.5}),)),
        "runtime": Choice(name="lightgbm_native"), "baseline_runtime": Choice(name="lightgbm_native"), "threads": 1,
        "signature": SIGNATURE, "eval_set_id": "e" * 64,
        "hashes": Hashes(rows="r" * 64, labels="l" * 64, baseline_outputs="b" * 64, candidate_outputs="c" * 64),
        "environment": {"processor": "CPU", "cpu_flags": ["avx2"], "libraries": {"numpy": "2"}, "python": "3.11"},
        "quality": QualityReport(
            split="certification", metric=metric, relative=relative, baseline=0.9, candidate=0.898, drop=0.002,
            bound=0.0041, alpha=0.05 / 3, verdict=verdict, reason=reason, slices=tuple(slices), n_rows=5000,
            agreement=Agreement(
                flip_fraction=0.01, bad_flip_fraction=0.006, good_flip_fraction=0.004, max_abs_diff=0.1,
                p99_abs_diff=0.05, mean_kl_nats=1e-5, max_kl_nats=0.02, identical=False,
            ),
            figures=(MetricFigure(metric="log_loss", baseline=0.2, candidate=0.21),),
            calibration=Calibration(
                n_bins=15, equal_width=(0.01, 0.02), equal_mass=(0.01, 0.02), change=Interval(value=0.01)
            ),
            found=(
                FoundSlice(
                    conditions={"hour": "night"}, n_rows=80, mean_loss=0.2, mean_loss_elsewhere=0.01, harm_p=0.001,
                    confirmed=True,
                ),
            ),
        ),
    }  # fmt: skip
    return Certificate(**values | more)


SLICES = (
    part("AA"),
    part("HA", "fail", 0.05, 0.07, reason="loses 5 points, limit 2", harm_p=0.001),
    part("ZZ", "too few rows", 0.1, None, 20, "too few rows: 20 of 203 needed"),
    part("YY", "too few rows", 0.0, None, 150, "too few rows: 150 of 203 needed"),
)


def test_what_is_not_covered_comes_first_with_its_share():
    first = as_document(certificate(slices=SLICES)).sections[0]
    assert first.heading == "Not covered"
    assert first.table.rows[0] == ("carrier = YY", "150", "3.0%", "too few rows: 150 of 203 needed")
    assert [row[0] for row in first.table.rows] == ["carrier = YY", "carrier = ZZ"]


def test_covered_slices_are_shown_worst_first_with_bound_and_limit():
    found = next(one for one in as_document(certificate(slices=SLICES)).sections if one.heading == "What was found")
    assert [row[0] for row in found.table.rows] == ["All rows", "carrier = HA", "carrier = AA"]
    assert found.table.rows[1][4:] == (f"5.00{SPACE}points", f"7.00{SPACE}points", f"2.00{SPACE}points", "fail")
    assert found.paragraphs == ("Slices that did get worse, beyond chance (Holm): carrier = HA.",)
    assert "Tango" in found.note


@pytest.mark.parametrize(
    ("verdict", "reason", "tone", "said"),
    [
        ("pass", None, "good", f"The loss in accuracy is at most 0.41{SPACE}points; 1.00{SPACE}points were allowed."),
        ("exact", None, "good", "Every answer is bit for bit the original's on all 5,000 certification rows."),
        ("fail", "accuracy loses 5 points, limit 1", "bad", "Accuracy loses 5 points, limit 1."),
        ("not certified", "accuracy: need about 900 more rows", "open", "Accuracy: need about 900 more rows."),
        ("too few rows", "too few rows: 9 of 408 needed", "open", "Too few rows: 9 of 408 needed."),
    ],
)
def test_the_verdict_in_a_sentence(verdict, reason, tone, said):
    found = certificate(verdict, reason)
    assert headline(found).startswith(said)
    assert as_document(found).tone == tone


def test_a_loss_without_a_fixed_scale_is_in_per_cent():
    assert "is at most 0.41%; 1.00% were allowed" in headline(certificate(metric="rmse", relative=True))


def test_it_counts_the_certificates():
    said = to_text(certificate()).decode()
    assert "Certificate 2 of 3 on this split, issued 2030-01-01 12:00 UTC by ada" in said
    assert "elsewhere" not in said
    more = to_text(certificate(n_elsewhere=4)).decode()
    assert "4 more were issued on the same rows in other studies" in more


@pytest.mark.parametrize("write", [to_html, to_markdown, to_text])
def test_every_part_is_in_every_form(write):
    said = write(certificate(slices=SLICES)).decode().replace("\\", "")
    for expected in (
        "p" * 64, "m" * 64, "f" * 64, "e" * 64, "r" * 64, "l" * 64, "b" * 64, "c" * 64, "1" * 26,
        "pruning.fewer_trees(keep_fraction=0.5)", "98.33%", "avx2", "numpy 2", "hour = night", "log-loss",
        "certify --check", "calibration error",
    ):  # fmt: skip
        assert expected in said


def test_text_from_outside_cannot_leave_its_place():
    found = certificate(
        "fail", f"carrier = {NASTY} loses", (part(NASTY, "fail"), part(NASTY, "too few rows", None, None, 2, NASTY)),
        study_name=NASTY, created_by=NASTY, notes=(NASTY,), environment={"processor": NASTY},
    )  # fmt: skip
    page, marked, text = (write(found).decode() for write in (to_html, to_markdown, to_text))
    assert "<script" not in page.lower()
    assert "<script" not in marked.lower()
    assert "\x1b" not in page + marked + text
    table = [line for line in marked.splitlines() if "alert" in line and line.startswith("|")]
    assert table
    assert all(len(re.findall(r"(?<!\\)\|", line)) in (3, 5, 9) for line in table)  # cells stay cells


def test_the_page_needs_nothing_from_elsewhere():
    page = to_html(certificate(slices=SLICES)).decode()
    assert page.startswith("<!doctype html>")
    assert not re.search(r"(src|href)\s*=|url\(|@import|<script", page)
    assert "default-src 'none'" in page
    assert "size: A4" in page


def test_the_json_is_the_record():
    found = certificate(slices=SLICES)
    assert Certificate.model_validate_json(to_json(found)) == found

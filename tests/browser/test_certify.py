"""Certify in a real browser: from Compare to the certificate, its files, and the check of what was taken away."""

import re

import pytest
from browser.own_model import write
from page_history import timed
from playwright.sync_api import expect

from benchmarks.dashboard import serving
from engine.certificate_check import check_certificate, read_certificate
from engine.records import Choice, Experiment, ExperimentSpec, Step, Workload
from engine.workspace import Workspace
from storage.ledger import Ledger
from tests.whole.conftest import make_study

OPTIMISE = Step(lever="export.onnx_optimise")


@pytest.fixture
def home(tmp_path):
    """A home with the original and one variant, built and judged as a run does; only their times are made up."""
    root = tmp_path / "home"
    model, rows = write(tmp_path)
    made = make_study(Workspace(root), model, rows, label="outcome", slices=("region",))
    ledger = Ledger.open(f"sqlite:///{root / 'whetstone.db'}", root)
    ledger.add_model(made.workspace.load_manifest(f"upload-{made.study.model_id}"), "churn.onnx")
    ledger.add_eval_set(made.info, "rows.csv")
    ledger.add_study(made.study)
    for steps, speedup in (((), None), ((OPTIMISE,), 4.0)):
        spec = ExperimentSpec(
            study_id=made.study.id, recipe=made.recipe(*steps), runtime=Choice(name="onnxruntime_cpu"),
            workloads=(Workload(),),
        )  # fmt: skip
        ledger.add_experiment(spec, "Asha")
        claimed = ledger.queue.claim("test:1", 60.0, ledger.workspace)
        artefact = made.chain(*steps)[-1].manifest
        record = Experiment(
            id=claimed.experiment_id, spec=spec, status="succeeded", created_at=claimed.created_at, artefact=artefact,
            quality=made.quality(*steps), **timed(artefact.id, speedup, spec.workloads),
        )  # fmt: skip
        ledger.queue.finish(record.id, claimed.attempt, "succeeded", experiment_record=record)
    ledger.close()
    return root, made.study.id


def n_printed_pages(browser, path):
    """Sheets of A4 that a browser makes of the file."""
    page = browser.new_page()
    page.goto(path.as_uri())
    pdf = page.pdf(prefer_css_page_size=True)
    page.close()
    return len(re.findall(rb"/Type\s*/Page\b(?!s)", pdf))


@pytest.mark.slow
def test_certify_from_compare_and_take_the_certificate_away(home, browser, visit, tmp_path):
    root, study = home
    with serving(root, {"WHETSTONE_LOCK_DIR": str(tmp_path / "locks")}) as server:
        visitor = visit(server.url)
        page = visitor.open(f"compare?study={study}")
        page.locator(".st-key-cm-certify button").first.click()
        expect(page.get_by_text("3 of 3 certificates left")).to_be_visible()
        page.locator(".st-key-cm-certify-go button").first.click()
        expect(page.get_by_role("heading", name="Certificate", exact=True)).to_be_visible(timeout=60_000)
        expect(page.get_by_text("1 of 3")).to_be_visible()
        visitor.idle()
        found = re.search(r"id=(\w+)", page.url).group(1)

        files = {}
        for kind in ("html", "md", "json"):
            with page.expect_download() as waiting:
                page.locator(f".st-key-ce-{kind} button").first.click()
            files[kind] = tmp_path / waiting.value.suggested_filename
            waiting.value.save_as(files[kind])
        certificate = read_certificate(files["json"])
        assert certificate.id == found
        assert certificate.number == 1
        assert certificate.holds
        paper = files["html"].read_text()
        assert certificate.promise_sha256 in paper
        assert "<script" not in paper
        assert n_printed_pages(browser, files["html"]) == 1
        assert files["md"].read_text().startswith("# ")

        page = visitor.open(f"compare?study={study}")
        assert page.locator(".st-key-cm-certify").count() == 0
        expect(page.get_by_text("Certified").first).to_be_visible()

        page = visitor.open(f"experiment?id={certificate.experiment_id}")
        page.locator(".st-key-ex-reliability summary").click()
        expect(page.get_by_text("Confidence against the share that is right")).to_be_visible(timeout=60_000)
        expect(page.locator(".st-key-ex-worst")).to_have_count(0 if certificate.quality.agreement.identical else 1)
        with page.expect_download() as waiting:
            page.locator(".st-key-ex-certificate button").first.click()
        assert waiting.value.path().read_text() == paper
        visitor.leave()
    assert check_certificate(certificate, Workspace(root)).holds

"""From files to a certificate and its check, as the product does it."""

import json
import shutil
from dataclasses import replace
from datetime import UTC, datetime

import lightgbm
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from engine.certificate_check import check_certificate, read_certificate
from engine.certification import issue
from engine.cli.main import cli
from engine.errors import BadData, BadModel, Conflict, InvalidRequest
from engine.jobs.certify import certify
from engine.plugin import reference_runtime
from engine.records import Certificate, Choice, Experiment, ExperimentSpec, Step, Workload
from engine.reports.certificate import to_html, to_json, to_markdown
from engine.settings import settings
from engine.workspace import Workspace
from sample_models import samples
from storage.ledger import Ledger
from tests.whole.conftest import make_study

FEWER = Step(lever="pruning.fewer_trees", params={"keep_fraction": 0.9})
FEW = Step(lever="pruning.fewer_trees", params={"keep_fraction": 0.02})
EXPORT = Step(lever="export.lightgbm_to_onnx")
ALL = Step(lever="pruning.fewer_trees", params={"keep_fraction": 0.999})  # of 60 trees: none is left out


def people(n=6000, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {"age": rng.normal(40, 10, n).round(3), "income": rng.gamma(2, 1, n).round(4), "debt": rng.random(n).round(5)}
    )
    odds = (frame.age - 40) / 5 + frame.income - 2 * frame.debt
    frame["default"] = (rng.random(n) < 1 / (1 + np.exp(-odds))).astype(int)
    frame["city"] = rng.choice(["Bonn", "Ulm", "Tiny"], n, p=[0.49, 0.49, 0.02])
    return frame


@pytest.fixture(scope="module")
def booster(tmp_path_factory):
    frame = people(8000, seed=1)
    parameters = {"objective": "binary", "num_leaves": 15, "verbose": -1, "num_threads": 1, "seed": 0}
    data = lightgbm.Dataset(frame[["age", "income", "debt"]], frame.default)
    path = tmp_path_factory.mktemp("booster") / "model.txt"
    lightgbm.train(parameters, data, 60).save_model(path)
    return path


TERMS = {"metric": "accuracy", "max_drop": 0.01, "slice_max_drop": 0.02}
CHOICES = {"label": "default", "slices": ("city",), "terms": TERMS}


@pytest.fixture(scope="module")
def scored(booster, tmp_path_factory):
    """A study of the plain rows whose variants were built and scored once; every test works on a copy."""
    folder = tmp_path_factory.mktemp("scored")
    people().to_csv(folder / "data.csv", index=False)
    made = make_study(Workspace(folder / "home"), booster, folder / "data.csv", **CHOICES)
    for steps in ((), (FEWER,), (FEW,), (EXPORT,), (ALL,)):
        for split in ("selection", "certification"):
            made.answers(*steps, split=split)
    return made


class Lab:
    """A study with its history, and variants as a run would have left them, without the timing."""

    def __init__(self, made, home):
        self.made = made
        self.workspace = made.workspace
        self.ledger = Ledger.open(f"sqlite:///{home / 'whetstone.db'}", home)
        self.ledger.add_model(self.manifest, "model.txt")
        self.ledger.add_eval_set(made.info, "data.csv")
        self.ledger.add_study(made.study)

    @property
    def manifest(self):
        return self.workspace.load_manifest(f"upload-{self.made.study.model_id}")

    def variant(self, *steps, runtime=None):
        """An experiment of this chain that succeeded."""
        artefact = self.made.chain(*steps)[-1]
        runtime = runtime or Choice(name=reference_runtime(artefact.manifest.format))
        spec = ExperimentSpec(
            study_id=self.made.study.id, recipe=self.made.recipe(*steps), runtime=runtime, workloads=(Workload(),)
        )
        self.ledger.add_experiment(spec, "ada")
        claimed = self.ledger.queue.claim("own:1", 60.0, self.ledger.workspace)
        run = Experiment(
            id=claimed.experiment_id,
            spec=claimed.spec,
            status="succeeded",
            created_at=claimed.created_at,
            artefact=artefact.manifest,
            quality=self.made.quality(*steps),
        )
        assert self.ledger.queue.finish(run.id, claimed.attempt, "succeeded", experiment_record=run)
        return run

    def certify(self, run):
        return certify(self.ledger, self.workspace, run.id, "ada")


@pytest.fixture
def lab(make, booster, scored, tmp_path, monkeypatch):
    """lab() of the plain rows; lab(frame, **choices) of others."""
    monkeypatch.setenv("WHETSTONE_LOCK_DIR", str(tmp_path / "locks"))

    def built(frame=None, **choices):
        home = tmp_path / "home"
        if frame is None:
            shutil.copytree(scored.workspace.root, home, dirs_exist_ok=True)
            return Lab(replace(scored, workspace=Workspace(home)), home)
        frame.to_csv(tmp_path / "data.csv", index=False)
        return Lab(make(booster, tmp_path / "data.csv", **CHOICES, **choices), home)

    return built


# ---------------------------------------------------------------- the act
def test_a_certificate_says_all_of_it(lab):
    here = lab()
    run = here.variant(FEWER)
    found = here.certify(run)
    assert found.quality.split == "certification"
    assert found.quality.n_rows == here.made.info.splits["certification"]
    assert found.quality.verdict in ("pass", "not certified", "fail")
    assert found.quality.alpha == pytest.approx(0.05 / 3)
    assert (found.number, found.limit, found.n_elsewhere) == (1, 3, 0)
    assert found.promise == here.made.study.promise
    assert found.promise_sha256 == here.ledger.promise_hash(here.made.study.id)
    assert found.promise_frozen_at == here.ledger.promise_frozen_at(here.made.study.id)
    assert found.artefact.id == run.artefact.id != found.model_id
    assert len({*found.hashes.model_dump().values()}) == 4
    assert {"processor", "cpu_flags", "libraries", "confinement"} <= set(found.environment)
    assert [(one.value, one.verdict) for one in found.not_covered] == [("Tiny", "too few rows")]
    assert here.ledger.certificates() == [found]
    assert Certificate.model_validate_json(to_json(found)) == found


def test_asking_twice_gives_the_same_and_the_fourth_is_refused(lab):
    here = lab()
    runs = [here.variant(FEWER), here.variant(FEW), here.variant(EXPORT), here.variant(FEWER, EXPORT)]
    first = here.certify(runs[0])
    assert here.certify(runs[0]) == first
    assert [here.certify(run).number for run in runs[1:3]] == [2, 3]
    with pytest.raises(Conflict, match="new rows needed: all 3 certificates"):
        here.certify(runs[3])
    kept = list((here.workspace.root / "outputs").iterdir())
    assert len(kept) == 1 + 5 + 4  # the first rows; five models on selection; without the fourth on certification


def test_identical_answers_are_exact_in_every_slice(lab):
    here = lab()
    run = here.variant(ALL)
    assert run.quality.agreement.identical
    found = here.certify(run)
    assert found.quality.verdict == "exact"
    assert not found.not_covered
    assert check_certificate(found, here.workspace).holds


def test_a_bad_variant_fails(lab):
    here = lab()
    found = here.certify(here.variant(FEW))
    assert found.quality.verdict == "fail"
    assert "accuracy loses" in found.quality.reason
    assert found.quality.found  # where it loses most
    checked = check_certificate(found, here.workspace)
    assert not checked.holds
    assert [one.text for one in checked.findings if not one.fine] == ["its own verdict is fail: nothing is certified"]


def test_what_is_not_eligible(lab):
    here = lab()
    run = here.variant(FEWER)
    with pytest.raises(InvalidRequest, match="is failed; only a variant that was built and judged"):
        issue(run.model_copy(update={"status": "failed"}), here.made.study, here.workspace, **asked(here))
    original = run.model_copy(update={"spec": run.spec.model_copy(update={"recipe": here.made.recipe()})})
    with pytest.raises(InvalidRequest, match="this is the original itself"):
        issue(original, here.made.study, here.workspace, **asked(here))
    with pytest.raises(Conflict, match="not frozen yet"):
        issue(run, here.made.study, here.workspace, **asked(here) | {"promise_sha256": None})
    looser = here.made.study.promise.band.model_copy(update={"max_drop": 0.5})
    promise = here.made.study.promise.model_copy(update={"band": looser})
    changed = here.made.study.model_copy(update={"promise": promise})
    with pytest.raises(Conflict, match=r"is not the one that was frozen .* make a new study for another promise"):
        issue(run, changed, here.workspace, **asked(here))
    with pytest.raises(Conflict, match=r"is frozen since .*; make a new study to promise something else"):
        here.ledger.update_promise(here.made.study.id, promise)
    assert here.ledger.study(here.made.study.id).promise == here.made.study.promise


def asked(here):
    study = here.made.study
    return {
        "promise_frozen_at": datetime.now(UTC),
        "promise_sha256": here.ledger.promise_hash(study.id),
        "created_by": "ada",
    }


@pytest.mark.slow
def test_without_certification_rows_nothing_is_certified(lab):
    frame = people()
    frame["split"] = np.where(np.arange(len(frame)) % 2, "train", "selection")
    here = lab(frame, split_column="split")
    with pytest.raises(BadData, match="there are no certification rows"):
        here.certify(here.variant(FEWER))


# ---------------------------------------------------------------- leakage
@pytest.mark.slow
def test_groups_in_training_and_certification_are_refused(lab):
    """The data room keeps them apart; a set that was bound otherwise is refused here."""
    frame = people()
    frame["user"] = [f"u{i // 4}" for i in range(len(frame))]
    here = lab(frame, group="user")
    run = here.variant(FEWER)
    plant(here.made.evalset, "group", "u-both")
    with pytest.raises(BadData, match=r"leakage: 1 of \d,\d+ certification rows belong to the groups of train rows"):
        here.certify(run)
    assert here.ledger.certificates() == []


@pytest.mark.slow
def test_ids_in_training_and_certification_are_refused(lab):
    frame = people()
    frame["id"] = [f"r{i}" for i in range(len(frame))]
    here = lab(frame, id="id")
    run = here.variant(FEWER)
    plant(here.made.evalset, "id", "r-both")
    with pytest.raises(BadData, match=r"certification rows have the ids of train rows \(first: row 1 of the split\)"):
        here.certify(run)


def test_the_same_inputs_in_training_and_certification_are_refused(lab):
    here = lab()
    run = here.variant(FEWER)
    certification, train = (here.made.evalset / split / "input_0.npy" for split in ("certification", "train"))
    values = np.load(train)
    values[5] = np.load(certification)[2] * (1 + 1e-9)  # the same within six figures
    train.chmod(0o644)
    np.save(train, values)
    with pytest.raises(BadData, match=r"1 of .* have the same inputs as train rows .first: row 3 of the split"):
        here.certify(run)


def plant(evalset, column, text):
    """Give the first train and the first certification row the same text."""
    for split in ("train", "certification"):
        path = evalset / split / "rows.parquet"
        rows = pd.read_parquet(path)
        rows[column] = [text, *rows[column][1:]]
        path.chmod(0o644)
        rows.to_parquet(path)


@pytest.mark.slow
def test_repeated_inputs_are_no_leakage_and_the_certificate_says_so(lab):
    frame = people()
    frame[["age", "income", "debt"]] = frame[["age", "income", "debt"]].round(0)
    here = lab(frame)
    assert any("told apart by" in note for note in here.made.info.notes)
    found = here.certify(here.variant(FEWER))
    assert "rows repeat another row's inputs: only shared groups count as leakage" in found.notes[0]


# ---------------------------------------------------------------- bad answers
def test_a_variant_that_gives_nan_fails(lab, monkeypatch):
    here = lab()
    run = here.variant(FEWER)
    spoil(monkeypatch, run.artefact.id)
    found = here.certify(run)
    assert found.quality.verdict == "fail"
    assert found.quality.reason.startswith("NaN or infinite outputs in 1 of")
    assert found.quality.candidate is None


def test_an_original_that_gives_nan_is_no_ground_for_a_verdict(lab, monkeypatch):
    here = lab()
    run = here.variant(FEWER)
    spoil(monkeypatch, here.made.study.model_id)
    with pytest.raises(BadModel, match="the original gives NaN"):
        here.certify(run)
    assert here.ledger.certificates() == []


def spoil(monkeypatch, artefact_id):
    """Make the first answer of one model NaN."""
    import engine.scoring

    honest = engine.scoring.outputs

    def outputs(artefact, *given, **named):
        found = {name: np.array(values) for name, values in honest(artefact, *given, **named).items()}
        if artefact.manifest.id == artefact_id:
            for values in found.values():
                values[0] = np.nan
        return found

    monkeypatch.setattr(engine.scoring, "outputs", outputs)


# ---------------------------------------------------------------- check
def test_a_check_recomputes_and_sees_a_changed_figure(lab):
    here = lab()
    found = here.certify(here.variant(ALL))
    better = found.quality.model_copy(update={"baseline": found.quality.baseline + 0.01})
    checked = check_certificate(found.model_copy(update={"quality": better}), here.workspace)
    assert not checked.holds
    assert any(one.text.startswith("overall: exact; the certificate says") for one in checked.findings)


def test_a_check_sees_another_promise_rows_and_files(lab):
    here = lab()
    found = here.certify(here.variant(EXPORT))

    def said(**changed):
        checked = check_certificate(found.model_copy(update=changed), here.workspace)
        assert not checked.holds
        return " ".join(one.text for one in checked.findings if not one.fine)

    band = found.promise.band.model_copy(update={"max_drop": 0.9})
    assert "promise" in said(promise=found.promise.model_copy(update={"band": band}))
    assert "certification rows" in said(hashes=found.hashes.model_copy(update={"rows": "0" * 64}))
    assert "its files are not in this workspace" in said(eval_set_id="0" * 64)
    model = here.workspace.artefact_folder(found.artefact.id) / "model.onnx"
    model.chmod(0o644)
    model.write_bytes(model.read_bytes() + b"\n")
    assert "variant" in said()


def test_on_another_processor_the_verdict_has_to_be_the_same(lab):
    here = lab()
    found = here.certify(here.variant(EXPORT))
    elsewhere = found.model_copy(
        update={
            "hashes": found.hashes.model_copy(update={"candidate_outputs": "0" * 64}),
            "environment": found.environment | {"cpu_flags": ["neon"]},
        }
    )
    checked = check_certificate(elsewhere, here.workspace)
    assert checked.holds
    assert any("CPU flags then neon, here" in one.text for one in checked.findings)


# ---------------------------------------------------------------- the command line
@pytest.fixture
def run_cli(tmp_path, monkeypatch):
    monkeypatch.setenv("WHETSTONE_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("WHETSTONE_DATABASE_URL", raising=False)
    settings.cache_clear()
    yield lambda *words: CliRunner().invoke(cli, list(words))
    settings.cache_clear()


@pytest.mark.slow
def test_certify_and_check_on_the_command_line(lab, run_cli, tmp_path):
    here = lab()
    run = here.variant(ALL)
    done = run_cli("certify", run.id)
    assert done.exit_code == 0, done.output
    assert "CERTIFIED: EXACT" in done.stdout
    assert "Certificate 1 of 3 on this split" in done.stdout
    file = tmp_path / "certificate.json"
    assert run_cli("certify", run.id, "--format", "json", "-o", str(file)).exit_code == 0
    assert read_certificate(file) == here.ledger.certificate_of(run.id)
    checked = run_cli("certify", "--check", str(file))
    assert checked.exit_code == 0, checked.output
    assert checked.stdout.splitlines()[-1].endswith("holds")

    changed = json.loads(file.read_text())
    changed["number"] = 2
    file.write_text(json.dumps(changed))
    checked = run_cli("certify", "--check", str(file))
    assert checked.exit_code == 1
    assert "another record" in checked.stdout
    file.write_text("{}")
    checked = run_cli("certify", "--check", str(file))
    assert checked.exit_code == 1
    assert "is not the JSON of a certificate" in checked.output
    assert "name an EXPERIMENT" in run_cli("certify").output


def test_disagreements_on_the_command_line(lab, run_cli):
    here = lab()
    run = here.variant(FEWER)
    table = run_cli("disagreements", run.id, "--limit", "3")
    assert table.exit_code == 0, table.output
    assert table.stdout.splitlines()[0].split()[:3] == ["row", "kind", "label"]
    assert len(table.stdout.splitlines()) == 4
    rows = json.loads(run_cli("disagreements", run.id, "--format", "json", "--slice", "city=Ulm").stdout)
    assert rows
    assert {row["slice: city"] for row in rows} == {"Ulm"}
    frame = people()
    assert all(str(frame.default[row["row"] - 1]) == row["label"] for row in rows)
    header = run_cli("disagreements", run.id, "--format", "csv").stdout.splitlines()[0]
    assert header.startswith("row,kind,label,baseline,candidate,baseline_score,candidate_score,difference,kl_nats")
    assert "no row has city = 'Rome'" in run_cli("disagreements", run.id, "--slice", "city=Rome").output


# ---------------------------------------------------------------- on paper
def test_the_printed_certificate_is_one_page_without_anything_from_elsewhere(lab):
    here = lab()
    found = here.certify(here.variant(FEWER))
    page, text = to_html(found).decode(), to_markdown(found).decode()
    for said in (page, text):
        assert found.promise_sha256 in said
        assert found.artefact.id in said
        assert "city = Tiny" in said
        assert said.index("Not covered") < said.index("The promise") < said.index("What was found")
    assert "src=" not in page
    assert "href=" not in page
    assert "http://" not in page.replace("http-equiv", "")


# ---------------------------------------------------------------- a real case
@pytest.mark.slow
def test_dynamic_int8_of_the_digits_says_something_of_all_rows_and_nothing_of_a_class(make, tmp_path, monkeypatch):
    """540 rows that no choice has seen, 52 to 55 of each digit, a band of 0.01 overall and per class."""
    monkeypatch.setenv("WHETSTONE_LOCK_DIR", str(tmp_path / "locks"))
    sample = samples()["digits_cnn"]
    terms = {"metric": "accuracy", "max_drop": 0.01, "slice_max_drop": 0.01}
    here = Lab(make(sample.model, sample.data, terms=terms, **sample.choices), tmp_path / "home")
    found = here.certify(here.variant(Step(lever="export.torch_to_onnx"), Step(lever="quantisation.int8_dynamic")))
    report = found.quality
    assert report.n_rows == 540
    assert report.verdict == "pass"
    assert report.agreement.flip_fraction == 0
    assert report.agreement.max_abs_diff > 0
    digits = [one for one in report.slices if one.column == "true class"]
    assert [one.value for one in digits] == list("0123456789")
    assert {one.verdict for one in digits} == {"too few rows"}
    assert all(50 <= one.n_rows <= 57 for one in digits)
    assert set(digits) <= set(found.not_covered)

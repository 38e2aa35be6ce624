import pytest

from engine.data.choices import DataChoices
from engine.errors import InvalidRequest
from engine.records import EvalSetInfo, Signature, SliceInfo, TensorSpec, Workload
from engine.study import Bound, StudyRequest, Terms, bind, create, promise
from engine.workspace import Workspace

INFO = EvalSetInfo(id="e", n_rows=10, roles={}, task="regression", splits={"selection": 5})


def band(task="regression", **terms):
    return promise(Terms(**terms), Signature(inputs=(), outputs=(), task=task), INFO).band


def test_the_metric_follows_the_task_and_its_scale_decides_what_a_drop_is():
    assert (band().metric, band().relative) == ("rmse", True)
    assert (band("binary").metric, band("binary").relative) == ("roc_auc", False)
    assert band("binary", metric="log_loss").relative


def test_only_the_pinball_loss_has_a_quantile():
    assert band(metric="pinball", tau=0.9).tau == 0.9
    assert band(metric="pinball").tau == 0.5
    assert band().tau is None
    with pytest.raises(InvalidRequest, match=r"tau = 0\.9 is the quantile of the pinball loss; the metric is rmse"):
        band(tau=0.9)


def test_the_promise_says_how_often_it_may_be_asked():
    assert band().n_certificates == 3
    assert band(n_certificates=1, require_all_slices=True).n_certificates == 1


def test_a_metric_of_another_task_is_refused():
    with pytest.raises(InvalidRequest, match="f1 cannot judge a regression task; use mae or pinball or rmse"):
        band(metric="f1")


def test_a_promise_may_leave_slice_columns_out():
    parts = tuple(SliceInfo(column=name, value="x", n_rows=5) for name in ("region", "device"))
    info = INFO.model_copy(update={"slices": parts})
    signature = Signature(inputs=(), outputs=(), task="regression")
    assert promise(Terms(), signature, info).band.slices == ("region", "device")
    assert promise(Terms(slices=("device",)), signature, info).band.slices == ("device",)
    assert promise(Terms(slices=()), signature, info).band.slices == ()
    with pytest.raises(InvalidRequest, match="the slice column 'age' is not in the evaluation set; it has region, dev"):
        promise(Terms(slices=("age",)), signature, info)


@pytest.fixture
def bound():
    signature = Signature(
        inputs=(TensorSpec(name="x", dtype="float32", shape=(4, 2)),), outputs=(), task="multiclass", score_output="y"
    )
    info = INFO.model_copy(update={"id": "e" * 64, "task": "multiclass", "splits": {"certification": 100}})
    return Bound(info=info, signature=signature)


def test_what_is_bound_already_is_not_bound_again(tmp_path, bound):
    request = StudyRequest(name="n", model_id="m", table_id=None, workload=Workload(batch_size=4))
    study, info = create(request, Workspace(tmp_path), bound)
    assert (study.eval_set_id, study.signature, study.source) == (bound.info.id, bound.signature, None)
    assert "100 certification rows cannot certify a drop limit of 0.01" in info.notes[-1]
    assert "each of 3 certificates 408 rows are the least" in info.notes[-1]
    with pytest.raises(InvalidRequest, match="fixed at 4; a primary batch of 1 cannot be run"):
        create(request.model_copy(update={"workload": Workload()}), Workspace(tmp_path), bound)


def test_a_study_remembers_what_it_was_made_from(tmp_path, bound):
    request = StudyRequest(
        name="n", model_id="m", table_id="t", data_name="rows.csv", choices=DataChoices(label="late", slices=("a",)),
        workload=Workload(batch_size=4),
    )  # fmt: skip
    source = create(request, Workspace(tmp_path), bound)[0].source
    assert (source.table_id, source.data_name) == ("t", "rows.csv")
    assert DataChoices(**source.choices) == request.choices
    assert set(source.choices) == {"label", "slices"}


def test_without_a_model_or_rows_nothing_is_bound(tmp_path):
    with pytest.raises(InvalidRequest, match="no model 'm' is stored here"):
        bind(StudyRequest(name="n", model_id="m", table_id="t"), Workspace(tmp_path))

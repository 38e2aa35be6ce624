import pytest

from engine.errors import InvalidRequest
from engine.records import EvalSetInfo, Signature
from engine.study import Terms, promise

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

"""What is taken, refused and told of TorchScript files."""

import io
import pickle
import zipfile

import numpy as np
import pytest
import torch
from torch import nn

from engine.errors import BadModel
from engine.formats import torchscript
from engine.formats.torchscript_check import check_torchscript
from engine.formats.torchscript_pickle import read_pickle
from engine.plugin import Artefact, make, runtimes
from tests.engine.formats.taking import predict, sentence, take_confined, take_here
from tests.model_zoo import SCRIPTS, net, sample_inputs, script_bytes

LINEAR = "m/code/__torch__/net.py"
CODE = """class Net(Module):
  __parameters__ = ["weight", ]
  __buffers__ = []
  weight : Tensor
  training : bool
  def forward(self: __torch__.net.Net,
    x: Tensor) -> Tensor:
    weight = self.weight
    BODY
    return torch.linear(x, weight)
  def save(self: __torch__.net.Net,
    x: Tensor) -> Tensor:
    return x
"""


def saved(module, path):
    torch.jit.save(module, path)
    return path


def rewritten(tmp_path, body="pass", more="", edits=None):
    """An archive around CODE, as torch would pack it, with lines of your own."""
    members = {"m/data.pkl": state(), "m/constants.pkl": b"\x80\x02).", "m/version": b"3\n", "m/data/0": bytes(48)}
    members[LINEAR] = (CODE.replace("BODY", body) + more).encode()
    with zipfile.ZipFile(tmp_path / "m.pt", "w") as archive:
        for name, data in (members | (edits or {})).items():
            archive.writestr(name, data)
    return tmp_path / "m.pt"


def state(n_items=12, shape=(3, 4), strides=(4, 1), kind="__torch__.net\nNet", storage="torch\nFloatStorage"):
    """data.pkl of one linear layer, operation by operation."""

    def number(value):
        return b"J" + value.to_bytes(4, "little")

    def text(value):
        return b"X" + len(value).to_bytes(4, "little") + value.encode()

    view = b"".join(b"(" + b"".join(map(number, each)) + b"t" for each in (shape, strides))
    tensor = b"ctorch._utils\n_rebuild_tensor_v2\n((" + text("storage") + f"c{storage}\n".encode() + text("0")
    tensor += text("cpu") + number(n_items) + b"tQ" + number(0) + view + b"\x89ccollections\nOrderedDict\n)RtR"
    body = text("weight") + tensor + text("training") + b"\x89"
    return b"\x80\x02" + f"c{kind}\n".encode() + b")\x81}(" + body + b"ub."


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_trace_is_taken_with_its_shapes_and_answers_as_the_original(name, tmp_path):
    (tmp_path / "m.pt").write_bytes(script_bytes(name))
    manifest = take_here(tmp_path / "m.pt", tmp_path / "out")
    module, program = net(name.removeprefix("ts_"))
    assert manifest.format == "torchscript"
    assert [spec.name for spec in manifest.signature.inputs] == list(program.graph_signature.user_inputs)
    assert {spec.shape[0] for spec in manifest.signature.inputs} == {"batch"}
    assert manifest.n_parameters == sum(each.numel() for each in module.parameters())
    inputs = sample_inputs(manifest.signature)
    with make(runtimes(), "torchscript", {}).open(Artefact(manifest, tmp_path / "out")) as call:
        found = list(call(inputs).values())
    with torch.no_grad():
        right = module(*(torch.from_numpy(value) for value in inputs.values()))
    right = list(right.values()) if isinstance(right, dict) else [right]
    for a, b in zip(found, right, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-6)


def test_the_same_file_gives_the_same_bytes_and_debug_tables_go(tmp_path):
    (tmp_path / "m.pt").write_bytes(script_bytes("ts_tabular"))
    for source, out in (("m.pt", "a"), ("m.pt", "b"), ("a/model.pt", "c")):
        (tmp_path / out).mkdir()
        torchscript.take(tmp_path / source, tmp_path / out)
    assert len({(tmp_path / out / "model.pt").read_bytes() for out in "abc"}) == 1
    names = zipfile.ZipFile(tmp_path / "a" / "model.pt").namelist()
    assert not [name for name in names if name.endswith(".debug_pkl")]


def test_the_end_of_a_graph_tells_the_kind_of_output(tmp_path):
    for module, example, told in (
        (nn.Sequential(nn.Linear(4, 3), nn.Softmax(-1)), torch.ones(2, 4), ("multiclass", "probabilities")),
        (nn.Sequential(nn.Linear(4, 1), nn.Sigmoid()), torch.ones(2, 4), ("binary", "probabilities")),
        (nn.Linear(4, 3), torch.ones(2, 4), (None, None)),
    ):
        out = tmp_path / str(told[0])
        path = saved(torch.jit.trace(module.eval(), example), tmp_path / "m.pt")
        signature = take_here(path, out).signature
        assert signature.score_output == "output_0"
        assert (signature.task, signature.output_kind) == told


def test_shapes_of_a_scripted_module_are_tried_and_said(tmp_path):
    path = saved(torch.jit.script(nn.Sequential(nn.Conv2d(3, 4, 3), nn.AdaptiveAvgPool2d(1)).eval()), tmp_path / "m.pt")
    manifest = take_here(path, tmp_path / "out")
    assert manifest.signature.inputs[0].shape == ("batch", 3, "input_2", "input_3")
    assert any("found by trying" in warning for warning in manifest.warnings)


def test_shapes_that_cannot_be_told_end_with_the_way_out(tmp_path):
    class Two(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = nn.Linear(6, 2)

        def forward(self, left: torch.Tensor, right: torch.Tensor):
            return self.body(torch.cat([left, right], 1))

    with pytest.raises(BadModel, match=r"torch\.jit\.trace"):
        take_here(saved(torch.jit.script(Two()), tmp_path / "m.pt"), tmp_path / "out")


def test_a_batch_that_is_fixed_is_said(tmp_path):
    class Fixed(nn.Module):
        def forward(self, x):
            return x.reshape(4, 2, 3).sum(1)

    path = saved(torch.jit.trace(Fixed(), torch.ones(4, 6)), tmp_path / "m.pt")
    manifest = take_here(path, tmp_path / "out")
    assert manifest.signature.fixed_batch == 4
    assert any(warning.startswith("batch fixed at 4") for warning in manifest.warnings)


def test_p06_a_trace_in_training_mode_is_marked(public_cases, tmp_path):
    manifest = take_confined(public_cases / "P06" / "model.pt", tmp_path / "out")
    assert any("answers change from run to run (dropout or batch" in warning for warning in manifest.warnings)
    steady = saved(torch.jit.trace(nn.Linear(4, 2).eval(), torch.ones(2, 4)), tmp_path / "steady.pt")
    assert take_here(steady, tmp_path / "steady").warnings == ()


def test_p07_a_device_in_the_graph_is_one_sentence(public_cases, tmp_path):
    with pytest.raises(BadModel) as caught:
        take_confined(public_cases / "P07" / "model.pt", tmp_path / "out")
    said = sentence(caught.value)
    assert said.startswith("the graph itself asks for cuda:0")
    assert "on the CPU" in said


def test_batch_statistics_are_marked(tmp_path):
    module = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4, track_running_stats=False))
    path = saved(torch.jit.trace(module.eval(), torch.randn(6, 4)), tmp_path / "m.pt")
    assert any("batch statistics" in warning for warning in take_here(path, tmp_path / "out").warnings)


def test_the_plain_archive_passes_and_runs_confined(tmp_path):
    manifest = take_confined(rewritten(tmp_path), tmp_path / "out")
    assert predict(manifest, tmp_path / "out")["output_0"]["shape"] == [3, 3]


@pytest.mark.parametrize(
    "body",
    [
        'torch.save(x, "/tmp/x")',
        'ops.aten.save(x, "/tmp/x")',
        '(x).save("/tmp/x")',
        '(self.weight).save("/tmp/x")',
        "s = x.save",
        "s = torch.save",
        "s = weight.data",
        'y = torch.from_file("/etc/passwd", False, 8)',
        'y = ops.image.read_file("/etc/passwd")',
        'y = __torch__.classes.rpc.WorkerInfo("a", 1)',
        "torch = self.weight",
        "y = ops.prim.fork(x)",
        "print(x)",
        "y = eval",
        "y = [z for z in range(3)]",
        "y = lambda: 1",
        "import os",
        "with x:\n      pass",
        "while True:\n      pass",
        "x.grad = x",
        'y = getattr(x, "save")',
        "y = annotate(__import__, x)",
        "y = unchecked_cast(os.Path, x)",
        'y = f"{x}"',
        "global x",
        "y = (self).forward",
        "del x",
        "raise x",
        "assert x",
    ],
)
def test_code_that_is_not_on_the_list_is_refused_unread(body, tmp_path):
    with pytest.raises(BadModel, match="refused: the TorchScript file holds"):
        check_torchscript(rewritten(tmp_path, body))


@pytest.mark.parametrize(
    "body",
    [
        "y = (self).save(x, )",
        "for i in range(3):\n      x = torch.mul(x, 2)",
        'if torch.eq(torch.dim(x), 2):\n      pass\n    else:\n      ops.prim.RaiseException(torch.format("{}", x))',
        "y = annotate(List[int], [])",
        "_0 = __torch__.net.helper\n    y = _0(x, )",
        "y, z, = torch.max(x, 1)",
        "y = -1 if torch.gt(torch.size(x, 0), 1) else 2",
        'y = torch.to(x, torch.device("cpu"), 6)',
    ],
)
def test_code_as_torch_writes_it_passes(body, tmp_path):
    helper = "def helper(x: Tensor) -> Tensor:\n  return torch.relu(x)\n"
    assert check_torchscript(rewritten(tmp_path, body, helper)).module.kind == "__torch__.net.Net"


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        (
            "class B(Module):\n  def __setstate__(self: __torch__.net.B,\n    s: int) -> NoneType:\n    return None\n",
            "opened",
        ),
        ("class B(Exception):\n  pass\n", "unknown kind"),
        ("x = 1\n", "outside a class"),
        ("import os\n", "outside a class"),
        ("def f(*x) -> Tensor:\n  return x\n", "unknown form"),
        ("class B(Module):\n  y : Final[int] = open('x')\n", "class attribute"),
        ("def f(x: os.Path) -> Tensor:\n  return x\n", "the type 'os'"),
        ("def f(:\n", "cannot be read"),
    ],
)
def test_classes_and_functions_of_other_forms_are_refused(more, reason, tmp_path):
    with pytest.raises(BadModel, match=reason):
        check_torchscript(rewritten(tmp_path, more=more))


@pytest.mark.parametrize(
    ("edits", "reason"),
    [
        ({"m/data.pkl": pickle.dumps(print, 2)}, "with the name"),
        ({"m/data.pkl": pickle.dumps({1: 2}, 5)}, "with the operation"),
        ({"m/constants.pkl": b"\x80\x02ccollections\nOrderedDict\n(I1\ntR."}, "with the operation INT"),
        ({"m/data.pkl": state(kind="__torch__.other\nNet")}, "which its code does not have"),
        ({"m/data.pkl": state(n_items=13)}, "claims more"),
        ({"m/data.pkl": state(shape=(4, 4))}, "claims more"),
        ({"m/data.pkl": state(shape=(1 << 20, 1 << 20), strides=(0, 0))}, "claims more"),
        ({"m/data.pkl": state(storage="torch\nQInt8Storage")}, "with the name"),
        ({"m/data/1.so": b""}, "not on the list"),
        ({"m/code/net.py": b""}, "not on the list"),
        ({"other/x": b""}, "more than one root"),
        ({"m/version": b"x"}, "the version"),
    ],
)
def test_members_and_pickles_that_are_not_on_the_list_are_refused(edits, reason, tmp_path):
    with pytest.raises(BadModel, match=reason):
        check_torchscript(rewritten(tmp_path, edits=edits))


def test_reading_a_pickle_calls_nothing(tmp_path):
    class Touch:
        def __reduce__(self):
            return open, (str(tmp_path / "made"), "w")

    with pytest.raises(BadModel):
        read_pickle(pickle.dumps(Touch(), 2), "data.pkl")
    assert not (tmp_path / "made").exists()


def test_a_file_that_torch_saved_and_cut_is_named(tmp_path):
    whole = io.BytesIO(script_bytes("ts_tabular")).getvalue()
    (tmp_path / "m.pt").write_bytes(whole[: len(whole) * 6 // 10])
    with pytest.raises(BadModel, match="damaged or cut off"):
        take_here(tmp_path / "m.pt", tmp_path / "out")

"""What is taken, refused and told of torch.export programs that are not hostile by design."""

import io
import json
import zipfile

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch import nn

from engine.errors import BadModel
from engine.formats import torch_export
from tests.engine.formats.taking import sentence, take_here

ROWS = ({0: torch.export.Dim("batch")},)


class Mixed(nn.Module):
    """Two inputs, a dict of outputs."""

    def __init__(self):
        super().__init__()
        self.line, self.table = nn.Linear(3, 4), nn.Embedding(10, 4)

    def forward(self, numeric, codes):
        hidden = self.line(numeric) + self.table(codes).mean(1)
        return {"p": torch.softmax(hidden, -1), "index": hidden.argmax(-1)}


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner, self.last = nn.LSTM(4, 8, batch_first=True), nn.Linear(8, 1)

    def forward(self, x):
        return torch.sigmoid(self.last(self.inner(x)[0][:, -1])).squeeze(-1)


class Tokens(nn.Module):
    def __init__(self):
        super().__init__()
        layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)
        self.table, self.body = nn.Embedding(30, 16), nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)

    def forward(self, ids):
        return self.body(self.table(ids)).mean(1)


def convolutional():
    return nn.Sequential(
        *(nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Dropout(0.2)),
        *(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 10), nn.LogSoftmax(1)),
    )


def saved(path, module, args, shapes=ROWS, *, decomposed=False):
    program = torch.export.export(module.eval(), args, dynamic_shapes=shapes)
    program = program.run_decompositions() if decomposed else program
    torch.export.save(program, path)
    return program


@pytest.mark.parametrize("decomposed", [False, True])
@pytest.mark.parametrize(
    ("module", "args", "shapes"),
    [
        (Mixed(), (torch.randn(3, 3), torch.ones(3, 2, dtype=torch.long)), ROWS * 2),
        (Recurrent(), (torch.randn(3, 5, 4),), ROWS),
        (
            Tokens(),
            (torch.ones(3, 5, dtype=torch.long),),
            ({0: torch.export.Dim.DYNAMIC, 1: torch.export.Dim.DYNAMIC},),
        ),
        (convolutional(), (torch.randn(3, 1, 8, 8),), ROWS),
        (convolutional(), (torch.randn(1, 1, 8, 8),), None),
        (nn.Sequential(nn.Linear(4, 8), nn.LayerNorm(8), nn.GELU(), nn.Linear(8, 2)), (torch.randn(3, 4),), ROWS),
    ],
    ids=["mixed", "recurrent", "tokens", "convolutional", "frozen", "dense"],
)
def test_what_is_written_answers_the_same(module, args, shapes, decomposed, tmp_path):
    program = saved(tmp_path / "m.pt2", module, args, shapes, decomposed=decomposed)
    manifest = take_here(tmp_path / "m.pt2", tmp_path / "out")
    rewritten = torch.export.load(tmp_path / "out" / "model.pt2").module()(*args)
    flat, _ = torch.utils._pytree.tree_flatten(rewritten)
    right, _ = torch.utils._pytree.tree_flatten(program.module()(*args))
    assert all(torch.equal(a, b) for a, b in zip(flat, right, strict=True))
    assert [spec.name for spec in manifest.signature.outputs] == [f"output_{i}" for i in range(len(flat))]
    assert [spec.dtype for spec in manifest.signature.outputs] == [str(t.dtype).removeprefix("torch.") for t in flat]
    assert [len(spec.shape) for spec in manifest.signature.outputs] == [t.ndim for t in flat]
    assert manifest.n_parameters == sum(p.numel() for p in module.parameters())


def test_several_inputs_and_the_one_float_output(tmp_path):
    saved(tmp_path / "m.pt2", Mixed(), (torch.randn(3, 3), torch.ones(3, 2, dtype=torch.long)), ROWS * 2)
    manifest = take_here(tmp_path / "m.pt2", tmp_path / "out")
    signature = manifest.signature
    assert [(spec.name, spec.dtype, spec.shape) for spec in signature.inputs] == [
        ("numeric", "float32", ("batch", 3)),
        ("codes", "int64", ("batch", 2)),
    ]
    judged = next(spec for spec in signature.outputs if spec.name == signature.score_output)
    assert (judged.dtype, judged.shape) == ("float32", ("batch", 4))
    assert (signature.task, signature.output_kind) == ("multiclass", "probabilities")
    assert manifest.versions["torch"] == torch.__version__
    assert manifest.warnings == ()


@pytest.mark.parametrize(
    ("module", "task", "kind"),
    [
        (nn.Sequential(nn.Linear(4, 2), nn.Softmax(1)), "binary", "probabilities"),
        (nn.Sequential(nn.Linear(4, 3), nn.LogSoftmax(1)), "multiclass", "logits"),
        (nn.Sequential(nn.Linear(4, 1), nn.Sigmoid()), "binary", "probabilities"),
        (nn.Sequential(nn.Linear(4, 3), nn.Sigmoid()), None, "probabilities"),
        (nn.Sequential(nn.Linear(4, 1), nn.Sigmoid(), nn.Flatten(0)), "binary", "probabilities"),
        (nn.Linear(4, 3), None, None),
    ],
)
def test_the_ending_proposes_kind_and_task(module, task, kind, tmp_path):
    saved(tmp_path / "m.pt2", module, (torch.randn(3, 4),))
    signature = take_here(tmp_path / "m.pt2", tmp_path / "out").signature
    assert (signature.score_output, signature.task, signature.output_kind) == ("output_0", task, kind)


def test_a_frozen_batch_is_said(tmp_path):
    saved(tmp_path / "m.pt2", nn.Linear(4, 2), (torch.randn(1, 4),), None)
    manifest = take_here(tmp_path / "m.pt2", tmp_path / "out")
    assert manifest.signature.fixed_batch == 1
    assert manifest.warnings[0].startswith("batch fixed at 1:")


def test_a_bounded_batch_is_said(tmp_path):
    saved(tmp_path / "m.pt2", nn.Linear(4, 2), (torch.randn(3, 4),), ({0: torch.export.Dim("b", min=1, max=64)},))
    assert take_here(tmp_path / "m.pt2", tmp_path / "out").warnings == ("the export allows batches from 1 to 64 only",)


def test_other_symbolic_axes_keep_their_names(tmp_path):
    dynamic = torch.export.Dim.DYNAMIC
    saved(tmp_path / "m.pt2", Tokens(), (torch.ones(3, 5, dtype=torch.long),), ({0: dynamic, 1: dynamic},))
    shape = take_here(tmp_path / "m.pt2", tmp_path / "out").signature.inputs[0].shape
    assert shape[0] == "batch"
    assert shape[1].startswith("s")


class Multiplied(nn.Module):
    def forward(self, x, factor):
        return x * factor


class WithoutGradient(nn.Module):
    def __init__(self):
        super().__init__()
        self.line = nn.Linear(4, 2)

    def forward(self, x):
        with torch.no_grad():
            return self.line(x)


@pytest.mark.parametrize(
    ("module", "args", "expected"),
    [
        (Multiplied(), (torch.randn(3, 4), 2), "a plain Python value"),
        (WithoutGradient(), (torch.randn(3, 4),), "run_decompositions"),
    ],
)
def test_programs_that_cannot_be_used_say_why(module, args, expected, tmp_path):
    saved(tmp_path / "m.pt2", module, args, None)
    with pytest.raises(BadModel, match=expected) as caught:
        take_here(tmp_path / "m.pt2", tmp_path / "out")
    sentence(caught.value)


# ---------------------------------------------------------------- changes to a good archive
@pytest.fixture(scope="module")
def members():
    buffer = io.BytesIO()
    saved(buffer, nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2)), (torch.randn(3, 4),))
    with zipfile.ZipFile(buffer) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def pack(path, members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def changed(members, part, change):
    name = next(name for name in members if part in name)
    content = json.loads(members[name])
    change(content)
    return members | {name: json.dumps(content).encode()}


def test_the_packing_of_these_tests_is_taken(members, tmp_path):
    assert take_here(pack(tmp_path / "m.pt2", members), tmp_path / "out").n_parameters == 23


def first_entry(config):
    return next(iter(config["config"].values()))


def meta(config):
    return first_entry(config)["tensor_meta"]


def first_node(program):
    return program["graph_module"]["graph"]["nodes"][0]


@pytest.mark.parametrize(
    ("part", "change", "expected"),
    [
        ("weights_config", lambda c: first_entry(c).update(use_pickle=True), "as a pickle"),
        ("weights_config", lambda c: first_entry(c).update(use_pickle=0), "as a pickle"),
        ("weights_config", lambda c: first_entry(c).update(path_name="../weight_0"), "allowed is weight_N"),
        ("weights_config", lambda c: first_entry(c).update(path_name="weight_99"), "no member weight_99"),
        ("weights_config", lambda c: meta(c).update(sizes=[{"as_int": 9**9}]), "sizes"),
        ("weights_config", lambda c: meta(c).update(storage_offset={"as_int": 99}), "more elements"),
        ("weights_config", lambda c: meta(c).update(storage_offset={"as_int": -1}), "no numbers"),
        ("weights_config", lambda c: meta(c).update(dtype=9), "unknown type"),
        ("weights_config", lambda c: meta(c)["device"].update(type="cuda"), "export it on the CPU"),
        ("models/", lambda p: p.update(verifiers=["EDGE"]), "dialect"),
        ("models/", lambda p: p["schema_version"].update(major=9), "this server reads 8"),
        ("models/", lambda p: p.update(new_field=1), "unknown field 'new_field'"),
        ("models/", lambda p: p["graph_module"].update(graph=[]), "cannot be read"),
        ("models/", lambda p: p.update(guards_code=["exit()"]), "a guard that is not allowed"),
        ("models/", lambda p: first_node(p).update(target="torch.ops.aten.from_file.default"), "from_file"),
        ("models/", lambda p: first_node(p).update(target="torch.ops.aten._print.default"), "operator"),
        ("models/", lambda p: first_node(p)["inputs"][0].update(arg={"as_string": "/etc/passwd"}), "string"),
    ],
)  # fmt: skip
def test_each_change_is_refused_by_name(part, change, expected, members, tmp_path):
    with pytest.raises(BadModel, match=expected) as caught:
        take_here(pack(tmp_path / "m.pt2", changed(members, part, change)), tmp_path / "out")
    sentence(caught.value)


def test_stack_traces_and_sample_inputs_do_not_survive(members, tmp_path):
    assert any(b"stack_trace" in data for data in members.values())
    take_here(pack(tmp_path / "m.pt2", members), tmp_path / "out")
    with zipfile.ZipFile(tmp_path / "out" / "model.pt2") as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    assert not any(b"stack_trace" in data or b"site-packages" in data for data in contents.values())
    assert contents["model/data/sample_inputs/model.pt"] == b""


def leaves(value, path=()):
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(inner, (*path, key))
    yield path


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_change_of_the_json_ends_in_a_sentence_or_a_description(data, members, tmp_path):
    part = data.draw(st.sampled_from(["models/", "weights_config"]))
    odd = st.one_of(
        st.none(), st.booleans(), st.integers(-3, 1 << 70), st.floats(), st.text(max_size=8), st.just([]), st.just({}),
        st.just({"as_int": 1}), st.just([{"as_int": -1}]), st.just({"as_expr": {"expr_str": "Symbol('s0')"}}),
    )  # fmt: skip

    def change(content):
        places = [path for path in leaves(content) if path and "metadata" not in path]
        *way, last = data.draw(st.sampled_from(places))
        for key in way:
            content = content[key]
        content[last] = data.draw(odd)

    path, out = pack(tmp_path / "m.pt2", changed(members, part, change)), tmp_path / "out"
    out.mkdir(exist_ok=True)
    try:
        torch_export.take(path, out)
        torch_export.describe(out)
    except BadModel as error:
        sentence(error)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_cut_and_changed_archives_end_in_a_sentence_or_a_description(data, members, tmp_path):
    whole = pack(tmp_path / "whole.pt2", members).read_bytes()
    damaged = bytearray(whole[: data.draw(st.sampled_from([len(whole), len(whole) // 2, len(whole) - 30]))])
    for position in data.draw(st.lists(st.integers(0, len(damaged) - 1), max_size=6)):
        damaged[position] = data.draw(st.integers(0, 255))
    path, out = tmp_path / "m.pt2", tmp_path / "out"
    path.write_bytes(damaged)
    out.mkdir(exist_ok=True)
    try:
        torch_export.take(path, out)
        torch_export.describe(out)
    except BadModel as error:
        sentence(error)

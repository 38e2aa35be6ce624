"""Every way to run the same trees, one thread, in turn: processor time against LightGBM's own predict."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import lightgbm as lgb
import numpy as np

from benchmarks import forests
from benchmarks.tree_chain import chain
from benchmarks.tree_compile import compile_times
from benchmarks.tree_goals import goals
from benchmarks.tree_rivals import ARMS, FOLDER, KEPT, Arm, Running, Stopped, start
from benchmarks.tree_switch import kernels_by_rows
from engine.forest.binned import pack, write
from engine.forest.lightgbm_text import parse
from engine.forest.onnx_tree_ensemble import to_onnx

BATCHES = (1, 8, 32, 128, 1024, 8192, 100_000)  # rows of a call
COMPILED_PER_MODEL = ("lleaves", "tl2cgen")  # minutes of a compiler for each model: for the first two only
MAIN, N_COMPILED = next(iter(forests.MODELS)), 2
BUDGET_S, FEWEST, MOST = 1.0, 3, 60  # of LightGBM's time per batch size, and repetitions
Ratios = dict[str, dict[int, float]]  # arm -> rows of a call -> times faster than LightGBM


def table() -> list[str]:
    """Markdown lines."""
    lines = [
        "## Trees: every way to run the same model",
        "Times faster than `Booster.predict(num_threads=1, raw_score=True)` of the same rows: median of the ratios of",
        f"calls in turn ({FEWEST} to {MOST} rounds in random order), by processor time, each in a process of its own,",
        "one thread, pinned to one core. Single rows: 200 different ones. Larger is faster. lleaves and tl2cgen, which",
        f"compile each model for minutes, ran for the first {N_COMPILED} only; 100,000 rows for the first only. Build",
        "(of what is compiled or converted per model) and load (libraries, file, first row) in processor seconds;",
        "memory by which the process grew from before its libraries.",
    ]
    found: dict[str, Ratios] = {}
    bodies: list[str] = []
    with _pinned():
        for number, (name, make) in enumerate(forests.MODELS.items()):
            found[name], body = _model(name, make, number)
            bodies += ["", *body]
        more = [*chain(), "", *kernels_by_rows(_folders()), "", *compile_times()]
    return [*lines, "", *goals(found), *bodies, "", *more]


def _folders() -> dict[str, Path]:
    return {name: FOLDER / "models" / name.replace(" ", "-").replace(",", "") for name in forests.MODELS}


def _model(name: str, make: Callable[[], forests.Made], number: int) -> tuple[Ratios, list[str]]:
    folder = _folders()[name]
    facts = _prepare(folder, make)
    text = (folder / "model.txt").read_text()
    arms = [arm for arm in ARMS if number < N_COMPILED or arm.kind not in COMPILED_PER_MODEL]
    if parse(text).n_classes > 1:
        arms = [arm for arm in arms if arm.environment is None]
    batches = BATCHES if name == MAIN else BATCHES[:-1]
    lines = [
        f"### {name}",
        facts,
        "",
        "| runtime | " + " | ".join(f"{n:,}" for n in batches) + " | largest difference | build, load | file, memory |",
        "|---|" + "---|" * (len(batches) + 3),
    ]
    with ExitStack() as stack:
        running, stopped = _started(arms, folder, stack)
        ratios: Ratios = {one.arm.name: {} for one in running}
        base = []
        for n_rows in batches:
            medians, nanoseconds = _ratios(running, n_rows)
            base.append(f"{nanoseconds / n_rows / 1e3:.3g} µs/row")
            for arm, ratio in medians.items():
                ratios[arm][n_rows] = ratio
        right = running[0].answers(2000, folder / "right.npy")
        for one in running:
            gap = np.abs(one.answers(2000, folder / "answers.npy") - right).max()
            cells = base if one.arm.kind == "lightgbm" else [_cell(ratios[one.arm.name].get(n)) for n in batches]
            lines.append(f"| {one.arm.name} | " + " | ".join(cells) + f" | {gap:.1g} | {_costs(one, folder)} |")
        lines += [f"| {arm.name} | {reason} |" + " |" * (len(batches) + 2) for arm, reason in stopped]
    return ratios, lines


def _cell(ratio: float | None) -> str:
    return "" if ratio is None else f"{ratio:.3g}"


def _prepare(folder: Path, make: Callable[[], forests.Made]) -> str:
    """The model in every form, and what that took. The model and what rivals built from it stay for a later run."""
    mark = hashlib.sha256(Path(forests.__file__).read_bytes() + lgb.__version__.encode()).hexdigest()
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / mark).exists():
        for path in folder.iterdir():
            path.unlink()
        booster, rows = make()
        (folder / "model.txt").write_text(booster.model_to_string())
        np.save(folder / "rows.npy", np.resize(rows, (100_000, rows.shape[1])))
        (folder / mark).touch()
    forest = parse((folder / "model.txt").read_text())
    rows = np.load(folder / "rows.npy")[:5000]
    started = time.process_time()
    write(pack(forest, rows), folder)
    packed_s = time.process_time() - started
    started = time.process_time()
    (folder / "model.onnx").write_bytes(_raw(to_onnx(forest)))
    exported_s = time.process_time() - started
    return (
        f"{len(forest.trees):,} trees, {sum(tree.n_nodes for tree in forest.trees):,} splits. Ours was packed in "
        f"{packed_s:.2f} s, our ONNX export made in {exported_s:.2f} s of processor time."
    )


def _raw(model: object) -> bytes:
    """Without average and link, so that every runtime does the same work."""
    from onnx import ModelProto, TensorProto, helper

    assert isinstance(model, ModelProto)
    at = next(i for i, node in enumerate(model.graph.node) if node.op_type == "TreeEnsemble")
    width = next(a.i for a in model.graph.node[at].attribute if a.name == "n_targets")
    del model.graph.node[at + 1 :]
    model.graph.node[at].output[0] = "raw"
    del model.graph.output[:]
    model.graph.output.append(helper.make_tensor_value_info("raw", TensorProto.DOUBLE, ["N", width]))
    return bytes(model.SerializeToString())


def _started(arms: list[Arm], folder: Path, stack: ExitStack) -> tuple[list[Running], list[tuple[Arm, str]]]:
    running, stopped = [], []
    for arm in arms:
        try:
            running.append(start(arm, folder))
        except Stopped as reason:
            stopped.append((arm, str(reason)))
        else:
            stack.callback(running[-1].close)
    return running, stopped


def _costs(one: Running, folder: Path) -> str:
    files = KEPT | {"lightgbm": "model.txt", "binned": "forest.npz", "onnx": "model.onnx"}
    built = f"{one.facts['build_s']:.0f} s, " if "build_s" in one.facts else ""
    size = f"{(folder / files[one.arm.kind]).stat().st_size / 1e6:.2f} MB, " if one.arm.kind in files else ""
    return f"{built}{one.facts['load_s']:.2f} s | {size}{one.facts['memory_mb']:.0f} MB"


def _ratios(running: list[Running], n_rows: int) -> tuple[dict[str, float], float]:
    """Medians over rounds of LightGBM's time by each arm's; LightGBM's median in nanoseconds a call."""
    random = np.random.default_rng(0)
    arms = [one for one in running if n_rows <= one.arm.most_rows]
    calls = max(1, 200 // n_rows)
    once_s = running[0].ns(n_rows, calls, 0) * calls / 1e9
    rounds = int(np.clip(BUDGET_S / once_s, FEWEST if n_rows <= 8192 else 2, MOST))
    spent: dict[str, list[float]] = {one.arm.name: [] for one in arms}
    for _ in range(rounds):
        begin = int(random.integers(0, 100_000 - n_rows * calls + 1))
        for place in random.permutation(len(arms)):
            spent[arms[place].arm.name].append(arms[place].ns(n_rows, calls, begin))
    base = np.array(spent["LightGBM"])
    return {name: float(np.median(base / np.array(times))) for name, times in spent.items()}, float(np.median(base))


@contextmanager
def _pinned() -> Iterator[None]:
    """On one core, where the system has affinity."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)

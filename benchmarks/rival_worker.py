"""One way to run the same trees, in a process and an environment of its own: a line of JSON in, a line out.

`python rival_worker.py KIND FOLDER`: FOLDER holds model.txt, and forest.npz and model.onnx for the kinds that read
them; what a kind builds is kept there. Knows nothing of the rest, so that it runs where only a rival is installed.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

Predict = Callable[[np.ndarray], Any]
OPEN = ExitStack()  # what has to stay open as long as questions come
WARM_UP = 2_000  # rows answered before the stopwatch at most


def lightgbm(folder: Path) -> Predict:
    """What most services call."""
    import lightgbm as lgb

    booster = lgb.Booster(model_file=folder / "model.txt")
    return lambda rows: booster.predict(rows, num_threads=1, raw_score=True)


def lightgbm_single(folder: Path) -> Predict:
    """LightGBM's own call for single rows."""
    import lightgbm as lgb

    from engine.runtimes.lightgbm_native import single_row_call

    booster = lgb.Booster(model_file=folder / "model.txt")
    n_classes = booster.num_model_per_iteration()
    call = OPEN.enter_context(single_row_call(booster, n_classes if n_classes > 1 else 0, raw=True))

    def predict(rows: np.ndarray) -> np.ndarray:
        if len(rows) == 1:
            return call(rows)
        return np.concatenate([call(rows[i : i + 1]) for i in range(len(rows))])

    return predict


def binned(folder: Path) -> Predict:
    """Ours."""
    from engine.forest.serve import load

    model = load(folder / "forest.npz")
    return lambda rows: model.predict(rows, raw=True)


def onnx(folder: Path) -> Predict:
    """Our export in double precision."""
    return _session(folder / "model.onnx", np.float64)


def onnxmltools(folder: Path) -> Predict:
    """The usual converter, in single precision; gives probabilities."""
    if not (folder / "onnxmltools.onnx").exists():
        import lightgbm as lgb
        import onnxmltools as converter
        from onnxmltools.convert.common.data_types import FloatTensorType

        booster = lgb.Booster(model_file=folder / "model.txt")
        types = [("x", FloatTensorType([None, booster.num_feature()]))]
        made = converter.convert_lightgbm(booster, initial_types=types, zipmap=False)
        (folder / "onnxmltools.onnx").write_bytes(made.SerializeToString())
    return _session(folder / "onnxmltools.onnx", np.float32, "probabilities")


def _log_odds(probabilities: np.ndarray) -> np.ndarray:
    return np.log(probabilities[:, 1].astype(np.float64) / probabilities[:, 0])


def _session(path: Path, dtype: Any, output: str | None = None) -> Predict:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    name, outputs = session.get_inputs()[0].name, [output or session.get_outputs()[0].name]
    return lambda rows: session.run(outputs, {name: rows.astype(dtype, copy=False)})[0]


def lleaves(folder: Path) -> Predict:
    """Compiled with LLVM."""
    import lleaves as compiler

    model = compiler.Model(model_file=str(folder / "model.txt"))
    model.compile(cache=str(folder / "lleaves.bin"), raw_score=True)
    return lambda rows: model.predict(rows, n_jobs=1)


def tl2cgen(folder: Path) -> Predict:
    """Compiled as C, thresholds as whole numbers."""
    import tl2cgen as compiler
    import treelite

    library = folder / "tl2cgen.so"
    if not library.exists():
        model = treelite.frontend.load_lightgbm_model(folder / "model.txt")
        params = {"quantize": 1, "parallel_comp": 8}
        compiler.export_lib(model, toolchain="gcc", libpath=library, params=params, nthread=1)
    predictor = compiler.Predictor(library, nthread=1)
    return lambda rows: predictor.predict(compiler.DMatrix(rows, dtype="float64"), pred_margin=True)


def gtil(folder: Path) -> Predict:
    """Treelite's interpreter."""
    import treelite

    model = treelite.frontend.load_lightgbm_model(folder / "model.txt")
    return lambda rows: treelite.gtil.predict(model, rows, nthread=1, pred_margin=True)


KINDS: dict[str, Callable[[Path], Predict]] = {
    one.__name__: one for one in (lightgbm, lightgbm_single, binned, onnx, onnxmltools, lleaves, tl2cgen, gtil)
}
RAW = {"onnxmltools": _log_odds}  # kinds whose answers are no raw scores yet
KEPT = {"onnxmltools": "onnxmltools.onnx", "lleaves": "lleaves.bin", "tl2cgen": "tl2cgen.so"}


def spent_s() -> float:
    """Processor seconds of this process and of the compilers it started."""
    return sum(os.times()[:4])


def resident_mb() -> float:
    """Memory of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def main(kind: str, folder: Path) -> None:
    """Build what is missing, then answer questions until the end of the input."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print is no answer

    def say(**words: Any) -> None:
        answers.write(json.dumps(words) + "\n")
        answers.flush()

    facts: dict[str, Any] = {}
    if kind in KEPT and not (folder / KEPT[kind]).exists():
        started = spent_s()
        KINDS[kind](folder)
        facts["build_s"] = spent_s() - started
        say(built=facts)
        return
    before_mb, started = resident_mb(), spent_s()
    predict = KINDS[kind](folder)
    rows = np.load(folder / "rows.npy")
    rows_mb = rows.nbytes / 1e6
    predict(rows[:1])
    say(load_s=spent_s() - started, memory_mb=resident_mb() - before_mb - rows_mb)
    for line in sys.stdin:
        asked = json.loads(line)
        n, start = asked["rows"], asked["start"]
        if "out" in asked:
            found = np.asarray(predict(rows[start : start + n]))
            np.save(asked["out"], RAW.get(kind, np.asarray)(found).reshape(n, -1))
            say(rows=n)
            continue
        parts = [rows[i : i + n] for i in range(start, start + n * asked["calls"], n)]
        for part in parts[: max(1, WARM_UP // n)]:
            predict(part[:WARM_UP])
        begun = time.process_time_ns()
        for part in parts:
            predict(part)
        say(ns=(time.process_time_ns() - begun) / len(parts))


if __name__ == "__main__":
    with OPEN:
        main(sys.argv[1], Path(sys.argv[2]))

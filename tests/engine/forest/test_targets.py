"""The kernels for other processors than this one: the same bits from SSE2, AVX2 and all that the host has.

ARM is not run anywhere in these tests. No kernel names an instruction: LLVM makes NEON of what it makes SSE2 of here.
"""

import json
import os
import platform
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from engine.forest.binned import pack, write
from engine.forest.lightgbm_text import parse
from tests.engine.forest.test_binned import trained
from tests.model_zoo import adversarial_rows, booster, forest_text

ROOT = Path(__file__).parents[3]
AVX2 = "+sse,+sse2,+sse3,+ssse3,+sse4.1,+sse4.2,+popcnt,+cx16,+fxsr,+avx,+avx2,+bmi,+bmi2,+lzcnt,+f16c,+movbe,+fma"
TARGETS = {  # name -> what numba compiles for; registers its code uses, and those it must not
    "SSE2": ({"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": "+sse2"}, "xmm", "ymm"),
    "AVX2": ({"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": AVX2}, "ymm", "zmm"),
    "host": ({}, "", None),
}
MODELS = ("categorical", "multiclass", "deep", "16-bit bins")
_ANSWER = """
import json, sys
from pathlib import Path
import numpy as np
from engine.forest.serve import jit, load
for folder in sys.argv[1:]:
    model, rows = load(Path(folder) / "forest.npz"), np.load(Path(folder) / "rows.npy")
    for kernel, switch in (("few", 1 << 30), ("blocks", 0)):
        model.switch = switch
        parts = [model.predict(rows[i : i + 100], raw=True) for i in range(0, len(rows), 100)]  # wide blocks
        parts += [model.predict(rows[i : i + 20], raw=True) for i in range(0, len(rows), 20)]  # narrow ones
        np.save(Path(folder) / f"{kernel}.npy", np.concatenate(parts))
kernels = [kernel for name, kernel in jit._COMPILED.items() if name != "jit"]
code = "".join(text for kernel in kernels for text in kernel.inspect_asm().values())
print(json.dumps([register for register in ("xmm", "ymm", "zmm") if register in code]))
"""


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """Folders with the file, rows, and LightGBM's raw scores of them."""
    made = {}
    for name in MODELS:
        folder = made[name] = tmp_path_factory.mktemp("forest")
        if name in ("categorical", "multiclass"):
            forest, native, rows = parse(forest_text(name)), booster(name), adversarial_rows(name)
        else:
            params = {"num_leaves": 90, "categories": (1, 3)} if name == "deep" else {"max_bin": 2000, "n_rounds": 100}
            native, rows = trained(min_data_in_bin=1, **params)
            forest = parse(native.model_to_string())
        write(pack(forest), folder)
        np.save(folder / "rows.npy", rows)
        np.save(folder / "right.npy", native.predict(rows, raw_score=True, num_threads=1))
    return made


@pytest.mark.slow
@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="the other targets are x86")
@pytest.mark.parametrize("target", TARGETS)
def test_every_target_gives_the_native_bits(target, models, tmp_path):
    variables, used, unused = TARGETS[target]
    done = subprocess.run(
        [sys.executable, "-c", _ANSWER, *map(str, models.values())],
        cwd=ROOT,
        env=os.environ | variables | {"NUMBA_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    registers = json.loads(done.stdout)
    assert used in registers or not used, "the code was compiled for something else"
    assert unused not in registers
    for folder in models.values():
        right = np.load(folder / "right.npy")
        for kernel in ("few", "blocks"):
            np.testing.assert_array_equal(np.load(folder / f"{kernel}.npy"), np.concatenate([right, right]))

"""A child that holds a tiny numpy net open and answers JSON lines: python arm_process.py WIDTH REPEATS."""

import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3]))

import numpy as np

from engine.measurement.arm import Arm


def main(width, repeats):
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    rng = np.random.default_rng(0)
    first, second = rng.normal(size=(16, width)).astype(np.float32), rng.normal(size=(width, 2)).astype(np.float32)

    def predict(inputs):
        for _ in range(repeats):
            scores = np.maximum(inputs["x"] @ first, 0) @ second
        return {"scores": scores}

    pool = {"x": rng.normal(size=(500, 16)).astype(np.float32)}
    arm = Arm(predict, pool, lambda outputs: outputs["scores"].argmax(axis=1), load_ms=1.5)
    for line in sys.stdin:
        print(json.dumps(arm.handle(json.loads(line))), flush=True)


main(int(sys.argv[1]), int(sys.argv[2]))

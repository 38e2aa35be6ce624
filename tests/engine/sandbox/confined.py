"""Functions that the sandbox tests run in a child: some behave, most do not. Imports nothing heavy at the top."""

import contextlib
import ctypes
import errno
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import engine.errors


def echo(request, talk):
    return {"echo": request}


def joblib_workers(request, talk):
    from joblib._multiprocessing_helpers import mp

    return {"workers": mp and mp.__name__}


def environment(request, talk):
    print("to the log")
    return {"environment": dict(os.environ), "cwd": str(Path.cwd()), "home": str(Path.home())}


def read_files(request, talk):
    found = {}
    for path in request["paths"]:
        try:
            found[path] = Path(path).read_text()
        except OSError as error:
            found[path] = type(error).__name__
    return found


def write_files(request, talk):
    outcome = {}
    for path in request["paths"]:
        try:
            Path(path).write_text("written")
            outcome[path] = "written"
        except OSError as error:
            outcome[path] = type(error).__name__
    return outcome


def links(request, talk):
    """Try to leave a link where the parent will look for a file."""
    outcome = {}
    for name, make in (("symbolic", os.symlink), ("hard", os.link)):
        try:
            make(request["target"], Path(request["folder"]) / name)
            outcome[name] = "made"
        except OSError as error:
            outcome[name] = type(error).__name__
    return outcome


def change_mode(request, talk):
    Path(request["path"]).chmod(0)
    return {}


def connect(request, talk):
    outcome = {}
    for name, family, address in (
        ("tcp", socket.AF_INET, ("127.0.0.1", request["port"])),
        ("unix", socket.AF_UNIX, request["unix"]),
    ):
        try:
            with socket.socket(family, socket.SOCK_STREAM) as client:
                client.connect(address)
            outcome[name] = "connected"
        except OSError as error:
            outcome[name] = type(error).__name__
    return outcome


def segfault(request, talk):
    print("about to crash", flush=True)
    ctypes.string_at(0)


def abort(request, talk):
    os.abort()


def hog_memory(request, talk):
    kept = []
    while True:
        kept.append(bytearray(64 << 20))


def hog_memory_natively(request, talk):
    import torch

    return {"sum": float(torch.ones(200_000_000_000).sum())}


def spin(request, talk):
    while True:
        pass


def sleep(request, talk):
    time.sleep(1000)


def leave_grandchildren(request, talk):
    """Start three that outlive a mere kill of this process: a subprocess, a fork, and one that tries to leave."""
    pids = [subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"]).pid]
    for leave in (False, True):
        pid = os.fork()
        if not pid:
            if leave:
                for attempt in (os.setsid, lambda: os.setpgid(0, 0)):
                    with contextlib.suppress(OSError):
                        attempt()
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            time.sleep(1000)
            os._exit(0)
        pids.append(pid)
    talk.send({"pids": [os.getpid(), *pids]})
    time.sleep(1000)


def kill_parent(request, talk):
    outcome = {}
    attempts = {
        "kill": lambda: os.kill(request["parent"], 0),
        "limits": lambda: __import__("resource").prlimit(request["parent"], 0, (1, 1)),
        "environment": lambda: Path(f"/proc/{request['parent']}/environ").read_bytes(),
        "memory": lambda: Path(f"/proc/{request['parent']}/mem").open("rb").close(),
    }
    for name, attempt in attempts.items():
        try:
            attempt()
            outcome[name] = "done"
        except OSError as error:
            outcome[name] = type(error).__name__
    return outcome


def raise_ours(request, talk):
    if request["class"] == "Contained":
        raise engine.errors.Contained(request["message"], "timeout")
    raise getattr(engine.errors, request["class"])(request["message"])


def raise_foreign(request, talk):
    raise KeyError("a\nb")


def disk_full(request, talk):
    raise OSError(errno.ENOSPC, "No space left on device")


def end_silently(request, talk):
    os._exit(3)


def big_file(request, talk):
    Path(request["path"]).write_bytes(bytes(2 << 20))
    return {}


def progress(request, talk):
    for step in range(3):
        talk.send({"progress": step / 3, "message": f"step {step}"})
    return {"done": True}


def answer_garbage(request, talk):
    talk._outgoing.write(request["raw"].encode() + b"\n")
    talk._outgoing.flush()
    time.sleep(1000)


def answer_without_end(request, talk):
    while True:
        talk._outgoing.write(b"x" * (1 << 20))


def chatter(request, talk):
    """Fill both streams at once while a large question is on its way."""
    while (question := talk.receive()) is not None:
        print("x" * 300_000, flush=True)
        talk.send({"noise": "y" * 300_000})
        talk.reply({"length": len(question["text"]), "text": question["text"]})
    return {}


def conversing(request, talk):
    total = 0
    while (question := talk.receive()) is not None:
        if question.get("raise"):
            raise engine.errors.BadData("no such row: 7")
        if question.get("sleep"):
            time.sleep(question["sleep"])
        if question.get("crash"):
            ctypes.string_at(0)
        if question.get("return"):
            return {}
        total += question.get("add", 0)
        talk.reply({"total": total})
    Path(request["end"]).write_text("ended by itself")
    return {}


def settings(request, talk):
    import torch

    return {"cores": sorted(os.sched_getaffinity(0)), "torch_threads": torch.get_num_threads()}


def heavy_imports(request, talk):
    """Everything a model is opened with, and one call of each on two threads."""
    import lightgbm
    import numpy as np
    import onnx
    import onnxruntime
    import pandas as pd
    import pyarrow.parquet
    import torch
    from onnx import TensorProto, helper

    table = Path(request["folder"]) / "t.parquet"
    pd.DataFrame({"a": range(100)}).to_parquet(table)
    x = np.random.default_rng(0).normal(size=(200, 4))
    booster = lightgbm.train({"verbose": -1, "num_threads": 2}, lightgbm.Dataset(x, x[:, 0]), 3)
    node = helper.make_node("Neg", ["x"], ["y"])
    info = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N"]) for name in "xy"]
    model = helper.make_model(helper.make_graph([node], "g", info[:1], info[1:]), ir_version=8)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 2
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    torch.set_num_threads(2)
    return {
        "onnx": onnx.__version__,
        "rows": pyarrow.parquet.read_table(table).num_rows,
        "lightgbm": len(booster.predict(x)),
        "onnxruntime": session.run(None, {"x": np.ones(3, np.float32)})[0].tolist(),
        "torch": torch.nn.Linear(64, 64)(torch.ones(512, 64)).shape[0],
        "exported": torch.export.export(torch.nn.Linear(2, 2), (torch.ones(1, 2),)).graph_signature.user_inputs[0],
    }

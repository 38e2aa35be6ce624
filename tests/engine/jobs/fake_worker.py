"""A worker whose experiments misbehave on request: `spec.runtime.params["do"]` names one of the functions below."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
import time
from pathlib import Path


class Talk:
    def __init__(self, fd_in, fd_out):
        self.incoming, self.outgoing = os.fdopen(fd_in), os.fdopen(fd_out, "w")
        self.order = json.loads(self.incoming.readline())
        self.params = self.order["spec"]["runtime"]["params"]

    def say(self, **message):
        self.outgoing.write(json.dumps(message) + "\n")
        self.outgoing.flush()

    def ask(self, phase):
        self.say(ask=phase)
        assert json.loads(self.incoming.readline()) == {"granted": phase}

    def note(self, *words):
        """One line in the common diary, whole even when many write."""
        with Path(self.params["diary"]).open("a") as file:
            file.write(" ".join(str(word) for word in (*words, time.time())) + "\n")


def ok(talk):
    talk.say(phase="build", progress=0.5, message="half")
    print("printed to stdout")
    print("printed to stderr", file=sys.stderr)
    os.system("echo printed by a child")
    talk.say(result={"device": "cpu", "environment": dict(os.environ), "chain": []})


def steps(talk):
    for number in range(talk.params.get("n", 5)):
        time.sleep(0.2)
        print("did step", number)
        talk.say(phase="build", progress=(number + 1) / talk.params.get("n", 5), message=f"step {number}")
    talk.say(result={})


def diary(talk):
    """Starts and ends are noted; `s` seconds lie between."""
    talk.note("start", talk.order["experiment_id"], talk.order["attempt"])
    time.sleep(talk.params.get("s", 0))
    talk.note("end", talk.order["experiment_id"], talk.order["attempt"])
    talk.say(result={})


def phases(talk):
    for phase, s in talk.params["phases"]:
        talk.ask(phase)
        talk.note("in", phase, os.getpid())
        time.sleep(s)
        talk.note("out", phase, os.getpid())
    talk.say(result={})


def sleep(talk):
    talk.say(phase="build", progress=0.1, message="asleep")
    time.sleep(600)


def gil(talk):
    talk.say(phase="build", message="in native code")
    ctypes.PyDLL(None).sleep(600)  # holds the interpreter lock, hears no signal handler


def blas(talk):
    import numpy

    matrix = numpy.random.default_rng(0).standard_normal((6000, 6000))
    talk.say(phase="build", message="in native code")
    numpy.linalg.svd(matrix)
    talk.say(result={})


def segv(talk):
    ctypes.string_at(0)


def abort(talk):
    os.abort()


def exit3(talk):
    print("giving up")
    sys.exit(3)


def error(talk):
    talk.say(error={"reason": talk.params.get("reason", "error"), "message": talk.params.get("message", "too bad")})
    sys.exit(1)


def hog(talk):
    held = []
    while True:
        held.append(b"x" * (20 << 20))
        time.sleep(0.02)


def burst(talk):
    try:
        held = b"x" * (talk.params["gb"] << 30)
    except MemoryError as fault:
        talk.say(error={"reason": "error", "message": f"MemoryError: {fault}"})
    else:
        talk.say(result={"environment": {"held": len(held)}})


def family(talk):
    """Leaves three descendants: a child, one in a session of its own, and an orphan of a dead parent in one."""
    plain = subprocess.Popen(["sleep", "600"])
    session = subprocess.Popen(["sleep", "600"], start_new_session=True)
    middle = (
        "import subprocess; quiet = subprocess.DEVNULL; "
        "print(subprocess.Popen(['sleep', '600'], start_new_session=True, stdout=quiet).pid, flush=True)"
    )
    orphan = int(subprocess.run([sys.executable, "-c", middle], stdout=subprocess.PIPE, check=True).stdout)
    Path(talk.params["pids"]).write_text(f"{plain.pid} {session.pid} {orphan}")
    if talk.params["then"] == "sleep":
        time.sleep(600)
    if talk.params["then"] == "crash":
        ctypes.string_at(0)
    talk.say(result={})


def flood(talk):
    for number in range(talk.params["n"]):
        print("line", number)
    print("x" * 100_000)
    sys.stdout.write("no newline at the end")
    sys.stdout.flush()
    talk.say(result={})


def garbage(talk):
    talk.outgoing.write("not JSON\n[1, 2]\n")
    talk.say(phase="nonsense", progress=float("nan"), message=None)
    talk.say(phase="build", progress=7, message="m" * 5000)
    sys.stdout.buffer.write(b"\xff\xfe\x00 bytes\n10%\r20%\r30%\n")
    sys.stdout.flush()
    talk.say(result={})


def bad_result(talk):
    talk.say(result={"nonsense": 1})


def unknown_phase(talk):
    talk.say(ask="party")
    time.sleep(600)


def stubborn(talk):
    talk.say(result={})
    time.sleep(600)


def deaf(talk):
    """Closes all its pipes and lives on."""
    for fd in (talk.incoming.fileno(), talk.outgoing.fileno(), 1, 2):
        os.close(fd)
    time.sleep(600)


def limits(talk):
    import resource

    adjusted = Path("/proc/self/oom_score_adj").read_text().strip()
    data = resource.getrlimit(resource.RLIMIT_DATA)[0]
    found = {"data": data, "core": resource.getrlimit(resource.RLIMIT_CORE)[0], "oom": adjusted}
    talk.say(result={"environment": found})


if __name__ == "__main__":
    talk = Talk(int(sys.argv[1]), int(sys.argv[2]))
    globals()[talk.params["do"]](talk)

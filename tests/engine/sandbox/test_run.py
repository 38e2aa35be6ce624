"""The sandbox as a boundary: what a confined function can reach, and how it answers."""

import os
import signal
import socket
import threading
from pathlib import Path

import pytest

from engine.errors import BadModel, Contained, NoSpace, WhetstoneError
from engine.sandbox import Limits, conversation, run
from tests.engine.sandbox.confining import HERE, HOLDS, contained, landlock, linux


def open_files() -> list[str]:
    return sorted(path.name for path in Path("/dev/fd").iterdir())


def test_request_and_result_travel_whole():
    request = {"text": "żółw\n", "list": [1, 2.5, None], "deep": {"a": [{"b": True}]}}
    assert run(f"{HERE}:echo", request) == {"echo": request}


def test_large_messages_travel_whole():
    text = "x" * (20 << 20)
    assert run(f"{HERE}:echo", {"text": text}) == {"echo": {"text": text}}


def test_environment_is_an_allow_list(monkeypatch):
    monkeypatch.setenv("WHETSTONE_DATABASE_URL", "postgresql://user:secret@host/db")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("WHETSTONE_HOME", "/somewhere")
    seen = run(f"{HERE}:environment", {}, threads=3)
    assert "secret" not in str(seen)
    assert not [name for name in seen["environment"] if name.startswith(("WHETSTONE", "AWS"))]
    assert seen["environment"]["OMP_NUM_THREADS"] == "3"
    assert seen["home"] == seen["cwd"] != str(Path.home())
    assert not Path(seen["home"]).exists(), "the private folder is removed"


def test_a_library_that_looks_for_workers_warns_nobody(capfd):
    assert run(f"{HERE}:joblib_workers", {}) == {"workers": None}
    assert "serial mode" not in capfd.readouterr().err


@landlock
def test_reads_only_what_it_is_given(tmp_path):
    mine, other, database = tmp_path / "artefacts" / "a", tmp_path / "artefacts" / "b", tmp_path / "whetstone.db"
    for folder in (mine, other):
        folder.mkdir(parents=True)
        (folder / "model.txt").write_text("content")
    database.write_text("history")
    (mine / "link").symlink_to(other / "model.txt")
    ours = [str(mine / "model.txt"), str(mine / "link"), str(other / "model.txt"), str(database), "/etc/passwd"]
    found = run(f"{HERE}:read_files", {"paths": ours}, read=[mine])
    assert list(found.values()) == ["content", *["PermissionError"] * 4]


@landlock
def test_one_file_can_be_given_without_its_folder(tmp_path):
    for name in ("given", "beside"):
        (tmp_path / name).write_text(name)
    paths = [str(tmp_path / "given"), str(tmp_path / "beside")]
    assert list(run(f"{HERE}:read_files", {"paths": paths}, read=[tmp_path / "given"]).values()) == [
        "given",
        "PermissionError",
    ]


@landlock
def test_writes_only_into_its_folder(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "in" / "given").write_text("original")
    paths = [str(tmp_path / "out" / "new"), str(tmp_path / "in" / "given"), str(tmp_path / "new"), "/tmp/whetstone-x"]
    outcome = run(f"{HERE}:write_files", {"paths": paths}, read=[tmp_path / "in"], write=tmp_path / "out")
    assert list(outcome.values()) == ["written", "PermissionError", "PermissionError", "PermissionError"]
    assert (tmp_path / "in" / "given").read_text() == "original"


@landlock
def test_leaves_no_links_behind(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "in" / "given").write_text("original")
    request = {"target": str(tmp_path / "in" / "given"), "folder": str(tmp_path / "out")}
    outcome = run(f"{HERE}:links", request, read=[tmp_path / "in"], write=tmp_path / "out")
    assert "made" not in outcome.values()
    assert not list((tmp_path / "out").iterdir())


@pytest.mark.skipif(not HOLDS["system call filter"], reason="no system call filter on this machine")
def test_modes_of_files_it_may_read_stay_as_they_are(tmp_path):
    file = tmp_path / "given"
    file.write_text("x")
    file.chmod(0o644)
    run(f"{HERE}:change_mode", {"path": str(file)}, read=[tmp_path])
    assert file.stat().st_mode & 0o777 == 0o644


def test_a_path_that_is_missing_is_an_error_of_the_caller(tmp_path):
    with pytest.raises(FileNotFoundError):
        run(f"{HERE}:echo", {}, read=[tmp_path / "missing"])


@pytest.mark.skipif(not HOLDS["no network"], reason="no measure against networking on this machine")
def test_cannot_connect(tmp_path):
    unix = str(tmp_path / "socket")
    with socket.create_server(("127.0.0.1", 0)) as tcp, socket.socket(socket.AF_UNIX) as local:
        local.bind(unix)
        local.listen()
        port = tcp.getsockname()[1]
        socket.create_connection(("127.0.0.1", port)).close()  # from outside the sandbox it works
        outcome = run(f"{HERE}:connect", {"port": port, "unix": unix}, read=[tmp_path], write=tmp_path)
    assert "connected" not in outcome.values()


@linux
def test_cannot_touch_its_parent():
    assert set(run(f"{HERE}:kill_parent", {"parent": os.getpid()}).values()) <= {"PermissionError"}


@pytest.mark.parametrize("name", ["BadModel", "BadData", "Mismatch", "ParityFailed", "NoSpace", "DoesNotFit"])
def test_our_errors_arrive_as_they_were_raised(name):
    with pytest.raises(WhetstoneError) as caught:
        run(f"{HERE}:raise_ours", {"class": name, "message": "what is wrong, 7, what to do\nsecond line"})
    assert type(caught.value).__name__ == name
    assert str(caught.value) == "what is wrong, 7, what to do\nsecond line"


def test_contained_keeps_its_reason():
    with pytest.raises(Contained) as caught:
        run(f"{HERE}:raise_ours", {"class": "Contained", "message": "stopped in a child of the child"})
    assert (str(caught.value), caught.value.reason) == ("stopped in a child of the child", "timeout")


def test_a_child_cannot_name_a_class_outside_our_errors():
    raw = '{"error":{"class":"annotations","message":"x","reason":"exit"}}'
    assert str(contained("answer_garbage", {"raw": raw})) == "x"


def test_any_other_exception_is_one_sentence():
    error = contained("raise_foreign")
    assert error.reason == "exit"
    assert str(error).startswith("KeyError: ")


def test_disk_full():
    with pytest.raises(NoSpace, match="the disk is full"):
        run(f"{HERE}:disk_full", {})


def test_function_that_is_missing():
    assert "no_such_function" in str(contained("no_such_function"))


def test_end_without_an_answer():
    assert "exit status 3" in str(contained("end_silently"))


@pytest.mark.parametrize("raw", ["no json", "[]", "{}", '{"result": 3}', "[" * 100_000, '{"a":1,"b":2}'])
def test_answers_that_are_none(raw):
    assert contained("answer_garbage", {"raw": raw}).reason == "exit"


def test_answer_without_end():
    assert "longer than 64 MiB" in str(contained("answer_without_end", limits=Limits(wall_s=60)))


def test_progress_reaches_the_caller_in_order():
    seen = []
    assert run(f"{HERE}:progress", {}, on_message=seen.append) == {"done": True}
    assert [message["message"] for message in seen] == ["step 0", "step 1", "step 2"]


@linux
def test_cores_and_threads():
    core = min(os.sched_getaffinity(0))
    assert run(f"{HERE}:settings", {}, threads=2, cores=[core]) == {"cores": [core], "torch_threads": 2}


def test_heavy_libraries_work_inside(tmp_path):
    assert run(f"{HERE}:heavy_imports", {"folder": str(tmp_path)}, write=tmp_path, threads=2) == {
        "onnx": __import__("onnx").__version__,
        "rows": 100,
        "lightgbm": 200,
        "onnxruntime": [-1.0, -1.0, -1.0],
        "torch": 512,
        "exported": "input",
    }


def test_runs_in_threads_side_by_side():
    answers = [None] * 6

    def work(index):
        answers[index] = run(f"{HERE}:echo", {"index": index})["echo"]["index"]

    threads = [threading.Thread(target=work, args=(index,)) for index in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == list(range(6))


def test_nothing_is_left_open():
    before = open_files()
    for _ in range(3):
        run(f"{HERE}:echo", {})
        contained("segfault")
    with conversation(f"{HERE}:sleep", {}, limits=Limits(wall_s=20)) as child:
        os.kill(child.pid, signal.SIGKILL)
    assert open_files() == before


def test_held_names_measures_and_trials():
    assert set(HOLDS) >= {"memory limit", "no network", "no foreign file is read", "network namespace", "file access"}
    assert all(isinstance(value, bool) for value in HOLDS.values())
    assert HOLDS["memory limit"]
    assert HOLDS["file size limit"]


def test_refusals_are_bad_input_to_the_caller():
    with pytest.raises(BadModel):
        run(f"{HERE}:raise_ours", {"class": "BadModel", "message": "m"})

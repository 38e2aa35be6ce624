import errno
import threading

import pytest

from engine.errors import NoSpace, NotFound
from engine.records import Manifest, Signature
from engine.workspace import Workspace, listing_digest


@pytest.fixture
def workspace(tmp_path):
    return Workspace(tmp_path / "home")


def draft_with(workspace, folder, text):
    (folder / "model.onnx").write_text(text)
    return workspace.add_artefact(folder)


def test_the_same_content_has_the_same_address(workspace):
    with workspace.draft() as one, workspace.draft() as two:
        assert draft_with(workspace, one, "abc") == draft_with(workspace, two, "abc")
    with workspace.draft() as other:
        assert draft_with(workspace, other, "abd") not in ("", None)
    assert len(list((workspace.root / "artefacts").iterdir())) == 2


def test_the_address_is_that_of_the_listing_and_files_are_read_only(workspace):
    with workspace.draft() as folder:
        artefact_id = draft_with(workspace, folder, "abc")
    stored = workspace.artefact_folder(artefact_id)
    assert listing_digest(stored) == artefact_id
    assert (stored / "model.onnx").stat().st_mode & 0o222 == 0


def test_builders_that_race_end_with_one_folder(workspace):
    ids, errors = [], []

    def build():
        try:
            with workspace.draft() as folder:
                for i in range(20):
                    (folder / f"part{i}").write_text("x" * 1000)
                ids.append(workspace.add_artefact(folder))
        except OSError as error:
            errors.append(error)

    threads = [threading.Thread(target=build) for _ in range(8)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not errors
    assert len(set(ids)) == 1
    assert len(list(workspace.artefact_folder(ids[0]).iterdir())) == 20


def test_a_full_disk_is_a_sentence_and_leaves_nothing(workspace):
    def write_until_full():
        with workspace.draft() as folder:
            (folder / "half").write_text("…")
            raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(NoSpace, match="is full"):
        write_until_full()
    assert list((workspace.root / "tmp").iterdir()) == []


def test_a_manifest_without_its_payload_is_none(workspace):
    manifest = Manifest(id="0" * 64, format="onnx", signature=Signature(inputs=(), outputs=()), size_bytes=1)
    workspace.save_manifest("key", manifest)
    assert workspace.load_manifest("key") is None
    assert workspace.load_manifest("other") is None


@pytest.mark.parametrize("artefact_id", ["../secrets", "0" * 64, "a/b", ""])
def test_only_stored_ids_name_a_folder(workspace, artefact_id):
    with pytest.raises(NotFound):
        workspace.artefact_folder(artefact_id)


def test_samples_are_kept_by_content(workspace):
    with workspace.draft() as folder:
        path = folder / "samples.arrow"
        path.write_bytes(b"ARROW")
        ref = workspace.add_sample(path)
    assert (workspace.root / ref.path).read_bytes() == b"ARROW"
    assert ref.size_bytes == 5
    assert ref.sha256 in ref.path

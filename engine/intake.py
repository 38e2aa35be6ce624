"""Taking what a person brings: a model file or a data file, opened only in the confined child, kept by content."""

from __future__ import annotations

from pathlib import Path

from engine import sandbox
from engine.data.profile import TableProfile
from engine.errors import BadData, BadInput, BadModel
from engine.plugin import reference_runtime
from engine.records import Choice, Manifest
from engine.workspace import Workspace, folder_bytes, listing_digest


def take_model(path: Path, display_name: str, workspace: Workspace) -> Manifest:
    """Recognise, check, clean and store a model file; returns what is known about it.

    The file is refused with BadModel, or Contained when opening it broke a limit; then nothing is stored.
    """
    path = _existing(path, BadModel, "model")
    weights = _weights_beside(path)
    limits = sandbox.Limits(memory_bytes=max(4 << 30, 4 * sum(file.stat().st_size for file in (path, *weights))))
    with workspace.draft() as draft:
        out = draft / "payload"
        out.mkdir()
        facts = sandbox.run(
            "engine.formats.take:take",
            {
                "path": str(path),
                "out": str(out),
                "name": display_name,
                "beside": {file.name: str(file) for file in weights},
            },
            read=[path, *weights],
            write=draft,
            limits=limits,
        )
        manifest = Manifest(**facts, id=listing_digest(out), size_bytes=folder_bytes(out))
        sandbox.run(
            "engine.children:open_check",
            {
                "artefact": manifest.model_dump(mode="json"),
                "folder": str(out),
                "runtime": Choice(name=reference_runtime(manifest.format)).model_dump(mode="json"),
            },
            read=[out],
            limits=limits,
        )
        workspace.add_artefact(out)
    workspace.save_manifest(f"upload-{manifest.id}", manifest)
    return manifest


def read_table(
    path: Path,
    display_name: str,
    workspace: Workspace,
    *,
    encoding: str | None = None,
    separator: str | None = None,
) -> tuple[str, TableProfile]:
    """Read a data file once into the workspace; returns its table id and profile.

    encoding and separator override what is detected. Raises BadData, or Contained when a limit was broken.
    """
    path = _existing(path, BadData, "data")
    with workspace.draft() as draft:
        out = draft / "table"
        out.mkdir()
        profile = sandbox.run(
            "engine.data.read:read",
            {"path": str(path), "out": str(out), "name": display_name, "encoding": encoding, "separator": separator},
            read=[path],
            write=out,
        )
        table_id = workspace.add_table(out)
    return table_id, TableProfile.model_validate(profile)


def load_profile(table_id: str, workspace: Workspace) -> TableProfile:
    """The profile of a table that was read before. Raises NotFound."""
    return TableProfile.model_validate_json((workspace.table_folder(table_id) / "profile.json").read_text())


def _existing(path: Path, error: type[BadInput], noun: str) -> Path:
    path = path.expanduser()
    if not path.exists():
        raise error(f"no {noun} file at {str(path)!r}")
    if not path.is_file():
        raise error(f"{str(path)!r} is not a file; name one {noun} file")
    return path.resolve()


def _weights_beside(path: Path) -> list[Path]:
    """External data of an ONNX file under the names that exporters give it: plain files beside it, never links."""
    if path.suffix.lower() != ".onnx":
        return []
    names = (f"{path.name}.data", f"{path.name}_data", f"{path.stem}.data")
    found = [path.parent / name for name in dict.fromkeys(names)]
    return [file for file in found if file.is_file() and not file.is_symlink() and file.stat().st_nlink == 1]

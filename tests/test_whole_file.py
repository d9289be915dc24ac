"""Files appear whole: after a kill at any moment there is the old content, or the new one."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tablewright.whole_file import PARTIAL, create_whole, replace_whole

#: Kills the process at the n-th call that changes a file or a folder.
KILLED = """
import os, signal, sys
from pathlib import Path
from tablewright import whole_file

calls = iter(range(int(sys.argv[2])))
def die(event, arguments):
    if event in ("open", "os.rename", "os.link", "os.remove") and "victim" in str(arguments[0]):
        if next(calls, None) is None:
            os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(die)
file = Path(sys.argv[1])
if sys.argv[3] == "replace":
    whole_file.replace_whole(file, b"new" * 10_000)
else:
    with whole_file.create_whole(file) as partial:
        partial.write_bytes(b"new" * 10_000)
"""


@pytest.mark.slow
@pytest.mark.parametrize("way", ["replace", "create"])
def test_a_kill_at_any_moment_leaves_the_old_content_or_the_new(tmp_path: Path, way: str) -> None:
    file = tmp_path / "victim"
    contents = {b"old", b"new" * 10_000} if way == "replace" else {None, b"new" * 10_000}
    for call in range(50):
        file.unlink(missing_ok=True)
        if way == "replace":
            file.write_bytes(b"old")
        command = [sys.executable, "-c", KILLED, str(file), str(call), way]
        ended = subprocess.run(command, check=False, timeout=60)
        assert (file.read_bytes() if file.exists() else None) in contents
        if ended.returncode == 0:
            break
    assert 3 < call < 49
    left = [path for path in tmp_path.iterdir() if path != file]
    assert all(path.match(f".victim.*{PARTIAL}") for path in left)
    assert way == "replace" or not left  # what the killed runs left was replaced


def test_a_left_partial_file_is_replaced(tmp_path: Path) -> None:
    (tmp_path / f"a{PARTIAL}").write_text("half")
    with create_whole(tmp_path / "a") as partial:
        partial.write_text("whole")
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a": "whole"}


def test_a_file_is_replaced_while_another_process_replaces_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "a"
    fsync = os.fsync

    def replace_meanwhile(descriptor: int) -> None:
        monkeypatch.setattr(os, "fsync", fsync)
        replace_whole(file, b"other")
        assert file.read_bytes() == b"other"

    monkeypatch.setattr(os, "fsync", replace_meanwhile)
    replace_whole(file, b"own")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"a": b"own"}


@pytest.mark.parametrize("name", ["n" * 255, "ü" * 127])
def test_a_name_may_be_as_long_as_the_file_system_allows(tmp_path: Path, name: str) -> None:
    replace_whole(tmp_path / name, b"text")
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_an_error_leaves_the_old_content_and_nothing_else(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_text("old")
    with pytest.raises(FileExistsError), create_whole(file) as partial:
        partial.write_text("new")
    with pytest.raises(TypeError), create_whole(tmp_path / "b") as partial:
        partial.write_text(None)  # type: ignore[arg-type]
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    assert file.read_text() == "old"


@pytest.mark.parametrize("error", [errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP])
def test_a_file_is_created_on_a_file_system_without_hard_links(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: int
) -> None:
    def link(*_paths: Path) -> None:
        raise OSError(error, os.strerror(error))

    monkeypatch.setattr(os, "link", link)
    with create_whole(tmp_path / "a") as partial:
        partial.write_text("first")
    with pytest.raises(FileExistsError), create_whole(tmp_path / "a") as partial:
        partial.write_text("second")
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a": "first"}


def test_a_replaced_file_keeps_its_mode_and_its_link(tmp_path: Path) -> None:
    file, link = tmp_path / "a", tmp_path / "link"
    file.write_text("old")
    file.chmod(0o640)
    link.symlink_to(file)
    replace_whole(link, b"new")
    assert link.is_symlink()
    assert file.read_text() == "new"
    assert file.stat().st_mode & 0o777 == 0o640
    replace_whole(link, b"secret", private=True)
    assert not link.is_symlink()
    assert link.stat().st_mode & 0o777 == 0o600
    assert file.read_text() == "new"


def test_a_pipe_is_written_to() -> None:
    read, write = os.pipe()
    replace_whole(Path(f"/dev/fd/{write}"), b"text")
    os.close(write)
    with os.fdopen(read, "rb") as file:
        assert file.read() == b"text"


@pytest.mark.parametrize("is_link", [False, True])
def test_an_open_file_is_appended_to(tmp_path: Path, is_link: bool) -> None:
    with tempfile.TemporaryFile() as file:  # a file without a name
        file.write(b"old ")
        file.flush()
        path = Path(f"/dev/fd/{file.fileno()}")
        if is_link:
            (tmp_path / "link").symlink_to(path)
            path = tmp_path / "link"
        replace_whole(path, b"new")
        file.seek(0)
        assert file.read() == b"old new"


@contextmanager
def shared_file(folder_mode: int) -> Iterator[Path]:
    """A file that everybody can write, in a folder with a mode, for a user other than root."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        file = Path(folder, "file")
        file.write_text("old")
        file.chmod(0o666)
        Path(folder).chmod(folder_mode)
        is_root = os.geteuid() == 0
        if is_root:
            os.seteuid(65534)
        try:
            yield file
        finally:
            if is_root:
                os.seteuid(0)
            Path(folder).chmod(0o700)


@pytest.mark.parametrize("folder_mode", [0o555, 0o333, 0o1777])
def test_a_writable_file_is_written_whatever_its_folder_allows(folder_mode: int) -> None:
    with shared_file(folder_mode) as file:
        replace_whole(file, b"new")
        assert file.read_text() == "new"


def test_a_file_that_cannot_be_written_is_named() -> None:
    with shared_file(0o555) as file, pytest.raises(PermissionError, match="absent'"):
        replace_whole(file.with_name("absent"), b"new")


def test_a_partial_file_has_the_mode_of_the_file_from_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "a"
    file.write_text("old")
    file.chmod(0o600)
    modes: list[int] = []

    def fsync(_descriptor: int) -> None:
        modes.extend(path.stat().st_mode & 0o777 for path in tmp_path.iterdir())

    monkeypatch.setattr(os, "fsync", fsync)
    replace_whole(file, b"new")
    assert set(modes) == {0o600}

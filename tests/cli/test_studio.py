"""The arguments of `tablewright studio`: a design, a target, or both."""

from __future__ import annotations

from pathlib import Path

import pytest

from tablewright.cli.studio import open_workspace, warn_if_unreachable
from tablewright.engine import Engine
from tablewright.server import serving


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with a database, a text file and a folder."""
    monkeypatch.chdir(tmp_path)
    Engine("shop.db").close()
    Path("text.db").write_text("not a database")
    Path("folder.db").mkdir()
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "name a design, such as commerce, or a target"),
        (["missing.db"], "missing.db: no such file; `tablewright seed DESIGN missing.db`"),
        (["commerce", "new.db"], "`tablewright seed commerce new.db` creates it"),
        (["text.db"], "text.db: file is not a database"),
        (["folder.db"], "folder.db: it is a directory"),
        (["comerce"], "unknown design 'comerce'; did you mean 'commerce'?"),
        (["missing.py"], "missing.py: no such file"),
        (["commerce", "shop"], "studio takes one design, not commerce and shop; if shop is "),
        (["shop.db", "http://127.0.0.1:8000"], "studio takes one target, not shop.db and http:"),
        (["shop.db", "shop"], "the design comes first: tablewright studio shop shop.db"),
        (["ftp://host"], "'ftp://host' is not a target"),
        (["dynamodb://mars"], "'mars' is not a region"),
    ],
)
def test_a_mistake_is_explained(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as exit_:
        open_workspace(arguments)
    assert exit_.value.code == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "name", "has_design", "is_writable"),
    [
        (["commerce"], "memory: sample data", True, True),
        (["commerce", ":memory:"], "memory: sample data", True, True),
        ([":memory:"], "memory", False, True),
        (["shop.db"], "shop.db", False, True),
        (["shop", "shop.db"], "shop.db", True, True),
        (["shop", "http://127.0.0.1:1"], "127.0.0.1:1", True, False),
    ],
)
def test_a_design_or_a_target_or_both(
    arguments: list[str], name: str, has_design: bool, is_writable: bool
) -> None:
    workspace = open_workspace(arguments)
    found = (workspace.named.name, workspace.design is not None, workspace.is_writable)
    assert found == (name, has_design, is_writable)
    workspace.close()


def test_writing_can_be_allowed_and_refused() -> None:
    for arguments, write in ((["http://127.0.0.1:1"], True), (["shop.db"], False)):
        workspace = open_workspace(arguments, write=write)
        assert workspace.is_writable is write
        workspace.close()


def test_an_endpoint_that_cannot_be_reached_is_reported(capfd: pytest.CaptureFixture[str]) -> None:
    workspace = open_workspace(["shop", "http://127.0.0.1:1"])
    warn_if_unreachable(workspace)
    warning = capfd.readouterr().err
    assert warning.startswith("tablewright: warning: http://127.0.0.1:1: ListTables failed")
    assert "Connection refused; start the endpoint, and the pages show it, or" in warning
    assert warning.count("\n") == 1
    workspace.close()


def test_an_endpoint_that_responds_is_not_reported(capfd: pytest.CaptureFixture[str]) -> None:
    with Engine() as engine, serving(engine) as url:
        workspace = open_workspace([url])
        warn_if_unreachable(workspace)
        workspace.close()
    assert capfd.readouterr().err == ""


def test_a_studio_that_was_stopped_reports_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    workspace = open_workspace(["http://127.0.0.1:1"])
    workspace.transport.close()
    warn_if_unreachable(workspace)
    assert capfd.readouterr().err == ""

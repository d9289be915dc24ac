"""`tablewright new`: what it writes passes its own checks, its test, and the linters."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands import mistake, run


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])  # `verify` adds the folder of a design
    return tmp_path


def test_a_new_design_passes_its_checks(folder: Path) -> None:
    done = run("new", "my_shop")
    assert done.stdout.splitlines() == [
        "my_shop.py, test_my_shop.py: written",
        "Next: tablewright verify my_shop.py runs its checks, pytest its test.",
    ]
    done = run("verify", "my_shop.py")
    assert (done.returncode, done.stderr) == (0, "")
    # no pattern is without a check
    assert done.stdout.endswith("6 checks passed; no pattern scans a table\n")
    assert "that no check runs" not in done.stdout


@pytest.mark.slow
def test_the_test_of_a_new_design_passes(folder: Path) -> None:
    run("new", "my_shop")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "2 passed" in done.stdout, done.stdout + done.stderr


@pytest.mark.slow
def test_a_new_design_has_the_style_of_ruff_and_the_types_of_mypy(folder: Path) -> None:
    run("new", "my_shop")
    for command in (
        ["ruff", "format", "--isolated", "--check", "."],
        ["ruff", "check", "--isolated", "--select", "E4,E7,E9,F,I,UP,B", "."],
        ["mypy", "--strict", "my_shop.py"],
    ):
        done = subprocess.run(
            [sys.executable, "-m", *command], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr


def test_nothing_is_overwritten(folder: Path) -> None:
    Path("test_mine.py").write_text("kept")
    line = mistake("new", "mine")
    assert line == "tablewright: test_mine.py exists; choose another name, or remove it\n"
    assert [(file.name, file.read_text()) for file in folder.iterdir()] == [
        ("test_mine.py", "kept")
    ]


@pytest.mark.parametrize("name", ["order", "customer", "table"])
def test_a_name_that_the_module_uses_is_possible(name: str) -> None:
    assert run("new", name).returncode == 0
    assert run("verify", f"{name}.py", "--brief").returncode == 0


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("my-shop", "'my-shop' is not a valid module name"),
        ("a/b", "'a/b' is not a valid module name"),
        ("ab", "use three or more of a-z, 0-9 and _"),
        ("class", "'class' is not a valid module name"),
        ("shop", "'shop' is the name of a bundled design; choose another name, such as my_shop"),
        ("json", "'json' is the name of another module"),
        ("tablewright", "'tablewright' is the name of another module"),
    ],
)
def test_an_impossible_name_is_refused(folder: Path, name: str, told: str) -> None:
    line = mistake("new", name)
    assert told in line
    assert list(folder.iterdir()) == []

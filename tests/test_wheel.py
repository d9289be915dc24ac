"""The wheel: what it contains, what it says about itself, and that it can be installed."""

from __future__ import annotations

import email
import os
import re
import subprocess
import sys
import venv
import zipfile
from email.message import Message
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
USER_EXTRAS = {"api", "aws", "client", "fastapi", "jwt", "mcp", "otel", "yaml"}

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    return built


def metadata(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith("/METADATA"))
        return email.message_from_bytes(archive.read(name))


def test_every_link_of_the_description_is_absolute(wheel: Path) -> None:
    text = metadata(wheel).get_payload()
    links = re.findall(r"\]\(([^)\s]+)\)", re.sub(r"```.*?```", "", str(text), flags=re.DOTALL))
    assert links
    assert [link for link in links if not link.startswith("https://")] == []


def test_the_extras_are_those_for_users(wheel: Path) -> None:
    assert set(metadata(wheel).get_all("Provides-Extra") or ()) == USER_EXTRAS


def test_the_wheel_contains_the_package_alone(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert {name.split("/")[0].split("-")[0] for name in names} == {"tablewright"}
    assert "tablewright/py.typed" in names
    assert "tablewright/studio/static/style.css" in names
    assert "tablewright/presentation/document.css" in names
    assert "tablewright/cli/texts/new_design.txt" in names
    assert wheel.stat().st_size < 3_000_000


def test_it_can_be_installed_from_wheels_alone_and_runs(wheel: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "venv", with_pip=True)
    programs = tmp_path / "venv" / "bin"
    install: list[str | Path] = [
        programs / "python",
        "-m",
        "pip",
        "install",
        "-q",
        "--only-binary",
        ":all:",
    ]
    subprocess.run(
        [*install, "--disable-pip-version-check", f"{wheel}[{','.join(sorted(USER_EXTRAS))}]"],
        check=True,
        capture_output=True,
    )
    environment = {"PATH": os.environ["PATH"], "NO_COLOR": "1"}
    for arguments in (["--version"], ["verify", "commerce", "--brief"], ["studio", "--help"]):
        done = subprocess.run(
            [programs / "tablewright", *arguments],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr

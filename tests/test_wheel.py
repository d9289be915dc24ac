"""The wheel and the source archive: what they contain and say, and that they can be installed."""

from __future__ import annotations

import email
import os
import re
import subprocess
import sys
import tarfile
import venv
import zipfile
from email.message import Message
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
USER_EXTRAS = {"api", "aws", "client", "fastapi", "jwt", "mcp", "otel", "yaml"}

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with both, as docs/releasing.md builds them."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return folder


@pytest.fixture(scope="module")
def wheel(dist: Path) -> Path:
    (built,) = dist.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def source(dist: Path) -> Path:
    (built,) = dist.glob("*.tar.gz")
    return built


def install(folder: Path, *what: str | Path) -> Path:
    """Install packages in an environment that has nothing else; return its programs."""
    venv.create(folder / "venv", with_pip=True)
    programs = folder / "venv" / "bin"
    command = (programs / "python", "-m", "pip", "install", "-q", "--disable-pip-version-check")
    done = subprocess.run((*command, *what), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return programs


def run(folder: Path, *command: str | Path) -> str:
    """Run a program in an empty environment, as a container has it; return its output."""
    environment = {"PATH": os.defpath, "HOME": str(folder), "NO_COLOR": "1"}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


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


def first_example() -> str:
    """The first example of the README, which ends with what it prints: `# ['O1']`."""
    _, example, *_ = (ROOT / "README.md").read_text(encoding="utf-8").split("```python\n")
    return example.partition("```")[0]


def test_the_wheel_can_be_installed_from_wheels_alone_and_runs(wheel: Path, tmp_path: Path) -> None:
    extras = ",".join(sorted(USER_EXTRAS))
    programs = install(tmp_path, "--only-binary", ":all:", f"{wheel}[{extras}]")
    for arguments in (["--version"], ["verify", "commerce", "--brief"], ["studio", "--help"]):
        run(tmp_path, programs / "tablewright", *arguments)


@pytest.mark.parametrize("archive", ["wheel", "source"])
def test_the_package_without_extras_runs_the_first_example(
    archive: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    programs = install(tmp_path, request.getfixturevalue(archive))
    assert run(tmp_path, programs / "python", "-c", first_example()) == "['O1']\n"
    assert run(tmp_path, programs / "tablewright", "--version") == "tablewright 0.1.0\n"


def test_an_index_accepts_both(dist: Path, tmp_path: Path) -> None:
    programs = install(tmp_path, "-r", ROOT / "requirements" / "release.in")
    files = sorted(dist.iterdir())
    output = run(tmp_path, programs / "twine", "check", "--strict", *files)
    assert output.count("PASSED") == 2


def test_the_source_archive_contains_what_builds_and_tests_the_package(source: Path) -> None:
    with tarfile.open(source) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    wanted = {"pyproject.toml", "LICENSE", "README.md", "requirements/release.in", "Makefile"}
    assert wanted <= names
    assert {"src/tablewright/py.typed", "tests/test_wheel.py", "docs/releasing.md"} <= names


def test_addresses_of_the_repository_are_in_one_place() -> None:
    """The repository may move before the first release."""
    tracked = subprocess.check_output(["git", "ls-files"], cwd=ROOT, text=True).split()
    address = re.compile(rb"github(usercontent)?\.com/tablewright/")
    files = [name for name in tracked if address.search((ROOT / name).read_bytes())]
    assert files == ["pyproject.toml"]


def test_every_page_says_how_to_install_in_a_clone_and_from_an_index() -> None:
    for page in (ROOT / "README.md", *(ROOT / "docs").glob("*.md")):
        text = page.read_text(encoding="utf-8")
        assert set(re.findall(r"'tablewright(\[\w+\])'", text)) == set(
            re.findall(r"'\.(\[\w+\])'", text)
        ), page

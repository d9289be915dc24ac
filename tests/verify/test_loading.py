"""Which modules, tables and patterns a command finds, and what it says of a module that fails."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.commands import mistake, run

MODELS = """
from tablewright import Attr, Entity, Table, attr, key

class Notes(Table, name="notes"):
    pass

class Note(Entity, table=Notes):
    note_id: Attr[str] = attr()
    primary = key("NOTE" / note_id, "NOTE")
"""
PATTERNS = """
from tablewright import Get, access_pattern
from MODELS import Note

@access_pattern
def note(note_id: str) -> Get[Note]:
    '''Get a note'''
    return Note.primary(note_id)
"""
CHECKS = """
from tablewright.verify import Check
from MODELS import Note
from PATTERNS import note

def sample():
    return [Note(note_id="1")]

def checks(stored):
    yield Check("Get a note", note("1"), stored(Note)[0])
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The working directory, which is not on the path of modules, as for an installed command."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry not in ("", ".")])
    yield tmp_path
    for name, module in list(sys.modules.items()):
        if str(tmp_path) in str(getattr(module, "__spec__", "")):
            del sys.modules[name]


def write(folder: Path, package: str = "") -> None:
    """Write the three modules, in a package or beside each other."""
    target = folder / package
    target.mkdir(exist_ok=True)
    prefix = f"{package}." if package else ""
    names = {"MODELS": f"{prefix}models", "PATTERNS": f"{prefix}patterns"}
    for name, text in (("models", MODELS), ("patterns", PATTERNS), ("checks", CHECKS)):
        for placeholder, module in names.items():
            text = text.replace(placeholder, module)
        (target / f"{name}.py").write_text(text)


@pytest.mark.parametrize("name", ["checks", "checks.py", "app.checks", "app/checks.py"])
def test_patterns_may_be_in_another_module_than_tables(folder: Path, name: str) -> None:
    write(folder, "app" if "app" in name else "")
    verified = run("verify", name)
    assert verified.returncode == 0, verified.stderr
    assert "1 check passed" in verified.stdout
    assert "`note`" in run("publish", "docs", name).stdout


def test_the_module_of_the_patterns_is_enough_for_the_document(folder: Path) -> None:
    write(folder)
    assert "`note`" in run("publish", "docs", "patterns").stdout


def test_a_module_of_a_package_may_import_relatively(folder: Path) -> None:
    write(folder, "app")
    (folder / "app" / "__init__.py").touch()
    path = folder / "app" / "checks.py"
    path.write_text(path.read_text().replace("from app.", "from ."))
    assert run("verify", "app/checks.py").returncode == 0
    assert run("verify", "app").returncode == 0


def test_a_function_may_import_when_it_is_called(folder: Path) -> None:
    write(folder)
    path = folder / "checks.py"
    path.write_text(path.read_text().replace("return [", "import later; return ["))
    (folder / "later.py").touch()
    assert run("verify", "checks").returncode == 0


# -- what cannot be imported -----------------------------------------------------------------------

COMMANDS = [["verify"], ["publish", "docs"], ["explain"]]
FAILURES = {
    "an unknown name": ("x = 1\nclass Note(Entty): ...\n", 2, "NameError: name 'Entty'"),
    "a missing module": (
        "\n\nimport nowhere_to_be_found\n",
        3,
        "ModuleNotFoundError: No module named",
    ),
    "a syntax error": ("x = 1\nclass Note(: ...\n", 2, "SyntaxError: invalid syntax"),
    "a script": ("import sys\nsys.exit('usage: …')\n", 2, "SystemExit: usage: …"),
    "Python's library": (
        "import re\nre.compile('(')\n",
        2,
        f"{re.error.__name__}: missing ), unterminated",
    ),
    "another package": (
        "import rich.text\n\nrich.text.Text.from_markup('[/x]')\n",
        3,
        "MarkupError: closing tag '[/x]'",
    ),
    "a declaration": (
        MODELS + "class Other(Entity, table=Notes): ...\n",
        10,
        "DeclarationError: Other has no primary key",
    ),
    "a value in a pattern": (
        PATTERNS.replace("from MODELS import Note", MODELS).replace(
            "Note.primary(note_id)", "Note.primary(note_id).filtr(3)"
        ),
        17,
        "DeclarationError: pattern note: AttributeError: 'Get' object has no attribute 'filtr'",
    ),
}


@pytest.mark.parametrize("command", COMMANDS, ids=[command[0] for command in COMMANDS])
@pytest.mark.parametrize(("code", "line", "message"), FAILURES.values(), ids=FAILURES)
@pytest.mark.parametrize("name", ["mine", "mine.py"])
def test_an_exception_in_a_module_is_shown_with_its_place(
    folder: Path, command: list[str], code: str, line: int, message: str, name: str
) -> None:
    (folder / "mine.py").write_text(code)
    done = run(*command, name)
    shown = done.stderr.splitlines()
    assert done.returncode == 2
    assert shown[0].startswith(f"tablewright: {name} cannot be imported: {message}")
    assert shown[1] in {f'  File "{path}", line {line}' for path in (folder / "mine.py", "mine.py")}
    assert shown[2:] == [f"    {code.splitlines()[line - 1].strip()}"]


def test_an_exception_in_an_imported_module_is_shown_with_the_place_there(folder: Path) -> None:
    write(folder)
    (folder / "models.py").write_text("print(undefined)\n")
    done = run("publish", "docs", "checks.py")
    assert done.stderr.splitlines()[1:] == [
        f'  File "{folder / "models.py"}", line 1',
        "    print(undefined)",
    ]


@pytest.mark.parametrize(("name", "hint"), [("chekcs", "'checks'"), ("chekcs.py", "'checks.py'")])
@pytest.mark.parametrize("command", COMMANDS, ids=[command[0] for command in COMMANDS])
def test_a_misspelled_module_has_a_hint(
    folder: Path, command: list[str], name: str, hint: str
) -> None:
    write(folder)
    assert f"did you mean {hint}?" in mistake(*command, name)


@pytest.mark.parametrize("name", ["nothing/", "app", "app/"])
def test_a_folder_is_no_design(folder: Path, name: str) -> None:
    (folder / "app").mkdir()
    mistake("publish", "docs", name)

"""What `tablewright verify` prints: one line for each check, differences, patterns without one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tablewright.verify.run import describe_difference
from tests.commands import run

DESIGN = '''
"""Notes: some notes."""

from __future__ import annotations
from tablewright import Attr, Entity, Get, Page, Query, Table, access_pattern, attr, create, key
from tablewright import batch_get, put, transact, transact_get
from tablewright.plans import Scan
from tablewright.verify import Check, Raises, changed
from tablewright.errors import AlreadyExists

class Notes(Table, name="notes"):
    pass

class Note(Entity, table=Notes):
    note_id: Attr[str] = attr()
    text: Attr[str] = attr(default="hello")
    primary = key("NOTES", "NOTE" / note_id)

@access_pattern
def note(note_id: str) -> Get[Note]:
    return Note.primary(note_id)

@access_pattern
def notes() -> Query[Note]:
    return Note.primary.within()

@access_pattern
def all_notes() -> Scan[Note]:
    return Note.scan(reason="nightly export")

def sample():
    return [Note(note_id=str(n)) for n in range(3)]

def checks(stored):
    all = stored(Note)
'''


def verify(folder: Path, *checks: str, options: tuple[str, ...] = ()) -> tuple[int, list[str]]:
    """Verify a design with these checks; return the exit code and the printed lines."""
    file = folder / "mine.py"
    file.write_text(DESIGN + "".join(f"    yield {check}\n" for check in checks))
    done = run("verify", str(file), *options)
    assert done.stderr == ""
    return done.returncode, done.stdout.splitlines()


def test_a_page_is_compared_by_its_items(tmp_path: Path) -> None:
    code, lines = verify(
        tmp_path,
        'Check("whole", notes(), Page(all))',
        'Check("later", notes(), lambda: Page(all))',
        'Check("other", notes(), Page(all[1:]))',
        'Check("get", note("1"), all[1])',
        'Check("all", all_notes(), all)',
    )
    assert code == 1
    assert any("3 results, not 2" in line for line in lines)
    assert sum("the result differs" in line or "results, not" in line for line in lines) == 1


ALL = ('Check("get", note("1"), all[1])', 'Check("list", notes(), all)')
SCAN = 'Check("scan", all_notes(), all, unordered=True)'


def test_one_line_for_each_check(tmp_path: Path) -> None:
    code, lines = verify(tmp_path, *ALL, SCAN)
    assert (code, lines) == (
        0,
        [
            "Notes: some notes.",
            "      check  request  items  units",
            "ok    get    GetItem      1    0.5",
            "ok    list   Query        3    0.5",
            "ok    scan   Scan         3    0.5",
            "3 checks passed; declared scans: all_notes",
        ],
    )


@pytest.mark.parametrize("width", [None, 50, 120])
@pytest.mark.parametrize("options", [(), ("--details",)])
def test_no_line_is_wider_than_the_terminal(
    tmp_path: Path,
    width: int | None,
    options: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A pipe has 80 columns, if `COLUMNS` does not say otherwise."""
    monkeypatch.delenv("COLUMNS", raising=False)
    if width is not None:
        monkeypatch.setenv("COLUMNS", str(width))
    long = f"Check({'a long name ' * 20!r}, note('1' * 200), None)"
    _, lines = verify(tmp_path, long, *ALL, options=options)
    (line,) = [line for line in lines if "a long name" in line]
    assert len(line) == (width or 80)
    assert all(len(line) <= (width or 80) for line in lines if "1111" not in line)


def test_details_are_printed_on_demand(tmp_path: Path) -> None:
    _, lines = verify(tmp_path, *ALL, SCAN, options=("--details",))
    at = lines.index("ok    get    GetItem      1    0.5")
    assert lines[at + 1 : at + 4] == [
        "      pattern  note",
        '      request  GetItem: PK="NOTES" AND SK="NOTE#1"',
        "      cost     1 request, 0.5 read units",
    ]
    assert "      scan     declared: nightly export" in lines


@pytest.mark.parametrize(
    ("plan", "cells"),
    [
        ('batch_get([Note.primary("0"), Note.primary("9")])', ["BatchGetItem", "1", "1"]),
        ('transact_get(Note.primary("0"), Note.primary("9"))', ["TransactGetItems", "1", "4"]),
    ],
)
def test_the_items_of_every_read_are_counted(tmp_path: Path, plan: str, cells: list[str]) -> None:
    kind = "list" if "batch" in plan else "tuple"
    _, lines = verify(tmp_path, f'Check("both", {plan}, {kind}([all[0], None]))')
    (line,) = [line for line in lines if line.startswith("ok")]
    assert line.split() == ["ok", "both", *cells]


def test_a_difference_is_shown_as_a_diff(tmp_path: Path) -> None:
    code, lines = verify(tmp_path, 'Check("get", note("1"), Note(note_id="1", text="goodbye"))')
    assert code == 1
    at = lines.index("mine: get")
    assert lines[at + 1 : at + 7] == [
        "  the result differs (- expected, + returned):",
        "     Note(",
        "       note_id='1'",
        "    -  text='goodbye'",
        "    +  text='hello'",
        "     )",
    ]
    assert lines[-1] == "1 of 1 checks failed"


def test_a_transaction_is_compared_with_a_tuple_or_by_what_it_stores(tmp_path: Path) -> None:
    new = 'create(Note(note_id="n")), Note.primary("0").delete()'
    again = 'put(Note(note_id="n", text="again"))'
    code, lines = verify(
        tmp_path,
        f'Check("tuple", transact({new}), (Note(note_id="n"), None))',
        f'Check("stored", transact({again}), None)',
        f'Check("wrong", transact({again}), (None,))',
    )
    assert code == 1
    assert [line.split()[:2] for line in lines[2:5]] == [
        ["ok", "tuple"],
        ["ok", "stored"],
        ["FAIL", "wrong"],
    ]
    assert "    +  Note(" in lines


def test_another_order_is_called_so(tmp_path: Path) -> None:
    code, lines = verify(tmp_path, 'Check("list", notes(), [all[1], all[0], all[2]])')
    assert code == 1
    assert "  the same results in another order (- expected, + returned):" in lines
    assert "    +Note(note_id='0')" in lines


def test_other_results_are_shown_by_their_keys_if_these_tell_them_apart(tmp_path: Path) -> None:
    _, lines = verify(tmp_path, 'Check("list", notes(), all[:2])')
    at = lines.index("  3 results, not 2 (- expected, + returned):")
    assert lines[at + 1 : at + 4] == [
        "     Note(note_id='0')",
        "     Note(note_id='1')",
        "    +Note(note_id='2')",
    ]
    _, lines = verify(tmp_path, 'Check("list", notes(), [changed(all[0], text="other")])')
    assert "    -Note(note_id='0', text='other')" in lines
    assert "    +Note(note_id='0', text='hello')" in lines


def test_order_does_not_count_where_a_check_says_so(tmp_path: Path) -> None:
    code, _ = verify(tmp_path, 'Check("list", notes(), all[::-1], unordered=True)')
    assert code == 0
    code, lines = verify(tmp_path, 'Check("list", notes(), all[:2], unordered=True)')
    assert code == 1
    assert "  3 results, not 2 (- expected, + returned):" in lines


def test_a_pattern_that_no_check_runs_is_listed(tmp_path: Path) -> None:
    code, lines = verify(tmp_path, ALL[0])
    assert code == 0
    assert lines[-2:] == [
        "mine: 2 patterns that no check runs: notes, all_notes",
        "1 check passed; no pattern scans a table",
    ]
    done = run("verify", str(tmp_path / "mine.py"), "--json")
    assert len(json.loads(done.stdout)) == 1
    assert "2 patterns that no check runs" in done.stderr


@pytest.mark.parametrize(
    ("check", "problem"),
    [
        ('Check("bad", notes(), lambda: all[9])', "IndexError: list index out of range"),
        ('Check("bad", notes(), lambda: 1 / 0)', "ZeroDivisionError: division by zero"),
        ('Check("bad", None, all)', "it has None where its plan should be"),
        ('Check("bad", create(all[0]), all[0])', "AlreadyExists: Note"),
        ('Check("bad", note("1"), Raises(AlreadyExists))', "expected AlreadyExists, got Note("),
    ],
)
def test_the_checks_after_an_exception_are_run(tmp_path: Path, check: str, problem: str) -> None:
    code, lines = verify(tmp_path, check, *ALL)
    assert code == 1
    assert [line[:4].strip() for line in lines[2:5]] == ["FAIL", "ok", "ok"]
    assert any(problem in line for line in lines)


def test_an_exception_in_checks_itself_is_shown_with_its_place(tmp_path: Path) -> None:
    bad = 'Check("bad", notes(), all[9])'
    code, lines = verify(tmp_path, ALL[0], bad, ALL[1])
    assert code == 1
    at = lines.index("mine: checks()")
    line = (tmp_path / "mine.py").read_text().splitlines().index(f"    yield {bad}") + 1
    assert lines[at + 1 : at + 4] == [
        "  it failed, and ran no further checks: IndexError: list index out of range",
        f'    File "{tmp_path / "mine.py"}", line {line}',
        f"      yield {bad}",
    ]
    assert "2 patterns that no check runs: notes, all_notes" in lines[-2]


@pytest.mark.parametrize("command", [["verify"], ["publish", "docs"]])
@pytest.mark.parametrize("code", ["1 / 0", "[Note(note_id=5)]", "[5]"])
def test_an_exception_in_the_sample_data_is_shown_with_its_place(
    tmp_path: Path, command: list[str], code: str
) -> None:
    text = (DESIGN + "    yield\n").replace("[Note(note_id=str(n)) for n in range(3)]", code)
    (tmp_path / "mine.py").write_text(text)
    done = run(*command, str(tmp_path / "mine.py"))
    assert done.returncode == 2
    assert done.stderr.startswith("tablewright: mine: the sample data cannot be stored: ")
    assert code == "[5]" or f"    return {code}\n" in done.stderr


def test_a_duplicate_in_the_sample_data_is_reported(tmp_path: Path) -> None:
    text = DESIGN.replace("range(3)]", "(1, 2, 1)]") + "    yield\n"
    (tmp_path / "mine.py").write_text(text)
    done = run("verify", str(tmp_path / "mine.py"))
    assert (done.returncode, "AlreadyExists: Note (PK=" in done.stderr) == (2, True)


def test_the_sample_data_may_have_write_once_entities(tmp_path: Path) -> None:
    text = DESIGN.replace("class Note(Entity, ", "class Note(Entity, write_once=True, ")
    (tmp_path / "mine.py").write_text(text + f"    yield {ALL[0]}\n")
    assert run("verify", str(tmp_path / "mine.py")).returncode == 0


# -- differences -----------------------------------------------------------------------------------


def test_equal_results_have_no_difference() -> None:
    assert describe_difference([1, 2], [1, 2]) == ""
    assert describe_difference([1, (2, [3, 4])], [(2, [4, 3]), 1], unordered=True) == ""
    assert describe_difference([1, 1, 2], [1, 2, 2], unordered=True) != ""


def test_a_long_difference_is_cut() -> None:
    shown = describe_difference(list(range(100)), [], unordered=True).splitlines()
    assert shown[0] == "0 results, not 100 (- expected, + returned):"
    assert shown[-1] == "    … and 60 more lines"
    assert len(shown) == 42

"""What the documents say about changes is what the program does."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tablewright.design_changes import KINDS, ChangeKind, DesignChange
from tablewright.evolve import AssessedChange, ChangeCost
from tests.commands import run
from tests.test_docs import ROOT, blocks

GUIDE = "docs/your-second-version.md"


def row(kind: ChangeKind) -> str:
    """The row of a kind in the table of all kinds."""
    together = AssessedChange(DesignChange(kind, "shop"), ChangeCost()).together
    cells = (f"`{kind.name}`", kind.title, kind.need, together, kind.breaks or "nothing", kind.undo)
    return f"| {' | '.join(cells)} |"


def test_the_document_has_every_kind_of_change() -> None:
    text = (ROOT / "docs/kinds-of-change.md").read_text(encoding="utf-8")
    listed = [line for line in text.splitlines() if re.match(r"\| `[a-z-]+` \|", line)]
    assert listed == [row(kind) for kind in KINDS.values()]


def test_the_guide_shows_what_the_commands_print(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lock file of the first version of the guide, and the changes of the second one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)
    sources = blocks(GUIDE, "python")
    first = sources[0].partition("\n\nFirst = ")[0] + "\n"
    imports = first.partition("\n\n\n")[0]
    second = next(each for each in sources if "fill=" in each)
    versions = {"lock": first, "diff": f"{imports}\n\n\n{second}"}
    shown = 0
    section = (ROOT / GUIDE).read_text().partition("## See a change")[2].partition("\n## ")[0]
    for command, output in re.findall(
        r"```console\n\$ tablewright ([^\n]*)\n(.+?)```", section, re.S
    ):
        Path("lending.py").write_text(versions[command.split()[0]])
        assert run(*shlex.split(command)).stdout == output
        shown += 1
    assert shown == 2

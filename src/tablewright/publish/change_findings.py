"""Changes of a design as findings, for SARIF: one for each change, at its declaration.

The place is that of the declaration in the new version, or else in the old one. A version that is
not loaded, such as a lock file, has only a file; a target has not even that, so the place is its
name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from tablewright.design_changes import KINDS, DesignChange
from tablewright.evolve import AssessedChange, Coexistence, DesignDiff
from tablewright.mapping.entity import EntityMap
from tablewright.publish.advice.finding import Finding, Severity
from tablewright.publish.advice.source import SourceLine, name_of_key, place_of_class
from tablewright.publish.changes_text import need_text, title, together_text
from tablewright.verify import Design


class ChangeRule(Struct, frozen=True):
    """A kind of change as a rule of SARIF."""

    id: str
    title: str
    severity: Severity = "warning"


RULES = [ChangeRule(each.name, each.title) for each in KINDS.values()]


def change_findings(diff: DesignDiff, designs: Iterable[Design | None]) -> Iterator[Finding]:
    """Yield a finding for each change; `designs` are those of the two versions, if loaded."""
    loaded = [each for each in designs if each is not None]
    file = diff.new.file or diff.old.file or diff.new.name
    for each in diff.changes:
        change = each.change
        places = (_place(change, design) for design in reversed(loaded))
        place = next((found for found in places if found is not None), SourceLine(file, 1))
        owner = change.entity or change.table
        values = " -> ".join(text or "nothing" for text in (change.before, change.after))
        reason = f"{title(change)}{f' ({values})' if change.before or change.after else ''}"
        together = f"run old and new programs together: {together_text(each)}"
        fix = f"needs {need_text(change)}; {together}; undo: {change.kind.undo}"
        yield Finding(change.kind.name, _severity(each), place, owner, reason, fix)


def _severity(assessed: AssessedChange) -> Severity:
    if assessed.together is Coexistence.NO:
        return "error"
    return "note" if assessed.is_free else "warning"


def _place(change: DesignChange, design: Design) -> SourceLine | None:
    """Return the place of a declaration; None if the design has none."""
    for table in design.tables:
        if table.__table__.name != change.table:
            continue
        for entity in table.__table__.entities:
            if entity.type_name == change.entity:
                return place_of_class(entity.type, _member(entity, change.part))
        return None if change.entity else place_of_class(table)
    return None


def _member(entity: EntityMap, part: str) -> str:
    """Return the name in Python of an attribute, an index or a unique value."""
    for name, attribute in entity.attributes.items():
        if attribute.stored == part:
            return name
    for key in entity.indexes:
        if key.index is not None and key.index.name == part:
            return name_of_key(key)
    uniques = (each.key for each in entity.uniques if each.type_name == part)
    return next(map(name_of_key, uniques), "")

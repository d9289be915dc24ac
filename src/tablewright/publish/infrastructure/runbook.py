"""Runbook: the templates that lead from one version of a stack to the next, and how to apply them.

CloudFormation creates or deletes at most one global index of a table in one update of a stack. So a
change of n indexes takes n updates. Each stage is a complete template: it differs from the one
before it by at most one global index of each table, and its key attributes are exactly those that
its keys need. Other changes, and new tables with all their indexes, are in the first stage.

Indexes that are only deleted come last: the old version of a program reads them, so the new version
is deployed before. The first stage deletes none of them if it has other changes, which that version
needs. The runbook says when to apply each stage, and what stored items need:

    record        which version of the design the stored items have, once for each table
    1. template   creates an index; wait until it is ACTIVE
    2. …
    program       from now on, all items that are written have the keys of all new indexes
    migrate       gives them to the items that were stored before; then the indexes can be read
                  (before the program, if both versions cannot run together)
    3. template   deletes an index that the old version has read
    complete      removes what only the old version needs

An index with other keys than before is deleted and created again. `tablewright migrate` does not do
that, and a program cannot connect to a table with the old one; then all templates come first, then
the program and the backfills.

A template has the keys of tables and indexes, not what an entity writes. If the old version of the
design is known, `migration_plans` says what its items need and when programs of both versions run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from textwrap import fill
from typing import Any

from msgspec import Struct

from tablewright.design_changes import Need
from tablewright.design_description import DesignDescription
from tablewright.errors import TableReplacement
from tablewright.mapping.table import TableMap
from tablewright.model.databases.migrating import table_version
from tablewright.plan.migration.inspecting import plan_between
from tablewright.plan.migration.migrate import MigrationPlan, version_changes
from tablewright.publish.migration_text import deployment, is_rolling
from tablewright.table_description import read_table, write_types
from tablewright.verify.design import Design

Template = dict[str, Any]

#: The width of a line of the runbook.
WIDTH = 100

#: A change of one of these properties makes CloudFormation replace the table.
_FIXED = ("TableName", "KeySchema", "LocalSecondaryIndexes")


class IndexChange(Struct, frozen=True):
    """An index that a stage creates or deletes."""

    table: str
    index: str
    is_created: bool

    def __str__(self) -> str:
        return f"{'create' if self.is_created else 'delete'} {self.index} of {self.table}"


class Stage(Struct, frozen=True):
    """One update of a stack."""

    template: Template
    changes: tuple[IndexChange, ...]
    #: Whether it also creates tables, or changes settings of tables.
    has_other_changes: bool = False


def stages(before: Template, after: Template) -> list[Stage]:
    """Return the updates that lead from one template to another; none if they are equal.

    Raise TableReplacement if an update would replace or delete a table.
    """
    if before == after:
        return []
    was, now = before["Resources"], after["Resources"]
    _refuse_replacement(was, now)
    properties = {
        logical_id: (was[logical_id]["Properties"], found["Properties"])
        for logical_id, found in now.items()
        if logical_id in was
    }
    indexes = {logical_id: _indexes(old) for logical_id, (old, _) in properties.items()}
    has_other_changes = _with_indexes(after, was, indexes) != before
    found: list[Stage] = []
    for yield_changes in (_creations, _deletions):
        pending = {each: list(yield_changes(*pair)) for each, pair in properties.items()}
        while any(pending.values()) or (has_other_changes and not found):
            changes = []
            for logical_id, actions in pending.items():
                if actions:
                    change = actions.pop(0)
                    if change.is_created:
                        wanted = _indexes(now[logical_id]["Properties"])
                        indexes[logical_id][change.index] = wanted[change.index]
                    else:
                        del indexes[logical_id][change.index]
                    changes.append(change)
            template = _with_indexes(after, was, indexes)
            found.append(Stage(template, tuple(changes), has_other_changes and not found))
    return found


def _refuse_replacement(was: Template, now: Template) -> None:
    missing = sorted(was.keys() - now.keys())
    if missing:
        raise TableReplacement(
            f"{', '.join(missing)}: the table is no longer declared. CloudFormation would take it "
            "out of the stack; keep its declaration, or remove it from the old template first"
        )
    for logical_id in was.keys() & now.keys():
        old, new = was[logical_id], now[logical_id]
        names = ["Type"] if old["Type"] != new["Type"] else []
        names += [
            name for name in _FIXED if old["Properties"].get(name) != new["Properties"].get(name)
        ]
        types = read_table(old["Properties"]).key_types
        names += [
            f"the type of {name}"
            for name, kind in read_table(new["Properties"]).key_types.items()
            if types.get(name, kind) != kind
        ]
        if names:
            raise TableReplacement(
                f"{logical_id}: {', '.join(names)} changed, so CloudFormation would replace the "
                "table by an empty one; create a table with another name and copy the items: "
                "tablewright copy"
            )


def _indexes(properties: Template) -> dict[str, Template]:
    return {index["IndexName"]: index for index in properties.get("GlobalSecondaryIndexes", ())}


def _creations(was: Template, now: Template) -> Iterator[IndexChange]:
    """Yield the creations; a changed index is deleted before."""
    table, old, new = now["TableName"], _indexes(was), _indexes(now)
    changed = [name for name, index in new.items() if old.get(name) != index]
    for name in changed:
        if name in old:
            yield IndexChange(table, name, is_created=False)
    for name in changed:
        yield IndexChange(table, name, is_created=True)


def _deletions(was: Template, now: Template) -> Iterator[IndexChange]:
    """Yield the deletions of indexes that are no longer declared."""
    for name in sorted(_indexes(was).keys() - _indexes(now).keys()):
        yield IndexChange(now["TableName"], name, is_created=False)


def _with_indexes(
    after: Template, was: Template, indexes: dict[str, dict[str, Template]]
) -> Template:
    """Return the new template with these indexes of tables, and with exactly the key attributes."""
    template = deepcopy(after)
    for logical_id, found in indexes.items():
        properties = template["Resources"][logical_id]["Properties"]
        old, new = read_table(was[logical_id]["Properties"]), read_table(properties)
        types = old.key_types | new.key_types
        properties.pop("GlobalSecondaryIndexes", None)
        if found:
            properties["GlobalSecondaryIndexes"] = list(found.values())
        keys = read_table(properties).key_types
        properties["AttributeDefinitions"] = write_types({name: types[name] for name in keys})
    return template


_INTRODUCTION = """\
CloudFormation creates or deletes at most one global index of a table in one update of a stack, so
this change takes {updates}. Apply the steps in this order. CloudFormation does not wait until a
new index is filled, and refuses the next update before that: wait for `ACTIVE` after each template.
Replace STACK and REGION by yours."""

_RECORD = """\
Only once for each table{where}: record that the stored items have the version that the running
programs have. `tablewright migrate status` says if it is recorded."""

_PROGRAM = """\
Deploy the program with the new declarations, and wait until no older version runs: what it writes
has the keys of all new indexes. It cannot read the new indexes before the items are migrated. If
`tablewright migrate plan` says that the new version cannot connect yet, deploy it in the next step,
when `await-programs` is done."""

_STOP = """\
Stop all programs of the old version: it cannot run together with the new one. From the step
`await-programs` of the migration on, it cannot connect."""

_PROGRAM_AFTER = """\
Deploy the program with the new declarations. It can connect when the step `await-programs` is done,
while the items are rewritten, unless `tablewright migrate plan` says that this needs downtime."""

_PROGRAM_ONLY = """\
Deploy the program with the new declarations, and wait until no older version runs."""

_MIGRATE = """\
Give the items that were stored before what the new version reads. With `--template`, the command
changes no index; if one is missing, it waits for it. If the command is interrupted, run it again.
`tablewright migrate rollback {old} TARGET --template` goes back."""

_COMPLETE = """\
When you no longer want to go back: end the old version, and remove what only the old version
needs. This cannot be undone. The next migration can begin only after that."""

_BACKFILL = """\
Give the items that were stored before the keys of the new index. If the command is interrupted, run
it again. When it has ended, running programs can read the index."""

_CHANGED = """\
{names}: this change gives an index other keys, so it is deleted and created again, and cannot be
read from its deletion to its backfill. An index with another name does not have this gap. If the
table records a version, declare such an index: `tablewright migrate` refuses this change."""

_ITEMS = "Stored items also change. The migration below includes this:"

_ITEMS_APART = """\
Stored items also change. The steps below do not include this; deploy that change separately, before
or after:"""

#: How the items of each table are migrated, by its name.
Plans = Mapping[str, MigrationPlan]


def runbook(
    design: Design,
    found: Sequence[Stage],
    files: Sequence[str],
    *,
    name: str | None = None,
    old: str | None = None,
    plans: Plans | None = None,
) -> str:
    """Return the steps that apply the stages of a design; `files` are their templates.

    `name` and `old` are the design and its old version as the command line takes them. `old` and
    `plans` are None if only the old template is known.
    """
    return _Runbook(design, found, name or design.name, old, plans).text(files)


class _Runbook:
    def __init__(
        self,
        design: Design,
        found: Sequence[Stage],
        name: str,
        old: str | None,
        plans: Plans | None,
    ) -> None:
        self._stages = found
        self._old = old
        self._plans = plans
        self._tables: dict[str, TableMap] = {
            table.__table__.name: table.__table__ for table in design.tables
        }
        self._title = design.name
        self._name = name
        changes = [change for stage in found for change in stage.changes]
        self._created = [change for change in changes if change.is_created]
        deleted = {(change.table, change.index) for change in changes if not change.is_created}
        self._changed = [each for each in self._created if (each.table, each.index) in deleted]
        self._steps: list[str] = []

    def text(self, files: Sequence[str]) -> str:
        count = len(self._stages)
        updates = "one update" if count == 1 else f"{count} updates"
        parts = [f"# {self._title}: {updates}", _INTRODUCTION.format(updates=updates)]
        lines = [] if self._plans is None else item_lines(self._plans, self._created)
        if lines:
            parts += [_ITEMS_APART if self._changed else _ITEMS]
            parts.append("\n".join(f"- {each}" for each in lines))
        if self._plans and (text := programs_text(self._plans)):
            parts.append(_filled(text))
        if self._changed:
            names = ", ".join(f"{each.index} of {each.table}" for each in self._changed)
            parts.append(_CHANGED.format(names=names))
        staged = list(zip(self._stages, files, strict=True))
        if self._changed:
            for stage, file in staged:
                self._add_template(stage, file)
            self._add("Deploy the program", _PROGRAM_ONLY)
            self._add_backfill()
        else:
            self._add_migration(staged)
        return "\n\n".join([*parts, *self._steps]) + "\n"

    def _add_migration(self, staged: list[tuple[Stage, str]]) -> None:
        """Add the steps of `tablewright migrate` for tables whose indexes or items change."""
        last = [each for each in staged if _only_deletes(each[0])]
        if self._plans is None:
            changed = [change.table for stage, _ in staged for change in stage.changes]
            tables, rolls = list(dict.fromkeys(changed)), not last
        else:
            plans = [each for each in self._plans.values() if each.steps]
            tables, rolls = [each.table for each in plans], all(map(is_rolling, plans))
        if tables:
            where = "" if self._old else ", and in a checkout of the old version"
            commands = self._commands(tables, "baseline", design=self._old or self._name)
            self._add("Record the version", _filled(_RECORD.format(where=where)), commands)
        for stage, file in staged[: len(staged) - len(last)]:
            self._add_template(stage, file)
        migrating = self._commands(tables, "apply", " --template")
        migrate = _MIGRATE.format(old=self._old or "OLD_DESIGN")
        if not rolls:
            self._add("Stop the program", _STOP)
            self._add("Migrate the items", migrate, migrating)
            self._add("Deploy the program", _PROGRAM_AFTER)
        elif tables:
            self._add("Deploy the program", _PROGRAM)
            self._add("Migrate the items", migrate, migrating)
        else:
            self._add("Deploy the program", _PROGRAM_ONLY)
        for stage, file in last:
            self._add_template(stage, file)
        if tables:
            commands = self._commands(tables, "complete", " --template")
            self._add("Complete the migration", _COMPLETE, commands)

    def _add(self, title: str, text: str, commands: Iterable[str] = ()) -> None:
        number = sum(step.startswith("## ") for step in self._steps) + 1
        lines = "\n".join(f"$ {command}" for command in commands)
        block = [f"```console\n{lines}\n```"] if lines else []
        self._steps += [f"## {number}. {title}", *([text] if text else []), *block]

    def _add_template(self, stage: Stage, file: str) -> None:
        changes = "; ".join(map(str, stage.changes)) or "change settings and create tables"
        deploy = f"aws cloudformation deploy --stack-name STACK --template-file {file}"
        waits = [_wait(change) for change in stage.changes if change.is_created]
        self._add(f"{changes[0].upper()}{changes[1:]}", "", [deploy, *waits])
        if waits:
            self._steps.append('Repeat the last command until it prints `"ACTIVE"`.')

    def _add_backfill(self) -> None:
        created = [each for each in self._created if self._is_composed(each)]
        if created:
            commands = [
                f"tablewright backfill {self._name} dynamodb://REGION{self._selected(each.table)} "
                f"--index {each.index}"
                for each in created
            ]
            indexes = ", ".join(each.index for each in created)
            self._add(f"Backfill {indexes}", _BACKFILL, commands)

    def _commands(
        self, tables: Iterable[str], command: str, option: str = "", design: str = ""
    ) -> list[str]:
        return [
            f"tablewright migrate {command} {design or self._name} dynamodb://REGION{self._selected(each)}"
            f"{option}"
            for each in tables
        ]

    def _selected(self, table: str) -> str:
        return f" --table {table}" if len(self._tables) > 1 else ""

    def _is_composed(self, change: IndexChange) -> bool:
        """Whether the program composes keys of an index; DynamoDB fills others by itself."""
        return any(
            key.composed and key.index is not None and key.index.name == change.index
            for entity in self._tables[change.table].entities
            for key in entity.indexes
        )


def _filled(text: str) -> str:
    return fill(text, WIDTH, break_on_hyphens=False)


def _only_deletes(stage: Stage) -> bool:
    return bool(stage.changes) and not any(each.is_created for each in stage.changes)


def _wait(change: IndexChange) -> str:
    query = f"Table.GlobalSecondaryIndexes[?IndexName=='{change.index}'].IndexStatus"
    return f'aws dynamodb describe-table --table-name {change.table} --query "{query}"'


def migration_plans(design: Design, before: DesignDescription) -> Plans:
    """Return how the items of each table are carried from an older version of a design to it.

    A table of which an index is deleted and created again has the changes and no steps:
    `tablewright migrate` does not do that. Raise MigrationRefused for other changes of this kind.
    """
    found = dict[str, MigrationPlan]()
    for table in design.tables:
        name = table.__table__.name
        if (old := before.tables.get(name)) is None:
            continue
        version = table_version(table, name)
        changes = tuple(version_changes(name, old, version.design))
        if any(each.kind.name == "index-changed" for each in changes):
            found[name] = MigrationPlan(name, changes, (), old, version.design)
        else:
            found[name] = plan_between(old, version)
    return found


def item_lines(plans: Plans, created: Iterable[IndexChange]) -> list[str]:
    """Return the changes of stored items; the keys of indexes that are `created` are left out."""
    new = {(each.table, each.index) for each in created}
    return [
        str(each)
        for plan in plans.values()
        for each in plan.changes
        if each.entity
        and not (each.need is Need.NOTHING and each.runs_together)
        and not (each.kind.name == "place-added" and (plan.table, each.part) in new)
    ]


def programs_text(plans: Plans) -> str:
    """Return when programs of both versions can run; "" if no table is migrated."""
    texts = {name: deployment(plan) for name, plan in plans.items() if plan.steps}
    if len(texts) > 1:
        texts = {name: f"{name}: {text}" for name, text in texts.items()}
    return " ".join(texts.values())

"""Steps of a migration: what leads from one version of a design to another, in which order.

    check          read all items; list those that cannot be carried over, and duplicates
    create-index   one index at a time, as DynamoDB requires
    enable-stream
    await-programs wait until connected programs of the old version have noticed, and stop
    rewrite        give every item what the new version reads, and keep what the old one reads
    await-new-keys wait until connected programs of the new version write new primary keys
    verify         read all items again; rewrite those that programs have written meanwhile
    enable-ttl     last of all: from then on, items expire
    switch         record that the items are prepared for the new version

`complete` removes afterwards what only the old version needs:

    clean          remove attributes, and the items of removed entities and unique values
    delete-index
    disable-ttl
    disable-stream
    finish         record that the old version can no longer be used

A rollback is the same way back: the old version is the target, and it is completed at once. No step
removes anything that the old version reads before `complete`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Literal, TypeAlias

from msgspec import Struct

from tablewright.design_changes import DesignChange, Need
from tablewright.errors import MigrationRefused
from tablewright.limits import MAX_GLOBAL_INDEXES
from tablewright.mapping.table import TableMap
from tablewright.table_description import TableDescription

StepName: TypeAlias = Literal[
    "check",
    "create-index",
    "enable-stream",
    "await-programs",
    "rewrite",
    "await-new-keys",
    "verify",
    "enable-ttl",
    "switch",
    "clean",
    "delete-index",
    "disable-ttl",
    "disable-stream",
    "finish",
]

#: What each step does, for people.
DOES: dict[StepName, str] = {
    "check": "read all items and list those that cannot be carried over; nothing is written",
    "await-programs": "wait until connected programs have noticed that their version must stop",
    "create-index": "create the index {part}, and wait until it is ACTIVE",
    "enable-stream": "enable the stream, with {part}",
    "rewrite": "give every item what the new version reads; what the old one reads stays",
    "await-new-keys": "wait until connected programs of the new version write its primary keys",
    "verify": "read all items again, and rewrite those that were written meanwhile",
    "enable-ttl": "enable TTL by the attribute {part}; from then on, items expire",
    "switch": "record that the items are prepared for the new version",
    "clean": "remove from every item what only the old version reads",
    "delete-index": "delete the index {part}",
    "disable-ttl": "disable TTL by the attribute {part}; items no longer expire",
    "disable-stream": "disable the stream",
    "finish": "record that the old version can no longer be used",
}
#: How each step is undone.
UNDO: dict[StepName, str] = {
    "check": "nothing to undo",
    "await-programs": "nothing to undo",
    "create-index": "rollback deletes it",
    "enable-stream": "stays enabled",
    "rewrite": "rollback removes what was added",
    "await-new-keys": "nothing to undo",
    "verify": "rollback removes what was added",
    "enable-ttl": "stays enabled; expired items are lost",
    "switch": "rollback",
    "clean": "cannot be undone",
    "delete-index": "cannot be undone; create it again",
    "disable-ttl": "cannot be undone; enable it again",
    "disable-stream": "cannot be undone; enable it again",
    "finish": "cannot be undone",
}

#: Changes that no sweep can carry out, each with what to do instead.
_UNSUPPORTED: dict[str, str] = {
    "table-key-changed": "declare another table and copy the items",
    "local-index-changed": "declare another table and copy the items",
    "index-changed": "DynamoDB cannot change an index. Give the new one another name: GSI(…, "
    'name="{part}2"). Then `migrate apply` creates it, and `migrate complete` deletes {part}',
    "type-attribute-changed": "declare another table and copy the items",
    "role-changed": "declare an attribute with another name",
    "ttl-changed": "disable TTL first: declare no ttl(), migrate, and declare it again",
    "stream-changed": "disable the stream first: declare no stream, migrate, and declare it again",
}

#: Steps that change nothing that programs of any version use.
_HARMLESS = frozenset({"check", "create-index", "enable-stream"})
#: What a step must do for each item.
_SWEEPING = frozenset({Need.BACKFILL, Need.RESERVATION, Need.REWRITE, Need.MOVES})
#: The kinds of change after which stored items may lack what reads need.
_BECOME_REQUIRED = frozenset({"attribute-made-required", "required-attribute-added"})
#: The kinds of change for which `fill=` gives a value to an attribute that both versions have.
_FILLED_IN_PLACE = frozenset(
    {
        "attribute-made-required",
        "attribute-narrowed",
        "attribute-retyped",
        "choice-removed",
    }
)


class MigrationStep(Struct, frozen=True):
    """One step: its name, and the index or attribute that it is about."""

    name: StepName
    part: str = ""

    @property
    def does(self) -> str:
        return DOES[self.name].format(part=self.part)

    @property
    def undo(self) -> str:
        return UNDO[self.name]

    def __str__(self) -> str:
        return f"{self.name} {self.part}".rstrip()


def refuse_unsupported(changes: Iterable[DesignChange]) -> None:
    """Raise MigrationRefused for changes that cannot be carried out in this table."""
    problems = [
        f"{each}\n    {_UNSUPPORTED[each.kind.name].format(part=each.part)}"
        for each in changes
        if each.kind.name in _UNSUPPORTED
    ]
    if problems:
        listed = "\n  ".join(problems)
        raise MigrationRefused(f"these changes cannot be carried out in the table:\n  {listed}")


def refuse_other_keys(table: TableMap, found: TableDescription) -> None:
    """Raise MigrationRefused if the key attributes of a table are not the declared ones."""
    present = {each.name: each.type for each in (*found.keys.partition, *found.keys.sort)}
    declared = [each for each in table.attributes if each is not None]
    wanted = {name: table.key_types.get(name, present.get(name)) for name in declared}
    if list(present.items()) != list(wanted.items()):
        texts = [
            ", ".join(f"{name}:{kind or '?'}" for name, kind in each.items())
            for each in (present, wanted)
        ]
        raise MigrationRefused(
            f"the design has other key attributes than the table {found.name!r}: "
            f"{' -> '.join(texts)}. They cannot be changed; declare another table and copy the "
            "items"
        )


def unfilled(changes: Iterable[DesignChange], table: TableMap) -> tuple[str, ...]:
    """Return the attributes that become required, and that no `fill=` gives to stored items."""
    return _changed(changes, _BECOME_REQUIRED, table, has_fill=False)


def filled_in_place(changes: Iterable[DesignChange], table: TableMap) -> tuple[str, ...]:
    """Return the attributes of both versions that get values by `fill=`; a rollback keeps them."""
    return _changed(changes, _FILLED_IN_PLACE, table, has_fill=True)


def _changed(
    changes: Iterable[DesignChange], kinds: Collection[str], table: TableMap, *, has_fill: bool
) -> tuple[str, ...]:
    """Return the attributes with changes of some kinds that have `fill=`, or do not."""
    parts = {(each.entity, each.part) for each in changes if each.kind.name in kinds}
    return tuple(
        f"{entity.name}.{attribute.name}"
        for entity in table.entities
        for attribute in entity.attributes.values()
        if (entity.type_name, attribute.stored) in parts
        and (attribute.fill is not None) == has_fill
    )


def apply_steps(
    changes: Collection[DesignChange], wanted: TableDescription, found: TableDescription
) -> list[MigrationStep]:
    """Return the steps that prepare a table and its items for a new version.

    Raise MigrationRefused if the table cannot have the indexes of both versions.
    """
    sweeps = any(each.need in _SWEEPING for each in changes)
    present = set(found.index_names)
    steps = [MigrationStep("check")] if sweeps else []
    steps += [
        MigrationStep("create-index", each.name)
        for each in wanted.global_indexes
        if each.name not in present
    ]
    count = len(found.global_indexes) + sum(each.name == "create-index" for each in steps)
    if count > MAX_GLOBAL_INDEXES:
        raise MigrationRefused(
            f"the table {found.name!r} would have {count} global indexes until `migrate complete`, "
            f"and DynamoDB allows {MAX_GLOBAL_INDEXES}: first migrate to a version without the "
            f"old ones, or with {count - MAX_GLOBAL_INDEXES} fewer new ones, and complete that"
        )
    if wanted.stream is not None and found.stream is None:
        steps.append(MigrationStep("enable-stream", wanted.stream))
    if sweeps:
        steps.append(MigrationStep("rewrite"))
        if any(each.need is Need.MOVES for each in changes):
            steps.append(MigrationStep("await-new-keys"))
        steps.append(MigrationStep("verify"))
    if wanted.ttl is not None and found.ttl is None:
        steps.append(MigrationStep("enable-ttl", wanted.ttl))
    return [*steps, MigrationStep("switch")]


def with_await(
    steps: Sequence[MigrationStep], *, until_verify: bool = False
) -> list[MigrationStep]:
    """Return steps that wait for connected programs before they change what these programs use.

    With `until_verify`, these programs may run until the items are read again.
    """
    names = [each.name for each in steps]
    position = next(at for at, name in enumerate(names) if name not in _HARMLESS)
    if until_verify and "verify" in names:
        position = names.index("verify")
    return [*steps[:position], MigrationStep("await-programs"), *steps[position:]]


def clean_steps(
    leftovers: bool, old: TableDescription, new: TableDescription, found: TableDescription
) -> list[MigrationStep]:
    """Return the steps that remove what only the old version needs.

    An index that neither version declares belongs to others, and stays.
    """
    present, kept = set(found.index_names), set(new.index_names)
    return [
        *([MigrationStep("clean")] if leftovers else []),
        *(
            MigrationStep("delete-index", each.name)
            for each in old.global_indexes
            if each.name in present and each.name not in kept
        ),
        MigrationStep("finish"),
    ]

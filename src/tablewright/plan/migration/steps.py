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
    "index-changed": "DynamoDB cannot change an index: declare one with another name, and remove "
    "the old one",
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
        f"{each}\n    {_UNSUPPORTED[each.kind.name]}"
        for each in changes
        if each.kind.name in _UNSUPPORTED
    ]
    if problems:
        listed = "\n  ".join(problems)
        raise MigrationRefused(f"these changes cannot be carried out in the table:\n  {listed}")


def unfilled(changes: Iterable[DesignChange], table: TableMap) -> tuple[str, ...]:
    """Return the attributes that become required, and that no `fill=` gives to stored items."""
    required = {(each.entity, each.part) for each in changes if each.kind.name in _BECOME_REQUIRED}
    return tuple(
        f"{entity.name}.{attribute.name}"
        for entity in table.entities
        for attribute in entity.attributes.values()
        if (entity.type_name, attribute.stored) in required and attribute.fill is None
    )


def apply_steps(
    changes: Collection[DesignChange], wanted: TableDescription, found: TableDescription
) -> list[MigrationStep]:
    """Return the steps that prepare a table and its items for a new version."""
    sweeps = any(each.need in _SWEEPING for each in changes)
    present = set(found.index_names)
    steps = [MigrationStep("check")] if sweeps else []
    steps += [
        MigrationStep("create-index", each.name)
        for each in wanted.global_indexes
        if each.name not in present
    ]
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

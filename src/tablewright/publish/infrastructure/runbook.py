"""Runbook: how to apply the stages of a change, as a Markdown document."""

from __future__ import annotations

from collections.abc import Sequence

from tablewright.publish.infrastructure.stages import IndexChange, Stage
from tablewright.verify.design import Design

_INTRODUCTION = """\
CloudFormation creates or deletes at most one global index of a table in one update of a stack, so
this change takes {updates}. Apply the templates in this order. CloudFormation does not wait until a
new index is filled, and refuses the next update before that: wait for `ACTIVE` after each step.
Replace STACK and REGION by yours."""

_BACKFILL = """\
Deploy the program with the new declarations: what it writes has the keys of the new indexes. Then
give these keys to the items that were stored before. Read the indexes only after that:"""


def runbook(design: Design, found: Sequence[Stage], files: Sequence[str]) -> str:
    """Return the steps that apply the stages of a design; `files` are their templates."""
    updates = "one update" if len(found) == 1 else f"{len(found)} updates"
    parts = [f"# {design.name}: {updates}", _INTRODUCTION.format(updates=updates)]
    for number, (stage, file) in enumerate(zip(found, files, strict=True), 1):
        changes = "; ".join(map(str, stage.changes)) or "change settings and create tables"
        deploy = f"aws cloudformation deploy --stack-name STACK --template-file {file}"
        waits = [_wait(change) for change in stage.changes if change.is_created]
        lines = "\n".join(f"$ {command}" for command in (deploy, *waits))
        parts += [f"## {number}. {changes[0].upper()}{changes[1:]}", f"```console\n{lines}\n```"]
        if waits:
            parts.append('Repeat the last command until it prints `"ACTIVE"` for the new index.')
    created = [change for stage in found for change in stage.changes if change.is_created]
    return "\n\n".join([*parts, *_backfill(design, created, len(found) + 1)]) + "\n"


def _wait(change: IndexChange) -> str:
    query = f"Table.GlobalSecondaryIndexes[?IndexName=='{change.index}'].IndexStatus"
    return f'aws dynamodb describe-table --table-name {change.table} --query "{query}"'


def _backfill(design: Design, created: Sequence[IndexChange], number: int) -> list[str]:
    """Return the last step: items that were stored before get the keys of the new indexes."""
    names = {(change.table, change.index) for change in created}
    imports = ["from tablewright import connect", "from tablewright.plans import backfill", ""]
    lines = []
    for declared in design.tables:
        table = declared.__table__
        entities = [
            entity.name
            for entity in table.entities
            for key in entity.indexes
            if key.composed and key.index and (table.name, key.index.name) in names
        ]
        if entities:
            module = declared.__module__.removeprefix("design ")
            found = list(dict.fromkeys(entities))
            imports.append(f"from {module} import {', '.join([declared.__name__, *found])}")
            lines.append(f'with connect("dynamodb://REGION", {declared.__name__}) as db:')
            lines += [f"    print(db.run(backfill({entity})))" for entity in found]
    if not lines:
        return []
    code = "\n".join([*imports, "", *lines])
    return [f"## {number}. Backfill", _BACKFILL, f"```python\n{code}\n```"]

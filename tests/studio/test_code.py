"""Code to copy: it runs as it is, and does what running the pattern does."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tablewright import Engine
from tablewright.errors import TablewrightError
from tablewright.server import serving
from tablewright.studio.patterns.partiql_code import CannotExpress, Translated, keys_in, translate
from tablewright.studio.patterns.programs import boto3_code, cli_code, python_code
from tablewright.studio.patterns.running import run
from tablewright.studio.workspace import Workspace
from tablewright.studio.writes.preview import preview
from tablewright.values import Item
from tablewright.verify import seed
from tablewright.verify.run import _result_problem
from tests.studio.calls import DESIGNS, EACH_DESIGN, Call, bundled, checked_calls, sample_workspace
from tests.studio.test_preview import changes, previewed, state

Request = tuple[str, dict[str, Any]]


def executed(code: str) -> dict[str, Any]:
    """Run a program and return its variables."""
    names: dict[str, Any] = {"__name__": "__main__"}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(code, "<code>", "exec"), names)
    return names


def requests_of(workspace: Workspace, call: Call) -> list[Request]:
    """Return the requests of a call; those of a write are not sent."""
    database = workspace.database()
    if call.is_write:
        return list(preview(database, call.plan()).requests)
    return [(each.operation, each.body) for each in run(database, call.plan()).exchanges]


def calls_in_turn(workspace: Workspace) -> Iterator[tuple[Call, list[Request]]]:
    """Yield each call of the checks with its requests, then run it."""
    assert workspace.design is not None
    database = workspace.database()
    for call in checked_calls(workspace.design, database):
        yield call, requests_of(workspace, call)
        with contextlib.suppress(TablewrightError):
            database.run(call.plan())


@pytest.mark.slow
@pytest.mark.parametrize("name", DESIGNS)
def test_python_code_gives_what_the_checks_expect(name: str, tmp_path: Path) -> None:
    """The checks of a design pass if each of them is run as a program of its own."""
    design, path = bundled(name), str(tmp_path / f"{name}.db")
    seed(design, path)
    workspace = Workspace(design, path)
    for call in checked_calls(design, workspace.database()):
        program = python_code(design, path, call.pattern, call.arguments)
        answer: Any
        try:
            answer = executed(program)["result"]
        except TablewrightError as error:
            answer = error
        if call.check.pages == 1:
            assert not _result_problem(call.check, answer)
    workspace.close()


def test_python_code_of_a_target_in_memory_runs_on_the_sample_data() -> None:
    workspace = sample_workspace("commerce")
    assert workspace.design is not None
    calls = checked_calls(workspace.design, workspace.database())
    call = next(call for call in calls if call.pattern.name == "order_with_items")
    program = python_code(workspace.design, workspace.target, call.pattern, call.arguments)
    assert executed(program)["result"] == workspace.database().run(call.plan())
    workspace.close()


@pytest.mark.slow
@pytest.mark.parametrize("name", DESIGNS)
def test_boto3_code_does_what_running_the_pattern_does(name: str) -> None:
    workspace = sample_workspace(name)
    engine = workspace.target
    assert isinstance(engine, Engine)
    assert workspace.design is not None
    database = workspace.database()
    with serving(engine) as url:
        for call in checked_calls(workspace.design, database):
            requests = requests_of(workspace, call)
            if call.is_write:
                found = preview(database, call.plan())
                if found.error is not None:
                    continue
                before = state(database)
                executed(boto3_code(found.requests, url))
                assert changes(before, state(database)) == previewed(found)
            else:
                responses = executed(boto3_code(requests, url))["responses"]
                for (operation, body), response in zip(requests, responses, strict=True):
                    expected = workspace.send(operation, **body)
                    for member in ("Item", "Items", "Responses", "LastEvaluatedKey"):
                        assert response.get(member) == expected.get(member)
    workspace.close()


@pytest.mark.parametrize("name", EACH_DESIGN)
def test_commands_of_the_aws_cli_have_the_members_of_the_requests(name: str) -> None:
    workspace = sample_workspace(name)
    for _, requests in calls_in_turn(workspace):
        for operation, body in requests:
            assert parsed(cli_code([(operation, body)], "http://127.0.0.1:1")) == (operation, body)
    workspace.close()


def parsed(command: str) -> Request:
    """Return the request that a command of the AWS CLI sends."""
    words = shlex.split(command.replace("\\\n", " "))
    assert words[:2] == ["aws", "dynamodb"]
    operation = "".join(word.capitalize() for word in words[2].split("-"))
    body: dict[str, Any] = {}
    rest = words[3:]
    while rest:
        option = rest.pop(0).removeprefix("--")
        is_no = option.startswith("no-")
        name = "".join(word.capitalize() for word in option.removeprefix("no-").split("-"))
        if name in ("Region", "EndpointUrl"):
            rest.pop(0)
        elif not rest or rest[0].startswith("--"):
            if name != "Paginate":
                body[name] = not is_no
        else:
            text = rest.pop(0)
            body[name] = msgspec.json.decode(text) if re.match(r"[\[{\d]", text) else text
    return operation, body


def translated(requests: list[Request], workspace: Workspace) -> list[Translated] | str:
    """Return the requests as statements, or the reason why that is impossible."""
    try:
        return [translate(*request, keys_in(workspace.maps)) for request in requests]
    except CannotExpress as reason:
        return str(reason)


@pytest.mark.parametrize("name", EACH_DESIGN)
def test_statements_find_what_the_requests_find(name: str) -> None:
    workspace = sample_workspace(name)
    engine, expressed = workspace.target, 0
    assert isinstance(engine, Engine)
    for call, requests in calls_in_turn(workspace):
        if call.is_write:
            continue
        for operation, body in requests:
            found = translated([(operation, body)], workspace)
            assert found
            if isinstance(found, str):
                continue
            expressed += 1
            response = workspace.send(operation, **body)
            items = response.get("Items", [response["Item"]] if "Item" in response else [])
            assert items_of(engine, found[0]) == items
    assert expressed
    workspace.close()


def items_of(engine: Engine, found: Translated) -> list[Item]:
    assert found.operation == "ExecuteStatement"
    request = {"Statement": found.statements[0], **found.members}
    items: list[Item] = msgspec.json.decode(
        msgspec.json.encode(engine.call("ExecuteStatement", request)["Items"])
    )
    return items


@pytest.mark.slow
@pytest.mark.parametrize("name", DESIGNS)
def test_statements_write_what_the_requests_write(name: str) -> None:
    workspace = sample_workspace(name)
    engine, expressed = workspace.target, 0
    assert isinstance(engine, Engine)
    assert workspace.design is not None
    database = workspace.database()
    for call in checked_calls(workspace.design, database):
        found = preview(database, call.plan()) if call.is_write else None
        if found is not None and found.error is None:
            statements = translated(
                [(write.operation, write.body) for write in found.writes], workspace
            )
            assert statements
            if not isinstance(statements, str):
                before = state(database)
                with engine.sandbox():
                    for each in statements:
                        execute(engine, each)
                    assert changes(before, state(database)) == previewed(found)
                expressed += 1
        with contextlib.suppress(TablewrightError):
            database.run(call.plan())
    assert expressed
    workspace.close()


def execute(engine: Engine, found: Translated) -> None:
    if found.operation == "ExecuteStatement":
        engine.call("ExecuteStatement", {"Statement": found.statements[0], **found.members})
        return
    member = "TransactStatements" if found.operation == "ExecuteTransaction" else "Statements"
    statements = [{"Statement": text} for text in found.statements]
    engine.call(found.operation, {member: statements})

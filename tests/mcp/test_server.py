"""The tools that an agent has for a design and its data."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp_types import ElicitResult, TextContent

from tablewright import (
    Attr,
    Engine,
    Entity,
    Input,
    Table,
    access_pattern,
    attr,
    batch_write,
    connect,
    create,
    key,
    put,
)
from tablewright.database import Database
from tablewright.designs.catalog import load
from tablewright.designs.commerce import OrderLineItem
from tablewright.ids import ULID
from tablewright.mcp import RequestLog, make_server
from tablewright.mcp.answers import MAX_BYTES, MAX_ITEMS
from tablewright.plans import Create
from tablewright.verify import Design, seed

ORDER = {"customer_id": "C1", "order_id": "O100"}


class Agent:
    """An agent that is connected to a server, and the person who uses it."""

    def __init__(
        self, database: Database, events: RequestLog, design: Design | None = None
    ) -> None:
        self._design = design or load("commerce")
        self._database = database
        self._events = events
        #: What the person answers; None declines.
        self.reply: dict[str, Any] | None = None
        #: The questions that the person was asked.
        self.asked: list[str] = []

    async def _ask(self, context: Any, params: Any) -> ElicitResult:
        self.asked.append(params.message)
        if self.reply is None:
            return ElicitResult(action="decline")
        return ElicitResult(action="accept", content=self.reply)

    def call(
        self, tool: str, arguments: Mapping[str, Any] | None = None, *, writes: bool = False
    ) -> Any:
        """Return the result of a tool; an error is returned as its text."""
        server = make_server(
            self._design, "commerce", self._database, self._events, target="test", writes=writes
        )

        async def call() -> Any:
            async with Client(server, elicitation_callback=self._ask) as client:
                done = await client.call_tool(tool, dict(arguments or {}))
                if done.is_error:
                    (content,) = done.content
                    assert isinstance(content, TextContent)
                    return content.text
                found = done.structured_content
                return found["result"] if found is not None and set(found) == {"result"} else found

        return asyncio.run(call())

    def tools(self, *, writes: bool = False) -> dict[str, Any]:
        server = make_server(
            self._design, "commerce", self._database, self._events, target="test", writes=writes
        )

        async def tools() -> dict[str, Any]:
            async with Client(server) as client:
                return {each.name: each for each in (await client.list_tools()).tools}

        return asyncio.run(tools())


@pytest.fixture
def database() -> Iterator[tuple[Database, RequestLog]]:
    design = load("commerce")
    events = RequestLog()
    with Engine(":memory:") as engine:
        seed(design, engine)
        yield connect(engine, *design.tables, observe=events.append), events


@pytest.fixture
def agent(database: tuple[Database, RequestLog]) -> Agent:
    return Agent(*database)


def test_patterns_are_listed_and_explained(agent: Agent) -> None:
    listed = {each["name"]: each for each in agent.call("list_patterns")}
    assert len(listed) == 19
    assert listed["order_header"]["signature"] == "order_header(customer_id: str, order_id: str)"
    assert (listed["order_header"]["writes"], listed["put_order"]["writes"]) == (False, True)
    explained = agent.call("explain_pattern", {"pattern": "order_header"})
    assert explained["condition"] == 'PK="CUST#{customer_id}" AND SK="ORDER#{order_id}"'


def test_an_answer_has_its_proof(agent: Agent) -> None:
    found = agent.call("run_pattern", {"pattern": "order_header", "arguments": ORDER})
    assert found["data"]["order_id"] == "O100"
    request = {"operation": "GetItem", "table": "commerce_single_table", "index": None}
    assert found["requests"] == [request | {"units": 0.5}]
    assert (found["items"], found["units"], found["next_cursor"]) == (1, 0.5, None)
    nothing = {"pattern": "order_header", "arguments": {"customer_id": "C1", "order_id": "?"}}
    assert agent.call("run_pattern", nothing)["data"] is None


def test_pages_are_bounded_and_continue(agent: Agent) -> None:
    call: dict[str, Any] = {"pattern": "order_items", "arguments": ORDER, "limit": 1}
    found = []
    cursor = None
    while True:
        page = agent.call("run_pattern", call | {"cursor": cursor})
        assert page["items"] <= 1
        found += [each["item_id"] for each in page["data"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert found == sorted(found)
    assert len(found) == 3
    assert "100" in agent.call("run_pattern", call | {"limit": MAX_ITEMS + 1})


def test_a_page_that_is_too_large_is_read_again_with_fewer_items(
    agent: Agent, database: tuple[Database, RequestLog]
) -> None:
    items = [
        OrderLineItem(
            customer_id="C1",
            order_id="O100",
            item_id=f"I{number:03}",
            sku="x" * 10_000,
            quantity=1,
            price=Decimal(1),
        )
        for number in range(10)
    ]
    database[0].run(batch_write(map(put, items)))
    call: dict[str, Any] = {"pattern": "order_items", "arguments": ORDER}
    page = agent.call("run_pattern", call)
    assert 0 < page["items"] < 10
    assert page["next_cursor"] is not None
    assert len(page["requests"]) == 2
    found = [each["item_id"] for each in page["data"]]
    while page["next_cursor"] is not None:
        page = agent.call("run_pattern", call | {"cursor": page["next_cursor"]})
        found += [each["item_id"] for each in page["data"]]
    assert len(found) == len(set(found)) == 13
    items[0].sku = "x" * MAX_BYTES
    database[0].run(put(items[0]))
    call = {"pattern": "order_item", "arguments": ORDER | {"item_id": "I000"}}
    assert f"an answer at most {MAX_BYTES:,}" in agent.call("run_pattern", call)


def test_a_read_ends_when_it_has_consumed_too_much(
    agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tablewright.mcp.answers.MAX_UNITS", 0.4)
    call = {"pattern": "order_header", "arguments": ORDER}
    problem = "has consumed 0.5 units, and an answer has at most 0.4; choose a pattern that reads"
    assert problem in agent.call("run_pattern", call)
    agent.reply = {"apply": True}
    change = {"pattern": "update_order_status", "arguments": ORDER | {"status": "PAID"}}
    assert agent.call("propose_write", change, writes=True)["units"] > 1


def test_a_write_is_refused_unless_writes_are_allowed(agent: Agent) -> None:
    call = {"pattern": "update_order_status", "arguments": ORDER | {"status": "PAID"}}
    assert "a person can start it with --write" in agent.call("run_pattern", call)
    assert "propose_write" not in agent.tools()
    assert "call propose_write" in agent.call("run_pattern", call, writes=True)


def test_a_person_confirms_a_write(agent: Agent) -> None:
    call = {"pattern": "update_order_status", "arguments": ORDER | {"status": "PAID"}}
    read = {"pattern": "order_header", "arguments": ORDER}
    agent.call("propose_write", call, writes=True)
    agent.reply = {"apply": False}
    assert "nothing was written" in agent.call("propose_write", call, writes=True)
    assert agent.call("run_pattern", read)["data"]["status"] == "CREATED"
    agent.reply = {"apply": True}
    assert agent.call("propose_write", call, writes=True)["data"]["status"] == "PAID"
    assert agent.call("run_pattern", read)["data"]["status"] == "PAID"
    assert len(agent.asked) == 3
    assert agent.asked[0].startswith("update_order_status writes to test, with\n\n{")
    assert 'PK="CUST#C1" AND SK="ORDER#O100"' in agent.asked[0]


def test_no_argument_confirms_a_write(agent: Agent) -> None:
    call = {"pattern": "update_order_status", "arguments": ORDER | {"status": "PAID"}}
    agent.call("propose_write", call | {"confirmation": {"apply": True}}, writes=True)
    read = {"pattern": "order_header", "arguments": ORDER}
    assert agent.call("run_pattern", read)["data"]["status"] == "CREATED"


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"pattern": "order_heder", "arguments": {}}, "did you mean 'order_header'"),
        ({"pattern": "order_header", "arguments": {}}, "order_header needs customer_id=…"),
        ({"pattern": "order_header", "arguments": ORDER | {"x": 1}}, "has no argument 'x'"),
        ({"pattern": "order_header", "arguments": ORDER, "cursor": "x"}, "takes no cursor"),
        ({"pattern": "order_items", "arguments": ORDER, "cursor": "x"}, "InvalidCursor"),
    ],
)
def test_a_mistake_is_named(agent: Agent, arguments: dict[str, Any], problem: str) -> None:
    assert problem in agent.call("run_pattern", arguments)


def test_every_tool_says_what_it_does_to_the_data(agent: Agent) -> None:
    for name, tool in agent.tools(writes=True).items():
        hints = tool.annotations
        is_write = name == "propose_write"
        assert (hints.read_only_hint, hints.destructive_hint) == (not is_write, is_write)
        assert hints.open_world_hint is False
        assert hints.idempotent_hint is not is_write


@pytest.mark.parametrize(("name", "part"), [("document", "Access patterns"), ("keys", "CUST#")])
def test_the_document_and_the_keys_are_resources(agent: Agent, name: str, part: str) -> None:
    server = make_server(load("commerce"), "commerce", agent._database, agent._events, target="x")

    async def read() -> str:
        async with Client(server) as client:
            (content,) = (await client.read_resource(f"design://{name}")).contents
            text: str = content.text  # type: ignore[union-attr]
            return text

    text = asyncio.run(read())
    assert text.startswith("# ")
    assert part in text


@pytest.mark.slow
def test_an_agent_that_edits_a_design_sees_its_errors(tmp_path: Path) -> None:
    """Over standard input and output, as programs of agents start it."""
    file = tmp_path / "my_shop.py"
    command = [sys.executable, "-m", "tablewright"]
    parameters = StdioServerParameters(
        command=command[0], args=[*command[1:], "mcp", "my_shop.py"], cwd=tmp_path
    )

    async def edit() -> tuple[Any, Any, Any]:
        made = await asyncio.create_subprocess_exec(*command, "new", "my_shop", cwd=tmp_path)
        await made.wait()
        async with Client(parameters) as client:
            good = await client.call_tool("check_design", {})
            locked = await client.call_tool("diff_design", {})
            file.write_text(file.read_text().replace('"ORDER" / order_id', '"ORDER" / ordr_id'))
            return good, locked, await client.call_tool("check_design", {})

    good, locked, bad = asyncio.run(edit())
    assert not good.is_error
    assert locked.is_error
    assert "tablewright.lock" in locked.content[0].text
    assert bad.is_error
    assert "name 'ordr_id' is not defined" in bad.content[0].text
    assert 'shop.py", line' in bad.content[0].text


def test_a_question_shows_the_arguments_and_what_is_shown_is_written(agent: Agent) -> None:
    order = ORDER | {"order_id": "O900", "status": "CREATED", "total": "1.50"}
    order["created_at"] = "2026-01-15T10:15:30Z"
    agent.reply = {"apply": True}
    call = {"pattern": "put_order", "arguments": {"order": order}}
    done = agent.call("propose_write", call, writes=True)
    assert isinstance(done, dict), done
    written = done["data"]
    (question,) = agent.asked
    assert '"order_id": "O900"' in question
    assert written["order_id"] == "O900"


class Marks(Table, name="marks"):
    pass


class Mark(Entity, table=Marks):
    mark_id: Attr[ULID] = attr(default_factory=ULID.new)
    url: Attr[str] = attr()
    primary = key("MARK" / mark_id, "MARK")


class NewMark(Input[Mark], exclude=("mark_id",)):
    pass


@access_pattern
def add_mark(new: NewMark) -> Create[Mark]:
    """Keep an address."""
    return create(new.entity())


def test_a_person_confirms_the_id_that_is_written() -> None:
    events = RequestLog()
    design = Design("marks", "Marks.", (Marks,), None, None)
    agent = Agent(connect(":memory:", Marks, observe=events.append), events, design)
    agent.reply = {"apply": True}
    call = {"pattern": "add_mark", "arguments": {"new": {"url": "https://a"}}}
    done = agent.call("propose_write", call, writes=True)
    assert isinstance(done, dict), done
    written = done["data"]
    (question,) = agent.asked
    assert f'PK="MARK#{written["mark_id"]}"' in question


@pytest.mark.parametrize("value", [5, True, ["C1"], {"a": 1}])
def test_a_text_is_given_as_a_text(agent: Agent, value: Any) -> None:
    call = {"pattern": "customer_profile", "arguments": {"customer_id": value}}
    assert "customer_id must be a text" in agent.call("run_pattern", call)

"""A studio on the sample data of a design, and a client that has its session."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from http.client import HTTPConnection, HTTPResponse
from urllib.parse import urlencode, urlsplit

import pytest
from msgspec import Struct

from tablewright.cli.studio import open_workspace
from tablewright.designs.catalog import load
from tablewright.engine import Engine
from tablewright.studio.web.server import serving_studio
from tablewright.studio.workspace import Workspace
from tablewright.verify import Design

#: What must never become markup, nor hide or reorder text.
HOSTILE = '<img src=x onerror=alert(1)>\u202e"\x07'


class Answer(Struct, frozen=True):
    status: int
    text: str
    headers: dict[str, str]


class Browser:
    """Sends requests as a browser with the session of a studio does, without scripts."""

    def __init__(self, link: str) -> None:
        self.link = link
        self.host = urlsplit(link).netloc
        self.origin = f"http://{self.host}"
        self.cookie = ""
        cookie = self.get(link.removeprefix(self.origin)).headers["Set-Cookie"]
        self.cookie = cookie.partition(";")[0]

    def connect(self) -> HTTPConnection:
        """Connect to the studio: browsers resolve its name by themselves."""
        return HTTPConnection("127.0.0.1", int(self.host.partition(":")[2]), timeout=30)

    def get(self, path: str, **headers: str) -> Answer:
        return self.send("GET", path, **headers)

    def post(self, path: str, form: dict[str, str] | None = None, **headers: str) -> Answer:
        return self.send(
            "POST", path, urlencode(form or {}), Sec_Fetch_Site="same-origin", **headers
        )

    def send(self, method: str, path: str, body: str = "", **headers: str) -> Answer:
        connection = self.connect()
        try:
            given = {name.replace("_", "-"): value for name, value in headers.items()}
            given.setdefault("Host", self.host)
            if self.cookie:
                given.setdefault("Cookie", self.cookie)
            connection.request(method, path, body, given)
            return answer(connection.getresponse())
        finally:
            connection.close()


def answer(response: HTTPResponse) -> Answer:
    return Answer(response.status, response.read().decode(), dict(response.getheaders()))


@pytest.fixture
def workspace() -> Iterator[Workspace]:
    """The commerce design with its sample data in memory."""
    opened = open_workspace(["commerce"])
    yield opened
    opened.close()


@pytest.fixture
def browser(workspace: Workspace) -> Iterator[Browser]:
    with serving_studio(workspace) as link:
        yield Browser(link)


#: Opens a studio on a target, with a design if one is given.
Open = Callable[..., Browser]


@pytest.fixture
def opened() -> Iterator[Open]:
    """Opens a studio on a target."""
    with ExitStack() as stack:

        def open_studio(
            target: str | Engine, design: Design | None = None, *, write: bool | None = None
        ) -> Browser:
            workspace = Workspace(design, target, write=write)
            stack.callback(workspace.close)
            return Browser(stack.enter_context(serving_studio(workspace)))

        yield open_studio


@pytest.fixture
def design() -> Design:
    return load("commerce")


def create_table(engine: Engine, name: str, key: str = "id") -> None:
    engine.call(
        "CreateTable",
        {
            "TableName": name,
            "KeySchema": [{"AttributeName": key, "KeyType": "HASH"}],
            "AttributeDefinitions": [{"AttributeName": key, "AttributeType": "S"}],
            "BillingMode": "PAY_PER_REQUEST",
        },
    )


@pytest.fixture
def engine() -> Iterator[Engine]:
    """An engine that a workspace may close."""
    with Engine(":memory:") as made:
        yield made

"""An application whose operations are the access patterns of a design."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import pytest
from fastapi import FastAPI, Header

from tablewright import Engine, connect, create, explain
from tablewright.designs.catalog import load
from tablewright.errors import DeclarationError
from tablewright.fastapi import add_exception_handlers, create_app, lifespan, pattern_router
from tablewright.observe import RequestEvent
from tablewright.plans import access_patterns
from tests.fastapi import shelf
from tests.fastapi.desk import TestClient
from tests.fastapi.shelf import Shelf
from tests.plan.reads import test_include as include

BOOK = "/libraries/L1/books/1"


@pytest.fixture(scope="module")
def app() -> FastAPI:
    return create_app(":memory:", Shelf, patterns=access_patterns(Shelf))


@pytest.fixture
def client(app: FastAPI) -> Iterator[TestClient]:
    with TestClient(app) as client:
        created = client.post("/libraries/L1/books", json={"isbn": "1", "title": "Emma"})
        assert created.status_code == 201
        yield client


def test_what_is_created_has_a_location_and_an_etag_when_it_is_read(client: TestClient) -> None:
    made = client.post("/libraries/L1/books", json={"isbn": "a/b #1", "title": "Other"})
    assert (made.status_code, made.headers["Location"]) == (201, "/libraries/L1/books/a%2Fb%20%231")
    found = client.get(BOOK)
    assert found.json() == {
        "library": "L1",
        "isbn": "1",
        "title": "Emma",
        "state": "in",
        "version": 1,
    }
    tag = found.headers["ETag"]
    assert client.get(BOOK, headers={"If-None-Match": tag}).status_code == 304
    again = client.post("/libraries/L1/books", json={"isbn": "1", "title": "Emma"})
    assert (again.status_code, again.json()["code"]) == (409, "already_exists")


def test_a_patch_changes_what_was_sent_if_the_version_matches(client: TestClient) -> None:
    tag = {"If-Match": '"1"'}
    changed = client.patch(BOOK, json={"title": "Emma, a novel"}, headers=tag)
    assert (changed.json()["title"], changed.headers["ETag"]) == ("Emma, a novel", '"2"')
    assert client.patch(BOOK, json={"title": "…"}, headers=tag).status_code == 412
    assert client.get(BOOK).json()["title"] == "Emma, a novel"


def test_a_missing_item_is_not_found(client: TestClient) -> None:
    for method, path in (
        ("GET", "/libraries/L1/books/2"),
        ("GET", "/libraries/L1/books/2/book-with-loans"),
        ("GET", "/libraries/L1/books/out/first"),
        ("PATCH", "/libraries/L1/books/2"),
        ("POST", "/libraries/L1/states/out/lend-first"),
        ("DELETE", "/libraries/L1/books/2"),
    ):
        body = {"title": "…"} if method == "PATCH" else None
        refused = client.request(method, path, json=body)
        assert (refused.status_code, refused.json()["code"]) == (404, "not_found"), path


def test_a_transaction_returns_what_it_wrote_and_is_guarded(client: TestClient) -> None:
    body = {"library": "L1", "isbn": "1", "reader": "ann", "day": "2026-01-15"}
    assert client.post("/lend", json=body, headers={"If-Match": '"7"'}).status_code == 412
    done = client.post("/lend", json=body)
    assert done.json() == [None, body]
    refused = client.post("/lend", json=body)
    assert (refused.status_code, refused.json()["code"]) == (409, "condition_failed")
    whole = client.get(f"{BOOK}/book-with-loans").json()
    assert [loan["day"] for loan in whole["loans"]] == ["2026-01-15"]
    assert client.get("/libraries/L1/states/out/count-books").json() == 1


def test_pages_are_linked(client: TestClient) -> None:
    days = [f"2026-01-0{day}" for day in range(1, 6)]
    loans = [{"library": "L1", "isbn": "1", "day": day, "reader": "ann"} for day in days]
    assert [each["day"] for each in client.post("/add-loans", json=loans).json()] == days
    for first, order in (
        (f"{BOOK}/loans?limit=2", days),
        (f"{BOOK}/loans-since?since=2026-01-02&limit=2", days[1:]),
        (f"{BOOK}/latest-loans?limit=2", days[::-1]),
    ):
        found, path = [], first
        while path:
            page = client.get(path)
            found += [loan["day"] for loan in page.json()["items"]]
            path = page.headers.get("Link", "").removeprefix("<").partition(">")[0]
            assert bool(path) == (page.json()["next_cursor"] is not None)
        assert found == order
    assert len(client.get(f"{BOOK}/loans-since").json()["items"]) == 5
    wrong = client.get(f"{BOOK}/loans?cursor=abc")
    assert (wrong.status_code, wrong.json()["code"]) == (422, "invalid_cursor")


def test_what_a_pattern_does_not_take_is_refused(client: TestClient) -> None:
    whole = {"library": "L1", "isbn": "1", "reader": "ann", "day": "2026-01-15"}
    for body in ({}, whole | {"colour": "red"}, whole | {"day": "today"}):
        refused = client.post("/lend", json=body)
        assert (refused.status_code, refused.json()["code"]) == (422, "invalid_request")
    assert client.get(f"{BOOK}/loans").json() == {"items": [], "next_cursor": None}


def test_several_positional_arguments_are_a_list(client: TestClient) -> None:
    done = client.post("/remove-books", json={"isbns": ["1"], "library": "L1"})
    assert done.status_code == 200
    assert client.get(BOOK).status_code == 404


def test_each_path_names_its_methods(client: TestClient) -> None:
    allowed = "DELETE, GET, HEAD, OPTIONS, PATCH"
    listed = client.options(BOOK)
    assert (listed.status_code, listed.headers["Allow"]) == (204, allowed)
    assert listed.headers["Accept-Patch"].startswith("application/merge-patch+json")
    refused = client.put(BOOK, json={})
    assert (refused.status_code, refused.headers["Allow"]) == (405, allowed)
    assert refused.json()["code"] == "method_not_allowed"
    read = client.head(BOOK)
    assert (read.status_code, read.headers["ETag"]) == (200, '"1"')
    assert client.delete(BOOK).status_code == 204
    patched = {"Content-Type": "application/merge-patch+json"}
    client.post("/libraries/L1/books", json={"isbn": "1", "title": "Emma"})
    assert client.patch(BOOK, content='{"title": "E"}', headers=patched).json()["title"] == "E"


def test_health_and_readiness(client: TestClient) -> None:
    assert client.get("/health/live").json() == {"status": "ok"}
    assert client.get("/health/ready").json() == {"status": "ok"}


def test_a_database_that_does_not_respond_is_not_ready() -> None:
    engine = Engine(":memory:")
    with TestClient(create_app(engine, Shelf)) as client:
        engine.call("DeleteTable", {"TableName": "shelf"})
        refused = client.get("/health/ready")
        assert (refused.status_code, refused.json()["code"]) == (503, "unavailable")
        assert refused.headers["Retry-After"] == "1"
        assert client.get("/health/live").status_code == 200


# -- which patterns are exposed ------------------------------------------------------------------


def test_only_declared_routes_are_exposed_by_default() -> None:
    app = create_app(":memory:", Shelf)
    paths = set(app.openapi()["paths"])
    declared = {"/libraries/{library}/books/{state}/first", "/exchanged-loan"}
    assert paths == {*declared, "/health/live", "/health/ready"}


def test_a_table_without_routes_needs_a_list() -> None:
    from tests.fastapi.desk import Desk

    with pytest.raises(DeclarationError, match="no pattern of Desk declares a route"):
        create_app(":memory:", Desk)


def test_two_patterns_with_one_route_are_refused() -> None:
    with pytest.raises(
        DeclarationError, match=r"GET /libraries/.* is the route of .*\.book and of"
    ):
        pattern_router([shelf.book, shelf.book])


def test_a_function_that_is_no_pattern_is_refused() -> None:
    with pytest.raises(DeclarationError, match="decorate it with @access_pattern"):
        pattern_router([len])  # type: ignore[list-item]


def test_patterns_below_prefixes_have_ids_of_their_own() -> None:
    app = create_app(":memory:", Shelf, patterns={"/v1": [shelf.book], "/v2": [shelf.book]})
    paths = app.openapi()["paths"]
    assert paths["/v1/libraries/{library}/books/{isbn}"]["get"]["operationId"] == "v1_book"
    assert paths["/v2/libraries/{library}/books/{isbn}"]["get"]["operationId"] == "v2_book"


# -- tenants -------------------------------------------------------------------------------------


async def current_library(x_library: Annotated[str, Header()]) -> str:
    return x_library


def test_the_tenant_is_not_part_of_the_api() -> None:
    patterns = [each for each in access_patterns(Shelf) if "library" in each.types]
    router = pattern_router(patterns, tenant={"library": current_library}, prefix="/api")
    app = FastAPI(lifespan=lifespan(":memory:", Shelf))
    add_exception_handlers(app)
    app.include_router(router)
    schema = app.openapi()
    assert "/api/books/{isbn}" in schema["paths"]
    assert "library" not in schema["components"]["schemas"]["ApiLendBody"]["properties"]
    with TestClient(app, headers={"X-Library": "L1"}) as client:
        made = client.post("/api/books", json={"isbn": "1", "title": "Emma"})
        assert made.headers["Location"] == "/api/books/1"
        assert client.get("/api/books/1").json()["library"] == "L1"
        other = client.get("/api/books/1", headers={"X-Library": "L2"})
        assert other.status_code == 404
        body = {"isbn": "1", "reader": "ann", "day": "2026-01-15"}
        assert client.post("/api/lend", json=body | {"library": "L2"}).status_code == 422
        assert client.post("/api/lend", json=body, headers={"X-Library": "L2"}).status_code == 404
        assert client.post("/api/lend", json=body).status_code == 200


def test_a_pattern_without_the_tenant_is_refused() -> None:
    with pytest.raises(DeclarationError, match="put_loan has no parameter 'library'"):
        pattern_router([shelf.put_loan], tenant={"library": current_library})


# -- the OpenAPI document ------------------------------------------------------------------------


def test_an_operation_states_its_request_and_its_units(app: FastAPI) -> None:
    operation = app.openapi()["paths"]["/libraries/{library}/books/{isbn}"]["get"]
    assert operation["operationId"] == "book"
    assert operation["summary"] == "A book"
    stated = operation["x-tablewright"]
    assert stated["requests"] == [
        {
            "operation": "GetItem",
            "table": "shelf",
            "key": 'PK="LIB#{library}#BOOK#{isbn}" AND SK="BOOK"',
        }
    ]
    assert stated["units"] == explain(shelf.book).units


@pytest.mark.parametrize("name", ["shop", "market", "commerce"])
def test_the_designs_have_an_api(name: str) -> None:
    design = load(name)
    schema = create_app(":memory:", *design.tables, patterns=design.patterns).openapi()
    operations = [one for path in schema["paths"].values() for one in path.values()]
    ids = {operation["operationId"] for operation in operations}
    assert ids == {"live", "ready", *(each.name for each in design.patterns)}


@pytest.mark.parametrize(
    ("method", "route", "path", "body"),
    [
        ("GET", "/libraries/{library}/books/{isbn}", BOOK, None),
        ("GET", "/libraries/{library}/books/{isbn}/loans", f"{BOOK}/loans", None),
        (
            "GET",
            "/libraries/{library}/books/{isbn}/book-with-loans",
            f"{BOOK}/book-with-loans",
            None,
        ),
        (
            "GET",
            "/libraries/{library}/states/{state}/count-books",
            "/libraries/L1/states/in/count-books",
            None,
        ),
        ("PATCH", "/libraries/{library}/books/{isbn}", BOOK, {"title": "E"}),
        (
            "POST",
            "/lend",
            "/lend",
            {"library": "L1", "isbn": "1", "reader": "a", "day": "2026-01-15"},
        ),
        ("DELETE", "/libraries/{library}/books/{isbn}", BOOK, None),
    ],
)
def test_an_operation_sends_what_it_states(
    app: FastAPI, method: str, route: str, path: str, body: Any
) -> None:
    sent: list[RequestEvent] = []
    observed = create_app(":memory:", Shelf, patterns=access_patterns(Shelf), observe=sent.append)
    with TestClient(observed) as client:
        client.post("/libraries/L1/books", json={"isbn": "1", "title": "Emma"})
        sent.clear()
        assert client.request(method, path, json=body).status_code < 300
    stated = app.openapi()["paths"][route][method.lower()]["x-tablewright"]["requests"]
    assert [(each.operation, each.table, each.index) for each in sent] == [
        (each["operation"], each["table"], each.get("index", "")) for each in stated
    ]


def test_a_read_with_an_etag_may_be_not_modified(app: FastAPI) -> None:
    paths = app.openapi()["paths"]
    assert "304" in paths["/libraries/{library}/books/{isbn}"]["get"]["responses"]
    assert "304" not in paths["/libraries/{library}/books/{isbn}/loans"]["get"]["responses"]


def test_headers_are_texts(app: FastAPI) -> None:
    operation: dict[str, Any] = app.openapi()["paths"]["/libraries/{library}/books/{isbn}"]["patch"]
    (header,) = (each for each in operation["parameters"] if each["in"] == "header")
    assert header["schema"]["type"] == "string"


def test_a_page_with_what_it_refers_to_has_a_next_one(engine: Engine) -> None:
    database = connect(engine, include.Blog)
    database.run(create(include.User(user="a", name="A")))
    for number in range(3):
        database.run(create(include.Post(blog="x", number=number, author_id="a")))
    app = create_app(engine, include.Blog, patterns=[include.posts_with_authors])
    with TestClient(app) as client:
        path, seen = "/blogs/x/posts-with-authors?limit=2", []
        while path:
            response = client.get(path)
            assert response.status_code == 200
            seen += [(post["number"], user["name"]) for post, user in response.json()["items"]]
            path = response.headers.get("link", "").partition(">")[0].removeprefix("<")
    assert seen == [(0, "A"), (1, "A"), (2, "A")]

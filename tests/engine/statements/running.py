"""Short forms for statements."""

from __future__ import annotations

from typing import Any

from tests.engine.database import Database, Json, av

MALFORMED = "Statement wasn't well formed, can't be processed: "


def request(text: str, *parameters: Any, **members: Any) -> Json:
    """An ExecuteStatement request."""
    found: Json = {"Statement": text, **members}
    if parameters:
        found["Parameters"] = [av(value) for value in parameters]
    return found


def execute(db: Database, text: str, *parameters: Any, **members: Any) -> Json:
    return db.call("ExecuteStatement", request(text, *parameters, **members))


def select(db: Database, text: str, *parameters: Any, **members: Any) -> list[Json]:
    """All items of a SELECT, of all its pages."""
    items = []
    asked = request(text, *parameters, **members)
    while True:
        page = db.call("ExecuteStatement", asked)
        items += page["Items"]
        if "NextToken" not in page:
            return items
        asked["NextToken"] = page["NextToken"]


def refuses(db: Database, message: str, text: str, *parameters: Any, **members: Any) -> None:
    """Assert a ValidationException."""
    db.refuses("ExecuteStatement", request(text, *parameters, **members), message)


def keys(items: list[Json]) -> list[tuple[str, str]]:
    """The contents of pk and sk."""
    return [(item["pk"]["S"], next(iter(item["sk"].values()))) for item in items]

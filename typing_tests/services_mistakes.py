"""Mistakes in models of requests and in dependencies of FastAPI; each line is an error."""
# pyright: strict

from __future__ import annotations

from tablewright import Input, create
from tablewright.client import ApiClient
from tablewright.fastapi import ETag, IfMatch, PageParams, create_app, lifespan
from typing_tests.design import Agent, Desk, Ticket, ticket
from typing_tests.services import NewTicket, TicketPatch


class Wrong(Input[int]): ...  # E: it is not an entity


def misused(
    new: NewTicket, patch: TicketPatch, page: PageParams, match: IfMatch, etag: ETag
) -> None:
    new.titel.upper()  # E: no such field
    agent: Agent = new.entity()  # E: it is a ticket
    Ticket.primary("o", 1).update(*Agent.changes_from(patch))  # E: changes of another entity
    page.apply(ticket("o", 1))  # E: one item has no pages
    match.apply(create(new.entity()))  # E: a create has no condition
    etag.set(None)  # E: it must be found
    lifespan(":memory:", Desk, cursor=1)  # E: no such option
    print(agent)  # noqa: T201


def misused_apis(client: ApiClient) -> None:
    client.call(ticket, "o", "1")  # E: the number is an int
    client.call(ticket, "o")  # E: the number is missing
    client.iterate(ticket, "o", 1)  # E: one item has no pages
    create_app(":memory:", Desk, patterns=[len])  # E: it is no pattern

"""Models of requests, and the dependencies of FastAPI: `services_mistakes.py` misuses them."""
# pyright: strict

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import assert_type

from fastapi import FastAPI

from tablewright import Delete, Input, Page, Patch, Query, Update
from tablewright.client import ApiClient, AsyncApiClient
from tablewright.fastapi import ETag, IfMatch, PageParams, create_app, found, lifespan
from tablewright.plan.change import Change
from typing_tests.design import Desk, Ticket, ticket, tickets_of


class NewTicket(Input[Ticket], exclude=("org_id", "number")):
    title: str = "untitled"


class TicketPatch(Patch[Ticket]):
    note: str | None = None


def a_model_knows_its_entity(new: NewTicket, other: Input[Ticket], patch: TicketPatch) -> None:
    assert_type(new.entity(org_id="o", number=1), Ticket)
    assert_type(other.entity(), Ticket)
    assert_type(new.title, str)
    assert_type(patch.note, str | None)
    assert_type(Ticket.changes_from(patch), list[Change[Ticket]])


def a_dependency_keeps_the_type_of_a_plan(
    page: PageParams, match: IfMatch, etag: ETag, patch: TicketPatch, read: Ticket | None
) -> None:
    assert_type(page.apply(tickets_of("o")), Query[Ticket])
    write = Ticket.primary("o", 1).update(*Ticket.changes_from(patch))
    assert_type(match.apply(write), Update[Ticket])
    assert_type(match.apply(Ticket.primary("o", 1).delete()), Delete[Ticket])
    assert_type(etag.set(found(read)), Ticket)
    assert_type(match.set(found(read)), Ticket)


def a_lifespan_takes_the_options_of_a_connection() -> None:
    FastAPI(lifespan=lifespan(":memory:", Desk, cursor_secret="secret", create=True))


def a_client_has_the_types_of_patterns(client: ApiClient, others: AsyncApiClient) -> None:
    assert_type(client.call(ticket, "o", 1), Ticket | None)
    assert_type(client.call(tickets_of, "o"), Page[Ticket])
    assert_type(client.iterate(tickets_of, "o"), Iterator[Ticket])
    assert_type(others.iterate(tickets_of, "o"), AsyncIterator[Ticket])
    assert_type(client.with_headers({}), ApiClient)


def an_application_takes_patterns() -> None:
    create_app(":memory:", Desk, patterns=[ticket, tickets_of], cursor_secret="secret")

"""The service: 19 endpoints, each of which runs an access pattern in the caller's organisation."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Depends, FastAPI, Header
from pydantic import BaseModel

from examples.tracker import design
from tablewright import Input, Page
from tablewright.database import AsyncDatabase
from tablewright.fastapi import (
    DatabaseDep,
    ETag,
    IfMatch,
    Paging,
    add_exception_handlers,
    found,
    lifespan,
)
from tablewright.ids import ULID

router = APIRouter()


def create_app(target: str | None = None) -> FastAPI:
    """Return the application on a target: a file, `:memory:`, an endpoint or a region of AWS."""
    target = target or os.environ.get("TRACKER_TARGET", "tracker.db")
    app = FastAPI(title="Tracker", lifespan=lifespan(target, design.Tracker))
    add_exception_handlers(app)
    app.include_router(router)
    return app


@dataclass
class Caller:
    """Who sends the request, and the database of the organisation."""

    org_id: str
    member_id: ULID
    db: AsyncDatabase


async def get_caller(
    x_organisation: Annotated[str, Header()], x_member: Annotated[ULID, Header()], db: DatabaseDep
) -> Caller:
    """Return the caller whom a gateway in front of this service has authenticated."""
    return Caller(x_organisation, x_member, db.for_tenant(org_id=x_organisation))


Me = Annotated[Caller, Depends(get_caller)]


class SignUp(BaseModel):
    organisation: Input[design.Organisation]
    owner: design.NewMember


@router.post("/organisations", status_code=201)
async def create_organisation(sign_up: SignUp, db: DatabaseDep) -> design.Member:
    created = await db.run(design.create_organisation(sign_up.organisation, sign_up.owner))
    return created[1]


@router.get("/organisation")
async def get_organisation(me: Me) -> design.Organisation:
    return found(await me.db.run(design.organisation(me.org_id))).organisation


@router.get("/projects")
async def projects(me: Me) -> list[design.Project]:
    return found(await me.db.run(design.organisation(me.org_id))).projects


@router.post("/projects", status_code=201)
async def add_project(me: Me, new: design.NewProject) -> design.Project:
    return await me.db.run(design.add_project(me.org_id, new))


@router.post("/members", status_code=201)
async def add_member(me: Me, new: design.NewMember) -> design.Member:
    return await me.db.run(design.add_member(me.org_id, new))


@router.get("/members")
async def members(me: Me, page: Paging) -> Page[design.Member]:
    return await me.db.run(page.apply(design.members(me.org_id)))


@router.get("/members/by-email/{email}")
async def member_by_email(me: Me, email: str) -> design.Member:
    return found(await me.db.run(design.member_by_email(me.org_id, email)))


@router.get("/members/{member_id}/issues")
async def issues_of_member(me: Me, page: Paging, member_id: ULID) -> Page[design.Issue]:
    return await me.db.run(page.apply(design.issues_by_assignee(me.org_id, member_id)))


@router.post("/issues", status_code=201)
async def open_issue(me: Me, new: design.NewIssue) -> design.Issue:
    return await me.db.run(design.open_issue(me.org_id, me.member_id, new))


@router.get("/issues")
async def issues_by_status(me: Me, page: Paging, status: design.Status) -> Page[design.Issue]:
    return await me.db.run(page.apply(design.issues_by_status(me.org_id, status)))


@router.get("/issues/{issue_id}")
async def get_issue(me: Me, issue_id: ULID, etag: ETag) -> design.Issue:
    return etag.set(found(await me.db.run(design.issue(me.org_id, issue_id))))


@router.patch("/issues/{issue_id}")
async def edit_issue(
    me: Me, issue_id: ULID, patch: design.IssuePatch, match: IfMatch
) -> design.Issue:
    edit = design.edit_issue(me.org_id, issue_id, patch, me.member_id)
    return match.set(await me.db.run(match.apply(edit)))


@router.get("/priorities/{priority}/issues")
async def issues_by_priority(me: Me, page: Paging, priority: design.Priority) -> Page[design.Issue]:
    return await me.db.run(page.apply(design.issues_by_priority(me.org_id, priority)))


@router.post("/issues/{issue_id}/comments", status_code=201)
async def add_comment(me: Me, issue_id: ULID, new: design.NewComment) -> design.Comment:
    return await me.db.run(design.add_comment(me.org_id, issue_id, me.member_id, new))


@router.get("/issues/{issue_id}/comments")
async def comments(me: Me, page: Paging, issue_id: ULID) -> Page[design.Comment]:
    return await me.db.run(page.apply(design.comments(me.org_id, issue_id)))


@router.put("/issues/{issue_id}/labels/{label}", status_code=204)
async def add_label(me: Me, issue_id: ULID, label: design.Slug) -> None:
    await me.db.run(design.add_label(me.org_id, issue_id, label))


@router.delete("/issues/{issue_id}/labels/{label}", status_code=204)
async def remove_label(me: Me, issue_id: ULID, label: design.Slug) -> None:
    await me.db.run(design.remove_label(me.org_id, issue_id, label))


@router.get("/labels/{label}/issues")
async def issues_with_label(me: Me, page: Paging, label: design.Slug) -> Page[design.LabelledIssue]:
    return await me.db.run(page.apply(design.issues_with_label(me.org_id, label)))


@router.get("/activity")
async def activity(me: Me, page: Paging) -> Page[design.StatusChange]:
    return await me.db.run(page.apply(design.activity(me.org_id)))

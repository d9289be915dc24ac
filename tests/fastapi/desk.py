"""An application with FastAPI: the issues and members of organisations."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from fastapi import Depends, FastAPI, Header
from fastapi.testclient import TestClient as TestClient

from tablewright import (
    GSI,
    Attr,
    Entity,
    Input,
    Page,
    Patch,
    Table,
    Tenancy,
    attr,
    create,
    created_at,
    index,
    key,
    put,
    save,
    transact,
    unique,
    update,
    version,
)
from tablewright.database import AsyncDatabase
from tablewright.fastapi import (
    DatabaseDep,
    ETag,
    IfMatch,
    Paging,
    SyncDatabaseDep,
    add_exception_handlers,
    found,
    lifespan,
    tenant_database,
)
from tablewright.formats import lower


class Desk(Table, name="desk"):
    gsi1 = GSI("GSI1PK", "GSI1SK")
    tenancy = Tenancy("org_id", write=("ORG#{org_id}", "ORG#{org_id}#*"), filtered=(gsi1,))


class Issue(Entity, table=Desk):
    """Something to do."""

    org_id: Attr[str] = attr()
    number: Attr[int] = attr(pad=3)
    title: Attr[str] = attr(doc="In one line.")
    status: Attr[str] = attr(default="open")
    opened_at: Attr[datetime] = created_at()
    version: Attr[int] = version()
    primary = key("ORG" / org_id, "ISSUE" / number)
    by_status = index(Desk.gsi1, "STATUS" / status, "ISSUE" / number)


class Member(Entity, table=Desk):
    org_id: Attr[str] = attr()
    member_id: Attr[str] = attr()
    email: Attr[str] = attr()
    primary = key("ORG" / org_id, "MEMBER" / member_id)
    by_email = unique("ORG" / org_id, "EMAIL" / lower(email))


class NewIssue(Input[Issue], exclude=("org_id",)):
    """A new issue."""


class IssuePatch(Patch[Issue]):
    """What can change."""


async def current_org(x_org: Annotated[str, Header()]) -> str:
    return x_org


OrgDatabase = Annotated[AsyncDatabase, Depends(tenant_database(org_id=current_org))]
Org = Annotated[str, Depends(current_org)]


def application(target: Any, **options: Any) -> FastAPI:
    app = FastAPI(lifespan=lifespan(target, Desk, **options))
    add_exception_handlers(app)

    @app.post("/issues", status_code=201)
    async def open_issue(org: Org, new: NewIssue, db: OrgDatabase) -> Issue:
        return await db.run(create(new.entity(org_id=org)))

    @app.get("/issues")
    async def list_issues(org: Org, db: OrgDatabase, page: Paging) -> Page[Issue]:
        return await db.run(page.apply(Issue.primary.within(org)))

    @app.get("/issues/by-status/{status}")
    async def issues_by_status(status: str, db: OrgDatabase, page: Paging) -> Page[Issue]:
        return await db.run(page.apply(Issue.by_status(status)))

    @app.get("/issues/{number}")
    async def get_issue(org: Org, number: int, db: OrgDatabase, etag: ETag) -> Issue:
        return etag.set(found(await db.run(Issue.primary(org, number))))

    @app.patch("/issues/{number}")
    async def edit_issue(
        org: Org, number: int, patch: IssuePatch, db: OrgDatabase, match: IfMatch
    ) -> Issue:
        write = Issue.primary(org, number).update(*Issue.changes_from(patch))
        return match.set(await db.run(match.apply(write)))

    @app.put("/issues/{number}/{how}")
    async def change_issue(
        org: Org, number: int, how: str, db: OrgDatabase, match: IfMatch, title: str = "done"
    ) -> Issue:
        """Change an issue that was read, in each way that there is."""
        issue = found(await db.run(Issue.primary(org, number)))
        other = create(Member(org_id=org, member_id="M9", email="m9@example.com"))
        change = update(issue, Issue.title.set(title))
        if how == "update":
            return match.set(await db.run(match.apply(change)))
        if how == "with-write":
            await db.run(match.apply(transact(change, other)))
            return issue
        if how == "with-check":
            await db.run(match.apply(transact(other), of=Issue.primary(org, number)))
            return issue
        issue.title = title
        write = save(issue) if how == "save" else put(issue)
        return match.set(await db.run(match.apply(write)))

    @app.delete("/issues/{number}", status_code=204)
    async def delete_issue(org: Org, number: int, db: OrgDatabase, match: IfMatch) -> None:
        found(await db.run(match.apply(Issue.primary(org, number).delete())))

    @app.post("/issues/{number}/close")
    async def close_issue(org: Org, number: int, db: OrgDatabase) -> Issue:
        write = Issue.primary(org, number).update(Issue.status.set("closed"))
        return await db.run(write.condition(Issue.status == "open"))

    @app.get("/other/issues/{number}")
    async def issue_of_another(org: Org, number: int, db: OrgDatabase) -> Issue:
        return found(await db.run(Issue.primary(f"not {org}", number)))

    @app.post("/members", status_code=201)
    async def add_member(member: Member, db: DatabaseDep) -> Member:
        return await db.run(create(member))

    @app.get("/members/{email}")
    def member(org: Org, email: str, db: SyncDatabaseDep) -> Member:
        return found(db.run(Member.by_email(org, email)))

    @app.get("/tagged-members/{member_id}")
    async def tagged_member(org: Org, member_id: str, db: DatabaseDep, etag: ETag) -> Member:
        return etag.set(found(await db.run(Member.primary(org, member_id))))

    return app

"""The service: each access pattern is an endpoint in the organisation of the caller."""

from __future__ import annotations

import os
from typing import Annotated, Any

from fastapi import FastAPI, Header

from examples.tracker import design
from tablewright.fastapi import add_exception_handlers, lifespan, pattern_router
from tablewright.ids import ULID
from tablewright.plans import access_patterns


async def caller(x_organisation: Annotated[str, Header()]) -> str:
    """Return the organisation of the caller, whom a gateway has authenticated."""
    return x_organisation


async def member(x_member: Annotated[ULID, Header()]) -> ULID:
    """Return the member who sends the request."""
    return x_member


def create_app(target: Any = None, **options: Any) -> FastAPI:
    """Return the application on a target: a file, `:memory:`, an endpoint or a region of AWS."""
    target = target or os.environ.get("TRACKER_TARGET", "tracker.db")
    app = FastAPI(title="Tracker", lifespan=lifespan(target, design.Tracker, **options))
    add_exception_handlers(app)
    sign_up, *others = access_patterns(design.Tracker)
    me = {"author": member, "reporter": member, "by": member}
    app.include_router(pattern_router([sign_up]))
    app.include_router(pattern_router(others, tenant={"org_id": caller}, given=me))
    return app

"""Live: changes as they come, the newest first.

    GET  /live            the last changes, and a table that `live.js` adds new ones to
    GET  /live/events     the rows of new changes, as server-sent events
    POST /live/enable     enables the stream of a table

The filter is part of the URL, and the studio applies it. A page shows a bounded number of changes.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from threading import BoundedSemaphore

from tablewright.errors import InvalidValue
from tablewright.presentation.element import Child, Markup, element, join
from tablewright.presentation.keys import take_apart
from tablewright.presentation.kinds import side_of
from tablewright.presentation.style import chip
from tablewright.presentation.values import content
from tablewright.studio.markup import parts
from tablewright.studio.markup.form_parts import confirm_target
from tablewright.studio.markup.item_parts import key_line, key_url, kind_chip
from tablewright.studio.markup.parts import NOTHING, faint, note
from tablewright.studio.target.changes import (
    KINDS,
    POLL_SECONDS,
    ChangedAttribute,
    Feed,
    LiveChange,
    open_feed,
)
from tablewright.studio.web.frame import WebPage, static_url
from tablewright.studio.web.http import EVENTS, Fields, WebRequest, WebResponse, redirect, url
from tablewright.studio.workspace import MAX_LIVE_VIEWS, Workspace
from tablewright.table_description import TableDescription
from tablewright.values import Item, Value

#: The changes that a page shows.
SHOWN = 200
#: The maximum number of tables to follow at a target without a design.
MAX_TABLES = 20
#: The maximum number of characters of a value, and of attributes of a change.
MAX_VALUE = 60
MAX_ATTRIBUTES = 6
VIEW = "NEW_AND_OLD_IMAGES"


def show(workspace: Workspace, request: WebRequest) -> WebPage:
    """Show the last changes of the tables with a stream."""
    query = request.query
    found = _describe(workspace, query.get("table"))
    live = {name: each for name, each in found.items() if each.stream}
    others = {name: each for name, each in found.items() if name not in live}
    about = "Changes as they happen, from the streams of the tables; the newest first."
    content = [parts.heading("Live", about)]
    if query.get("table") and not found:
        content.append(note(f"The target has no table {query.get('table')}.", "warn"))
    if live:
        feed = open_feed(workspace, live)
        feed.poll(at_once=True)
        script = element("script", src=static_url("live.js"), defer="")
        content += [_panel(workspace, feed, live, query), script]
    if others and not (live and workspace.design is None):
        content += [_without_stream(workspace, name, each) for name, each in others.items()]
    if not found and not query.get("table"):
        content.append(note("The target has no tables."))
    return WebPage("Live", content, "Live")


def _describe(workspace: Workspace, table: str) -> dict[str, TableDescription]:
    """Return the description of a table; for "", of all tables of the design or the target."""
    names = [table] if table else [*workspace.maps] or workspace.table_names()[:MAX_TABLES]
    found = {name: workspace.describe(name) for name in names}
    return {name: each for name, each in found.items() if each is not None}


# --- the page -----------------------------------------------------------------------------------


def _panel(
    workspace: Workspace, feed: Feed, live: dict[str, TableDescription], query: Fields
) -> Markup:
    last = feed.last
    shown = [change for change in feed.after(0) if _is_shown(change, query)][-SHOWN:]
    several = len(live) > 1
    names = ("Time", "Kind", *(("Table",) if several else ()), "Entity", "Key", "Change")
    rows = [row(change, several) for change in reversed(shown)]
    table = parts.data_table("Changes as they happen, newest first", names, rows, body="changes")
    filters = {name: query.get(name) or None for name in ("table", "entity", "kind", "q")}
    pause = ["Pause ", element("kbd", "p")]
    about = [
        parts.tag("reload the page to see new ones", id="state", aria_live="polite"),
        element("p", id="count", data_shown=SHOWN),
        element("svg.spark", viewBox="0 0 120 20", role="img", id="rate", hidden="",
                aria_label="Changes of the last minute, two seconds a bar"),
        parts.aside(parts.button(pause, type="button", id="pause", hidden="")),
    ]  # fmt: skip
    text = f"No changes since the studio started to follow {', '.join(live)}."
    empty = element("p.empty", text, id="nothing", hidden="" if shown else None)
    views = {each.stream for each in live.values() if each.stream} - {VIEW}
    return parts.panel(
        "Changes",
        _filters(workspace, live, query),
        *[element("div.body", _view_note(view)) for view in sorted(views)],
        parts.scroll("Changes", [table, empty]),
        element("p.pager", f"At most {SHOWN} changes are shown."),
        about=about,
        class_="live",
        data_source=url("/live/events", after=last, **filters),
        id="live",
    )


def _view_note(view: str) -> Markup:
    texts = {
        "KEYS_ONLY": "The stream has only keys: what changed in an item cannot be shown.",
        "NEW_IMAGE": "The stream has only new images: an update shows the item as it is now, and a "
        "deletion shows the key.",
        "OLD_IMAGE": "The stream has only old images: an update shows the item as it was before.",
    }
    return note(texts.get(view, f"The stream has the view type {view}."), "warn")


def _filters(workspace: Workspace, live: dict[str, TableDescription], query: Fields) -> Markup:
    entities = [
        entity.name for name in live for entity in getattr(workspace.map_of(name), "entities", ())
    ]
    kinds = {"entity": [*dict.fromkeys(entities), "unknown"], "kind": KINDS}
    fields = []
    for name, choices in kinds.items():
        options = [("", "any"), *((each, each) for each in choices)]
        control = parts.choice(options, query.get(name), id=f"live-{name}", name=name)
        fields.append(parts.field(name.capitalize(), control, f"live-{name}"))
    text = element("input", id="live-q", name="q", value=query.get("q"), type="search",
                   placeholder="in a key or a value")  # fmt: skip
    fields += [parts.field("Text", text, "live-q"), parts.button("Filter", type="submit")]
    if query.get("table"):
        fields.append(parts.hidden("table", query.get("table")))
    return element("form.filters", fields, action="/live", aria_label="Filter")


# --- changes ------------------------------------------------------------------------------------


def row(change: LiveChange, with_table: bool = False) -> Markup:
    """Return a change as a row."""
    role, at = change.role, change.at
    what = [kind_chip(role) if role.is_record else chip(role.entity)]
    if side := side_of(role):
        what += [element("small.faint", f" {side}")]
    key = [_key(change, change.key)]
    if change.kind not in ("deleted", "expired"):
        key = [element("a.kl", key, href=key_url(change.table, change.key))]
    if change.old_key is not None:
        key = [element("del", _key(change, change.old_key)), element("br"), *key]
    title, when = f"{at:%Y-%m-%d %H:%M:%S} UTC", at.isoformat(timespec="seconds")
    cells: list[tuple[Child, str | None]] = [
        (element("time", f"{at:%H:%M:%S}", datetime=when, title=title), "mono faint"),
        ([parts.sign(*parts.CHANGES[change.kind]), f" {change.kind}"], None),
        *([(change.table, "mono")] if with_table else []),
        (what, None),
        (key, None),
        (_changed(change), "chg"),
    ]
    return element("tr", [element("td", cell, class_=class_) for cell, class_ in cells])


def _key(change: LiveChange, key: Item) -> Markup:
    entity, place = change.role.entity, change.role.key
    shown = [
        key_line(take_apart(value, place, name, entity), entity) for name, value in key.items()
    ]
    return join(shown, faint(" / "))


def _changed(change: LiveChange) -> Markup:
    """Return what changed: old and new values, or what the stream has of them."""
    if change.old is None and change.new is None:
        return element("span.muted", f"the stream has no item ({change.view})")
    if change.kind == "updated" and (change.old is None or change.new is None):
        word, image = ("now", change.new) if change.old is None else ("before", change.old)
        return _listed([_pair(f"{word}: {name}", (image or {})[name]) for name in change.names])
    found = change.differences
    if change.kind in ("created", "deleted", "expired"):
        return _listed([_pair(each.name, each.new or each.old) for each in found])
    if not found:
        return element("span.muted", "no attribute changed")
    return _listed([_difference(each) for each in found])


def _difference(each: ChangedAttribute) -> Markup:
    was = element("del", _short(each.old)) if each.old is not None else NOTHING
    now = element("ins", _short(each.new)) if each.new is not None else faint("removed")
    return element("code", f"{each.name} ", was, " → ", now)


def _listed(shown: list[Markup]) -> Markup:
    rest = len(shown) - MAX_ATTRIBUTES
    more = [faint(f"and {rest} more")] if rest > 0 else []
    return element("span.chgs", [*shown[:MAX_ATTRIBUTES], *more])


def _pair(name: str, value: Value | None) -> Markup:
    return element("code", element("i", f"{name} "), _short(value))


def _short(value: Value | None) -> str:
    text = "" if value is None else content(value)
    return text if len(text) <= MAX_VALUE else f"{text[:MAX_VALUE]}…"


def _is_shown(change: LiveChange, query: Fields) -> bool:
    return change.matches(query.get("entity"), query.get("kind"), query.get("q").strip())


# --- events -------------------------------------------------------------------------------------


def events(workspace: Workspace, request: WebRequest) -> WebResponse:
    """Send the rows of new changes as they come, and the state of the connection to the target."""
    query = request.query
    found = _describe(workspace, query.get("table"))
    live = {name: each for name, each in found.items() if each.stream}
    if not live:
        raise InvalidValue("no table has a stream any more; load the page again")
    start = request.headers.get("last-event-id") or query.get("after")
    feed = open_feed(workspace, live)
    is_number = start.isdecimal() and len(start) <= len(str(feed.last))
    number = min(int(start), feed.last) if is_number else feed.last
    several, views = len(live) > 1, workspace.live_views
    return WebResponse(type=EVENTS, stream=lambda: _events(feed, number, query, several, views))


def _events(
    feed: Feed, number: int, query: Fields, several: bool, views: BoundedSemaphore
) -> Iterator[bytes]:
    yield b"retry: 2000\n\n"
    if not views.acquire(blocking=False):
        yield event("full", f"{MAX_LIVE_VIEWS} live views are open already: close one")
        return
    try:
        problem: str | None = None
        while True:
            for change in feed.after(number):
                number = change.number
                if _is_shown(change, query):
                    yield event("change", row(change, several), number)
            if feed.problem != problem:
                problem = feed.problem
                yield event("lost" if problem else "ready", problem)
            else:
                yield b""
            time.sleep(POLL_SECONDS / 2)
            feed.poll()
    finally:
        views.release()


def event(name: str, data: str, number: int | None = None) -> bytes:
    r"""Return a server-sent event.

    >>> event("change", "a\nb", 7)
    b'event: change\nid: 7\ndata: a\ndata: b\n\n'
    """
    lines = [f"event: {name}"]
    if number is not None:
        lines.append(f"id: {number}")
    lines += [f"data: {line}" for line in data.replace("\r", "\n").split("\n")]
    return ("\n".join(lines) + "\n\n").encode()


# --- a table without a stream -------------------------------------------------------------------


def _without_stream(workspace: Workspace, name: str, description: TableDescription) -> Markup:
    if description.state.status != "ACTIVE":
        body = note(f"The table is {description.state.status.lower()}; load the page again.")
    elif workspace.is_writable:
        body = _offer(workspace, name)
    else:
        body = note(
            "The target is read-only. Start the studio with --write to enable the stream here, or "
            f"enable it with UpdateTable and the view type {VIEW}.",
            "warn",
        )
    header = element("header", element("h2.mono", name), parts.tag("no stream"))
    text = "Changes are shown from the stream of a table, and this one has none."
    message = element("div.body.stack", element("p.muted", text), body)
    return parts.region(f"{name} has no stream", header, message)


def _offer(workspace: Workspace, name: str) -> Markup:
    if workspace.is_remote:
        cost = (
            "On AWS, a stream is free, but reading it is not: GetRecords is charged after the "
            "first 2.5 million requests of a month. While this view is open, it sends up to two a "
            "second for each shard."
        )
    else:
        cost = "Each change is stored a second time in the file, and removed after 24 hours."
    shown = [
        parts.hidden("table", name),
        confirm_target(workspace),
        parts.button(f"Enable the stream{workspace.place}", workspace.button_kind(), type="submit"),
        element("span.hint", f"UpdateTable with the view type {VIEW}. {cost}"),
    ]
    return element("form.row", shown, method="post", action="/live/enable")


def enable(workspace: Workspace, request: WebRequest) -> WebResponse:
    """Enable the stream of a table."""
    name = request.form.get("table")
    specification = {"StreamEnabled": True, "StreamViewType": VIEW}
    workspace.send("UpdateTable", TableName=name, StreamSpecification=specification)
    return redirect("/live" if name in workspace.maps else url("/live", table=name))


ROUTES = {("GET", "/live"): show, ("GET", "/live/events"): events, ("POST", "/live/enable"): enable}

"""Live: changes as they come, the newest first.

    GET  /live            the last changes, and a table that `live.js` adds new ones to
    GET  /live/events     the rows of new changes, as server-sent events
    POST /live/enable     enables the stream of a table

The filter is part of the URL, and the studio applies it. A page shows a bounded number of changes.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from threading import BoundedSemaphore

from tablewright.errors import InvalidValue
from tablewright.mapping.keys import KeyMap
from tablewright.publish.html.element import Markup, element, join
from tablewright.studio.items.kinds import side_of
from tablewright.studio.markup.item_parts import key_url, kind_chip
from tablewright.studio.markup.parts import (
    NOTHING,
    chip,
    content,
    data_table,
    heading,
    note,
    scroll,
    stored_key,
)
from tablewright.studio.target.changes import KINDS, POLL_SECONDS, Feed, LiveChange, open_feed
from tablewright.studio.web.frame import WebPage, static_url
from tablewright.studio.web.http import EVENTS, Fields, WebRequest, WebResponse, redirect
from tablewright.studio.web.url import url
from tablewright.studio.workspace import MAX_LIVE_VIEWS, Workspace
from tablewright.table_description import TableDescription
from tablewright.values import Item, Value

#: The changes that a page shows.
SHOWN = 200
#: The tables of a target without a design that are looked at.
MAX_TABLES = 20
#: How much of a value, and how many attributes of a change, are shown.
MAX_VALUE = 60
MAX_ATTRIBUTES = 6
VIEW = "NEW_AND_OLD_IMAGES"
MINUS = "\u2212"
SIGNS = {
    "created": ("+", "add"),
    "updated": ("~", "mod"),
    "moved": ("→", "mov"),
    "deleted": (MINUS, "del"),
    "expired": (MINUS, "del"),
}


def show(workspace: Workspace, request: WebRequest) -> WebPage:
    """Show the last changes of the tables with a stream."""
    query = request.query
    found = _describe(workspace, query.get("table"))
    live = {name: each for name, each in found.items() if each.stream}
    others = {name: each for name, each in found.items() if name not in live}
    about = "Changes as they come, from the streams of the tables; the newest first."
    parts: list[Markup] = [heading("Live", about)]
    if query.get("table") and not found:
        parts.append(note(f"The target has no table {query.get('table')}.", "warn"))
    if live:
        feed = open_feed(workspace, live)
        feed.poll(at_once=True)
        parts += [_panel(workspace, feed, live, query), _script()]
    if others and not (live and workspace.design is None):
        parts += [_without_stream(workspace, name, each) for name, each in others.items()]
    if not found and not query.get("table"):
        parts.append(note("The target has no tables."))
    return WebPage("Live", parts, "Live")


def _describe(workspace: Workspace, table: str) -> dict[str, TableDescription]:
    """Return the descriptions of the tables that are asked for, or of all that matter."""
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
    table = data_table("Changes as they come, newest first", names, rows, body="changes")
    source = url(
        "/live/events",
        after=last,
        **{name: query.get(name) or None for name in ("table", "entity", "kind", "q")},
    )
    header = element(
        "header",
        element("h2", "Changes"),
        element("span", "reload the page to see new ones", class_="tag", id="state",
                aria_live="polite"),
        element("p", id="count", data_shown=SHOWN),
        element("svg", class_="spark", viewBox="0 0 120 20", role="img", id="rate", hidden="",
                aria_label="Changes of the last minute, two seconds a bar"),
        element("span", element("button", "Pause ", element("kbd", "p"), class_="btn",
                                type="button", id="pause", hidden=""), class_="end"),
    )  # fmt: skip
    empty = element(
        "p",
        f"Nothing has changed since the studio began to look. It follows {', '.join(live)}.",
        class_="empty",
        id="nothing",
        hidden="" if shown else None,
    )
    views = {each.stream for each in live.values() if each.stream} - {VIEW}
    return element(
        "section",
        header,
        _filters(workspace, live, query),
        *[element("div", _view_note(view), class_="body") for view in sorted(views)],
        scroll("Changes", [table, empty]),
        element("p", f"At most {SHOWN} changes are shown.", class_="pager"),
        class_="panel live",
        aria_label="Changes",
        data_source=source,
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
    fields = [
        _select("entity", "Entity", [*dict.fromkeys(entities), "unknown"], query.get("entity")),
        _select("kind", "Kind", KINDS, query.get("kind")),
        element(
            "span",
            element("label", "Text", for_="live-q"),
            element("input", id="live-q", name="q", value=query.get("q"), type="search",
                    placeholder="in a key or a value"),
            class_="f",
        ),
        element("button", "Filter", class_="btn", type="submit"),
    ]  # fmt: skip
    if query.get("table"):
        fields.append(element("input", type="hidden", name="table", value=query.get("table")))
    return element("form", fields, action="/live", class_="filters", aria_label="Filter")


def _select(name: str, label: str, options: Iterable[str], chosen: str) -> Markup:
    choices = [element("option", "any", value="")]
    choices += [
        element("option", each, value=each, selected="" if each == chosen else None)
        for each in options
    ]
    return element(
        "span",
        element("label", label, for_=f"live-{name}"),
        element("select", choices, id=f"live-{name}", name=name),
        class_="f",
    )


def _script() -> Markup:
    return element("script", src=static_url("live.js"), defer="")


# --- changes ------------------------------------------------------------------------------------


def row(change: LiveChange, with_table: bool = False) -> Markup:
    """Return a change as a row."""
    sign, style = SIGNS[change.kind]
    kind = element(
        "td", element("span", sign, class_=f"sg {style}", aria_hidden="true"), f" {change.kind}"
    )
    role = change.role
    what = [kind_chip(role) if role.is_record else chip(role.entity)]
    if side := side_of(role):
        what += [element("small", f" {side}", class_="faint")]
    key = [_key(change, change.key)]
    if change.kind not in ("deleted", "expired"):
        key = [element("a", key, class_="kl", href=key_url(change.table, change.key))]
    if change.old_key is not None:
        key = [element("del", _key(change, change.old_key)), element("br"), *key]
    return element(
        "tr",
        element("td", element("time", f"{change.at:%H:%M:%S}",
                              datetime=change.at.isoformat(timespec="seconds"),
                              title=f"{change.at:%Y-%m-%d %H:%M:%S} UTC"), class_="mono faint"),
        kind,
        element("td", change.table, class_="mono") if with_table else NOTHING,
        element("td", what),
        element("td", key),
        element("td", _changed(change), class_="chg"),
    )  # fmt: skip


def _key(change: LiveChange, key: Item) -> Markup:
    entity, unique = change.role.entity, change.role.unique
    place: KeyMap | None = None
    if unique is not None:
        place = unique.key
    elif entity is not None:
        place = entity.primary
    parts = [stored_key(value, place, name, entity) for name, value in key.items()]
    return join(parts, element("span", " / ", class_="faint"))


def _changed(change: LiveChange) -> Markup:
    """Return what changed: old and new values, or what the stream has of them."""
    if change.old is None and change.new is None:
        return element("span", f"the stream has no item ({change.view})", class_="muted")
    if change.kind == "updated" and (change.old is None or change.new is None):
        word, image = ("now", change.new) if change.old is None else ("before", change.old)
        return _listed([_pair(f"{word}: {name}", (image or {})[name]) for name in change.names])
    found = change.differences
    if change.kind in ("created", "deleted", "expired"):
        return _listed([_pair(each.name, each.new or each.old) for each in found])
    if not found:
        return element("span", "no attribute changed", class_="muted")
    return _listed(
        [
            element(
                "code",
                f"{each.name} ",
                element("del", _short(each.old)) if each.old is not None else NOTHING,
                " → ",
                element("ins", _short(each.new))
                if each.new is not None
                else element("span", "removed", class_="faint"),
            )
            for each in found
        ]
    )


def _listed(parts: list[Markup]) -> Markup:
    rest = len(parts) - MAX_ATTRIBUTES
    more = [element("span", f"and {rest} more", class_="faint")] if rest > 0 else []
    return element("span", [*parts[:MAX_ATTRIBUTES], *more], class_="chgs")


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
    header = element(
        "header", element("h2", name, class_="mono"), element("span", "no stream", class_="tag")
    )
    text = "Changes are shown from the stream of a table, and this one has none."
    return element(
        "section", header,
        element("div", element("p", text, class_="muted"), body, class_="body stack"),
        class_="panel", aria_label=f"{name} has no stream",
    )  # fmt: skip


def _offer(workspace: Workspace, name: str) -> Markup:
    if workspace.is_remote:
        cost = (
            "Having a stream is free on AWS; reading it is charged: GetRecords after the first 2.5 "
            "million of a month. This view sends up to two a second for each shard, while it is "
            "open."
        )
    else:
        cost = "Each change is stored a second time in the file, and removed after 24 hours."
    return element(
        "form",
        element("input", type="hidden", name="table", value=name),
        element("button", "Enable the stream", class_="btn go", type="submit"),
        element("span", f"UpdateTable with the view type {VIEW}. {cost}", class_="hint"),
        method="post",
        action="/live/enable",
        class_="row",
    )


def enable(workspace: Workspace, request: WebRequest) -> WebResponse:
    """Enable the stream of a table."""
    name = request.form.get("table")
    specification = {"StreamEnabled": True, "StreamViewType": VIEW}
    workspace.send("UpdateTable", TableName=name, StreamSpecification=specification)
    return redirect("/live" if name in workspace.maps else url("/live", table=name))


ROUTES = {
    ("GET", "/live"): show,
    ("GET", "/live/events"): events,
    ("POST", "/live/enable"): enable,
}

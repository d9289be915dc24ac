"""The workspace: the design and the target that a studio shows.

    Workspace(design, "commerce.db")     a design and its data
    Workspace(None, "http://…:8000")     what is at a target, without a design
    Workspace(design, ":memory:")        a design and, in memory, its sample data

The target is opened when it is needed. If that fails, or a request fails, the error is shown; the
next request tries again, so a studio recovers when its target does.

A target in memory or in a file is writable unless `write` is False; an endpoint only if `write` is
True. A production target is locked until a person has typed its name. The transport of a read-only
or locked target refuses every operation that writes, whatever a view does.

A preview is kept here until its button is pressed: its page has a random token that is valid once.
Only the last previews are kept; an older token, or one of a restarted studio, makes a new preview.

The findings and costs of the design take a while to compute, so they are computed once.
"""

from __future__ import annotations

import secrets
import shlex
import threading
from collections import OrderedDict
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from tablewright.cost import CostReport, Rates, load_prices, load_rates, price_trace
from tablewright.engine import Engine
from tablewright.errors import (
    DynamoDBError,
    EndpointUnavailable,
    ResourceNotFoundException,
    TablewrightError,
)
from tablewright.mapping.table import TableMap
from tablewright.model.databases.database import Database
from tablewright.model.table import Table
from tablewright.plan.inspection import entities_of
from tablewright.plan.migration.inspecting import RequireAdmitted
from tablewright.plan.plan import Context, Plan
from tablewright.publish.advice import Finding, advise
from tablewright.studio.target.inferring import Inference, infer_table
from tablewright.studio.target.naming import name_target
from tablewright.table_description import TableDescription, read_table
from tablewright.transport import Response, Transport
from tablewright.transport.remote import Remote
from tablewright.transport.targets import Local, open_target
from tablewright.verify import Design, Trace, trace
from tablewright.wire.operations import OPERATIONS, Access, may_change, touches
from tablewright.wire.touches import Unclear

if TYPE_CHECKING:
    from tablewright.studio.writes.preview import Preview

#: The live views that are open at the same time: each takes a thread of the server.
MAX_LIVE_VIEWS = 8


class Analysis:
    """The findings and costs of a design. Several threads may use it."""

    def __init__(self, design: Design) -> None:
        self._design = design
        self._lock = threading.Lock()
        self._findings: list[Finding] | None = None
        self._trace: Trace | None = None

    def findings(self) -> list[Finding]:
        """Return the findings of `advise`. Raises DesignLoadError if the sample data cannot
        be stored.
        """
        with self._lock:
            if self._findings is None:
                self._findings = advise(self._design, traced=self._traced())
            return self._findings

    def costs(self, calls: Mapping[str, float] | None = None) -> CostReport | None:
        """Return the cost for these calls per second; by default, for the declared rates.

        Return None if the units are not known: the sample data cannot be stored, or a check does
        not run as expected.
        """
        declared = load_rates(self._design)
        rates = declared if calls is None else Rates(dict(calls), declared.items)
        try:
            with self._lock:
                traced = self._traced()
            return price_trace(self._design, traced, rates=rates, prices=load_prices(None))
        except TablewrightError:
            return None

    def _traced(self) -> Trace:
        """Return the trace of the checks; the lock is held."""
        if self._trace is None:
            self._trace = trace(self._design)
        return self._trace


READ_ONLY = "the target is read-only. Start the studio with --write to allow changes."
LOCKED = "the target is a production one, and its name has not been typed beside the button."


class ReadOnlyTarget(TablewrightError):
    """A write is requested, but the target is read-only, or locked."""

    def __init__(self, what: str, reason: str = READ_ONLY) -> None:
        super().__init__(f"{what} is refused: {reason}")


class ReadOnly:
    """A transport that refuses every operation that may write, and says why."""

    def __init__(self, transport: Transport, reason: str = READ_ONLY) -> None:
        self._transport = transport
        self._reason = reason

    def send(self, operation: str, request: dict[str, Any]) -> Response:
        if not only_reads(operation, request):
            raise ReadOnlyTarget(operation, self._reason)
        return self._transport.send(operation, request)

    def close(self) -> None:
        self._transport.close()


def only_reads(operation: str, request: dict[str, Any]) -> bool:
    """Return whether a request changes nothing; statements are parsed for that."""
    row = OPERATIONS.get(operation)
    if row is None or row.access is not Access.STATEMENT:
        return not may_change(operation)
    try:
        # A transaction of checks is metered as a write, and stores its token.
        return {touch.access for touch in touches(operation, request)} == {"read"}
    except Unclear:
        return False


class WatchedTransport:
    """A transport that knows whether its target answers."""

    def __init__(self, transport: Local | Remote) -> None:
        self._transport = transport
        #: Why the last request got no response; "" if it got one.
        self.problem = ""

    def send(self, operation: str, request: dict[str, Any]) -> Response:
        try:
            response = self._transport.send(operation, request)
        except EndpointUnavailable as error:
            self.problem = str(error)
            raise
        except DynamoDBError:
            self.problem = ""
            raise
        self.problem = ""
        return response

    def close(self) -> None:
        self._transport.close()


class Workspace:
    """What a studio shows. Views of several threads use it at the same time."""

    def __init__(
        self,
        design: Design | None,
        target: str | Engine,
        *,
        write: bool | None = None,
        design_word: str | None = None,
    ) -> None:
        """Create a workspace; the target is opened when it is first used.

        `write` allows changes; by default they are allowed unless the target is an endpoint.
        `design_word` names the design on the command line, for the commands that pages show.
        """
        self.design = design
        self._design_word = design_word
        self.target = target
        self.is_remote = isinstance(target, str) and "://" in target
        self.named = name_target(target)
        self.is_writable = not self.is_remote if write is None else write
        #: Whether writes wait for a person to type the name of the target.
        self.is_locked = self.is_writable and self.named.kind == "production"
        self._lock = threading.Lock()
        self._opened: WatchedTransport | None = None
        self._problem = ""
        self._secret = secrets.token_bytes(32)
        #: The live views that may still be opened.
        self.live_views = threading.BoundedSemaphore(MAX_LIVE_VIEWS)
        #: The previews of writes that are shown and not applied yet.
        self.pending = Pending()
        self._inferences: dict[str, Inference] = {}

    @property
    def place(self) -> str:
        """Where a button writes: ` in production eu-west-1`; "" if that needs no mention."""
        prefix = {"endpoint": " in ", "production": " in production "}.get(self.named.kind)
        return "" if prefix is None else prefix + self.named.name

    def button_kind(self, kind: str = "go") -> str:
        """Return the kind of a button that writes: in production it has a colour of its own."""
        return "onprod" if self.named.kind == "production" else kind

    def unlock(self, name: str) -> None:
        """Allow writes at a production target, if this is its name."""
        self.is_locked = self.is_locked and name.strip() != self.named.name

    @property
    def has_own_data(self) -> bool:
        """Whether the target outlives this studio; sample data in memory does not."""
        return isinstance(self.target, str) and self.target != ":memory:"

    def command(self, words: str) -> str:
        """Return a command of Tablewright for the design and the target: `migrate plan`."""
        named = self._design_name or "DESIGN"
        target = self.target if isinstance(self.target, str) else "TARGET"
        return f"tablewright {words} {shlex.quote(named)} {shlex.quote(target)}"

    @property
    def start_command(self) -> str:
        """The command that starts a studio of the same design and target."""
        target = self.target if isinstance(self.target, str) else ""
        words = filter(None, (self._design_name, target))
        return " ".join(["tablewright studio", *map(shlex.quote, words)])

    @property
    def _design_name(self) -> str:
        """The design, as a command names it; "" without one."""
        return self._design_word or ("" if self.design is None else self.design.name)

    @property
    def transport(self) -> Transport:
        """The transport to the target. Raises if the target cannot be opened."""
        with self._lock:
            if self._opened is None:
                try:
                    self._opened = WatchedTransport(open_target(self.target))
                except TablewrightError as error:
                    self._problem = str(error)
                    raise
        return ReadOnly(self._opened, self._refusal) if self._refusal else self._opened

    @property
    def problem(self) -> str:
        """Why the target cannot be reached; "" if the last request got a response."""
        return self._problem if self._opened is None else self._opened.problem

    def require_writable(self, what: str) -> None:
        """Raise ReadOnlyTarget if the target cannot be written; `what` was asked for."""
        if self._refusal:
            raise ReadOnlyTarget(what, self._refusal)

    @property
    def _refusal(self) -> str:
        """Why writes are refused now; "" if they are not."""
        return READ_ONLY if not self.is_writable else LOCKED if self.is_locked else ""

    def close(self) -> None:
        with self._lock:
            if self._opened is not None:
                self._opened.close()
                self._opened = None

    def send(self, operation: str, **request: Any) -> dict[str, Any]:
        """Send one request and return the decoded response."""
        body = self.transport.send(operation, request).body
        decoded: dict[str, Any] = msgspec.json.decode(body)
        return decoded

    # --- the design ----------------------------------------------------------------------------

    @property
    def tables(self) -> tuple[type[Table], ...]:
        return () if self.design is None else self.design.tables

    @cached_property
    def maps(self) -> Mapping[str, TableMap]:
        """The tables of the design by their names at the target."""
        return {table.__table__.name: table.__table__ for table in self.tables}

    @cached_property
    def analysis(self) -> Analysis:
        """The findings and costs of the design."""
        assert self.design is not None
        return Analysis(self.design)

    def database(self, transport: Transport | None = None) -> Database:
        """Return a database with the tables of the design, on a transport of its own if given."""
        context = Context(
            names={table: name for name, table in self.maps.items()}, secret=self._secret
        )
        return Database(transport or self.transport, context, self.tables, owned=False)

    def require_admitted(self, plan: Plan[Any]) -> None:
        """Raise DesignMismatch if a program with this design may not run a plan now."""
        database = self.database()
        for table in {entity.table: None for entity in entities_of(plan)}:
            database.run(RequireAdmitted(table))

    def inference(self, name: str, *, ask: bool = False) -> Inference | None:
        """Return what a sample shows of a table without a design; None if nothing is known.

        The sample is read once. That takes units at an endpoint, so it is read there only if `ask`.
        """
        found = self._inferences.get(name)
        if found is None and name not in self.maps and (ask or not self.is_remote):
            found = infer_table(self.transport, name)
            if found is not None:
                self._inferences[name] = found
        return found

    def map_of(self, name: str) -> TableMap | None:
        """Return a table of the design, or an inferred one; None if there is neither."""
        if name in self.maps:
            return self.maps[name]
        found = self.inference(name)
        return None if found is None else found.table

    # --- the target ----------------------------------------------------------------------------

    def table_names(self) -> list[str]:
        """Return the names of the tables at the target, at most a hundred."""
        names: list[str] = self.send("ListTables", Limit=100)["TableNames"]
        return names

    def describe(self, name: str) -> TableDescription | None:
        """Return the description of a table, or None if it does not exist."""
        try:
            return read_table(self.send("DescribeTable", TableName=name)["Table"])
        except ResourceNotFoundException:
            return None


#: How many previews are kept.
KEPT = 50


class PendingPreview(Struct, frozen=True):
    """A preview and what was asked for, as the form has given it."""

    preview: Preview
    asked: Any


class Pending:
    """The previews of a studio that are not applied yet. Several threads use it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._found: OrderedDict[str, PendingPreview] = OrderedDict()

    def add(self, preview: Preview, asked: Any, *, is_writable: bool) -> str:
        """Keep a preview that can be applied and return its token; "" if it cannot be."""
        if preview.error is not None or preview.is_empty or not is_writable:
            return ""
        token = secrets.token_urlsafe(16)
        with self._lock:
            self._found[token] = PendingPreview(preview, asked)
            while len(self._found) > KEPT:
                self._found.popitem(last=False)
        return token

    def take(self, token: str) -> PendingPreview | None:
        """Return the preview of a token, once; None if it is not known."""
        with self._lock:
            return self._found.pop(token, None)

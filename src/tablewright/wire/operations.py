"""The table of operations: what each operation of DynamoDB is, in one row.

    access         what it reads or changes: see `Access`
    input type     a structure of `wire`, imported when it is needed
    handler        a function in `engine.operations`, which that package imports when it is needed
    about          the resources that IAM policies are checked against, and the attributes of the
                   input type that name them; those of operations on items come from the touches
    touched        which items a request touches (`tablewright.wire.touches`)

An operation on items is metered and throttled; in a transaction its units count twice, and its
reads are never outdated. Lists of operations by kind (`READS`, `WRITES`) belong here.

This module must not import input types and handlers: most programs use few of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import Enum, auto
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct

from tablewright.wire import touches as forms
from tablewright.wire.touches import Touch, Unclear

if TYPE_CHECKING:
    from tablewright.wire.constraints import Structure


class Access(Enum):
    """What an operation reads or changes."""

    READ = auto()  # reads items
    WRITE = auto()  # changes items
    STATEMENT = auto()  # reads or changes items, as its statements say
    DESCRIBE = auto()  # reads descriptions and settings
    CONTROL = auto()  # changes tables, settings, backups, exports or imports
    STREAM = auto()  # reads streams


class About(Struct, frozen=True):
    """A resource that a request is about, for policies.

    A table may be given by its name or its ARN, "streams" are all of a table or of all tables.
    """

    kind: Literal[
        "account", "arn", "iterator", "stream", "streams", "table", "table or stream", "tables"
    ]
    #: The attribute that names it, or the path of that; None there: there is no such resource.
    name: str = ""


class Operation(Struct, frozen=True):
    """One row of the table."""

    name: str
    access: Access
    #: The module of the input type, or its path if it is not called after the operation.
    input: str = "requests"
    #: The module of the handler, or its path; by default both are called after the operation.
    handler: str = ""
    about: tuple[About, ...] = (About("table", "table_name"),)
    touched: Callable[[Any], Iterator[Touch]] | None = None
    is_batch: bool = False
    is_transaction: bool = False
    #: The member with which a repeated request takes effect once.
    token: str = ""

    @property
    def input_type(self) -> type[Structure]:
        module, _, name = self.input.partition(".")
        found = import_module(f"tablewright.wire.{module}")
        shape: type[Structure] = getattr(found, name or f"{self.name}Input")
        return shape

    @property
    def handler_path(self) -> tuple[str, str]:
        """The module of the handler in `engine.operations`, and its name."""
        own = "".join(f"_{each.lower()}" if each.isupper() else each for each in self.name)[1:]
        module, _, function = self.handler.partition(".")
        return module or own, function or own

    @property
    def is_metered(self) -> bool:
        """Whether it consumes capacity units: its response can contain them."""
        return self.touched is not None

    @property
    def changes(self) -> bool:
        """Whether it may change anything."""
        return self.access in (Access.WRITE, Access.STATEMENT, Access.CONTROL)

    @property
    def lags(self) -> bool:
        """Whether it may read outdated items, unless it asks for consistent ones."""
        return self.is_metered and not self.is_transaction and self.access is not Access.WRITE


READ, WRITE, STATEMENT = Access.READ, Access.WRITE, Access.STATEMENT
DESCRIBE, CONTROL, STREAM = Access.DESCRIBE, Access.CONTROL, Access.STREAM

_SETTINGS = "table_settings"
_KINESIS, _INSIGHTS = "kinesis_destinations", "contributor_insights"
_KINESIS_INPUT = "table_settings.KinesisStreamingDestinationInput"
_REPLICAS, _NONE_FOUND = "account.refuse_replicas", "account.find_no_global_table"
_TOKEN, _JOB_TOKEN = "ClientRequestToken", "ClientToken"

_ACCOUNT = (About("account"),)
_BACKUP = (About("arn", "backup_arn"),)
_EXPORT, _IMPORT = (About("arn", "export_arn"),), (About("arn", "import_arn"),)
_EXPORTED, _IMPORTED = (About("table", "table_arn"),), (About("table", "table.table_name"),)
_GLOBAL = (About("table", "global_table_name"),)
_POLICY = (About("table or stream", "resource_arn"),)
_SOURCE = About("table", "source_name"), About("table", "source_arn")
_STREAM, _ITERATOR = (About("stream", "stream_arn"),), (About("iterator", "shard_iterator"),)
_TAGGED = (About("table", "resource_arn"),)
_TARGET = (About("table", "target_name"),)
# IAM's resources: `table/*` allows ListTables, `table/shop-*` does not; ListStreams is about all
# streams, or all streams of a table.
_TABLES, _STREAMS = (About("tables"),), (About("streams", "table_name"),)

_ROWS = (
    # -- items
    Operation("BatchGetItem", READ, touched=forms.batch_get, is_batch=True),
    Operation("BatchWriteItem", WRITE, touched=forms.batch_write, is_batch=True),
    Operation("DeleteItem", WRITE, touched=partial(forms.one_item, "Delete")),
    Operation("GetItem", READ, touched=partial(forms.one_item, "Get")),
    Operation("PutItem", WRITE, touched=partial(forms.one_item, "Put")),
    Operation("Query", READ, touched=partial(forms.page, "Query")),
    Operation("Scan", READ, touched=partial(forms.page, "Scan")),
    Operation("TransactGetItems", READ, touched=forms.transact_get, is_transaction=True),
    Operation(
        "TransactWriteItems", WRITE, touched=forms.transact_write, is_transaction=True, token=_TOKEN
    ),
    Operation("UpdateItem", WRITE, touched=partial(forms.one_item, "Update")),
    # -- statements
    Operation(
        "BatchExecuteStatement",
        STATEMENT,
        "partiql",
        "statements",
        touched=partial(forms.statements, "Statements"),
        is_batch=True,
    ),
    Operation(
        "ExecuteStatement",
        STATEMENT,
        "partiql",
        "statements",
        touched=partial(forms.statements, ""),
    ),
    Operation(
        "ExecuteTransaction",
        STATEMENT,
        "partiql",
        "statements",
        touched=partial(forms.statements, "TransactStatements"),
        is_transaction=True,
        token=_TOKEN,
    ),
    # -- tables and their settings
    Operation("CreateTable", CONTROL),
    Operation("DeleteResourcePolicy", CONTROL, _SETTINGS, "resource_policies", _POLICY),
    Operation("DeleteTable", CONTROL, handler="tables"),
    Operation("DescribeContributorInsights", DESCRIBE, _SETTINGS, _INSIGHTS),
    Operation(
        "DescribeEndpoints", DESCRIBE, "requests.DescribeEndpointsRequest", "account", _ACCOUNT
    ),
    Operation("DescribeKinesisStreamingDestination", DESCRIBE, _SETTINGS, _KINESIS),
    Operation("DescribeLimits", DESCRIBE, handler="account", about=_ACCOUNT),
    Operation("DescribeTable", DESCRIBE, handler="tables"),
    Operation("DescribeTimeToLive", DESCRIBE, handler="tables"),
    Operation("DisableKinesisStreamingDestination", CONTROL, _KINESIS_INPUT, _KINESIS),
    Operation("EnableKinesisStreamingDestination", CONTROL, _KINESIS_INPUT, _KINESIS),
    Operation("GetResourcePolicy", DESCRIBE, _SETTINGS, "resource_policies", _POLICY),
    Operation("ListContributorInsights", DESCRIBE, _SETTINGS, _INSIGHTS, _ACCOUNT),
    Operation("ListTables", DESCRIBE, handler="tables", about=_TABLES),
    Operation("ListTagsOfResource", DESCRIBE, handler="tables", about=_TAGGED),
    Operation("PutResourcePolicy", CONTROL, _SETTINGS, "resource_policies", _POLICY),
    Operation("TagResource", CONTROL, handler="tables", about=_TAGGED),
    Operation("UntagResource", CONTROL, handler="tables", about=_TAGGED),
    Operation("UpdateContributorInsights", CONTROL, _SETTINGS, _INSIGHTS),
    Operation("UpdateKinesisStreamingDestination", CONTROL, _SETTINGS, _KINESIS),
    Operation("UpdateTable", CONTROL),
    Operation("UpdateTimeToLive", CONTROL, handler="tables"),
    # -- global tables
    Operation("CreateGlobalTable", CONTROL, _SETTINGS, _REPLICAS, _GLOBAL),
    Operation("DescribeGlobalTable", DESCRIBE, _SETTINGS, _NONE_FOUND, _GLOBAL),
    Operation("DescribeGlobalTableSettings", DESCRIBE, _SETTINGS, _NONE_FOUND, _GLOBAL),
    Operation("DescribeTableReplicaAutoScaling", DESCRIBE, _SETTINGS, _REPLICAS),
    Operation("ListGlobalTables", DESCRIBE, _SETTINGS, "account", _ACCOUNT),
    Operation("UpdateGlobalTable", CONTROL, _SETTINGS, _REPLICAS, _GLOBAL),
    Operation("UpdateGlobalTableSettings", CONTROL, _SETTINGS, _NONE_FOUND, _GLOBAL),
    Operation("UpdateTableReplicaAutoScaling", CONTROL, _SETTINGS, _REPLICAS),
    # -- backups, exports and imports
    Operation("CreateBackup", CONTROL, "archives", "backups"),
    Operation("DeleteBackup", CONTROL, "archives", "backups", _BACKUP),
    Operation("DescribeBackup", DESCRIBE, "archives", "backups", _BACKUP),
    Operation("DescribeContinuousBackups", DESCRIBE, "archives", "backups"),
    Operation("DescribeExport", DESCRIBE, "archives", "exports", _EXPORT),
    Operation("DescribeImport", DESCRIBE, "archives", "imports", _IMPORT),
    Operation(
        "ExportTableToPointInTime", CONTROL, "archives", "exports", _EXPORTED, token=_JOB_TOKEN
    ),
    Operation("ImportTable", CONTROL, "archives", "imports", _IMPORTED, token=_JOB_TOKEN),
    Operation("ListBackups", DESCRIBE, "archives", "backups", _ACCOUNT),
    Operation("ListExports", DESCRIBE, "archives", "exports", _ACCOUNT),
    Operation("ListImports", DESCRIBE, "archives", "imports", _ACCOUNT),
    Operation("RestoreTableFromBackup", CONTROL, "archives", "restore_table", _BACKUP + _TARGET),
    Operation("RestoreTableToPointInTime", CONTROL, "archives", "restore_table", _SOURCE + _TARGET),
    Operation("UpdateContinuousBackups", CONTROL, "archives", "backups"),
    # -- streams
    Operation("DescribeStream", STREAM, "streams", "streams", about=_STREAM),
    Operation("GetRecords", STREAM, "streams", "streams", about=_ITERATOR),
    Operation("GetShardIterator", STREAM, "streams", "streams", about=_STREAM),
    Operation("ListStreams", STREAM, "streams", "streams", about=_STREAMS),
)

#: All operations, by name.
OPERATIONS = {row.name: row for row in _ROWS}
#: The names of those that only read items, and of those that always change items.
READS = frozenset(row.name for row in _ROWS if row.access is READ)
WRITES = frozenset(row.name for row in _ROWS if row.access is WRITE)
#: The operations of DynamoDB Streams, which is a service of its own on AWS.
STREAM_OPERATIONS = frozenset(row.name for row in _ROWS if row.access is STREAM)


def may_change(operation: str) -> bool:
    """Return whether an operation may change anything; one that is not known here may."""
    row = OPERATIONS.get(operation)
    return row is None or row.changes


def touches(operation: str, request: object) -> Iterator[Touch]:
    """Yield the touches of a request, given as JSON or typed.

    Raise Unclear if the operation is unknown or not on items, or if the request does not show its
    items; raise ValidationException for an invalid PartiQL statement.

    >>> [each.what for each in touches("GetItem", {"TableName": "shop", "Key": {"PK": {"S": "a"}}})]
    [Key(item={'PK': {'S': 'a'}})]
    """
    row = OPERATIONS.get(operation)
    if row is None or row.touched is None:
        raise Unclear
    return row.touched(request)


def target_of(operation: str) -> str:
    """Return the header of an operation.

    >>> target_of("GetItem"), target_of("GetRecords")
    ('DynamoDB_20120810.GetItem', 'DynamoDBStreams_20120810.GetRecords')
    """
    service = "DynamoDBStreams" if operation in STREAM_OPERATIONS else "DynamoDB"
    return f"{service}_20120810.{operation}"

"""The database that the tests of this folder talk to, over HTTP or in process, in the same words.

Requests and answers are DynamoDB JSON in both cases. Over HTTP they go through boto3, with its own
validation off, so that what is wrong with a request is for the server to find. What boto3 cannot
send (JSON of the wrong type) goes through `post`, which speaks plain HTTP.
"""

from __future__ import annotations

import base64
import http.client
import itertools
import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from datetime import datetime
from decimal import Decimal
from functools import cache
from typing import Any
from urllib.parse import urlsplit

import pytest
from botocore import xform_name
from botocore.exceptions import ClientError

from tablewright.engine import Engine
from tablewright.errors import DynamoDBError, ValidationException
from tablewright.wire.layers import PROFILES, Layer
from tablewright.wire.operations import STREAM_OPERATIONS, target_of
from tests.server.http import AUTHORIZATION

Json = dict[str, Any]
LABEL = "1 validation error detected: "
#: The keys and the projection of an index; a list of names is an INCLUDE.
Index = tuple[str, str | list[str]]


class Refused(Exception):
    """The request was answered with a fault; `details` are its members besides the message."""

    def __init__(self, code: str, message: str, details: Json) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message
        self.details = {
            name: value
            for name, value in details.items()
            if name not in ("__type", "message", "Message", "Error", "ResponseMetadata")
        }


@cache
def _engine_of_2025() -> Engine:
    return Engine(validation="2025")


class Database(ABC):
    """An engine and a way to reach it.

    A test gets tables of its own from `table`. Tables that a test left as they were are given to
    later tests that ask for the same: most tests only read, or are refused.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._numbers = itertools.count(1)
        #: What the running test has been given, and whether it may have changed it.
        self._given: list[tuple[str, str]] = []
        self._changed = False
        #: The tables that are as they were made, by what was asked for.
        self._unchanged: dict[str, list[str]] = {}

    @property
    def engine(self) -> Engine:
        """The engine, to do anything with it."""
        self._changed = True
        return self._engine

    def end_test(self) -> None:
        """Take the tables back that the test was given, if it did not change them."""
        if not self._changed:
            for wanted, name in self._given:
                self._unchanged.setdefault(wanted, []).append(name)
        self._given.clear()
        self._changed = False

    def call(self, operation: str, request: Mapping[str, Any] | None = None) -> Json:
        """The answer, or `Refused`, which changes nothing."""
        answer = self._call(operation, dict(request or {}))
        self._changed = self._changed or not _is_read(operation, request)
        return answer

    def post(self, operation: str, body: object) -> Json:
        """The same for a body of any JSON, sent as it is."""
        answer = self._post(operation, body)
        self._changed = self._changed or not _is_read(operation, body)
        return answer

    @abstractmethod
    def _call(self, operation: str, request: Json) -> Json: ...

    @abstractmethod
    def _post(self, operation: str, body: Any) -> Json: ...

    def check(self) -> Any:
        return self._engine.check()

    def fails(
        self,
        operation: str,
        request: Mapping[str, Any],
        code: str,
        message: str,
        *,
        raw: bool = False,
    ) -> Json:
        """Assert exactly this refusal; gives its other members.

        `raw`: send the request as it is, because boto3 would stumble over it.
        """
        with pytest.raises(Refused) as refused:
            (self.post if raw else self.call)(operation, request)
        assert (refused.value.code, refused.value.message) == (code, message)
        return refused.value.details

    def refuses(
        self, operation: str, request: Mapping[str, Any], message: str, *, raw: bool = False
    ) -> None:
        """Assert a ValidationException."""
        self.fails(operation, request, "ValidationException", message, raw=raw)

    def refuses_early(
        self,
        operation: str,
        request: Mapping[str, Any],
        message: str,
        *,
        old: str | None = None,
        raw: bool = False,
    ) -> None:
        """Assert a ValidationException that needs no table, as each layer words it.

        `message` has no prefix; `old` is the message before 2026, if that is another one.
        """
        layer = PROFILES["2026"].get(operation, Layer.OLD)
        old = message if old is None else old
        shown = {
            Layer.OLD: old,
            Layer.NEW: message,
            Layer.LABELLED: message if "detected: " in message else f"{LABEL}{message}",
        }
        self.refuses(operation, request, shown[layer], raw=raw)
        with pytest.raises(ValidationException) as refused:
            _engine_of_2025().prepare(operation, dict(request))
        assert refused.value.message == old

    # -- short forms of what most tests begin with

    def new_name(self) -> str:
        return f"table-{next(self._numbers)}"

    def table(
        self,
        keys: str = "pk:S / sk:S",
        *,
        local: Mapping[str, Index] | None = None,
        glob: Mapping[str, Index] | None = None,
        items: list[Json] | None = None,
        **members: Any,
    ) -> str:
        """The name of a table that has these items only.

        It is made in process, which is quicker and tested elsewhere.
        """
        wanted = repr((keys, local, glob, items, members))
        if self._unchanged.get(wanted):
            name = self._unchanged[wanted].pop()
        else:
            name = self.new_name()
            request = table_request(name, keys, local=local, glob=glob, **members)
            self._engine.call("CreateTable", request)
            for one in items or ():
                self._engine.call("PutItem", {"TableName": name, "Item": one})
        self._given.append((wanted, name))
        return name

    def put(self, table: str, attributes: Json) -> None:
        self.engine.call("PutItem", {"TableName": table, "Item": attributes})

    def get(self, table: str, key: Json) -> Json | None:
        """The item as it is stored."""
        found = self._engine.call("GetItem", {"TableName": table, "Key": key})
        return found.get("Item")

    def items(self, table: str, index: str | None = None) -> list[Json]:
        """Everything in a table or an index."""
        request: Json = {"TableName": table}
        if index is not None:
            request["IndexName"] = index
        return [one for page in self.pages("Scan", request) for one in page["Items"]]

    def pages(self, operation: str, request: Json) -> Iterator[Json]:
        """Every page of a Query or Scan."""
        request = dict(request)
        while True:
            page = self.call(operation, request)
            yield page
            if "LastEvaluatedKey" not in page:
                return
            request["ExclusiveStartKey"] = page["LastEvaluatedKey"]


def _is_read(operation: str, request: object) -> bool:
    if operation == "ExecuteStatement" and isinstance(request, Mapping):
        return str(request.get("Statement")).lstrip().upper().startswith("SELECT")
    return operation in _READS or operation.startswith(("Describe", "List"))


_READS = {"BatchGetItem", "GetItem", "Query", "Scan", "TransactGetItems"}


class InProcess(Database):
    """`Engine.call`."""

    def _call(self, operation: str, request: Json) -> Json:
        try:
            return self._engine.call(operation, request)
        except DynamoDBError as fault:
            raise refused(fault) from None

    def _post(self, operation: str, body: Any) -> Json:
        try:
            if not isinstance(body, dict):  # which the type of `call` does not allow
                self._engine.prepare(operation, body)
            return self._engine.call(operation, body)
        except DynamoDBError as fault:
            raise refused(fault) from None


def refused(fault: DynamoDBError) -> Refused:
    """A fault with its members as JSON, as they would go over the wire."""
    return Refused(fault.code, fault.message, json.loads(json.dumps(fault.body())))


class OverHttp(Database):
    """boto3, and plain HTTP where boto3 would not do."""

    def __init__(self, engine: Engine, url: str, client: Any, streams: Any) -> None:
        super().__init__(engine)
        self._client = client
        self._streams = streams
        address = urlsplit(url)
        self._connection = http.client.HTTPConnection(str(address.hostname), address.port)

    def _call(self, operation: str, request: Json) -> Json:
        client = self._streams if operation in STREAM_OPERATIONS else self._client
        method = getattr(client, xform_name(operation))
        try:
            answer = method(**to_bytes(request))
        except ClientError as error:
            fault = error.response["Error"]
            raise Refused(
                fault["Code"], fault.get("Message", ""), from_boto3(error.response)
            ) from None
        del answer["ResponseMetadata"]
        return dict(from_boto3(answer))

    def _post(self, operation: str, body: Any) -> Json:
        return self.post_bytes(operation, json.dumps(body).encode())

    def post_bytes(self, operation: str, body: bytes) -> Json:
        headers = {
            "Content-Type": "application/x-amz-json-1.0",
            "X-Amz-Target": target_of(operation),
            "Authorization": AUTHORIZATION,
            "X-Amz-Date": "20260115T000000Z",
        }
        self._connection.request("POST", "/", body, headers)
        response = self._connection.getresponse()
        answer: Json = json.loads(response.read() or b"{}")
        if response.status == 200:
            return answer
        code = str(answer["__type"]).rpartition("#")[2]
        raise Refused(code, answer.get("message") or answer.get("Message") or "", answer)

    def close(self) -> None:
        self._connection.close()
        self._client.close()
        self._streams.close()


def to_bytes(value: Any) -> Any:
    """A request as boto3 takes it: binary values are bytes, not base64."""
    if isinstance(value, list):
        return [to_bytes(one) for one in value]
    if not isinstance(value, dict):
        return value
    found: Json = {}
    for name, inner in value.items():
        if name == "B" and isinstance(inner, str):
            found[name] = base64.b64decode(inner)
        elif name == "BS" and isinstance(inner, list):
            found[name] = [base64.b64decode(one) for one in inner]
        else:
            found[name] = to_bytes(inner)
    return found


def from_boto3(value: Any) -> Any:
    """An answer as it came over the wire: bytes are base64, times are seconds."""
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, datetime):
        return value.timestamp()
    if isinstance(value, list):
        return [from_boto3(one) for one in value]
    if isinstance(value, dict):
        return {name: from_boto3(inner) for name, inner in value.items()}
    return value


# -- short forms of requests


def av(value: Any) -> Json:
    """An attribute value: `av("a") == {"S": "a"}`."""
    match value:
        case bool():
            return {"BOOL": value}
        case None:
            return {"NULL": True}
        case str():
            return {"S": value}
        case int() | Decimal():
            return {"N": str(value)}
        case bytes():
            return {"B": base64.b64encode(value).decode()}
        case list():
            return {"L": [av(one) for one in value]}
        case dict():
            return {"M": item(**value)}
        case set() | frozenset():
            members = sorted(value)
            if isinstance(members[0], str):
                return {"SS": members}
            if isinstance(members[0], bytes):
                return {"BS": [base64.b64encode(one).decode() for one in members]}
            return {"NS": [str(one) for one in members]}
    raise TypeError(f"no attribute value for {value!r}")


def item(**attributes: Any) -> Json:
    """An item, or a key: `item(pk="a", n=1)`."""
    return {name: av(value) for name, value in attributes.items()}


def values(**named: Any) -> Json:
    """ExpressionAttributeValues: `values(a="x") == {":a": {"S": "x"}}`."""
    return {f":{name}": av(value) for name, value in named.items()}


def key_schema(keys: str) -> list[Json]:
    """`"pk:S / sk:S"`: what is before the slash is HASH, what is behind it RANGE."""
    hashes, _, ranges = keys.partition("/")
    return [
        {"AttributeName": name.partition(":")[0], "KeyType": kind}
        for kind, names in (("HASH", hashes), ("RANGE", ranges))
        for name in names.split()
    ]


def definitions(*keys: str) -> list[Json]:
    """The AttributeDefinitions of these keys."""
    pairs = dict.fromkeys(" ".join(keys).replace("/", " ").split())
    return [
        {"AttributeName": name, "AttributeType": type_}
        for name, _, type_ in (pair.partition(":") for pair in pairs)
    ]


def index_request(name: str, keys: str, projection: str | list[str] = "ALL") -> Json:
    shape: Json = {"ProjectionType": projection}
    if isinstance(projection, list):
        shape = {"ProjectionType": "INCLUDE", "NonKeyAttributes": projection}
    return {"IndexName": name, "KeySchema": key_schema(keys), "Projection": shape}


def table_request(
    name: str,
    keys: str = "pk:S / sk:S",
    *,
    local: Mapping[str, Index] | None = None,
    glob: Mapping[str, Index] | None = None,
    **members: Any,
) -> Json:
    """A CreateTable request."""
    local, glob = local or {}, glob or {}
    request: Json = {
        "TableName": name,
        "KeySchema": key_schema(keys),
        "AttributeDefinitions": definitions(
            keys, *(index[0] for index in (*local.values(), *glob.values()))
        ),
    }
    if "ProvisionedThroughput" not in members:
        request["BillingMode"] = "PAY_PER_REQUEST"
    if local:
        request["LocalSecondaryIndexes"] = [
            index_request(name, *index) for name, index in local.items()
        ]
    if glob:
        request["GlobalSecondaryIndexes"] = [
            index_request(name, *index) for name, index in glob.items()
        ]
    return request | members

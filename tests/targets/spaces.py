"""Spaces: where an engine's tables are, on a server that all engines of a run share.

An engine in memory has a space of its own, an engine in a file the one of its file. The first
space of a test has the tables' own names; where a second one is open at the same time, its tables
have a prefix there that nobody sees here.
"""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Any

import boto3
import msgspec

from benchmarks.processes import REGION
from tablewright.errors import DynamoDBError, ResourceNotFoundException
from tablewright.transport import Response
from tablewright.transport.remote import Remote
from tests.targets.servers import SERVERS


class Names:
    """Which tables there are, and what they are called on the server."""

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        self.tables: set[str] = set()

    def drop(self, remote: Remote) -> None:
        for name in self.tables:
            with suppress(ResourceNotFoundException):
                remote.send("DeleteTable", {"TableName": self.prefix + name})
        self.tables.clear()

    def meant(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        """The request with the names that the tables have there."""
        name = request.get("TableName")
        if operation == "CreateTable" and isinstance(name, str):
            self.tables.add(name)
        if not self.prefix:
            return request
        meant = dict(request)
        if isinstance(name, str):
            meant["TableName"] = self.prefix + name
        if "RequestItems" in request:
            items = request["RequestItems"]
            meant["RequestItems"] = {self.prefix + table: items[table] for table in items}
        if "TransactItems" in request:
            meant["TransactItems"] = [
                {kind: self.meant(kind, action) for kind, action in item.items()}
                for item in request["TransactItems"]
            ]
        return meant

    def sdk_client(self, target: str, url: str) -> Any:
        """boto3's client for the server, with the names that the tables have here."""

        def rename(params: dict[str, Any], **_: object) -> None:
            params["TableName"] = self.prefix + params["TableName"]

        keys = SERVERS[target].credentials
        client = boto3.client(
            "dynamodb",
            endpoint_url=url,
            region_name=REGION,
            aws_access_key_id=keys.access_key,
            aws_secret_access_key=keys.secret_key,
        )
        client.meta.events.register("provide-client-params.dynamodb", rename)
        return client

    def shown(self, response: Response) -> Response:
        """The response with the names that they have here."""
        if not self.prefix:
            return response
        return Response(response.body.replace(self.prefix.encode(), b""), response.attempts)

    def told(self, fault: DynamoDBError) -> DynamoDBError:
        if self.prefix:
            fault.args = tuple(re.sub(self.prefix, "", str(part)) for part in fault.args)
        return fault


class Space:
    """What one engine is asked, sent to the server."""

    def __init__(self, names: Names, remote: Remote) -> None:
        self.names = names
        self.remote = remote

    def send(self, operation: str, request: dict[str, Any]) -> Response:
        names = self.names
        try:
            return names.shown(self.remote.send(operation, names.meant(operation, request)))
        except DynamoDBError as fault:
            raise names.told(fault) from None

    async def send_async(self, operation: str, request: dict[str, Any], remote: Remote) -> Response:
        names = self.names
        try:
            return names.shown(await remote.send_async(operation, names.meant(operation, request)))
        except DynamoDBError as fault:
            raise names.told(fault) from None

    def call(self, operation: str, request: dict[str, Any] | None = None) -> dict[str, Any]:
        answer: dict[str, Any] = msgspec.json.decode(self.send(operation, request or {}).body)
        if operation == "ListTables":
            answer["TableNames"] = [
                name for name in answer["TableNames"] if name in self.names.tables
            ]
        return answer

    def expire(self, now: float) -> int:
        """Delete what has expired, as the service does when it comes to it."""
        deleted = 0
        for name in sorted(self.names.tables):
            told = self.call("DescribeTimeToLive", {"TableName": name})["TimeToLiveDescription"]
            if "AttributeName" not in told:
                continue
            described = self.call("DescribeTable", {"TableName": name})["Table"]
            keys = [key["AttributeName"] for key in described["KeySchema"]]
            for item in self.call("Scan", {"TableName": name})["Items"]:
                ends = item.get(told["AttributeName"], {}).get("N")
                if ends is not None and float(ends) <= now:
                    key = {name: item[name] for name in keys}
                    self.call("DeleteItem", {"TableName": name, "Key": key})
                    deleted += 1
        return deleted

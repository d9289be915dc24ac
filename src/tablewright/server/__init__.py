"""The engine behind DynamoDB's HTTP protocol.

    server          listening, shared commits, deletion of expired items, shutdown
    listener        accepts sockets, and makes connections of them
    connection      one connection: requests in, responses out, in order
    states          the states of a connection and their transitions
    request_parser  from the bytes of a connection to requests
    preparation     from a request to a step that the engine can run
    responses       the bytes of a response; compressed bodies
    writer          the thread that commits
    limits          how much clients may send, how long they may take, and their memory together
    access          who may use the server: hosts, signatures, credentials
    workers         the server of several processes
    isolation       regions and accounts with tables of their own
    failures        storage errors: DynamoDB errors for clients, log lines for the operator
    telemetry       metrics and log lines of each request; monitor publishes the metrics

The server knows HTTP and calls the engine; it does not know what an operation does.
"""

from tablewright.server.access.hosts import Hosts
from tablewright.server.limits import Limits
from tablewright.server.server import Server, Settings, serve, serving

__all__ = ["Hosts", "Limits", "Server", "Settings", "serve", "serving"]

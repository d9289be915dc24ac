"""The engine behind DynamoDB's HTTP protocol.

    server          listening, shared commits, deletion of expired items, shutdown
    listener        accepts sockets, and makes connections of them
    connection      one connection: requests in, responses out, in order
    responder       from one request to its step, and from the result to a response
    states          the states of a connection, their transitions and time limits
    request_parser  from the bytes of a connection to requests
    preparation     from a request to a step that the engine can run
    responses       the bytes of a response; compressed bodies
    writer          the thread that commits
    limits          how much clients may send, how long they may take, and their memory together
    access          who may use the server: hosts, signatures, credentials
    workers         the server of several processes
    isolation       regions and accounts with tables of their own
    failures        storage errors: DynamoDB errors for clients, log lines for the operator
    telemetry       metrics and log lines of each request, and the monitor
    running         run a server until a signal, or in a thread

The server knows HTTP and calls the engine; it does not know what an operation does.
"""

from tablewright.server.access.hosts import Hosts
from tablewright.server.limits import Limits
from tablewright.server.running import serve, serving
from tablewright.server.server import Server, Settings

__all__ = ["Hosts", "Limits", "Server", "Settings", "serve", "serving"]

"""The engine behind DynamoDB's HTTP protocol.

    server      listening, shared commits, the sweep, the stop
    protocol    one connection: requests in, answers out, in order
    incoming    the requests in a connection's bytes
    answers     the bytes of a response
    writer      the thread that commits
    listener    accepting connections
    limits      how much clients may send and how long they may take
    budget      the bytes that are held for all clients together
    authorization  who sends a request, and may they?
    hosts       which names the server answers to, which web pages may use it
    failures    errors of the storage: faults for clients, lines for the operator
    telemetry   what happened to each request: accesslog, monitor

The server knows HTTP and when to call the engine; what an operation means it does not know.
"""

from tablewright.server.hosts import Hosts
from tablewright.server.limits import Limits
from tablewright.server.server import Server, Settings, serve, serving

__all__ = ["Hosts", "Limits", "Server", "Settings", "serve", "serving"]

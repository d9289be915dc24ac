"""The engine behind DynamoDB's HTTP protocol.

    answers     the bytes of a response
    protocol    one connection: requests in, answers out, in order
    server      listening, commits shared by writers, the sweep, the stop

The server knows HTTP and when to call the engine; what an operation means it does not know.
"""

from tablewright.server.server import Server, serve, serving

__all__ = ["Server", "serve", "serving"]

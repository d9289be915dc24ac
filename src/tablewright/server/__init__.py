"""The engine behind DynamoDB's HTTP protocol.

    server          listening, shared commits, deletion of expired items, shutdown
    connection      one connection: requests in, responses out, in order
    states          the states of a connection and their transitions
    request_parser  from the bytes of a connection to requests
    preparation     from a request to a step that the engine can run
    responses       the bytes of a response
    compression     bodies with the encodings gzip and deflate
    writer          the thread that commits
    listener        accepts sockets
    handshakes      from an accepted socket to a connection
    main_process    the server of several processes: accepts and commits for its workers
    worker          one of its workers: serves connections, and reads
    relay           the messages between these processes; relay_writer runs the requests in them
    processes       forks the workers
    limits          how much clients may send, and how long they may take
    budget          the memory for all clients together
    authentication  who sent a request: signature, canonical, credentials, credentials_file
    hosts           which Host and Origin headers are accepted
    isolation       regions and accounts with tables of their own
    failures        storage errors: DynamoDB errors for clients, log lines for the operator
    telemetry       metrics and log lines of each request: accesslog, monitor

`credentials_edit` changes credentials files, for the command line. The server knows HTTP and calls
the engine; it does not know what an operation does.
"""

from tablewright.server.hosts import Hosts
from tablewright.server.limits import Limits
from tablewright.server.server import Server, Settings, serve, serving

__all__ = ["Hosts", "Limits", "Server", "Settings", "serve", "serving"]

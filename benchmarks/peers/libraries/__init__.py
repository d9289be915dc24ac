"""Libraries: the commerce design, written with each library, on one endpoint.

    sample              the orders, and the operations that every library has
    *_sync  *_async     one library each: what a user of it would write
    *_models  *_orders  *_requests         what two of these share
    client              one library in a process of its own, which measures itself
    catalog             the libraries, and the interpreter of each
    processes           start the clients, send them commands
    items               written before the run, compared after it
    run                 the endpoint, alternating rounds, the result
    goals               the CPU time of ours beside that of each other library
    tables              Markdown

Every library runs in a process of its own during the whole run, because imports, threads and
garbage of one would disturb another. In each round every library makes the same calls. The endpoint
is `tablewright serve` with a file and durability `normal`, so that no operation waits for the disk,
and every library has a table of its own. In process, the file is opened in the same way.

After the run the tables are compared: every library must have written the same items.
"""

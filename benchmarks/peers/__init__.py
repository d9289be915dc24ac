"""Side by side with what users would pick instead: `make bench-peers`.

    python -m benchmarks.peers                      everything
    python -m benchmarks.peers endpoints suites     only these
    python -m benchmarks.peers --quick              small sizes, to test the benchmarks

    servers     the implementations of DynamoDB: how each is started, and whether it syncs
    workload    the table, its items, and the requests of each operation
    load        the clients, in a process of their own: the same bytes for every server
    endpoints   rates, CPU time, memory and cold start of the servers
    libraries   one design written with each library: CPU and wall time of the client
    suites      200 small tests, each with a fresh table
    report      JSON, Markdown and a chart

Servers run at the same time, and are put under load one after the other in alternating rounds, so
that what else the machine does slows all of them. A figure is the median of the rounds. It is
`unsure` if its rounds differ by more than a third.
"""

"""Side by side with what users would pick instead: `make bench-peers`.

    python -m benchmarks.peers                      everything
    python -m benchmarks.peers endpoints suites     only these
    python -m benchmarks.peers --quick              small sizes, to test the benchmarks

    servers     the implementations of DynamoDB: how each is started
    syncs       which of them sync a write before they respond
    workload    the table, its items, and the requests of each operation
    endpoints   rates, CPU time, memory and cold start of the servers; the load is benchmarks.load
    rounds      the raw load, and the figures of its rounds
    workers     one process and several that share a file
    sdk         boto3 as a load
    goals       the comparison with the best peer of the same durability, and the verdicts
    libraries   one design written with each library: CPU and wall time of the client
    suites      200 small tests, each with a fresh table
    result      what peers.json contains
    report      the Markdown tables of a result
    chart       its chart

Servers run at the same time, and are put under load one after the other in alternating rounds, so
that what else the machine does slows all of them. A figure is the median of the rounds. It is
`unsure` if its rounds differ by more than a third, or if other processes used the machine.
"""

"""Benchmarks: each figure is compared with a limit, measured in the same run.

    python -m benchmarks                    everything: a table, and benchmarks/results/bench.json
    python -m benchmarks get-item query     only these
    python -m benchmarks --quick            small sizes, to test the benchmarks

The machine may be busy, so an absolute number says little. A figure and its limit are measured in
alternating short rounds, and the goal is a ratio of the two.

    items       the sample item, its table and its requests
    files       creates database files with many sample items
    bare        the limit of the storage: apsw alone, on a copy of the file
    measure     alternating rounds; figures, goals and verdicts
    reads  writes  growth  expressions  start  http  migration       the figures, by area
    load        the HTTP clients, in a separate process
    bare_http   limits of the server: asyncio and httptools alone, and with SQLite
    path        where the CPU time of a request goes
    report      the table and the JSON
"""

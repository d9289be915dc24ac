"""Benchmarks: every figure beside its limit, both measured in the same run.

    python -m benchmarks                    everything: a table, and benchmarks/results/bench.json
    python -m benchmarks get-item query     only these
    python -m benchmarks --quick            small sizes: does it run?

The machine is shared and noisy, so a number alone says little. A figure and its limit take turns
in short rounds, and the goal is a ratio of the two.

    items       the sample item, its table and its requests
    files       database files with many sample items, quickly
    bare        the limit of the storage: apsw alone, on a file of the same shape
    measure     taking turns; figures, goals and verdicts
    reads  writes  growth  expressions  start  http       the figures, by area
    load        keeps HTTP connections busy, in a process of its own
    bare_http   the limit of the server: asyncio and httptools alone
    report      the table and the JSON
"""

"""Torture: random, seeded attacks on the guarantees of the engine and the server.

    python -m torture [PART ...] [--seed N] [--seconds N] [--rounds N] [--big]

A part repeats short rounds until its time is up. Round `n` of a run with `--seed S` uses the seed
`S + n`, so that `python -m torture PART --seed X --rounds 1` repeats the round with seed `X`.
"""

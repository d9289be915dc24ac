"""Backfill: give stored items the keys and sentinels that were declared after they were written.

backfill.py         the plan: read a whole table, write what differs, record what is complete
reservations.py     reserve the unique values that stored items have, and find duplicates
index_record.py     the item that records which indexes and unique values are complete
reconcile.py        correct the counters of stored items
throttling.py       send throttled requests again for minutes, with fewer at the same time
"""

"""Growth: the same operations in tables of 1,000 to 10,000,000 items, and how fast tables load.

items        sample items of 300 bytes, in dump files in the order of their keys
loads        `load`, `copy` and batches: items per second, CPU time for each item
operations   GetItem, Query and PutItem, all sizes in turns, so that ratios are from one run
report       the tables
"""

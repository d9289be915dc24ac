"""Writes: plans that change items. The way of one write, from the call to the result:

entry.py            put, create, update, save, upsert, delete: make the plan
put.py delete.py    the plans: read what has to be known (`_prepare`), then compute
update.py upsert.py
move.py save.py
effect.py           WriteEffect: the old and the new item, index keys, side items; computed once
side_items.py       the sentinels and events of an effect
guard.py            the condition on what was read, and the error if it does not hold
action.py           Action: one part of the request, and what its failure means
side_actions.py     the actions that write the side items
commit.py           send the actions as one request; prepare again if an item has changed

transaction.py      transact(…): several writes, all or none
condition_check.py  an item that must exist for a transaction to succeed
collection.py       delete_all, update_all: a range, or an aggregate with all its rows
range_write.py      every item of a query; `row_groups.py`: in as many requests as needed
batch_write.py      many puts and deletes without conditions
backfill.py         the keys of indexes that were declared later
chunks.py           actions of several rows, as many as fit into one transaction
rows_below.py       the rows that move with an item
write.py            Write: the base of all writes
"""

"""Writes: plans that change items. The way of one write, from the call to the result:

put.py delete.py    put, create, delete, upsert, save: make the plan, which reads what has to be
upsert.py save.py   known (`_prepare`), then computes
update.py move.py   the plans Update and Move; update(…), in move.py, makes one of them
effect.py           WriteEffect: the old and the new item, index keys, side items; computed once
counting.py         what a write changes in the counters of other items, and how that is joined to
counter_shapes.py   one action for each of them; the shape of such an action
guard.py            the condition on what was read, and the error if it does not hold
action.py           Action: one part of the request, what its failure means, how it is sent
write.py            Write: the base of all writes; commit: send the actions as one request, and
                    prepare again if an item has changed; the shape of a write

once.py             a write and its record, which says that it was applied
several.py          transact(…) with condition_check(…): all or none; batch_write(…): in batches
collection.py       delete_all, update_all: a range, or an aggregate with all its rows
range_write.py      every item of a query, in as many requests as needed
"""

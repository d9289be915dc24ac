"""Plans: what a database runs. A plan yields requests and returns a result; it does no I/O.

The way of one call, from the top to the bottom:

    Order.status.set(PAID)      reference.py     attributes: they make conditions and changes
                                condition.py     a condition, rendered or evaluated
                                change.py        a change, rendered or applied to an item
    Order.primary("C1", "O1")   reads/           one file for each read: get, query, aggregate, …
      .update(…)                writes/          one file for each write: put, update, delete, …
    transact(…)                 writes/several.py
    explain(plan)               shape.py         what a plan will ask, without running it (facts.py)
    db.run(plan)                plan.py          Plan, Context, and the two drivers
      Request("UpdateItem", …)  expressions.py   placeholders for names and values, update clauses
      QueryRequest("Query", …)  query_requests.py     a key condition, filters and paths, as values
      RequestEvent(…)           request_events.py     reports each request to an observer

A read yields requests and decodes their answers. A write goes through four stages, each a value:

    _prepare reads   ──▶ WriteEffect    what changes: the item, index rows, sentinels, events
                     ──▶ [Action]       the parts of the request, each with its guard and error
    commit           ──▶ Request        one PutItem, UpdateItem, DeleteItem or TransactWriteItems
                     ──▶ result         or an error, or all of it again if an item has changed

`reads/__init__.py` and `writes/__init__.py` name the files of each, in the order of a call. Beside
them, `backfill/` gives stored items keys that were declared later, and `streams/` reads changes.
"""

"""Reads: plans that return entities.

get.py            one item by its key; also the entry to its update and delete
batch_get.py      many items by their keys
transact_get.py   several items by their keys, as they are at one moment
get_by_unique.py  one item by a unique value, through its sentinel
range.py          a partition, and the comparison of its sort key
query.py          what a caller can ask of a query; `results.py`: its first result, their number
shards.py         all shards of a partition key, merged in order
union.py          several entities in one range
scan.py           every item of an entity, also in segments
aggregate.py      a root and its children, from one query; `load_found.py`: of a root to be found
paged_load.py     a root and its children, of which one kind is read in pages

Below them: `single.py` (a plan that returns one entity, and what follows from it), `pages.py` (how
a query reads a page), `parts.py` (a query of several parts), `page.py` and `cursor.py` (what it
returns), `members.py` (a compiled aggregate), `layout.py` and `span.py` (where its rows are),
`projection.py` (what an index holds), `query_request.py` (a Query or Scan as values), `item.py`
(one stored item).
"""

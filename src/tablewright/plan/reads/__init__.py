"""Reads: plans that return entities.

get.py         one item by its key, or by a unique value; also the entry to its update and delete
several.py     many items by their keys: in batches, or at one moment
query.py       what a caller can ask of a query; its first result, and the number of results
range.py       a partition, and the comparison of its sort key; several entities in one range
scan.py        every item of an entity, also in segments
aggregate.py   a root and its children, from one query
paged_load.py  the same with a page of one kind of children; a root that another plan finds

Below them:

single.py             a plan that returns one entity, and what follows from it
page_query.py         PageQuery, the base of every query: how it reads a page
page.py               the page that it returns, and the cursor of the next one
query_parts.py        a query of several parts: segments, or shards
aggregate_members.py  a compiled aggregate; layout.py: where its rows are in the partition
projection.py         which attributes an index holds, and which of them a query reads
"""

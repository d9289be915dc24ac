"""The change log of a table, and what reads it: streams and point-in-time recovery.

changes    the rows of a log: one for each change of an item
streams    the log as streams, shards and shard iterators
recovery   the items of a table at an earlier time
trimming   deletes changes that neither a stream nor recovery needs
"""

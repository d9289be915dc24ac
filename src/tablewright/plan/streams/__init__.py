"""Stream events: the changes of a table as changes of its entities.

events       Created, Updated, Deleted, Expired, Moved
records      stream records -> events; the two records of a move become one event
checkpoint   how far each shard of each stream has been read
reading      ReadStream: a plan that reads the next records of all streams of a database
"""

"""Stream events: the changes of a table as changes of its entities.

events     Created, Updated, Deleted, Expired, Moved; made from stream records, one for a move
reading    ReadStream: a plan that reads the next records of all streams; the checkpoint
"""

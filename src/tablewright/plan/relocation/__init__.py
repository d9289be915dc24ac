"""Relocation: move a table to another name, file, endpoint, region or account while programs run.

    place      what the records of both tables say: where the items are, and who may write
    state      the steps, and how far a relocation is
    between    steps that send requests to both places
    checking   what would be done, and whether it can be; nothing is written
    settings   structure, streams and TTL of the tables
    copying    copy and compare items, and follow the stream of the source
    cutting    the cut-over: gates, the end of the stream, the switch
    relocate   the commands: apply, rollback, complete
    program    how a connected program reads and writes meanwhile

The source is the table that programs use, the destination the one that they will use. A rollback is
the same in the other direction.

    step             programs                       the executor
    check, prepare   use the source                 creates the destination, enables the stream
    copy             use the source                 copies all items, and then what the stream names
    compare          use the source                 compares all items of both tables
    await-programs   every write checks a gate      waits until all programs have noticed
    cut-over         writes wait; reads go on       closes the gates, reads the stream to its end,
                                                    switches the records

Why nothing is lost or comes back:

- The stream only says which keys have changed. The executor reads such an item again and makes the
  destination equal, so an order of changes does not matter, and the last one wins. It never reads a
  page of the source while an earlier page, or an earlier record, is not yet written.
- It has begun to read the stream before it reads the first page. So if an item changes after it was
  read, its record is handled after the item was written.
- All its writes are in transactions that check the fence of the record at that place. An executor
  that was taken for dead writes nothing, at neither place.
- A write of a program is in one transaction with the check of a gate, from before the first gate is
  closed until after the switch. So when the gates are closed, nothing is written at the source any
  more, however late a request arrives.
- A marker is written behind the last write. When it was read from every shard of the stream, all
  writes before it were read, too.
- Both records are written with one phase each: first the source says `away`, then the destination
  `open`. So there are never two tables that programs write.

Invariants: only the executor writes at a place whose record says `away`. Gates, markers and the
record are never copied.
"""

"""Market: a multi-tenant shop that stores the data of each user in several shards.

    pk                      sk                   item                    access of the user
    U#{userId}              U#{userId}           profile                 read and write
                            C#{ULID}             carts, which expire     read and write
    U#{userId}#O            O#{ULID}             orders                  read
                            O#{ULID}#{001}       items of an order       read
                            B#{ULID}             bills                   read
    U#{userId}#P            P#{ULID}             payments                read
    U#{userId}#R            R#{ULID}             rewards                 read
    A#{ULID}                A#{ULID}             accounts                none
    I#{ULID}                I#{ULID}             inventory               none

A system key is a letter and a ULID, so system keys sort by time. ReverseIndex finds any item by its
system key. IdLookupIndex finds an item by its business id and its type, if it has a business id.

Decisions where the source document is unclear or contradicts itself:

- It does not define the attributes of the entities. They are chosen here.
- Carts are in the profile shard, because users write them. Bills are in the shard of their orders.
- It uses `#P` for payments (the type) and for products (the shard). Here it is for payments.
- Accounts and inventory items belong to no user, so they have their own partitions.
- A user id is a string: the source document contains both UUIDs and `rabinovich`.
- It calls ReverseIndex minimal. Here the index projects whole items, so a lookup is one request. An
  index with the keys only would make writes cheaper and each lookup two requests.

A scoped database may look up by business id and finds only items of its own shards. It cannot
look up by system key: this index is not restricted to one user, and users never see system keys.
"""

from __future__ import annotations

from tablewright.designs.market.entities import *  # noqa: F403 - a design is one namespace
from tablewright.designs.market.patterns import *  # noqa: F403 - a design is one namespace

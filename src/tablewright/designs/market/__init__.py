"""Market: a multi-tenant shop that stores the data of each user in several shards.

    pk                      sk                   item                    access of the user
    U#{userId}              U#{userId}           profile                 read and write
                            C#{ULID}             carts, which expire     read and write
    U#{userId}#O            O#{ULID}             orders                  read
                            O#{ULID}#{001}       items of an order       read
                            B#{ULID}             bills                   read
                            P#{ULID}             payments                read
    U#{userId}#P            I#{ULID}             products of the user    read
    U#{userId}#R            R#{ULID}             rewards                 read
    A#{ULID}                A#{ULID}             accounts                none
    I#{ULID}                I#{ULID}             inventory               read

A system key is a letter and a ULID, so system keys sort by time. ReverseIndex finds any item by its
system key. It contains the keys only, so an update never writes to it; a lookup reads the key there
and the item in the table. IdLookupIndex finds an item by its business id and its type.

Every item may have a business id, and a `ttl`: the time when it expires, rounded up to whole
seconds. An item without a business id is not in IdLookupIndex.

Decisions where the source document is unclear or contradicts itself:

- It does not define the attributes of the entities. They are chosen here.
- Carts are in the profile shard, because users write them. Bills and payments are in the shard of
  the orders.
- It uses `P` for payments (the type) and for products (the shard). The shard `#P` contains the
  products of a user. Their type is `I`, "inventory item or product".
- Accounts and inventory items belong to no user, so they have their own partitions. Every user may
  read the inventory.
- A user id is a string: the source document contains both UUIDs and `rabinovich`.

A database that is restricted to one user (`db.for_tenant(user_id=…)`) may look up by business id,
and finds only items in the user's shards and in the inventory. It cannot look up by system key:
users never see system keys, and ReverseIndex contains the keys of all users.

Users refer to carts, and to the inventory items in them, by business id. So `put_cart` requires
one. `put_into_newest_cart` finds the newest cart of a user, also if another program has stored it
without a business id.
"""

from __future__ import annotations

from tablewright.designs.market.entities import *  # noqa: F403 - a design is one namespace
from tablewright.designs.market.patterns import *  # noqa: F403 - a design is one namespace

"""Market: a multi-tenant shop that stores the data of each user in several shards.

    pk                      sk                   item                    access of the user
    U#{userId}              U#{userId}           profile                 read and write
                            C#{ULID}             carts, which expire     read and write
    U#{userId}#O            O#{ULID}             orders                  read
                            O#{ULID}#{001}       items of an order       read
                            B#{ULID}             bills                   read
                            P#{ULID}             payments                read
                            ID#{id}              ids of the orders       read
    U#{userId}#P            I#{ULID}             products of the user    read
    U#{userId}#R            R#{ULID}             rewards                 read
    A#{ULID}                A#{ULID}             accounts                none
    I#{ULID}                I#{ULID}             inventory               read
    ORDERKEY#{ULID}         the same             keys of all orders      none
    ORDERID#{id}            the same             ids of all orders       none

The sort key is the system key of an item: a letter and a ULID, so items sort by creation. Only the
key of a user has the user id instead. ReverseIndex finds an item by its system key. It contains
only the keys, which never change, so an update does not write to it; a lookup reads the key in the
index, then the item in the table. IdLookupIndex finds an item by its business id and its type.

Every item may have a business id, and a `ttl`: the time when it expires, rounded up to whole
seconds. IdLookupIndex is sparse: an item without a business id is not in it.

The system key and the business id of an order are globally unique: a sentinel reserves each.
A third sentinel, in the shard of the orders, finds an order of one user by its business id.

A database that is restricted to one user (`db.for_tenant(user_id=…)`) may look up by business id,
and finds only items in the user's shards and in the inventory. It cannot look up carts, orders and
other items of users by system key: users never see system keys, and ReverseIndex contains the keys
of all users. The own profile and the inventory are exceptions, because their partition keys are
known.

An IAM policy cannot filter what a query of IdLookupIndex returns: it compares partition keys, and
those of the index are the ids of all users. So the published policy of a user allows
`own_order_with_items`, which reads only the user's shard, instead of `order_with_items`.

Users refer to carts, and to the inventory items in them, by business id. So `put_cart` requires
one. `put_into_newest_cart` finds the newest cart of a user, also if another program has stored it
without a business id.

The design implements a document that describes its keys and access patterns, called the source
document here. Decisions where it is unclear or contradicts itself:

- It does not define the attributes of the entities, nor the values of `tp`. They are chosen here:
  `tp` is the name of the entity, such as `inventory_item`.
- The number of an item has three digits, as in its sample data. An order and its items are written
  in one transaction, which has space for 96 items beside the order and its sentinels.
- It calls system keys globally unique. Only those of orders are reserved: the others are ULIDs,
  which are unique if they are generated.
- Carts are in the profile shard, because users write them. Bills and payments are in the shard of
  the orders.
- It uses `P` as the type of payments and as the shard of products. Here the shard `#P` contains the
  products of a user, and their type is `I`, "inventory item or product".
- Accounts and inventory items belong to no user, so each has a partition of its own. Every user may
  read the inventory.
- A user id is any text, because its examples are both UUIDs and `rabinovich`.
"""

from __future__ import annotations

from tablewright.designs.market.entities import *  # noqa: F403 - a design is one namespace
from tablewright.designs.market.patterns import *  # noqa: F403 - a design is one namespace

"""Shop: users, categories, brands, products and orders, in one table with an LSI and two GSIs.

    entity    PK              SK          in the indexes
    User      USER            USER#{id}   LSI   EMAIL#{email}
                                          GSI1  USER | EMAIL#{email}
    Category  CAT             CAT#{id}    LSI   CAT#NAME#{name}
    Brand     BRAND           BRAND#{id}  LSI   BRAND#NAME#{name}
    Product   PROD            PRO#{id}    GSI1  BRAND#{brand_id} | CAT#{category_id}#AT#{created_at}
                                          GSI2  CAT#{category_id} | BRAND#{brand_id}#AT#{created_at}
    Order     USER#{user_id}  ORDER#{id}  GSI1  ORDER#STATUS#{status} | AT#{updated_at}

The id of a new entity is a KSUID. It begins with the creation time in seconds, so lists that are
sorted by id are sorted by creation. Ids of one process are in the exact order of creation. Ids that
several processes create in the same second are in random order.

A caller may give any other text as the id, such as `User(id="001", ...)` for the key `USER#001`.
Lists are then sorted by these texts. `users_created_since` compares KSUIDs, so it does not work
with other ids. An id that is read is a `KSUID` if it has that form, otherwise a `str`.

The items of an order are stored inside the order. Several items may have the same product; placing
the order reduces the stock by the sum of their quantities, in one transaction, which has space for
99 products. The status of an order is any text; `OrderStatus` has the usual ones.

The design implements a document that describes its keys and access patterns, called the source
document here. Decisions where it is unclear or contradicts itself:

- Its diagram has numbers as ids, but its notes recommend KSUIDs. Here ids are texts. Items also
  have the name of their entity in `type`.
- An order is read by the ids of its user and of the order, as in its table of access patterns. Its
  section II says by id only.
- Orders by status are in GSI1, as in its tables of indexes. Its table of access patterns has GSI1
  as the index, but GSI2PK and GSI2SK as the attributes.
- Orders by status can be listed with a time bound, as in its table of access patterns, and without
  one, as in its section II.
- `users_created_since` includes all users of the given second, because a KSUID contains whole
  seconds. Its condition `SK > "USER#<ksuid_prefix_time>"` finds the same users.
- Times in keys are seconds since 1970, as in its example `AT#1719473962`.
- The products of a brand are sorted by the creation of their category, then by their own, because
  this is the order of the sort key: the id of a category is a KSUID. Those of a brand and a
  category are sorted by their own creation. Its table of access patterns has these two notes
  exchanged. The same applies to the products of a category, which are sorted by brand first.
- The items of an order do not contain the id of the order.
- Prices are exact decimals, not floats.
"""

from __future__ import annotations

from tablewright.designs.shop.entities import *  # noqa: F403 - a design is one namespace
from tablewright.designs.shop.patterns import *  # noqa: F403 - a design is one namespace

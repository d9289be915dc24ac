"""Shop: users, categories, brands, products and orders, in one table with an LSI and two GSIs.

    entity    PK              SK           SKU (LSI)          GSI1PK | GSI1SK
    User      USER            USER#{id}    EMAIL#{email}      USER | EMAIL#{email}
    Category  CAT             CAT#{id}     CAT#NAME#{name}
    Brand     BRAND           BRAND#{id}   BRAND#NAME#{name}
    Product   PROD            PRO#{id}                        BRAND#{brand} | CAT#{category}#AT#{…}
    Order     USER#{user_id}  ORDER#{id}                      ORDER#STATUS#{status} | AT#{updated}

                                                              GSI2PK | GSI2SK
    Product                                                   CAT#{category} | BRAND#{brand}#AT#{…}

The id of a new entity is a KSUID: sorting by id sorts by creation. Within one process this is the
exact order; between processes, KSUIDs of one second sort at random. A caller may give any other
text as the id, e.g. `User(id="001", ...)` for the key `USER#001`. Lists then sort by these texts,
and the filter by `created_at`, which compares KSUIDs, does not apply to them.

The items of an order are stored inside it. An order may have several of one product; placing it
reduces the stock by their sum. Its status is any text, OrderStatus has the usual ones.

Decisions where the source document is unclear or contradicts itself:

- Orders by status use GSI1, as in its index table. Its pattern table names both GSI1 and GSI2PK.
- Orders by status exist with a time bound, as in its pattern table, and without, as in its list of
  access patterns.
- Users by `created_at` include the whole second of the given moment, because a KSUID contains whole
  seconds; its `SK > "USER#<ksuid_prefix_time>"` selects the same users.
- Times in keys are seconds since 1970, as in its example `AT#1719473962`.
- The products of a brand are sorted by category, then by time: this is the order of the key. The
  pattern table says by time only.
- The items of an order do not repeat the order's id.
- Prices are exact decimals, not floats.
"""

from __future__ import annotations

from tablewright.designs.shop.entities import *  # noqa: F403 - a design is one namespace
from tablewright.designs.shop.patterns import *  # noqa: F403 - a design is one namespace

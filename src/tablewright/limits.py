"""Limits: the quotas of DynamoDB that the engine enforces and that plans and transfers respect.

Owns each number once; the module that checks a limit owns the order of the checks and the message.
Sizes are in bytes, lengths in characters. The limits of numbers (38 digits) are part of their
format: `tablewright.encoding.numbers`.
"""

from __future__ import annotations

from typing import Final

_MIB = 1024 * 1024

# -- items and keys ------------------------------------------------------------------------------

MAX_ITEM_SIZE: Final = 400 * 1024
MAX_NESTING: Final = 32
MAX_ATTRIBUTE_NAME_SIZE: Final = 65535
MAX_KEY_ATTRIBUTE_NAME_LENGTH: Final = 255
MAX_PARTITION_KEY_SIZE: Final = 2048
MAX_SORT_KEY_SIZE: Final = 1024

# -- requests and responses ----------------------------------------------------------------------

#: The body of a request.
MAX_REQUEST_SIZE: Final = 16 * _MIB
#: The items in a response to BatchGetItem.
MAX_BATCH_GET_SIZE: Final = 16 * _MIB
MAX_BATCH_GET_KEYS: Final = 100
MAX_BATCH_WRITES: Final = 25
MAX_TRANSACTION_ACTIONS: Final = 100
#: All items that one transaction writes.
MAX_TRANSACTION_SIZE: Final = 4 * _MIB
#: Query and Scan end a page after reading this many bytes.
MAX_PAGE_SIZE: Final = _MIB
MAX_LISTED_TABLES: Final = 100

# -- expressions ---------------------------------------------------------------------------------

MAX_EXPRESSION_SIZE: Final = 4096
MAX_EXPRESSION_OPERATORS: Final = 300
MAX_PATH_DEPTH: Final = 32
MAX_LIST_INDEX: Final = 2**31 - 1
MAX_IN_OPERANDS: Final = 100
#: A placeholder such as `#name` or `:value`.
MAX_PLACEHOLDER_LENGTH: Final = 255
#: All names and values that replace the placeholders of an expression.
MAX_SUBSTITUTED_SIZE: Final = 2 * _MIB

# -- PartiQL -------------------------------------------------------------------------------------

MAX_STATEMENT_LENGTH: Final = 8192
MAX_BATCH_STATEMENTS: Final = 25
#: Values of a partition key in one statement: `pk IN [...]`, or alternatives of OR.
MAX_STATEMENT_PARTITIONS: Final = 50
#: Partitions that one page of a statement reads.
MAX_PAGE_PARTITIONS: Final = 10

# -- tables and indexes --------------------------------------------------------------------------

MIN_NAME_LENGTH: Final = 3
MAX_NAME_LENGTH: Final = 255
MAX_TABLE_ARN_LENGTH: Final = 1024
MAX_LOCAL_INDEXES: Final = 5
MAX_GLOBAL_INDEXES: Final = 20
#: Partition key attributes, and also sort key attributes, of one global index.
MAX_INDEX_KEY_ATTRIBUTES: Final = 4
#: In one index.
MAX_INCLUDED_ATTRIBUTES: Final = 20
#: In all indexes of a table.
MAX_PROJECTED_ATTRIBUTES: Final = 100
MAX_TAGS: Final = 50
MAX_CAPACITY_UNITS: Final = 1_000_000_000_000

# -- capacity ------------------------------------------------------------------------------------

#: One read unit reads, and one write unit writes, up to this many bytes of an item.
READ_UNIT_SIZE: Final = 4096
WRITE_UNIT_SIZE: Final = 1024

#: The longest period of point-in-time recovery.
MAX_RECOVERY_DAYS = 35

# -- expired items -------------------------------------------------------------------------------

#: The engine deletes them about this often, less often if that takes long; DynamoDB within days.
SWEEP_SECONDS: Final = 60.0

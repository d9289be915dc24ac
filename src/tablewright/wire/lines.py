"""Lines of items: one item per line, in the format of DynamoDB's export to S3.

    {"Item":{"PK":{"S":"CUST#C1"},"SK":{"S":"ORDER#O100"},"total":{"N":"42"}}}

Invariant: any file is read in bounded memory. Lines that are longer, or have more values, than an
item can have are refused, and gzip is decompressed as it is read.
"""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import IO, Any

import msgspec
from msgspec import Raw, Struct

from tablewright.errors import DynamoDBError
from tablewright.limits import MAX_ITEM_SIZE
from tablewright.values import Item
from tablewright.wire.values import read_whole_item

#: The maximum length of a line. The longest JSON for its size is a set of numbers such as 1e-130:
#: 137 characters each, with quotes and comma, for 2 bytes of the item; so 400 KB need up to 28 MB.
#: (Empty strings in a list, 9 characters per byte, need 4 MB.)
MAX_LINE = 32 * 1024 * 1024
#: For each byte of its size, an item has at most two opening braces (a map in a list), one bracket
#: and four quotes (an empty string in a list); those in a string are part of its size. The margin
#: is for the enclosing object. Checked in long lines, because decoding a line that has only such
#: characters takes 25 times its length in memory.
LONG_LINE = 1024 * 1024
MAX_MARKS = {
    b"{": 2 * MAX_ITEM_SIZE + 100,
    b"[": MAX_ITEM_SIZE + 100,
    b'"': 4 * MAX_ITEM_SIZE + 100,
}
MAX_BLANK_LINES = 10_000

#: What reading damaged gzip data raises.
DAMAGED_GZIP = (EOFError, gzip.BadGzipFile, zlib.error)

_encode = msgspec.json.Encoder().encode


class _Line(Struct):
    item: dict[str, Any] = msgspec.field(name="Item")


_decode = msgspec.json.Decoder(_Line).decode


class InvalidLine(Exception):
    """A line is not a valid item, or a file is not lines of items."""


def encode_lines(items: Iterable[Item | Raw]) -> bytes:
    """Encode items as lines; `Raw` is the JSON of an item."""
    return b"".join([b'{"Item":%b}\n' % _encode(item) for item in items])


@contextmanager
def compressing(data: IO[bytes]) -> Iterator[IO[bytes]]:
    """Yield a writer that compresses with gzip into `data`."""
    # Without a name and a time, the same items produce the same bytes.
    with gzip.GzipFile("", "wb", compresslevel=6, fileobj=data, mtime=0) as packed:
        yield packed  # type: ignore[misc]  # it has the methods that we need


def read_lines(data: gzip.GzipFile | io.BufferedReader) -> Iterator[bytes]:
    """Yield the lines of a file. A line that is too long is truncated after the limit."""
    blank = 0
    while line := data.readline(MAX_LINE + 1):
        yield line
        blank = blank + 1 if line == b"\n" else 0
        if blank > MAX_BLANK_LINES:
            raise InvalidLine(f"more than {MAX_BLANK_LINES} empty lines in a row")


def parse_line(line: bytes) -> tuple[Item, int]:
    """Return the normalised item of a line, and its size; raise InvalidLine if it is not one."""
    if len(line) > MAX_LINE:
        raise InvalidLine(f"longer than {MAX_LINE} bytes; no item is that long")
    if len(line) > LONG_LINE and any(line.count(m) > most for m, most in MAX_MARKS.items()):
        raise InvalidLine(f"more values than an item of {MAX_ITEM_SIZE} bytes can have")
    try:
        item, size = read_whole_item(_decode(line).item)
    except DynamoDBError as error:
        raise InvalidLine(error.message) from None
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidLine(str(error)) from None
    if size > MAX_ITEM_SIZE:
        raise InvalidLine(f"an item of {size} bytes; the limit is {MAX_ITEM_SIZE}")
    return item, size

"""One mistake a line, each marked with what is wrong: both checkers flag exactly these lines.

This file is read by the checkers alone. It is never imported, for most of it fails at once.
"""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal

from tablewright import Attr, Entity, Table, attr, created_at, key
from tablewright.formats import (
    Codec,
    KeyRing,
    binary,
    casefold,
    coded,
    day,
    descending,
    encrypted,
    epoch_millis,
    epoch_seconds,
    fixed_point,
    hour,
    iso,
    lower,
    padded,
    shard,
    truncated,
    upper,
    week,
    year,
)
from tablewright.testing import check_codec
from typing_tests.formats import (
    HEX,
    NOW,
    TODAY,
    Address,
    Box,
    Line,
    Log,
    Long,
    Longest,
    Reading,
    Reversed,
    Root,
    Vault,
    Version,
)

# -- calls
Line.primary(7, 7)  # E: the codec takes a text
Line.primary("example.com", "7")  # E: the number is an int
Line.primary("example.com")  # E: the number is missing
Line.moments(NOW.isoformat(), 2026, NOW)  # E: a week is asked for by a date
Line.moments(TODAY, TODAY, NOW)  # E: a year is an int
Line.moments(TODAY, 2026, TODAY)  # E: an hour is asked for by a datetime
Line.moments(TODAY, 2026)  # E: the hour is missing
Line.moments(TODAY, 2026, NOW).gte(7)  # E: an epoch is asked for by a datetime
Line.moments(TODAY, 2026, NOW).eq("8231527869")  # E: an epoch is asked for by a datetime
Line.moments(TODAY, 2026, NOW).eq(NOW, NOW, "2026-01")  # E: a month is asked for by a date
Line.numbers("ff", 3)  # E: the codec takes a number
Line.numbers(7, "3")  # E: a shard is a number
Line.numbers(7, 3).gte("0007")  # E: a padded number is an int
Line.numbers(7, 3).eq(7).gte(1.5)  # E: a price is a Decimal
Line.numbers(7, 3).eq(None)  # E: an item without the rank is not in the index
Line.texts("ann", 7)  # E: upper case is of a text
Line.texts(None, "ann")  # E: an item without the nick is not in the index
Line.places(Address(city="Bern"))  # E: the city, not the address
Line.places("bern").gte(None)  # E: an item without the zone is not in the index
Line.ranks("ann").gt("7")  # E: a rank is a number
Line.digests("x")  # E: a digest is bytes
Line.by_name(7)  # E: a name is a text
Root.primary("example.com", "example.com")  # E: .again is not asked for
Version.primary("ann", 0)  # E: a literal is not asked for
Long.primary("a", TODAY, 1, "d", TODAY, 2, "g", "h")  # E: the last of eight parts is a date
Long.primary("a", TODAY, 1, "d", TODAY, 2, "g")  # E: the last part is missing
Long.by_all("a", TODAY, 1, "d", TODAY, 2, "g", "h")  # E: the last of eight parts is a date
Long.by_some("a", "b")  # E: the last part is a date
Long.moments("a", TODAY, 1, 4)  # E: the last part of a joined path is a text
Long.moments("a", TODAY, 1, "d").eq(TODAY, 1, 7)  # E: a joined part is a text
Longest.by_nine("a", TODAY, 1, "d", TODAY, 2, "g", TODAY, "i")  # E: the ninth part is a number
Longest.primary("a", TODAY, 1, "d", TODAY, 2, "g", TODAY, 3, "j", TODAY, "m")  # E: a number
Box.by_state("ann")  # E: the key of the table is missing
Box.by_state("ann", 7)  # E: a shelf is a text
Box.by_state("ann", "S1").eq("new", 7)  # E: the first part of the key of the table is a date
Box.by_room("A").gte("new")  # E: the day comes before the state
Reading.primary("a")  # E: an optional part is given as None
Reading.primary("a", "7")  # E: a channel is a number
Reading.primary(None, 7)  # E: only the last part is optional
Reading.primary.within("a").gte("7")  # E: a channel is a number
Reading.by_start("a").begins_with(7)  # E: a text begins with a text
Reading.by_day("a").eq(NOW.isoformat())  # E: a day is a date
check_codec(HEX, ["ff"])  # E: the codec takes numbers
check_codec(Reversed(), [7])  # E: the codec takes texts
check_codec("hex", [7])  # E: not a codec


# -- declarations
class Broken(Entity, table=Log):
    name: Attr[str] = attr()
    size: Attr[int] = attr()
    at: Attr[datetime] = attr()
    price: Attr[Decimal] = attr()
    address: Attr[Address] = attr()

    a = key("A" / week(name), "X")  # E: a text has no week
    b = key("A" / year(size), "X")  # E: a number has no year
    c = key("A" / hour(day(at)), "X")  # E: a date has no hour
    d = key("A" / iso(at, "minutes"), "X")  # E: no such precision
    e = key("A" / iso(at, "seconds", zone="+02:00"), "X")  # E: another zone is a timezone
    f = key("A" / iso(at), "X")  # E: the precision is missing
    g = key("A" / epoch_millis(size), "X")  # E: a number is not a moment
    h = key("A" / padded(name, 3), "X")  # E: a text is not a number
    i = key("A" / padded(size), "X")  # E: the number of digits is missing
    j = key("A" / fixed_point(name, 3, 2), "X")  # E: a text is not a number
    k = key("A" / fixed_point(price, 3), "X")  # E: the places are missing
    m = key("A" / upper(size), "X")  # E: a number has no upper case
    n = key("A" / casefold(day(at)), "X")  # E: a date has no case
    o = key("A" / truncated(name, "3"), "X")  # E: the length is a number
    p = key("A" / shard(name, 4), "X")  # E: the number of shards is named
    q = key("A" / coded(size, Reversed()), "X")  # E: the codec takes texts
    r = key("A" / coded(name, HEX), "X")  # E: the codec takes numbers
    s = key("A" / coded(name, str), "X")  # E: a function is not a codec
    t = key("A" / descending(epoch_seconds(lower(name))), "X")  # E: a text has no epoch
    u = key(binary(name), "X")  # E: a text is not bytes
    v = key("A" / name, "X", delimiter=5)  # E: a delimiter is a text
    w = key("A" / address.path(lambda address: address.town), "X")  # E: no such member
    x = key("A" / lower(address.path(lambda a: a.zone.size)), "X")  # E: no such member
    y = Codec[int](encode=hex, decode=str)  # E: it decodes texts
    z = Codec[int](encode=hex)  # E: it does not decode


class Coded(Entity, table=Log):
    a: Attr[str] = attr(codec=iso("seconds"))  # E: a text is not a moment
    b: Attr[datetime] = attr(codec=iso("minutes"))  # E: no such precision
    c: Attr[datetime | None] = attr(codec=epoch_seconds(), default=0)  # E: not a moment
    d: Attr[datetime] = attr(codec=epoch_seconds)  # E: a function is not a codec
    e: Attr[str] = attr(codec=binary())  # E: a text is no UUID
    f: Attr[int] = attr(codec=Reversed())  # E: the codec takes texts
    g: Attr[str] = attr(codec=HEX)  # E: the codec takes numbers
    h: Attr[datetime] = attr(codec="iso")  # E: a text is not a codec
    i: Attr[int] = attr(codec=padded(6, 7))  # E: there is no attribute
    j: Attr[datetime] = created_at(codec=HEX)  # E: the codec takes numbers
    k: Attr[datetime] = attr(codec=day())  # E: a day is not the whole moment
    m: Attr[str] = attr(codec=encrypted())  # E: the secrets are missing
    n: Attr[str] = attr(codec=encrypted("2026"))  # E: a text has no secrets
    o: Attr[str] = attr(codec=encrypted(Vault))  # E: a class has no secrets, its objects do
    p: Attr[str] = attr(codec=encrypted(KeyRing({"2026": "secret"})))  # E: secrets are bytes
    q: Attr[str] = attr(codec=encrypted)  # E: a function is not a codec


class Misspelt(Table, name="misspelt", delimiter=":", escapes=False):  # E: no such option
    pass

"""Formats: other notations of a value inside a key, made from the notation of its type.

A format takes a notation and returns a notation, so formats nest: `descending(epoch_seconds(at))`.

    format                     text                          a call gives
    day(at)                       2026-01-15                    a date
    hour(at)                      2026-01-15T10                 a datetime, any moment of the hour
    week(at)                      2026-W03                      a date, any day of the week
    year_month(at)                2026-01                       a date, any day of the month
    year(at)                      2026                          an int
    iso(at, "seconds")            2026-01-15T10:15:30Z          a datetime, by the second
    epoch_seconds(at)             1768472130                    a datetime, by the second
    epoch_millis(at)              1768472130000                 a datetime, by the millisecond
    padded(number, 6)             000007                        an int
    fixed_point(price, 4, 2)      0012.50                       a Decimal
    lower(email), upper, casefold ann@example.com               a str
    truncated(name, 3)            Ann                           a str
    shard(id, of=8)               3                             the number of the shard
    coded(host, Reversed())       com.example                   what the codec takes
    descending(padded(score, 3))  992 for 7                     what it gives without descending
    number(stars)                 the number 7, of type N       the number
    binary(digest)                the bytes, of type B          the bytes

A format is also the codec of an attribute: `attributes` makes its converter, `transforms` has
the codecs that no key can contain, and `reading` finds the format that a description names.

`descending` replaces each digit by its complement to 9, so larger values have smaller texts. It is
for notations of a fixed width that consist of digits and literals.
"""

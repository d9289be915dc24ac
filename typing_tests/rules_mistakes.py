"""One mistake a line, as in `mistakes.py`: the misuse of the counters in `rules.py`."""

from __future__ import annotations

from decimal import Decimal

from tablewright import Attr
from tablewright.rules import count_of, sum_of
from typing_tests.rules import Cup, Seat, Visit

Seat(seat_id=1, cups=5)  # E: the library writes it
many: Attr[str] = count_of(Cup)  # E: a count is an int
total: Attr[int] = sum_of(Cup.price)  # E: the sum of Decimals is a Decimal
text = sum_of(Cup.cup_id)  # E: a text has no sum
other = count_of(Cup, when=Visit.tip > 1)  # E: an attribute of another entity
keyed = count_of(Cup, by=(Visit.seat_id,))  # E: an attribute of another entity
named = count_of(Cup, when=lambda cup: cup.pric == Decimal(1))  # E: no such attribute

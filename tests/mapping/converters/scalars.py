"""Texts, numbers, bools and binaries."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, NewType
from uuid import UUID

from hypothesis import strategies as st

from tablewright.ids import KSUID, ULID
from tests.encoding.strategies import decimals, raw_bytes, texts

Value = dict[str, Any]

A_KSUID = "0ujtsYcgvSTl8PAuAdqWYSMnLOv"
A_ULID = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
A_UUID = "12345678-1234-5678-1234-567812345678"


class Email(str):
    def __new__(cls, text: str) -> Email:
        if "@" not in text:
            raise ValueError(f"{text!r} has no @")
        return super().__new__(cls, text)


class Cents(int):
    pass


UserId = NewType("UserId", str)

STRICT: list[Any] = [str, int, Decimal, float, bool, bytes, UUID, KSUID, Email, Cents]

CASES: list[tuple[Any, Any, Value]] = [
    (str, "", {"S": ""}),
    (str, "aé😀\x00", {"S": "aé😀\x00"}),
    (str, KSUID(A_KSUID), {"S": A_KSUID}),
    (int, 0, {"N": "0"}),
    (int, -42, {"N": "-42"}),
    (int, 10**38 - 1, {"N": "9" * 38}),
    (int, 10**125, {"N": "1" + "0" * 125}),
    (int, Cents(5), {"N": "5"}),
    (Decimal, Decimal("12.50"), {"N": "12.5"}),
    (Decimal, Decimal("-0"), {"N": "0"}),
    (Decimal, Decimal("1e-130"), {"N": "0." + "0" * 129 + "1"}),
    (Decimal, 7, {"N": "7"}),
    (float, 0.1, {"N": "0.1"}),
    (float, 1e21, {"N": "1" + "0" * 21}),
    (float, -2.5e-7, {"N": "-0.00000025"}),
    (float, 5, {"N": "5"}),
    (float, 2**60, {"N": "1152921504606846976"}),
    (bool, True, {"BOOL": True}),
    (bool, False, {"BOOL": False}),
    (bytes, b"", {"B": ""}),
    (bytes, b"hi", {"B": "aGk="}),
    (bytes, bytearray(b"hi"), {"B": "aGk="}),
    (bytes, memoryview(b"-h-i-")[1::2], {"B": "aGk="}),
    (UUID, UUID(A_UUID), {"S": A_UUID}),
    (KSUID, KSUID(A_KSUID), {"S": A_KSUID}),
    (ULID, ULID(A_ULID), {"S": A_ULID}),
    (Email, Email("a@b.c"), {"S": "a@b.c"}),
    (Cents, Cents(1250), {"N": "1250"}),
    (UserId, UserId("u1"), {"S": "u1"}),
]

OTHER_SPELLINGS: list[tuple[Any, Value, Any]] = [
    (int, {"N": "1E+3"}, 1000),
    (int, {"N": "5.0"}, 5),
    (float, {"N": "12.50"}, 12.5),
    (UUID, {"S": A_UUID.replace("-", "").upper()}, UUID(A_UUID)),
]

REFUSED: list[tuple[Any, Any, str]] = [
    (str, 5, "Order.a: 5 (int) is not a str"),
    (str, b"x", "Order.a: b'x' (bytes) is not a str"),
    (str, "\ud800", "Order.a: '\\ud800' cannot be stored: it has half of a surrogate pair"),
    (str, ["x" * 100], "Order.a: ['" + "x" * 77 + "… (list) is not a str"),
    (int, "5", "Order.a: '5' (str) is not an int"),
    (int, True, "Order.a: True (bool) is not an int"),
    (int, 5.0, "Order.a: 5.0 (float) is not an int"),
    (int, 10**38 + 1, "cannot be stored: Attempting to store more than 38 significant digits"),
    (int, 10**126, "cannot be stored: Number overflow"),
    (Decimal, 1.5, "Order.a: 1.5 (float) is not a Decimal"),
    (Decimal, True, "is not a Decimal"),
    (Decimal, Decimal("NaN"), "Order.a: Decimal('NaN') cannot be stored: it is not finite"),
    (Decimal, Decimal("sNaN"), "it is not finite"),
    (Decimal, Decimal("-Infinity"), "it is not finite"),
    (Decimal, Decimal("1." + "1" * 38), "more than 38 significant digits"),
    (Decimal, Decimal("1e-131"), "Number underflow"),
    (float, float("nan"), "Order.a: nan cannot be stored: it is not finite"),
    (float, float("-inf"), "it is not finite"),
    (float, 1e200, "Order.a: 1e+200 cannot be stored: Number overflow"),
    (float, 5e-324, "Number underflow"),
    (float, Decimal("1.5"), "Order.a: Decimal('1.5') (Decimal) is not a float"),
    (float, 2**53 + 1, "is not a float; it would be rounded: use int or Decimal"),
    (float, 10**400, "is not a float"),
    (float, True, "Order.a: True (bool) is not a float"),
    (bool, 1, "Order.a: 1 (int) is not a bool"),
    (bytes, "x", "Order.a: 'x' (str) is not a bytes"),
    (UUID, A_UUID, "is not a UUID"),
    (KSUID, A_KSUID, f"Order.a: '{A_KSUID}' (str) is not a KSUID"),
]

UNREADABLE: list[tuple[Any, Value, str]] = [
    (str, {"N": "5"}, "Order.a: stored as N ('5'), expected S for a str"),
    (str, {"NULL": True}, "Order.a: stored as NULL (True), expected S for a str"),
    (int, {"S": "5"}, "Order.a: stored as S ('5'), expected N for an int"),
    (int, {"N": "1.5"}, "Order.a: '1.5' cannot be read as an int"),
    (Decimal, {"S": "5"}, "expected N for a Decimal"),
    (float, {"N": "0.12345678901234567890123"}, "as a float: it would be rounded"),
    (float, {"N": "9007199254740993"}, "as a float: it would be rounded"),
    (bool, {"N": "1"}, "expected BOOL for a bool"),
    (bytes, {"S": "x"}, "expected B for a bytes"),
    (UUID, {"S": "x"}, "Order.a: 'x' cannot be read as a UUID"),
    (KSUID, {"S": "abc"}, "'abc' is not a KSUID: 27 characters of 0-9A-Za-z"),
    (Email, {"S": "abc"}, "Order.a: 'abc' cannot be read as an Email: 'abc' has no @"),
]

integers = st.integers(-(10**38) + 1, 10**38 - 1)
floats = st.floats(allow_nan=False, allow_infinity=False, min_value=-1e125, max_value=1e125).filter(
    lambda number: number == 0 or abs(number) >= 1e-130
)

STRATEGIES: list[tuple[Any, st.SearchStrategy[Any]]] = [
    (str, texts),
    (int, integers),
    (Decimal, decimals()),
    (float, floats),
    (bool, st.booleans()),
    (bytes, raw_bytes),
    (UUID, st.uuids()),
]

"""Numbers have one spelling each, and bytes that sort as they do."""

from __future__ import annotations

from decimal import Context, Decimal
from itertools import pairwise

import pytest
from hypothesis import example, given

from tablewright.encoding.numbers import (
    encode_number,
    format_number,
    normalise_number,
    number_size,
    split_number,
)
from tablewright.errors import ValidationException
from tests.encoding.strategies import decimals, spellings

NINES = "9" * 38
LARGEST = NINES + "0" * 88
SMALLEST = "0." + "0" * 129 + "1"

#: Spellings, the canonical one, and its key bytes; from the least number to the greatest.
NUMBERS: list[tuple[list[str], str, str]] = [
    ([f"-{NINES}E88", f"-9.{'9' * 37}e125"], f"-{LARGEST}", "7f 00" + " 55" * 19 + " ff"),
    (["-1E125", "-10e124"], "-1" + "0" * 125, "7f 00 de ff"),
    (["-100", "-1e2", "-1E+2", "-0100.00"], "-100", "7f 7b de ff"),
    (["-12.5", "-012.50", "-125e-1", "-.125e2"], "-12.5", "7f 7c dc 9e ff"),
    (["-12", "-1.2e1"], "-12", "7f 7c dc ff"),
    (["-7", "-7.", "-07"], "-7", "7f 7d 7e ff"),
    (["-1"], "-1", "7f 7d de ff"),
    (["-0.5", "-.5", "-5e-1"], "-0.5", "7f 7e 9e ff"),
    (["-1e-130"], f"-{SMALLEST}", "7f ff de ff"),
    (["0", "-0", "+0", "0.0", "00", "0e5", "-0E-130", "0e125", ".0", "0."], "0", "80"),
    (["1e-130", "10E-131", "0.1e-129"], SMALLEST, "81 00 21 00"),
    (["1e-129"], "0." + "0" * 128 + "1", "81 01 21 00"),
    (["0.001", "1E-3", ".001"], "0.001", "81 7f 21 00"),
    (["0.5", ".5", "5e-1", "+0.50"], "0.5", "81 81 61 00"),
    (["1", "1.", "+1", "01", "1.0", "1e0", "10e-1"], "1", "81 82 21 00"),
    (["1.01"], "1.01", "81 82 21 21 00"),
    (["1.1"], "1.1", "81 82 22 00"),
    (["7", "+07.0"], "7", "81 82 81 00"),
    (["7.5", "+07.50"], "7.5", "81 82 86 00"),
    (["9"], "9", "81 82 a1 00"),
    (["9." + "9" * 37], "9." + "9" * 37, "81 82" + " aa" * 19 + " 00"),
    (["10", "1e1"], "10", "81 83 21 00"),
    (["12.5"], "12.5", "81 83 23 61 00"),
    (["99"], "99", "81 83 aa 00"),
    (["100"], "100", "81 84 21 00"),
    (["123"], "123", "81 84 23 41 00"),
    (["1000", "1e3", "1E+3", "1000.000"], "1000", "81 85 21 00"),
    ([NINES], NINES, "81 a7" + " aa" * 19 + " 00"),
    (["1e125", "1" + "0" * 125], "1" + "0" * 125, "81 ff 21 00"),
    ([f"{NINES}E88", f"9.{'9' * 37}e+125"], LARGEST, "81 ff" + " aa" * 19 + " 00"),
]
SPELLINGS = [(spelling, canonical) for spellings, canonical, _ in NUMBERS for spelling in spellings]
CANONICAL = [canonical for _, canonical, _ in NUMBERS]


@pytest.mark.parametrize(("spelling", "canonical"), SPELLINGS)
def test_every_spelling_is_read_as_the_canonical_one(spelling: str, canonical: str) -> None:
    assert normalise_number(spelling) == canonical


@pytest.mark.parametrize("canonical", CANONICAL)
def test_the_canonical_spelling_is_read_as_itself(canonical: str) -> None:
    assert normalise_number(canonical) == canonical


@pytest.mark.parametrize(("canonical", "encoded"), [(c, e) for _, c, e in NUMBERS])
def test_a_number_has_these_key_bytes(canonical: str, encoded: str) -> None:
    assert encode_number(canonical).hex(" ") == encoded


def test_the_table_of_numbers_is_in_order_and_so_are_their_bytes() -> None:
    for less, more in pairwise(CANONICAL):
        assert Decimal(less) < Decimal(more)
        assert encode_number(less) < encode_number(more)


@given(spellings())
@example("-0.0e-129")
@example("0" * 200 + "1")
@example("1" + "0" * 60 + "e-60")
def test_reading_keeps_the_value(text: str) -> None:
    assert Decimal(normalise_number(text)) == Decimal(text)


@given(spellings())
def test_reading_twice_changes_nothing_more(text: str) -> None:
    once = normalise_number(text)
    assert normalise_number(once) == once


@given(spellings())
def test_the_canonical_spelling_has_no_needless_character(text: str) -> None:
    canonical = normalise_number(text)
    whole, point, fraction = canonical.removeprefix("-").partition(".")
    assert whole.isdigit()
    assert whole == "0" or not whole.startswith("0")
    assert bool(fraction) == bool(point)
    assert not fraction.endswith("0")
    assert canonical != "-0"


@given(spellings(), spellings())
def test_two_spellings_of_one_number_become_the_same(left: str, right: str) -> None:
    assert (normalise_number(left) == normalise_number(right)) == (Decimal(left) == Decimal(right))


@given(decimals(), decimals())
def test_bytes_sort_as_the_numbers_do(left: Decimal, right: Decimal) -> None:
    lower, upper = encode_number(f"{left:f}"), encode_number(f"{right:f}")
    assert (lower < upper) == (left < right)
    assert (lower == upper) == (left == right)


@given(decimals())
def test_bytes_sort_right_beside_a_number_of_one_more_digit(number: Decimal) -> None:
    digits = len(number.as_tuple().digits)
    exponent = number.as_tuple().exponent
    assert isinstance(exponent, int)
    if number and digits < 38 and exponent > -130:
        step = Decimal((number.is_signed(), (1,), exponent - 1))
        beyond = format_number(Context(prec=300).add(number, step))
        closer, outer = encode_number(f"{number:f}"), encode_number(beyond)
        assert (closer < outer) == (number < Decimal(beyond))


@given(decimals(), decimals())
def test_no_number_begins_with_the_bytes_of_another(left: Decimal, right: Decimal) -> None:
    if left != right:
        lower, upper = encode_number(f"{left:f}"), encode_number(f"{right:f}")
        assert not upper.startswith(lower)
        assert not lower.startswith(upper)


@given(decimals())
def test_the_significant_digits_give_the_number_back(number: Decimal) -> None:
    negative, exponent, digits = split_number(format_number(number))
    scale = exponent - len(digits) + 1 if digits else 0
    assert Decimal((negative, tuple(map(int, digits)) or (0,), scale)) == number


TEXT_MESSAGE = "The parameter cannot be converted to a numeric value"
DIGITS_MESSAGE = "Attempting to store more than 38 significant digits in a Number"
OVERFLOW = (
    "Number overflow. Attempting to store a number with magnitude larger than supported range"
)
UNDERFLOW = (
    "Number underflow. Attempting to store a number with magnitude smaller than supported range"
)
NOT_NUMBERS = [
    *((text, f"{TEXT_MESSAGE}: {text}") for text in ["abc", "1a", "--1", "1e", "e5", ".", "1 "]),
    *((text, f"{TEXT_MESSAGE}: {text}") for text in [" 1", "1_000", "0x10", "1,5", "NaN", "+"]),
    *((text, f"{TEXT_MESSAGE}: {text}") for text in ["Infinity", "-Infinity", "sNaN", "1e5.5"]),
    *((text, f"{TEXT_MESSAGE}: {text}") for text in ["\u0661", "\uff11", "1\n", "\u00b2"]),
    ("", TEXT_MESSAGE),
    ("1" * 39, DIGITS_MESSAGE),
    ("0." + "1" * 39, DIGITS_MESSAGE),
    ("-1" + "0" * 37 + "1", DIGITS_MESSAGE),
    (f"1.{'0' * 37}1", DIGITS_MESSAGE),
    (f"1.{'0' * 310}1", DIGITS_MESSAGE),
    (f"1{'0' * 125}.{'0' * 200}1", DIGITS_MESSAGE),
    ("1e126", OVERFLOW),
    ("-1e126", OVERFLOW),
    ("10e125", OVERFLOW),
    ("1" + "0" * 126, OVERFLOW),
    ("1e99999", OVERFLOW),
    ("-1e99999999999999999999999", f"{TEXT_MESSAGE}: -1e99999999999999999999999"),
    ("1e-131", UNDERFLOW),
    ("-1e-131", UNDERFLOW),
    ("0.1e-130", UNDERFLOW),
    ("1e-99999", UNDERFLOW),
    ("0e126", OVERFLOW),
    ("0e-131", UNDERFLOW),
    ("0." + "0" * 131, UNDERFLOW),
    # 32 bits, and arithmetic of 32 bits
    ("1e2147483646", OVERFLOW),
    ("1e2147483647", UNDERFLOW),
    ("0e2147483647", UNDERFLOW),
    ("1e2147483648", f"{TEXT_MESSAGE}: 1e2147483648"),
    ("1e-2147483647", UNDERFLOW),
    ("1e-2147483648", f"{TEXT_MESSAGE}: 1e-2147483648"),
    ("1.5e-2147483647", f"{TEXT_MESSAGE}: 1.5e-2147483647"),
    ("1e-99999999999999999999999", f"{TEXT_MESSAGE}: 1e-99999999999999999999999"),
]


@pytest.mark.parametrize(("text", "message"), NOT_NUMBERS)
def test_what_is_no_number_is_refused_in_these_words(text: str, message: str) -> None:
    with pytest.raises(ValidationException) as refused:
        normalise_number(text)
    assert refused.value.old_message == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", f"{TEXT_MESSAGE}: "),
        ("1e2147483647", OVERFLOW),
        ("1e2147483648", OVERFLOW),
        ("1e-2147483649", UNDERFLOW),
        ("0e9223372036854775807", OVERFLOW),
        ("1e-9223372036854775808", UNDERFLOW),
        ("1e9223372036854775808", f"{TEXT_MESSAGE}: 1e9223372036854775808"),
        ("1e-9223372036854775809", f"{TEXT_MESSAGE}: 1e-9223372036854775809"),
        ("1e+000000000000000000000000000126", OVERFLOW),
    ],
)
def test_the_layer_of_2026_reads_exponents_of_64_bits(text: str, message: str) -> None:
    with pytest.raises(ValidationException) as refused:
        normalise_number(text)
    assert refused.value.message == message


#: One byte, one for every two significant digits on each side of the point, one for the sign.
SIZES = [
    ("0", 1),
    ("1", 2),
    ("12", 2),
    ("123", 3),
    ("1234", 3),
    ("-1", 3),
    ("-123", 4),
    ("100", 2),
    ("1000", 2),
    ("1010", 3),
    ("0.5", 2),
    ("0.05", 2),
    ("0.001", 2),
    ("12.5", 3),
    ("-12.5", 4),
    (NINES, 20),
    (f"-{NINES}", 21),
    ("1" + "0" * 125, 2),
    (SMALLEST, 2),
]


@pytest.mark.parametrize(("text", "size"), SIZES)
def test_a_number_counts_for_this_many_bytes(text: str, size: int) -> None:
    assert number_size(text) == size


@given(decimals())
def test_no_number_counts_for_more_than_22_bytes(number: Decimal) -> None:
    assert 1 <= number_size(format_number(number)) <= 22

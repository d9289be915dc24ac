"""Numbers: a canonical form, and key bytes that sort as the numbers do.

DynamoDB's numbers have up to 38 significant digits and magnitudes from 1e-130 to 9.99…e+125, and
are exact. Their canonical form is plain decimal notation without redundant zeros:

    "1e3" -> "1000"     "-0" -> "0"     "+07.50" -> "7.5"     "1E-3" -> "0.001"

The key bytes of a number are its sign, its exponent and its digits, two per byte, then an end byte
that is lower than every digit pair. All bytes after the sign of a negative number are complemented:

    number    sign  exponent+130  digit pairs, each digit + 1   end
    0         80
    7         81    82            81                            00
    12.5      81    83            23 61                         00
    -12.5     7f    7c            dc 9e                         ff

Invariant: the key bytes of a number are never a prefix of those of another number, so they can be
followed by other components in a key.
"""

from __future__ import annotations

import re
from decimal import Decimal
from functools import lru_cache

from tablewright.errors import ValidationException, truncate
from tablewright.values import EXACT

MAX_DIGITS = 38
NOT_A_NUMBER = "The parameter cannot be converted to a numeric value"
TOO_PRECISE = "Attempting to store more than 38 significant digits in a Number"
OVERFLOW = (
    "Number overflow. Attempting to store a number with magnitude larger than supported range"
)
UNDERFLOW = (
    "Number underflow. Attempting to store a number with magnitude smaller than supported range"
)
MAX_EXPONENT = 125
MIN_EXPONENT = -130

#: Most numbers of requests are canonical. Canonical numbers with more digits are parsed in full.
is_canonical = re.compile(
    r"0|-?[1-9][0-9]{0,37}|-?(?:0|[1-9][0-9]{0,17})\.[0-9]{0,18}[1-9]"
).fullmatch
#: Sign, whole part, fraction, exponent. Possessive (`*+`): text that is not a number is read once.
_NUMBER = re.compile(r"([+-]?)(?=\.?[0-9])([0-9]*+)\.?([0-9]*+)(?:[eE]([+-]?[0-9]++))?").fullmatch
#: A request has at most 16 million digits.
_MAX_POWER_DIGITS = 9

_DIGITS = str.maketrans("0123456789", "123456789a")
_COMPLEMENTED_DIGITS = str.maketrans("0123456789", "edcba98765")
_READ_DIGITS = str.maketrans("123456789a", "0123456789")
_READ_COMPLEMENTED_DIGITS = str.maketrans("edcba98765", "0123456789")


def normalise_number(text: str) -> str:
    """Return the canonical form of a number of a request.

    >>> normalise_number("1e3"), normalise_number("-0"), normalise_number("07.50")
    ('1000', '0', '7.5')
    """
    if is_canonical(text):
        return text
    found = _NUMBER(text)
    if not found:
        # Before 2026, DynamoDB repeated the text unless it was empty.
        raise ValidationException(_not_a_number(text), old=None if text else NOT_A_NUMBER)
    return _format_parts(text, *found.groups(""))


def _format_parts(text: str, sign: str, whole: str, fraction: str, exponent: str) -> str:
    """Return the canonical form of a number, given its parts.

    A request can contain a number with megabytes of digits. So the range is checked by the lengths
    of the parts, and only an exponent of a few digits is converted to an integer. Zero has one
    digit, and DynamoDB checks its range, too: 0e126 is refused.
    """
    digits = (whole + fraction).lstrip("0")
    significant = digits.rstrip("0")
    length = len(digits) or 1
    power = exponent.lstrip("+-0")
    if len(power) > _MAX_POWER_DIGITS:
        raise _large_exponent(text, length, len(fraction), exponent)
    adjusted = length - len(fraction) - 1 + int(power or 0) * (-1 if exponent[:1] == "-" else 1)
    _check_magnitude(adjusted)
    if not significant:
        return "0"
    _check_precision(len(significant))
    negative = "-" if sign == "-" else ""
    point = adjusted + 1
    if point <= 0:
        return f"{negative}0.{'0' * -point}{significant}"
    if point >= len(significant):
        return f"{negative}{significant}{'0' * (point - len(significant))}"
    return f"{negative}{significant[:point]}.{significant[point:]}"


def format_number(number: Decimal, too_precise: str = TOO_PRECISE) -> str:
    """Return the canonical form of a number; raise a fault if DynamoDB cannot store it.

    `too_precise` is the message for more than 38 digits.
    """
    if not number:
        return "0"
    text = str(number)
    if len(text) <= MAX_DIGITS and "E" not in text:  # most numbers; a third of the time
        return text.rstrip("0").rstrip(".") if "." in text else text
    _check_magnitude(number.adjusted())
    # Count the digits before rounding: a request can contain any number of digits.
    _check_precision(len("".join(map(str, number.as_tuple().digits)).strip("0")), too_precise)
    return f"{number.normalize(EXACT):f}"


def _check_magnitude(exponent: int) -> None:
    if exponent > MAX_EXPONENT:
        raise _out_of_range(overflow=True)
    if exponent < MIN_EXPONENT:
        raise _out_of_range(overflow=False)


def _large_exponent(text: str, length: int, places: int, exponent: str) -> ValidationException:
    """Return the fault for an exponent that no mantissa is long enough to compensate for.

    DynamoDB reads the number as Java's BigDecimal does. An exponent has 64 bits; before 2026 and
    in PartiQL it has 32, and so has the result of the comparison, which wraps: 1e2147483647 is an
    underflow there.
    """
    power = _bounded_power(exponent)
    new = _not_a_number(text)
    if -(2**63) <= power < 2**63:
        new = UNDERFLOW if power < 0 else OVERFLOW
    if exceeds_32_bits(places, exponent):
        return ValidationException(new, old=_not_a_number(text))
    wrapped = (length - places + power + 2**31) % 2**32 - 2**31
    return ValidationException(new, old=OVERFLOW if wrapped > 0 else UNDERFLOW)


def exceeds_32_bits(places: int, exponent: str | None) -> bool:
    """Return whether an exponent, or the scale of a number with it, exceeds 32 bits.

    `places` is the number of digits after the decimal point; the scale is these minus the exponent.
    """
    power = _bounded_power(exponent or "")
    return not (-(2**31) <= power < 2**31 and places - power < 2**31)


def _bounded_power(exponent: str) -> int:
    """Return an exponent as an integer; one with many digits is shortened, and has 64 bits."""
    power = int(exponent.lstrip("+-0")[:21] or 0)
    return -power if exponent[:1] == "-" else power


def _not_a_number(text: str) -> str:
    return f"{NOT_A_NUMBER}: {truncate(text)}"


def _check_precision(digits: int, too_precise: str = TOO_PRECISE) -> None:
    if digits > MAX_DIGITS:
        raise ValidationException(too_precise)


def _out_of_range(*, overflow: bool) -> ValidationException:
    return ValidationException(OVERFLOW if overflow else UNDERFLOW)


def split_number(text: str) -> tuple[bool, int, str]:
    """Split a canonical number into is-negative, exponent and significant digits.

    >>> split_number("-12.5"), split_number("0.001"), split_number("400"), split_number("0")
    ((True, 1, '125'), (False, -3, '1'), (False, 2, '4'), (False, 0, ''))
    """
    negative = text[0] == "-"
    whole, _, fraction = text.lstrip("-").partition(".")
    if whole == "0":
        digits = fraction.lstrip("0")
        return negative, len(digits) - len(fraction) - 1 if digits else 0, digits
    return negative, len(whole) - 1, (whole + fraction).rstrip("0")


def encode_number(text: str) -> bytes:
    """Return the key bytes of a canonical number; they sort as the numbers do.

    >>> encode_number("-12.5") < encode_number("0") < encode_number("7") < encode_number("12.5")
    True
    """
    negative, exponent, digits = split_number(text)
    if not digits:
        return b"\x80"
    if len(digits) % 2:
        digits += "0"
    if negative:
        return b"\x7f%c%b\xff" % (
            125 - exponent,
            bytes.fromhex(digits.translate(_COMPLEMENTED_DIGITS)),
        )
    return b"\x81%c%b\x00" % (exponent + 130, bytes.fromhex(digits.translate(_DIGITS)))


def decode_number(data: bytes) -> tuple[str, int]:
    """Return the canonical number at the start of key bytes, and the number of bytes it takes.

    >>> [decode_number(encode_number(text))[0] for text in ("-12.5", "0", "7", "0.001", "400")]
    ['-12.5', '0', '7', '0.001', '400']
    """
    if data[0] == 0x80:
        return "0", 1
    negative = data[0] == 0x7F
    end = data.index(0xFF if negative else 0x00, 2)
    pairs = data[2:end].hex()
    digits = pairs.translate(_READ_COMPLEMENTED_DIGITS if negative else _READ_DIGITS)
    exponent = 125 - data[1] if negative else data[1] - 130
    number = Decimal(f"{'-' if negative else ''}{digits}e{exponent - len(digits) + 1}")
    return format_number(number), end + 1


@lru_cache(maxsize=4096)
def number_size(text: str) -> int:
    """Return the size of a canonical number as DynamoDB counts it.

    One byte, one byte for each two significant digits before and after the decimal point, and one
    byte for a minus sign.

    >>> [number_size(text) for text in ("0", "7", "12", "123", "-123", "0.5", "12.5", "1000")]
    [1, 2, 2, 3, 4, 2, 3, 2]
    """
    if text.isdigit():  # most numbers
        return 1 + (len(text.rstrip("0")) + 1) // 2
    whole, _, fraction = text.lstrip("-").partition(".")
    if not fraction:
        whole = whole.rstrip("0")
    elif whole == "0":
        whole, fraction = "", fraction.lstrip("0")
    return 1 + (len(whole) + 1) // 2 + (len(fraction) + 1) // 2 + (text[0] == "-")

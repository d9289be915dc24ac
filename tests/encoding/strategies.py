"""Values to try, as hypothesis draws them: with a taste for edges and for near neighbours."""

from __future__ import annotations

import base64
from decimal import Decimal
from typing import Any

from hypothesis import strategies as st

EXPONENTS = st.one_of(
    st.sampled_from([-130, -129, -2, -1, 0, 1, 2, 124, 125]), st.integers(-130, 125)
)


@st.composite
def decimals(draw: st.DrawFn) -> Decimal:
    """Any number DynamoDB can hold."""
    if draw(st.integers(0, 19)) == 0:
        return Decimal(0)
    digits = draw(st.one_of(st.integers(1, 999), st.integers(1, 10**38 - 1)))
    text = str(digits).rstrip("0")
    exponent = draw(EXPONENTS)
    sign = draw(st.integers(0, 1))
    return Decimal((sign, tuple(map(int, text)), exponent - len(text) + 1))


@st.composite
def spellings(draw: st.DrawFn) -> str:
    """A number as a client may write it: signs, needless zeros, a point anywhere, an exponent."""
    number = draw(decimals())
    sign, digits, exponent = number.as_tuple()
    assert isinstance(exponent, int)
    text = "".join(map(str, digits)) + "0" * draw(st.integers(0, 3))
    exponent -= len(text) - len(digits)
    text = "0" * draw(st.integers(0, 3)) + text
    behind = draw(st.integers(0, len(text) - 1))
    exponent += behind
    if behind:
        text = f"{text[:-behind]}.{text[-behind:]}"
    if exponent or draw(st.booleans()):
        plus = draw(st.sampled_from(["", "+"])) if exponent >= 0 else ""
        text += f"{draw(st.sampled_from('eE'))}{plus}{exponent}"
    return ("-" if sign else draw(st.sampled_from(["", "+"]))) + text


#: Characters whose UTF-8 bytes sit at the borders that an encoding can get wrong.
_EDGES = "\x00\x01\x02az\x7f\x80\xff\u07ff\u0800\ud7ff\ue000\uffff\U00010000\U0010ffff"

texts = st.one_of(
    st.text(st.sampled_from(_EDGES), max_size=6),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=12),
)
raw_bytes = st.one_of(
    st.lists(st.sampled_from([0, 1, 2, 0x61, 0xFE, 0xFF]), max_size=6).map(bytes),
    st.binary(max_size=12),
)


#: What a key attribute may hold: it is never empty.
key_texts = texts.filter(bool)
key_bytes = raw_bytes.filter(bool)


def base64_of(raw: bytes) -> str:
    return base64.b64encode(raw).decode()


binaries = raw_bytes.map(base64_of)


def _sets(members: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    return st.lists(members, min_size=1, max_size=4, unique=True)


_scalars = st.one_of(
    texts.map(lambda text: {"S": text}),
    spellings().map(lambda text: {"N": text}),
    binaries.map(lambda text: {"B": text}),
    st.booleans().map(lambda flag: {"BOOL": flag}),
    st.just({"NULL": True}),
    _sets(texts).map(lambda members: {"SS": members}),
    st.lists(spellings(), min_size=1, max_size=4, unique_by=Decimal).map(
        lambda members: {"NS": members}
    ),
    _sets(binaries).map(lambda members: {"BS": members}),
)

#: Values as requests may have them: of the right JSON types, not yet normal.
values: st.SearchStrategy[dict[str, Any]] = st.recursive(
    _scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4).map(lambda members: {"L": members}),
        st.dictionaries(key_texts, inner, max_size=4).map(lambda members: {"M": members}),
    ),
    max_leaves=8,
)
items = st.dictionaries(key_texts, values, max_size=5)

"""Names and literals of a module are safe, whatever the texts of a table are."""

from __future__ import annotations

import ast
import keyword

from hypothesis import given
from hypothesis import strategies as st

from tablewright.infer.names import class_name, id_name, quoted, snake_case


@given(st.text(alphabet="'\"\\a\n\0é\u2028{}", max_size=8) | st.text())
def test_a_literal_is_the_text_on_one_line(text: str) -> None:
    assert ast.literal_eval(quoted(text)) == text
    assert len(quoted(text).splitlines()) == 1


@given(st.text())
def test_a_name_is_an_identifier(text: str) -> None:
    for name in (snake_case(text), class_name(text), id_name(text)):
        assert name.isidentifier()
        assert not keyword.iskeyword(name)
        assert not name.startswith("_")

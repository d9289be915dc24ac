"""Templates: composed from values, parsed from texts, compared with one another."""

from __future__ import annotations

from typing import Any, Literal

import pytest

from tablewright.errors import DeclarationError
from tablewright.mapping.formats.codecs import truncated
from tablewright.mapping.key_parts import Delimiter, KeyPart
from tablewright.mapping.template import (
    Composer,
    Parser,
    Template,
    can_begin_with,
    extends,
    templates_can_collide,
)
from tests.mapping.key_parts import (
    A_DAY,
    DATE,
    DOWN,
    FREE_NUMBER,
    LONGER,
    MOMENT,
    NUMBER,
    OTHER,
    STATUS,
    TEXT,
    TRUTH,
    Status,
    natural,
    part,
    template,
)


@pytest.mark.parametrize(
    ("pieces", "shown", "joined"),
    [
        (("USER",), "USER", ("USER",)),
        (("ORDER", TEXT), "ORDER#{name}", ("ORDER#", TEXT)),
        (("A#B", TEXT), "A#B#{name}", ("A#B#", TEXT)),
        ((TEXT,), "{name}", (TEXT,)),
        (("O", A_DAY, "I", NUMBER), "O#{day(at)}#I#{number}", ("O#", A_DAY, "#I#", NUMBER)),
    ],
)
def test_a_template_is_shown_as_documents_write_it(
    pieces: tuple[str | KeyPart, ...], shown: str, joined: tuple[str | KeyPart, ...]
) -> None:
    made = template(*pieces)
    assert made.show() == shown
    assert made.pieces == joined


@pytest.mark.parametrize(
    ("pieces", "arguments", "text"),
    [
        (("USER",), (), "USER"),
        (("ORDER", TEXT), ("O1",), "ORDER#O1"),
        (("ORDER", TEXT, "ITEM", NUMBER), ("O1", 7), "ORDER#O1#ITEM#007"),
        (("100%", TEXT, "%s"), ("50%",), "100%#50%#%s"),
        ((TEXT, OTHER), ("1#2", "3"), "1$!2#3"),
        ((TEXT, OTHER), ("1", "2#3"), "1#2$!3"),
    ],
)
def test_a_composer_joins_literals_and_values(
    pieces: tuple[str | KeyPart, ...], arguments: tuple[Any, ...], text: str
) -> None:
    made = template(*pieces)
    assert Composer(made)(arguments) == text
    assert Parser(made)(text) == arguments


# -- what templates have in common ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other", "meet"),
    [
        ("ORDER", "ORDER", True),
        ("ORDER", "ORDERS", False),
        ("ORDER", TEXT, True),
        ("ORDER", NUMBER, False),
        ("007", NUMBER, True),
        ("07", NUMBER, False),
        ("007", FREE_NUMBER, False),
        ("0", FREE_NUMBER, True),
        ("-0", FREE_NUMBER, False),
        ("100", FREE_NUMBER, True),
        ("-7", FREE_NUMBER, True),
        ("x7", FREE_NUMBER, False),
        ("PAID", STATUS, True),
        ("PAI", STATUS, False),
        ("PAIDX", STATUS, False),
        ("true", TRUTH, True),
        ("2026-01-15", DATE, True),
        ("2026-01-15", MOMENT, False),
        ("999", DOWN, True),
        (TEXT, OTHER, True),
        (TEXT, NUMBER, True),
        (NUMBER, DOWN, True),
        (NUMBER, LONGER, False),
        (DATE, A_DAY, True),
        (FREE_NUMBER, NUMBER, True),
        (part(str, name="k"), STATUS, True),
    ],
)
def test_pieces_collide_where_they_can_have_the_same_text(
    one: str | KeyPart, other: str | KeyPart, meet: bool
) -> None:
    assert templates_can_collide(template(one), template(other)) is meet
    assert templates_can_collide(template(other), template(one)) is meet


@pytest.mark.parametrize(
    ("one", "other", "common"),
    [
        (("ORDER", TEXT), ("ORDER", OTHER), True),
        (("ORDER", TEXT), ("ITEM", OTHER), False),
        (("ORDER", TEXT), ("ORDER", TEXT, OTHER), False),
        (("ORDER", TEXT), ("ORDER", "LIST"), True),
        (("ORDER", NUMBER), ("ORDER", "LIST"), False),
        (("ORDER", NUMBER), ("ORDER", LONGER), False),
        (("ORDER", TEXT), (OTHER, NUMBER), True),
        (("ORDER#LIST",), ("ORDER", TEXT), True),
        (("A#B", TEXT), ("A", "B", OTHER), True),
        (("A#B", TEXT), ("A#C", OTHER), False),
        ((TEXT,), ("ORDER",), True),
        ((TEXT,), ("ORDER", OTHER), False),
        ((TEXT, "X"), (OTHER, "Y"), False),
    ],
)
def test_templates_collide_where_all_their_pieces_do(
    one: tuple[str | KeyPart, ...], other: tuple[str | KeyPart, ...], common: bool
) -> None:
    assert templates_can_collide(template(*one), template(*other)) is common
    assert templates_can_collide(template(*other), template(*one)) is common


def test_a_natural_key_can_be_any_text() -> None:
    assert templates_can_collide(natural(str), template("ORDER", TEXT))
    assert templates_can_collide(template("ORDER", TEXT), natural(str))
    assert templates_can_collide(natural(str), natural(str))


@pytest.mark.parametrize(
    ("beginning", "other", "shares"),
    [
        ((), ("ORDER", TEXT), True),
        (("ORDER",), ("ORDER", TEXT), True),
        (("ORDER",), ("ORDER", TEXT, "ITEM", OTHER), True),
        (("ORDER", TEXT, "ITEM"), ("ORDER", OTHER), False),
        (("ORDER",), ("ORDERS", TEXT), False),
        (("ORDER",), (TEXT,), False),
        (("ORDER",), (TEXT, OTHER), True),
        (("ORDER", NUMBER), ("ORDER", LONGER, TEXT), False),
    ],
)
def test_a_template_can_share_a_beginning(
    beginning: tuple[str | KeyPart, ...], other: tuple[str | KeyPart, ...], shares: bool
) -> None:
    start = template(*beginning, "") if beginning else Template(())
    assert can_begin_with(template(*other), start.language()) is shares


@pytest.mark.parametrize(
    ("root", "child", "on"),
    [
        (("ORDER", TEXT), ("ORDER", TEXT, "ITEM", OTHER), True),
        (("ORDER", TEXT), ("ORDER", TEXT), False),
        (("ORDER", TEXT), ("ITEM", TEXT, OTHER), False),
        (("ORDER",), ("ORDER", TEXT), True),
        (("A#B",), ("A", "B", TEXT), True),
        (("ORDER", "A"), ("ORDER", TEXT, "B"), False),
    ],
)
def test_a_child_goes_on_where_its_root_ends(
    root: tuple[str | KeyPart, ...], child: tuple[str | KeyPart, ...], on: bool
) -> None:
    assert extends(template(*child), template(*root)) is on


# -- reading -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (template("ORDER", TEXT), "ORDER"),
        (template("ORDER", TEXT), "ORDER#"),
        (template("ORDER", TEXT), "ORDER#a#b"),
        (template("ORDER", TEXT), "order#a"),
        (template("ORDER", TEXT), "ORDER#$5"),
        (template("ORDER", NUMBER), "ORDER#7"),
        (template("ORDER", DATE), "ORDER#2026-02-30"),
        (template("ORDER", STATUS), "ORDER#LOST"),
        (template("ORDER", NUMBER), "ORDER#007#"),
        (template("A.B"), "AxB"),
    ],
)
def test_a_text_that_is_not_the_key_cannot_be_read(made: Template, text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        Parser(made)(text)


@pytest.mark.parametrize(
    ("text", "beginning"),
    [
        ("ORDER#a", "ORDER#a"),
        ("ORDER#a#ITEM#7", "ORDER#a"),
        ("ORDER#a\n", "ORDER#a\n"),
        ("ORDER#a\n#b", "ORDER#a\n"),
        ("ORDER#", ""),
        ("USER#a", ""),
    ],
)
def test_a_longer_key_begins_with_the_text_of_a_shorter_one(text: str, beginning: str) -> None:
    assert Parser(template("ORDER", TEXT)).beginning(text) == beginning


# -- parts that could run into what follows ------------------------------------------------------

CODE = part(str, truncated(3), name="code")
GRADE = part(Literal["A", "A+", "B"], name="grade")


@pytest.mark.parametrize(
    ("pieces", "message"),
    [
        (
            (TEXT, NUMBER),
            "Order.primary: nothing separates name from number, so a key cannot be read; write / "
            "between them, or give name a fixed width",
        ),
        (
            (GRADE, TEXT),
            "Order.primary: nothing separates grade from name, so a key cannot be read; write / "
            "between them, or give grade a fixed width",
        ),
        (
            (GRADE, "+", TEXT),
            "Order.primary: grade can contain '+', and the next literal, '+', begins with it, so "
            "a key cannot be read; write / between them",
        ),
        (
            (TEXT, "X#"),
            "Order.primary: name can contain 'X', and the next literal, 'X#', begins with it, so "
            "a key cannot be read; write / between them",
        ),
        (
            (FREE_NUMBER, "-", TEXT),
            "Order.primary: count can contain '-', and the next literal, '-', begins with it, so "
            "a key cannot be read; write / between them",
        ),
        (
            (CODE, OTHER),
            "Order.primary: nothing separates truncated(code, 3) from other, so a key cannot be "
            "read; write / between them, or give truncated(code, 3) a fixed width",
        ),
    ],
)
def test_a_part_that_could_run_into_what_follows_is_refused(
    pieces: tuple[str | KeyPart, ...], message: str
) -> None:
    with pytest.raises(DeclarationError) as refused:
        Template(pieces).check("Order.primary")
    assert str(refused.value).startswith(message)


@pytest.mark.parametrize(
    "pieces",
    [
        (NUMBER, TEXT),
        (DATE, MOMENT, NUMBER),
        (TEXT, "#", OTHER),
        (TEXT, "#X"),
        (FREE_NUMBER, "x", TEXT),
        (STATUS, TEXT),
        (STATUS, "D", TEXT),
        (GRADE, "A", TEXT),
        ("A", TEXT),
        (TEXT,),
        ("A",),
    ],
)
def test_a_part_whose_end_is_known_is_accepted(pieces: tuple[str | KeyPart, ...]) -> None:
    made = Template(pieces)
    made.check("Order.primary")
    assert Parser(made).parts == made.parts


@pytest.mark.parametrize(
    ("pieces", "values", "text"),
    [
        ((STATUS, "D", TEXT), (Status.PAID, "D"), "PAIDDD"),
        ((STATUS, TEXT), (Status.CREATED, "D"), "CREATEDD"),
        ((GRADE, "A", TEXT), ("A+", "x"), "A+Ax"),
        ((GRADE, "A", TEXT), ("A", "A"), "AAA"),
    ],
)
def test_one_of_a_few_texts_ends_without_a_delimiter(
    pieces: tuple[str | KeyPart, ...], values: tuple[Any, ...], text: str
) -> None:
    made = Template(pieces, tuple(range(len(values))))
    assert Composer(made)(values) == text
    assert Parser(made)(text) == Parser(made, any_spelling=True)(text) == values


def test_a_delimiter_of_two_characters_ends_a_part() -> None:
    pair = Delimiter("::", escapes=False)
    names = [part(str, name=name, delimiter=pair) for name in "ab"]
    made = template("N", *names, delimiter=pair)
    made.check("Order.primary")
    assert Composer(made)(["x:y", ":z"]) == "N::x:y:::z"
    assert Parser(made)("N::x:y:::z") == ("x:y", ":z")

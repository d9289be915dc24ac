"""Text to tree and back, and every way in which text can be wrong."""

from __future__ import annotations

import pytest

from tablewright.errors import ValidationException
from tablewright.expression import Scope
from tablewright.expression.lexer import RESERVED
from tablewright.expression.parse import parse_condition, parse_projection, parse_update
from tests.expression.printing import print_condition, print_projection, print_update

CONDITIONS = [  # as written, as printed
    ("a=:v", "a = :v"),
    ("a = :v and b = :w", "a = :v AND b = :w"),
    ("a=:v or b=:v and not c=:v", "a = :v OR b = :v AND NOT c = :v"),
    ("(a=:v or b=:v) AND c=:v", "(a = :v OR b = :v) AND c = :v"),
    ("a=:v OR (b=:v AND c=:v)", "a = :v OR b = :v AND c = :v"),
    ("(a=:v AND b=:v) AND c=:v", "(a = :v AND b = :v) AND c = :v"),
    ("NOT (a = :v OR b = :v)", "NOT (a = :v OR b = :v)"),
    ("not not (a = :v)", "NOT NOT a = :v"),
    ("(a) = (:v)", "a = :v"),
    ("(size(a)) > :v", "size(a) > :v"),
    ("(attribute_exists(a))", "attribute_exists(a)"),
    ("a . b [ 0 ] . #c = :v", "a.b[0].#c = :v"),
    ("a BETWEEN :v AND :w AND b = :v", "a BETWEEN :v AND :w AND b = :v"),
    ("a IN ((:v), b)", "a IN (:v, b)"),
    ("contains ( a , size(b) )", "contains(a, size(b))"),
    ("a\t=\r\n:v ", "a = :v"),
]
UPDATES = [
    ("set a=:v", "SET a = :v"),
    ("REMOVE a,b[1] SET c=:v", "REMOVE a, b[1] SET c = :v"),
    ("SET a=(b+:v), c = (:v) - (d)", "SET a = b + :v, c = :v - d"),
    ("SET a = if_not_exists(a, if_not_exists(b, :v)) + :v",) * 2,
    ("SET a=list_append(if_not_exists(a,:v),:w)", "SET a = list_append(if_not_exists(a, :v), :w)"),
    ("add a :v, b.c :w delete d :v", "ADD a :v, b.c :w DELETE d :v"),
]


@pytest.mark.parametrize(("text", "printed"), CONDITIONS)
def test_conditions_print_as_they_read(text: str, printed: str) -> None:
    tree = parse_condition("ConditionExpression", text)
    assert print_condition(tree) == printed
    assert parse_condition("ConditionExpression", printed) == tree


@pytest.mark.parametrize(("text", "printed"), UPDATES)
def test_updates_print_as_they_read(text: str, printed: str) -> None:
    tree = parse_update(text)
    assert print_update(tree) == printed
    assert parse_update(printed) == tree


def test_projections_print_as_they_read() -> None:
    tree = parse_projection("a,b . c,#d[3]")
    assert print_projection(tree) == "a, b.c, #d[3]"
    assert parse_projection(print_projection(tree)) == tree


BAD_CONDITIONS = [
    ("", "The expression can not be empty;"),
    (" ", 'Syntax error; token: "<EOF>", near: " "'),
    ("a", 'Syntax error; token: "<EOF>", near: "a"'),
    ("a =", 'Syntax error; token: "<EOF>", near: "="'),
    ("a = ", 'Syntax error; token: "<EOF>", near: "= "'),
    (" = a", 'Syntax error; token: "=", near: " = a"'),
    ("a = :v b", 'Syntax error; token: "b", near: ":v b"'),
    ("a = 5", 'Syntax error; token: "5", near: "= 5"'),
    ('a = "x"', 'Syntax error; token: """, near: "= "x"'),
    ("a := b", 'Syntax error; token: ":", near: "a :="'),
    ("a[01] = :v", 'Syntax error; token: "1", near: "01]"'),
    ("a AND b", 'Syntax error; token: "AND", near: "a AND b"'),
    ("(a) AND (b)", 'Syntax error; token: "AND", near: ") AND ("'),
    ("(a = :v) = :v", 'Syntax error; token: "=", near: ") = :v"'),
    ("a=:v)", 'Syntax error; token: ")", near: ":v)"'),
    ("()", 'Syntax error; token: ")", near: "()"'),
    ("a NOT IN (:v)", 'Syntax error; token: "NOT", near: "a NOT IN"'),
    ("set = :v", 'Syntax error; token: "set", near: "set ="'),
    ("a.in = :v", 'Syntax error; token: "in", near: ".in ="'),
    ("#a(b)", 'Syntax error; token: "(", near: "#a(b"'),
    ("a = :v + :v", 'Syntax error; token: "+", near: ":v + :v"'),
    ("size(a = :v)", 'Syntax error; token: "=", near: "a = :v"'),
    ("é = :v", 'Syntax error; token: "é", near: "é ="'),
    ("((a = :v))", "The expression has redundant parentheses;"),
    ("((a)) = :v", "The expression has redundant parentheses;"),
    ("a = ((:v))", "The expression has redundant parentheses;"),
    ("((a=:v)) 5", "The expression has redundant parentheses;"),
    ("foo(a)", "Invalid function name; function: foo"),
    ("Size(a) = :v", "Invalid function name; function: Size"),
    (
        "a = if_not_exists(a, :v)",
        "The function is not allowed in a condition expression; function: if_not_exists",
    ),
    (
        "size(a)",
        "The function is not allowed to be used this way in an expression; function: size",
    ),
    (
        "a = attribute_exists(b)",
        "The function is not allowed to be used this way in an expression; "
        "function: attribute_exists",
    ),
    ("abort = :v", "Attribute name is a reserved keyword; reserved keyword: abort"),
    ("a.Abort = :v", "Attribute name is a reserved keyword; reserved keyword: Abort"),
    (
        "a[2147483648] = :v",
        "List index is not within the allowable range; index: [2147483648]",
    ),
    (
        "a=:v" + " " * 4093,
        "Expression size has exceeded the maximum allowed size; expression size: 4097",
    ),
    # Grammar first; then the leftmost of what needs no names and values.
    ("foo(a) = 5", 'Syntax error; token: "5", near: "= 5"'),
    ("foo(a) AND ((b = :v))", "The expression has redundant parentheses;"),
    ("abort = foo(a)", "Attribute name is a reserved keyword; reserved keyword: abort"),
    ("foo(abort)", "Invalid function name; function: foo"),
    (
        "size(abort)",
        "The function is not allowed to be used this way in an expression; function: size",
    ),
]


@pytest.mark.parametrize(("text", "message"), BAD_CONDITIONS)
def test_bad_conditions(text: str, message: str) -> None:
    with pytest.raises(ValidationException) as caught:
        parse_condition("FilterExpression", text)
    assert caught.value.message == f"Invalid FilterExpression: {message}"


BAD_UPDATES = [
    ("", "The expression can not be empty;"),
    ("SET", 'Syntax error; token: "<EOF>", near: "SET"'),
    ("a = :v", 'Syntax error; token: "a", near: "a ="'),
    ("SET a = :v,", 'Syntax error; token: "<EOF>", near: ","'),
    ("SET a = :v, REMOVE b", 'Syntax error; token: "REMOVE", near: ", REMOVE b"'),
    ("SET (a) = :v", 'Syntax error; token: "(", near: "SET (a"'),
    ("SET a = :v + :v + :v", 'Syntax error; token: "+", near: ":v + :v"'),
    ("SET a = (:v + :v) + :v", 'Syntax error; token: "+", near: ") + :v"'),
    ("SET a = ((:v + :v))", "The expression has redundant parentheses;"),
    ("SET a = (:v", 'Syntax error; token: "<EOF>", near: ":v"'),
    ("ADD a b", 'Syntax error; token: "b", near: "a b"'),
    ("ADD a (:v)", 'Syntax error; token: "(", near: "a (:v"'),
    ("REMOVE :v", 'Syntax error; token: ":v", near: "REMOVE :v"'),
    ("SET a = foo(:v)", "Invalid function name; function: foo"),
    ("SET a = size(b)", "The function is not allowed in an update expression; function: size"),
    (
        "SET a = list_append(list_append(:v, :v), :v)",
        "The function is not allowed to be used this way in an expression; function: list_append",
    ),
    (
        "SET a = :v + list_append(:v, :v)",
        "The function is not allowed to be used this way in an expression; function: list_append",
    ),
    ("REMOVE abort", "Attribute name is a reserved keyword; reserved keyword: abort"),
    ("SET a=:v" + " " * 4096, "Expression size has exceeded the maximum allowed size;"),
]


@pytest.mark.parametrize(("text", "message"), BAD_UPDATES)
def test_bad_updates(text: str, message: str) -> None:
    with pytest.raises(ValidationException) as caught:
        parse_update(text)
    assert caught.value.message == f"Invalid UpdateExpression: {message}"


BAD_PROJECTIONS = [
    ("a,", 'Syntax error; token: "<EOF>", near: ","'),
    ("a b", 'Syntax error; token: "b", near: "a b"'),
    ("(a)", 'Syntax error; token: "(", near: "(a"'),
    ("size(a)", 'Syntax error; token: "(", near: "size(a"'),
    (":v", 'Syntax error; token: ":v", near: ":v"'),
    ("a, abort", "Attribute name is a reserved keyword; reserved keyword: abort"),
]


@pytest.mark.parametrize(("text", "message"), BAD_PROJECTIONS)
def test_bad_projections(text: str, message: str) -> None:
    with pytest.raises(ValidationException) as caught:
        parse_projection(text)
    assert caught.value.message == f"Invalid ProjectionExpression: {message}"


TOO_MANY = "The expression contains too many operators; operator count: 301"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(" * 4000, 'Syntax error; token: "<EOF>", near: "("'),
        ("(" * 2000 + "a=:v" + ")" * 2000, "The expression has redundant parentheses;"),
        ("a=" + "(" * 2000 + ":v" + ")" * 2000, "The expression has redundant parentheses;"),
        ("size(" * 800, 'Syntax error; token: "<EOF>", near: "("'),
        ("size(" * 600 + "a" + ")" * 600 + "=:v", TOO_MANY),
        ("NOT " * 1000 + "a=:v", TOO_MANY),
        ("NOT (" * 600 + "a=:v" + ")" * 600, TOO_MANY),
        ("(a=:v OR " * 300 + "a=:v" + ")" * 300, TOO_MANY),
        ("a=:v OR " * 500 + "a=:v", TOO_MANY),
    ],
    ids=lambda part: part[:20],
)
def test_deep_and_long_conditions_are_refused(text: str, message: str) -> None:
    with pytest.raises(ValidationException) as caught:
        Scope(None, {":v": {"S": "x"}}).condition(text)
    assert caught.value.message == f"Invalid ConditionExpression: {message}"


@pytest.mark.parametrize("text", ["NOT " * 299 + "a=:v", "NOT (" * 299 + "a=:v" + ")" * 299])
def test_three_hundred_operators_are_allowed(text: str) -> None:
    condition = Scope(None, {":v": {"S": "x"}}).condition(text)
    assert condition is not None
    assert condition.holds({}) is True


def test_the_reserved_words_are_all_there() -> None:
    assert len(RESERVED) == 573
    assert {"ABORT", "NAME", "STATUS", "TTL", "ZONE"} <= RESERVED

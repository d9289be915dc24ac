from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablewright.errors import ValidationException
from tablewright.expression import tree
from tablewright.expression.tree import And, Between, Call, Comparison, In, Not, Or, Path, Value
from tablewright.partiql import (
    DeleteStatement,
    ExistsStatement,
    InsertStatement,
    SelectStatement,
    UpdateStatement,
    parse,
)
from tablewright.partiql.tokens import tokenize

MALFORMED = "Statement wasn't well formed, can't be processed: "


def where(text: str) -> tree.Condition:
    statement = parse(f"SELECT * FROM t WHERE {text}").statement
    assert isinstance(statement, SelectStatement)
    assert statement.where is not None
    return statement.where


def fault(text: str) -> str:
    with pytest.raises(ValidationException) as refused:
        parse(text)
    return refused.value.message


A, B, C = Path(("a",)), Path(("b",)), Path(("c",))
ONE = Comparison("=", A, Value(":0"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a = 1", ONE),
        ("(a = 1)", ONE),
        ("((a)) = (1)", ONE),
        ("a != 1", Comparison("<>", A, Value(":0"))),
        ("1 <= a", Comparison("<=", Value(":0"), A)),
        ("a = 1 OR b = 2 AND c = 3", Or((ONE, And((
            Comparison("=", B, Value(":1")), Comparison("=", C, Value(":2"))
        ))))),
        ("(a = 1 OR b = 2) AND c = 3", And((
            Or((ONE, Comparison("=", B, Value(":1")))), Comparison("=", C, Value(":2"))
        ))),
        ("NOT a = 1", Not(ONE)),
        ("NOT NOT a = 1", Not(Not(ONE))),
        ("a BETWEEN 1 AND 2 AND b = 3", And((
            Between(A, Value(":0"), Value(":1")), Comparison("=", B, Value(":2"))
        ))),
        ("a NOT BETWEEN 1 AND 2", Not(Between(A, Value(":0"), Value(":1")))),
        ("a IN [1, 2]", In(A, (Value(":0"), Value(":1")))),
        ("a IN (1, 2)", In(A, (Value(":0"), Value(":1")))),
        ("a NOT IN [1]", Not(In(A, (Value(":0"),)))),
        ("a IN <<1, 'x'>>", In(A, (Value(":0"), Value(":1")))),
        ("a IS MISSING", Call("attribute_not_exists", (A,))),
        ("a IS NOT MISSING", Not(Call("attribute_not_exists", (A,)))),
        ("a IS NULL", Call("attribute_type", (A, Value(":0")))),
        ("a IS NOT NULL", Not(Call("attribute_type", (A, Value(":0"))))),
        ("a IS STRING", Call("attribute_type", (A, Value(":0")))),
        ("begins_with(a, 'x')", Call("begins_with", (A, Value(":0")))),
        ("Contains(a, 'x')", Call("contains", (A, Value(":0")))),
        ("attribute_type(a, 'S')", Call("attribute_type", (A, Value(":0")))),
        ("size(a) > 3", Comparison(">", Call("size", (A,)), Value(":0"))),
        ("a.b[2].\"c d\" = 1", Comparison("=", Path(("a", "b", 2, "c d")), Value(":0"))),
        ("a['b'] = 1", Comparison("=", Path(("a", "b")), Value(":0"))),
        ("a /* is */ = 1 -- one", ONE),
    ],
)  # fmt: skip
def test_a_condition_becomes_the_tree_of_an_expression(text: str, expected: tree.Condition) -> None:
    assert where(text) == expected


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("'it''s'", {"S": "it's"}),
        ("''", {"S": ""}),
        ("5", {"N": "5"}),
        ("-5", {"N": "-5"}),
        ("1.50", {"N": "1.5"}),
        (".5", {"N": "0.5"}),
        ("1e3", {"N": "1000"}),
        ("1E-2", {"N": "0.01"}),
        ("true", {"BOOL": True}),
        ("FALSE", {"BOOL": False}),
        ("null", {"NULL": True}),
        ("[1, 'a', [true]]", {"L": [{"N": "1"}, {"S": "a"}, {"L": [{"BOOL": True}]}]}),
        ("[]", {"L": []}),
        ("{'a': 1, 'b': {}}", {"M": {"a": {"N": "1"}, "b": {"M": {}}}}),
        ("<<'b', 'a'>>", {"SS": ["a", "b"]}),
        ("<<2, 1>>", {"NS": ["1", "2"]}),
        ("?", {"S": "given"}),
        ("[?]", {"L": [{"S": "given"}]}),
        ("+5", {"N": "5"}),
        ("- -5", {"N": "5"}),
        ("<<-1>>", {"NS": ["-1"]}),
    ],
)
def test_a_literal_becomes_a_value(text: str, value: object) -> None:
    parsed = parse(f"SELECT * FROM t WHERE a = {text}")
    parameters = [{"S": "given"}] if "?" in text else []
    assert parsed.bind(parameters) == {":0": value}


def test_parameters_are_numbered_from_left_to_right() -> None:
    parsed = parse("UPDATE t SET a = ?, b = [?, 1] WHERE pk = ?")
    assert parsed.parameter_count == 3
    assert parsed.bind([{"S": "x"}, {"S": "y"}, {"S": "z"}]) == {
        ":0": {"S": "x"},
        ":1": {"L": [{"S": "y"}, {"N": "1"}]},
        ":2": {"S": "z"},
    }


def test_a_missing_parameter_is_refused() -> None:
    with pytest.raises(ValidationException) as refused:
        parse("SELECT * FROM t WHERE a = ?").require_parameters([])
    assert refused.value.message == "Number of parameters in request and statement don't match."


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ([{"N": "x"}, {"N": "y"}], "The parameter cannot be converted to a numeric value: x"),
        ([{"N": "y"}, {"N": "x"}], "The parameter cannot be converted to a numeric value: y"),
    ],
)
def test_the_first_invalid_parameter_is_reported(
    parameters: list[dict[str, Any]], message: str
) -> None:
    for text in ("SET a = [?] SET b = ?", "SET a = ? SET b = {'x': ?}"):
        with pytest.raises(ValidationException) as refused:
            parse(f"UPDATE t {text} WHERE pk = 'a'").bind(parameters)
        assert refused.value.message == message


def test_a_select_has_paths_a_source_and_an_order() -> None:
    found = parse(
        'select a, b.c[0] from "my-table"."by x" where a = 1 order by a, b desc, c asc;'
    ).statement
    assert isinstance(found, SelectStatement)
    assert found.paths == (A, Path(("b", "c", 0)))
    assert found.source.components == ("my-table", "by x")
    assert [(term.name, term.descending) for term in found.order] == [
        ("a", False),
        ("b", True),
        ("c", False),
    ]


def test_an_update_may_have_several_clauses() -> None:
    parsed = parse(
        "UPDATE t SET a = b + 1, c = list_append(c, [2]) REMOVE d.e REMOVE f[1]"
        " SET g = set_add(g, <<1>>) SET h = set_delete(h, <<1>>)"
        " WHERE pk = 'x' RETURNING MODIFIED OLD *"
    )
    found = parsed.statement
    assert isinstance(found, UpdateStatement)
    assert found.actions == (
        tree.SetAction(A, tree.Arithmetic("+", B, Value(":0"))),
        tree.SetAction(C, Call("list_append", (C, Value(":1")))),
        tree.RemoveAction(Path(("d", "e"))),
        tree.RemoveAction(Path(("f", 1))),
        tree.AddAction(Path(("g",)), Value(":2")),
        tree.DeleteAction(Path(("h",)), Value(":3")),
    )
    assert found.returning == "MODIFIED OLD"


def test_an_update_may_begin_with_from() -> None:
    assert (
        parse("FROM t WHERE pk = 'x' SET a = 1").statement
        == parse("FROM t WHERE pk = 'x' SET a = 1;").statement
    )
    found = parse("FROM t WHERE pk = 'x' SET a = 1 REMOVE b RETURNING ALL NEW *").statement
    assert isinstance(found, UpdateStatement)
    assert len(found.actions) == 2
    assert found.returning == "ALL NEW"


def test_the_other_statements() -> None:
    assert isinstance(parse("INSERT INTO t VALUE {'pk': 'x'}").statement, InsertStatement)
    assert isinstance(parse("insert into t value {}").statement, InsertStatement)
    assert isinstance(
        parse("DELETE FROM t WHERE pk = 'x' RETURNING ALL OLD *").statement, DeleteStatement
    )
    assert isinstance(parse("EXISTS(SELECT * FROM t WHERE pk = 'x')").statement, ExistsStatement)


def test_words_of_other_clauses_may_be_names() -> None:
    found = where("value = 1 AND old = 2 AND new = 3 AND all = 4 AND modified = 5")
    assert isinstance(found, And)
    assert len(found.conditions) == 5


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        ("SELECT * FROM t)", "Unexpected token after expression"),
        ("SELECT * FROM t WHERE a = 1)", "Unexpected token after expression"),
        ("DELETE FROM t WHERE a = 1 ORDER BY a", "Unexpected token after expression"),
        ("SELECT * FROM t ORDER BY a WHERE a = 1", "Unexpected token after expression"),
        ("SELECT * FROM t WHERE a = 1 WHERE b = 2", "Unexpected token after expression"),
        ("FROM t WHERE a = 1 SET b = 2 WHERE c = 3", "Unexpected token after expression"),
        ("SELECT * FROM t; SELECT * FROM t", "Unexpected token after expression"),
        ("UPDATE t REMOVE a, b WHERE pk = 1", "Unexpected token after expression"),
        ("SELECT * FROM t WHERE a = 12abc", ""),
        ("SELECT * FROM t WHERE a = `x`", ""),
        ("SELECT * FROM t # comment", ""),
        ("SELECT * FROM t /* comment", ""),
        ("SELECT * FROM t WHERE a = 'x", ""),
        ('SELECT * FROM "t', ""),
        ("SELECT * FROM t WHERE a = 1e2147483648", ""),
        ("SELECT * FROM t WHERE", "Unexpected term"),
        ("SELECT * FROM t WHERE (", "Unexpected term"),
        ("SELECT * FROM", "Unexpected term"),
        ("SELECT", "Unexpected term"),
        ("INSERT INTO t VALUE {'a': 1,}", "Unexpected term"),
        (
            "SELECT * FROM t WHERE a = 1 AND",
            "Missing right-hand side expression of infix operator",
        ),
        ("SELECT * FROM t WHERE a = 1 OR", "Missing right-hand side expression of infix operator"),
        ("SELECT * FROM t WHERE a =", "Missing right-hand side expression of infix operator"),
        ("SELECT * FROM t WHERE ORDER BY a", "Unexpected keyword"),
        ("SELECT * FROM t WHERE IS NULL", "Unexpected operator"),
        ("SELECT * FROM t WHERE a = LIKE", "Unexpected operator"),
        ("SELECT * FROM t WHERE a IS FOO", "Expected type name"),
        ("DELETE FROM", "Expected identifier for simple path"),
        ("UPDATE", "Expected identifier for simple path"),
        ("INSERT INTO", "Expected identifier for simple path"),
        ("UPSERT INTO t VALUE {'a': 1}", "Expected data manipulation"),
        ("UPDATE t WHERE a = 1", "Expected data manipulation"),
        ("UPDATE t ADD a 1 WHERE pk = 1", "Expected data manipulation"),
        ("", "Expected data manipulation"),
    ],
)
def test_a_malformed_statement_is_refused_with_its_reason(text: str, detail: str) -> None:
    assert fault(text) == MALFORMED + detail


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SELECT * FROM t AS x", "Aliasing is not supported"),
        ("SELECT * FROM t x", "Aliasing is not supported"),
        ("SELECT a AS b FROM t", "Aliasing is not supported"),
        ("UPDATE t x SET a = 1 WHERE pk = 1", "Aliasing is not supported"),
        ("SELECT * FROM 't'", "Unexpected from source"),
        ("a IS NULL", "Unsupported operation: IsType"),
        ("a IS NOT MISSING", "Unsupported operation: IsType"),
        ('SELECT * FROM t.""', "Path component cannot be an empty string"),
        ('SELECT * FROM ""', "Path component cannot be an empty string"),
        ('SELECT * FROM t WHERE "" = 1', "Path component cannot be an empty string"),
        ("SELECT * FROM t, u", "Only select from a single table or index is supported."),
        ("SELECT * FROM t LEFT JOIN u", "Only select from a single table or index is supported."),
        ("SELECT * FROM t\nLIMIT 5", "Unsupported clause: LIMIT at 2:7:1"),
        ("SELECT * FROM t GROUP BY a", "Unsupported clause: GROUP BY"),
        ("SELECT count(a) FROM t", "Unexpected path component at 1:8:5"),
        ("SELECT * FROM t WHERE upper(a) = 'A'", "Unrecognized function: upper at 1:23:5"),
        (
            "SELECT * FROM t WHERE a + 1 = 2",
            "Unsupported operator in Condition Expression. Operator: +",
        ),
        (
            "SELECT * FROM t WHERE a LIKE 'x'",
            "Unsupported operator in Condition Expression. Operator: like",
        ),
        (
            "SELECT * FROM t WHERE a = list_append(a, [1])",
            "The function is not allowed in a condition expression; function: list_append",
        ),
        (
            "UPDATE t SET a = size(b) WHERE pk = 1",
            "The function is not allowed in an update expression; function: size",
        ),
        (
            "UPDATE t SET a = begins_with(b, 'x') WHERE pk = 1",
            "The function is not allowed in an update expression; function: begins_with",
        ),
        (
            "SELECT * FROM t WHERE a[9999999999] = 1",
            "List index is not within the allowable range; index: [9999999999]",
        ),
        (
            "SELECT * FROM t WHERE a = 1e126",
            "Number overflow. Attempting to store a number with magnitude larger than supported "
            "range under root",
        ),
        (
            "INSERT INTO t VALUE {'x': 1e-131}",
            "Number underflow. Attempting to store a number with magnitude smaller than supported "
            "range under root",
        ),
        (
            "INSERT INTO t VALUE {'m': {'x': 1e126}}",
            "Number overflow. Attempting to store a number with magnitude larger than supported "
            "range under root.x",
        ),
        (
            "SELECT * FROM t WHERE EXISTS(a)",
            "Unrecognized function: exists at 1:23:6",
        ),
        (
            "SELECT * FROM t WHERE a = SET_ADD(a, <<1>>)",
            "Unrecognized function: set_add at 1:27:7",
        ),
        (
            "INSERT INTO t VALUE {'x': SET_ADD(a, 1)}",
            "Unsupported data type: set_add under key root at 1:27:7",
        ),
        (
            f"INSERT INTO t VALUE {{'x': [1, {'1' * 39}]}}",
            "Attempting to store more than 38 significant digits in a Number under root[1]",
        ),
    ],
)
def test_what_is_not_supported_is_refused_without_that_envelope(text: str, message: str) -> None:
    assert fault(text) == message


@pytest.mark.parametrize("text", ["(" * 4000, "NOT " * 2000, "a = " + "[" * 4000])
def test_deep_nesting_is_refused(text: str) -> None:
    assert fault(f"SELECT * FROM t WHERE {text}") == MALFORMED + "Too many nested expressions"


def test_a_long_sum_is_refused() -> None:
    text = f"UPDATE t SET a = {' + '.join(['1'] * 1000)}"
    assert fault(text) == MALFORMED + "Too many nested expressions"
    parse(f"UPDATE t SET a = {' + '.join(['1'] * 50)}, b = {' - '.join(['1'] * 50)}")


WORDS = (
    "SELECT * FROM tab WHERE ( ) a = 1 'x' AND OR NOT IN [ ] << >> { } : , . ? IS NULL MISSING "
    "BETWEEN UPDATE SET REMOVE INSERT INTO VALUE DELETE RETURNING ALL OLD size( begins_with( - + "
    'ORDER BY EXISTS pk "q" /* */ -- ; 1e5 LIKE STRING set_add( LIMIT'
)


@given(
    st.sampled_from(["", "SELECT * FROM t WHERE ", "UPDATE t SET ", "INSERT INTO t VALUE "]),
    st.lists(st.sampled_from(WORDS.split()), max_size=12).map(" ".join) | st.text(max_size=20),
)
def test_any_text_is_a_statement_or_refused(beginning: str, rest: str) -> None:
    with suppress(ValidationException):
        parse(beginning + rest)


def test_the_largest_exponent_of_32_bits_is_a_number() -> None:
    assert tokenize("1e2147483647")[0].kind == "number"


def test_a_name_that_looks_like_an_alias_is_a_name() -> None:
    assert parse('SELECT * FROM t WHERE "#a" = 1').hash_names == {"#a"}


BAG = "Unsupported data type in Bag. DynamoDB only supports either numbers or strings in bags"
BOOLEAN = "WHERE clause must contain an expression that resolves to a boolean"
IN = (
    "IN operator must have a left hand argument of type Variable Reference and right hand argument "
    "of type Seq with at least one member"
)


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("a = <<1, 'a'>>", BAG),
        ("a = <<[1]>>", f"{BAG} at 1:29:1"),
        ("a = <<?>>", f"{BAG} at 1:29:1"),
        ("a = <<>>", "Empty bags are not supported"),
        ("a", BOOLEAN),
        ("true", BOOLEAN),
        ("a = 1 AND size(a)", BOOLEAN),
        ("a IN []", IN),
        ("a IN ?", IN),
        ("a = MISSING", "MISSING must be compared using IS operator"),
        (
            "a IS VARCHAR",
            "Unsupported data type for IS operator: CHARACTER_VARYING. Supported data types are "
            "[MISSING, NULL, BOOLEAN, BLOB, STRING, NUMERIC, STRUCT, TUPLE, LIST] at 1:25:2",
        ),
    ],
)
def test_an_invalid_condition_is_refused_with_its_place(where: str, message: str) -> None:
    assert fault(f"SELECT * FROM t WHERE {where}") == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SELECT 1 FROM t", "Unexpected path component at 1:8:1"),
        ("SELECT DISTINCT a FROM t", "Unsupported token in expression: DISTINCT"),
        (
            "INSERT INTO t VALUE ?",
            "Unsupported format in item expression. Please use struct format {...} to express item "
            "values for insert statement. at 1:21:1",
        ),
        (
            "INSERT INTO t VALUE {'x': 1, 'x': 2}",
            "Duplicate keys in tuple. Key: x under root at 1:30:3",
        ),
        (
            "INSERT INTO t VALUE {'m': {x: 1}}",
            "Tuple keys must be of type String. Actual type: VariableReference under root at "
            "1:28:1",
        ),
        ("INSERT INTO t VALUE {} RETURNING ALL NEW *", "RETURNING is not supported in INSERT"),
        (
            "UPDATE t SET a = set_add(b, <<1>>)",
            "The first argument to SET_ADD must equal the assignment value at 1:18:7",
        ),
        (
            "UPDATE t SET a = set_add(a)",
            "SET_ADD must have exactly two arguments at 1:18:7",
        ),
        (
            "UPDATE t SET a = set_delete(a, b)",
            "The second argument to SET_DELETE must be a value with type SET at 1:29:1",
        ),
    ],
)
def test_other_mistakes_are_refused_with_their_place(text: str, message: str) -> None:
    assert fault(text) == message


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        ("SELECT m.inner FROM t", "Invalid path dot component"),
        ("UPDATE t SET m.Inner = 1 WHERE a = 1", "Invalid path dot component"),
        ("SELECT * FROM t WHERE a = 1e2147483648", ""),
        ("SELECT * FROM t WHERE a = 1e-2147483648", ""),
        ("SELECT * FROM t WHERE a = 1.5e-2147483647", ""),
        ("INSERT INTO t AS x VALUE {'a': 1}", "Unexpected token after expression"),
        ("INSERT INTO t x VALUE {'a': 1}", "Unexpected token after expression"),
    ],
)
def test_what_is_not_well_formed(text: str, detail: str) -> None:
    assert fault(text) == MALFORMED + detail


def test_a_quoted_keyword_is_a_name_in_a_path() -> None:
    assert where('m."inner" = 1') == Comparison("=", Path(("m", "inner")), Value(":0"))


@pytest.mark.parametrize(
    "kind", ["INT", "int4", "INT8", "DOUBLE PRECISION", "CHARACTER VARYING", "STRING", "NULL"]
)
def test_a_bare_test_of_a_type_is_named(kind: str) -> None:
    assert fault(f"x IS {kind}") == "Unsupported operation: IsType"


@pytest.mark.parametrize(
    ("text", "negated"),
    [
        ("attribute_exists(a) = true", False),
        ("attribute_exists(a) <> true", True),
        ("false = attribute_exists(a)", True),
    ],
)
def test_a_test_may_be_compared_with_a_truth_value(text: str, negated: bool) -> None:
    exists = Call("attribute_exists", (A,))
    assert where(text) == (Not(exists) if negated else exists)

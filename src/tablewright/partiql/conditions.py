"""The condition parser: WHERE.

condition ::= and (OR and)*          and ::= not (AND not)*          not ::= NOT not | test
test      ::= operand (= <> != < <= > >=) operand
            | operand [NOT] BETWEEN operand AND operand
            | operand [NOT] IN [operand, ...]              also in parentheses, or as <<...>>
            | operand IS [NOT] (MISSING | NULL | type)
            | function(operand, ...)
"""

from __future__ import annotations

from typing import Final

from tablewright.errors import ValidationException
from tablewright.expression import tree
from tablewright.expression.rules import COMPARATORS, TESTS, not_in_condition
from tablewright.partiql.operands import (
    SET_FUNCTIONS,
    Expression,
    StatementOperandParser,
    require_operand,
)
from tablewright.partiql.tokens import malformed
from tablewright.partiql.tree import Literal

NO_CONDITION: Final = "WHERE clause must contain an expression that resolves to a boolean"
#: The types of `IS`, and the types of DynamoDB.
TYPES: Final = {
    "NULL": "NULL",
    "BOOL": "BOOL",
    "BOOLEAN": "BOOL",
    "BLOB": "B",
    "STRING": "S",
    "NUMERIC": "N",
    "STRUCT": "M",
    "TUPLE": "M",
    "LIST": "L",
}
#: Further names of types, in one word or in two.
_SQL_TYPES: Final = frozenset(
    ("ANY", "BIGINT", "DOUBLE", "INT2", "INT4", "INT8", "INTEGER2", "INTEGER4", "INTEGER8")
)
_SECOND_WORDS: Final = {"DOUBLE": "PRECISION", "CHARACTER": "VARYING", "CHAR": "VARYING"}
#: Types that PartiQL has, but DynamoDB has not, with their names in the message.
UNSUPPORTED_TYPES: Final = {
    "INT": "INTEGER",
    "CHAR": "CHARACTER",
    "VARCHAR": "CHARACTER_VARYING",
    **{word: word for word in ("INTEGER", "SMALLINT", "FLOAT", "REAL", "DECIMAL", "CHARACTER")},
    **{word: word for word in ("DATE", "TIME", "TIMESTAMP", "SYMBOL", "CLOB", "SEXP", "BAG")},
}


class ConditionParser(StatementOperandParser):
    """Parses conditions; the base of the parser of statements."""

    #: Whether IS takes every type of SQL, to name an expression that is no statement.
    knows_all_types = False

    def parse_condition(self) -> tree.Condition:
        return require_condition(self.parse_expression())

    def parse_expression(self) -> Expression:
        found = self.parse_and()
        if self.token.kind != "OR":
            return found
        conditions = [require_condition(found)]
        while self.accept("OR"):
            conditions.append(require_condition(self.parse_right(self.parse_and)))
        return tree.Or(tuple(conditions))

    def parse_and(self) -> Expression:
        found = self.parse_not()
        if self.token.kind != "AND":
            return found
        conditions = [require_condition(found)]
        while self.accept("AND"):
            conditions.append(require_condition(self.parse_right(self.parse_not)))
        return tree.And(tuple(conditions))

    def parse_not(self) -> Expression:
        if not self.accept("NOT"):
            return self.parse_test()
        self.enter()
        inner = require_condition(self.parse_not())
        self.depth -= 1
        return tree.Not(inner)

    def parse_test(self) -> Expression:
        left = self.parse_operand()
        kind = self.token.kind
        if kind == "IS":
            return self.parse_type_test(left)
        if kind in COMPARATORS:
            self.advance()
            right = self.parse_right(self.parse_operand)
            truth = self.parse_truth(kind, left, right) or self.parse_truth(kind, right, left)
            if truth is not None:
                return truth
            return tree.Comparison(kind, require_plain(left), require_plain(right))
        if kind == "LIKE":
            raise unsupported_operator("like")
        negated = kind == "NOT" and self.tokens[self.at + 1].kind in ("BETWEEN", "IN")
        if negated:
            self.advance()
        test: tree.Condition
        if self.accept("BETWEEN"):
            low = require_plain(self.parse_right(self.parse_operand))
            self.expect("AND")
            high = require_plain(self.parse_right(self.parse_operand))
            test = tree.Between(require_plain(left), low, high)
        elif self.accept("IN"):
            test = tree.In(require_plain(left), self.parse_options())
        else:
            return left
        return tree.Not(test) if negated else test

    def parse_truth(self, operator: str, test: Expression, right: Expression) -> Expression | None:
        """Return the condition for `test = TRUE` and the like; None if it is not one."""
        if not (isinstance(test, tree.Call) and test.function in TESTS and operator in ("=", "<>")):
            return None
        constant = self.constants[right.name] if isinstance(right, tree.Value) else None
        if not isinstance(constant, Literal) or "BOOL" not in constant.value:
            return None
        return test if constant.value["BOOL"] is (operator == "=") else tree.Not(test)

    def parse_options(self) -> tuple[tree.Operand, ...]:
        """Parse the values of IN: a list, a set, or operands in parentheses."""
        end = {"[": "]", "(": ")", "<<": ">>"}.get(self.token.kind)
        if end is None or self.tokens[self.at + 1].kind == end:
            raise ValidationException(
                "IN operator must have a left hand argument of type Variable Reference and right "
                "hand argument of type Seq with at least one member"
            )
        self.advance()
        options = self.parse_list(lambda: require_plain(self.parse_operand()))
        self.expect(end)
        return options

    def parse_type_test(self, operand: Expression) -> tree.Condition:
        operator = self.advance()
        negated = self.accept("NOT")
        path = require_plain(operand)
        test: tree.Condition
        if self.accept("MISSING"):
            test = tree.Call("attribute_not_exists", (path,))
        else:
            word = self.token.text.upper() if self.token.kind in ("name", "NULL") else ""
            if self.knows_all_types and word in {*TYPES, *UNSUPPORTED_TYPES, *_SQL_TYPES}:
                self.advance()
                self.accept_word(_SECOND_WORDS.get(word, ""))
                return tree.Call("attribute_type", (path,))
            if word in UNSUPPORTED_TYPES:
                raise ValidationException(
                    f"Unsupported data type for IS operator: {UNSUPPORTED_TYPES[word]}. Supported "
                    "data types are [MISSING, NULL, BOOLEAN, BLOB, STRING, NUMERIC, STRUCT, TUPLE, "
                    f"LIST] at {self.locate(operator)}"
                )
            if word not in TYPES:
                raise malformed("Expected type name")
            self.advance()
            tag = self.add_constant(Literal({"S": TYPES[word]}))
            test = tree.Call("attribute_type", (path, tag))
        return tree.Not(test) if negated else test


def require_condition(expression: Expression) -> tree.Condition:
    """Return an expression that is true or false; refuse a value."""
    if isinstance(expression, tree.Path | tree.Value | tree.Arithmetic):
        raise ValidationException(NO_CONDITION)
    if isinstance(expression, tree.Call):
        if expression.function in SET_FUNCTIONS:
            raise ValidationException(not_in_condition(expression.function))
        if expression.function not in TESTS:
            raise ValidationException(NO_CONDITION)
    return expression


def require_plain(expression: Expression) -> tree.Operand:
    """Return an operand of a condition; refuse sums and functions of SET."""
    operand = require_operand(expression)
    if isinstance(operand, tree.Arithmetic):
        raise unsupported_operator(operand.operator)
    if isinstance(operand, tree.Call) and operand.function in SET_FUNCTIONS:
        raise ValidationException(not_in_condition(operand.function))
    return operand


def unsupported_operator(operator: str) -> ValidationException:
    return ValidationException(
        f"Unsupported operator in Condition Expression. Operator: {operator}"
    )

"""The condition parser: WHERE.

condition ::= and (OR and)*          and ::= not (AND not)*          not ::= NOT not | test
test      ::= operand (= <> != < <= > >=) operand
            | operand [NOT] BETWEEN operand AND operand
            | operand [NOT] IN [operand, ...]              also in parentheses
            | operand IS [NOT] (MISSING | NULL | type)
            | function(operand, ...)
"""

from __future__ import annotations

from typing import Final

from tablewright.errors import ValidationException
from tablewright.expression import tree
from tablewright.partiql.operands import (
    SET_FUNCTIONS,
    TESTS,
    Expression,
    OperandParser,
    require_operand,
    unsupported,
)
from tablewright.partiql.tokens import malformed
from tablewright.partiql.tree import Literal

_COMPARATORS: Final = frozenset(("=", "<>", "<", "<=", ">", ">="))
#: The types of `IS`, as PartiQL names them, and the types of DynamoDB. Which of them AWS accepts is
#: not known for certain.
TYPES: Final[dict[str, tuple[str, ...]]] = {
    "NULL": ("NULL",),
    **dict.fromkeys(("BOOL", "BOOLEAN"), ("BOOL",)),
    **dict.fromkeys(
        ("INT", "INTEGER", "SMALLINT", "BIGINT", "FLOAT", "REAL", "DECIMAL", "NUMERIC", "NUMBER"),
        ("N",),
    ),
    **dict.fromkeys(("STRING", "VARCHAR", "CHAR", "CHARACTER", "SYMBOL"), ("S",)),
    **dict.fromkeys(("BLOB", "CLOB", "BINARY"), ("B",)),
    **dict.fromkeys(("LIST", "ARRAY"), ("L",)),
    **dict.fromkeys(("STRUCT", "TUPLE", "MAP"), ("M",)),
    "BAG": ("SS", "NS", "BS"),
}


class ConditionParser(OperandParser):
    """Parses conditions; the base of the parser of statements."""

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
            self.advance()
            return self.parse_type_test(left)
        if kind in _COMPARATORS:
            self.advance()
            right = self.parse_right(self.parse_operand)
            return tree.Comparison(kind, require_plain(left), require_plain(right))
        if kind == "LIKE":
            raise unsupported("Like")
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

    def parse_options(self) -> tuple[tree.Operand, ...]:
        """Parse the values of IN, in brackets or parentheses."""
        end = {"[": "]", "(": ")"}.get(self.token.kind)
        if end is None:
            raise self.unexpected()
        self.advance()
        options = self.parse_list(lambda: require_plain(self.parse_operand()))
        self.expect(end)
        return options

    def parse_type_test(self, operand: Expression) -> tree.Condition:
        negated = self.accept("NOT")
        path = require_plain(operand)
        test: tree.Condition
        if self.accept("MISSING"):
            test = tree.Call("attribute_not_exists", (path,))
        else:
            token = self.token
            tags = TYPES.get(token.text.upper()) if token.kind in ("name", "NULL") else None
            if tags is None:
                raise malformed("Expected type name")
            self.advance()
            tests = [
                tree.Call("attribute_type", (path, self.add_constant(Literal({"S": tag}))))
                for tag in tags
            ]
            test = tests[0] if len(tests) == 1 else tree.Or(tuple(tests))
        return tree.Not(test) if negated else test


def require_condition(expression: Expression) -> tree.Condition:
    """Return an expression that is true or false; refuse a value."""
    if isinstance(expression, tree.Path | tree.Value | tree.Arithmetic):
        raise malformed("Unexpected term")
    if isinstance(expression, tree.Call):
        if expression.function in SET_FUNCTIONS:
            raise not_in_condition(expression.function)
        if expression.function not in {*TESTS, "attribute_not_exists"}:
            raise malformed("Unexpected term")
    return expression


def require_plain(expression: Expression) -> tree.Operand:
    """Return an operand of a condition; refuse sums and functions of SET."""
    operand = require_operand(expression)
    if isinstance(operand, tree.Arithmetic):
        raise unsupported("Plus" if operand.operator == "+" else "Minus")
    if isinstance(operand, tree.Call) and operand.function in SET_FUNCTIONS:
        raise not_in_condition(operand.function)
    return operand


def not_in_condition(function: str) -> ValidationException:
    return ValidationException(
        f"The function is not allowed in a condition expression; function: {function}"
    )

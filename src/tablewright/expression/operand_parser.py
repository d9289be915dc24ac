"""The operand parser: paths, values and functions, which all kinds of expression have.

Owns the position in the tokens and the errors that do not stop the parser. `parse` adds the grammar
of conditions and updates.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from tablewright.errors import ValidationException
from tablewright.expression import tree
from tablewright.expression.lexer import Token, invalid, syntax_error, tokenize
from tablewright.expression.reserved import is_reserved
from tablewright.expression.rules import FUNCTIONS, TESTS, UPDATE_OPERANDS
from tablewright.limits import MAX_LIST_INDEX

_Part = TypeVar("_Part")


class OperandParser:
    """Parses the operands of one expression; the base of the parsers of conditions and updates."""

    __slots__ = ("at", "errors", "kind", "text", "token", "tokens")

    def __init__(self, kind: str, text: str) -> None:
        self.kind = kind
        self.text = text
        self.tokens = tokenize(kind, text)
        self.at = 0
        self.token: Token = self.tokens[0]
        self.errors: list[tuple[int, str]] = []

    # -- tokens

    def advance(self) -> Token:
        token = self.token
        self.at += 1
        self.token = self.tokens[self.at]
        return token

    def expect(self, kind: str) -> Token:
        if self.token.kind != kind:
            raise self.unexpected_token()
        return self.advance()

    def parse_list(self, parse_part: Callable[[], _Part]) -> tuple[_Part, ...]:
        found = [parse_part()]
        while self.token.kind == ",":
            self.advance()
            found.append(parse_part())
        return tuple(found)

    def finish(self) -> None:
        if self.token.kind != "end":
            raise self.unexpected_token()
        if self.errors:
            raise invalid(self.kind, min(self.errors)[1])

    # -- errors

    def unexpected_token(self) -> ValidationException:
        return syntax_error(self.kind, self.text, self.tokens, self.at)

    def redundant_parentheses(self) -> ValidationException:
        return invalid(self.kind, "The expression has redundant parentheses;")

    def add_error(self, token: Token, message: str) -> None:
        self.errors.append((token.start, message))

    # -- functions

    def check_function(self, token: Token, nested: bool) -> None:
        function = token.text
        if function not in FUNCTIONS:
            self.add_error(token, f"Invalid function name; function: {function}")
        elif self.kind == "UpdateExpression":
            if function not in UPDATE_OPERANDS:
                self.add_error(
                    token,
                    f"The function is not allowed in an update expression; function: {function}",
                )
            elif nested and function == "list_append":
                self.add_misuse(token, function)
        elif function in UPDATE_OPERANDS:
            self.add_error(
                token,
                f"The function is not allowed in a condition expression; function: {function}",
            )
        elif nested and function in TESTS:
            self.add_misuse(token, function)

    def add_misuse(self, token: Token, function: str) -> None:
        """Add an error for a function that is not allowed at its position."""
        self.add_error(
            token,
            "The function is not allowed to be used this way in an expression; "
            f"function: {function}",
        )

    # -- operands

    def parse_operand(self) -> tree.Operand:
        """Parse a path, a value or a function, with or without parentheses; no arithmetic."""
        open_: list[tuple[Token, list[tree.Operand]] | None] = []  # calls; None is a parenthesis
        while True:
            token = self.token
            operand: tree.Operand
            if token.kind == "(":
                self.advance()
                open_.append(None)
                continue
            if token.kind == "name" and self.tokens[self.at + 1].kind == "(":
                self.advance()
                self.advance()
                self.check_function(token, nested=any(open_))
                open_.append((token, []))
                continue
            if token.kind == "value":
                self.advance()
                operand = tree.Value(token.text)
            else:
                operand = self.parse_path()
            wrapped = False
            while open_:
                innermost = open_[-1]
                if innermost is None:
                    self.expect(")")
                    if wrapped:
                        raise self.redundant_parentheses()
                    wrapped = True
                else:
                    name, arguments = innermost
                    arguments.append(operand)
                    if self.token.kind == ",":
                        self.advance()
                        break  # the next argument
                    self.expect(")")
                    operand = tree.Call(name.text, tuple(arguments))
                    wrapped = False
                open_.pop()
            else:
                return operand

    def parse_path(self) -> tree.Path:
        parts: list[str | int] = [self.parse_path_name()]
        while True:
            if self.token.kind == ".":
                self.advance()
                parts.append(self.parse_path_name())
            elif self.token.kind == "[":
                self.advance()
                index = self.expect("index")
                self.expect("]")
                position = int(index.text)
                if position > MAX_LIST_INDEX:
                    self.add_error(
                        index,
                        f"List index is not within the allowable range; index: [{index.text}]",
                    )
                parts.append(position)
            else:
                return tree.Path(tuple(parts))

    def parse_path_name(self) -> str:
        token = self.token
        if token.kind == "name":
            if is_reserved(token.text):
                self.add_error(
                    token,
                    f"Attribute name is a reserved keyword; reserved keyword: {token.text}",
                )
        elif token.kind != "alias":
            raise self.unexpected_token()
        self.advance()
        return token.text

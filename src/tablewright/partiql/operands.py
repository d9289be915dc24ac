"""The operand parser: paths, literals, parameters and functions.

Owns the position in the tokens, the constants of the statement and the limit of nesting.
`conditions` and `parser` add conditions and statements.

    operand  ::= term ((+ | -) term)*           sums only in SET
    term     ::= path | constant | function(operand, ...) | ( condition or operand )
    path     ::= name (.name | [index] | ['name'])*
    constant ::= ? | 'text' | (+ | -)* number | TRUE | FALSE | NULL
               | [constant, ...] | {'name': constant, ...} | <<'text', ...>> | <<number, ...>>
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias, TypeVar

from tablewright.encoding.numbers import normalise_number
from tablewright.errors import ValidationException
from tablewright.expression import tree
from tablewright.expression.rules import COMPARATORS, TESTS, out_of_range
from tablewright.limits import MAX_LIST_INDEX
from tablewright.partiql.tokens import RESERVED_IN_PATHS, StatementToken, malformed, tokenize
from tablewright.partiql.tree import Constant, ListOf, Literal, MapOf, PositionalParameter, SetOf
from tablewright.values import tag_of

#: Open parentheses, NOTs and nested literals; also the terms of a sum. (An item has at most 32
#: levels.)
MAX_DEPTH: Final = 64
#: Functions of SET; `TESTS` are conditions, and `size` is an operand of conditions.
SET_FUNCTIONS: Final = frozenset(("if_not_exists", "list_append", "set_add", "set_delete"))
#: Those of them that are unknown elsewhere.
SET_CHANGES: Final = frozenset(("set_add", "set_delete"))
FUNCTIONS: Final = TESTS | SET_FUNCTIONS | {"size"}

NO_SET: Final = (
    "Unsupported data type in Bag. DynamoDB only supports either numbers or strings in bags"
)
#: What a parenthesis can contain.
Expression: TypeAlias = tree.Operand | tree.Condition
_OPERATORS: Final = COMPARATORS | {"AND", "OR", "NOT", "BETWEEN", "IN", "IS", "LIKE", "+", "-"}
CONSTANTS: Final = frozenset(
    ("?", "string", "number", "+", "-", "TRUE", "FALSE", "NULL", "[", "{", "<<")
)
_WORDS: Final = {"TRUE": {"BOOL": True}, "FALSE": {"BOOL": False}, "NULL": {"NULL": True}}
_Part = TypeVar("_Part")


class StatementOperandParser:
    """Parses the operands of one statement; the base of the parser of conditions."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = tokenize(text)
        self.at = 0
        self.depth = 0
        self.constants: dict[str, Constant] = {}
        self.parameter_count = 0
        self.hash_names: set[str] = set()
        #: Whether the right side of SET is parsed, where SET_ADD and SET_DELETE are known.
        self.in_assignment = False
        #: The calls of SET_ADD and SET_DELETE: the name, and the first token of each argument.
        self.set_calls: list[tuple[StatementToken, list[StatementToken]]] = []

    # -- tokens

    @property
    def token(self) -> StatementToken:
        return self.tokens[self.at]

    def advance(self) -> StatementToken:
        token = self.token
        self.at += 1
        return token

    def accept(self, kind: str) -> bool:
        """Consume the next token if it has this kind."""
        if self.token.kind != kind:
            return False
        self.at += 1
        return True

    def expect(self, kind: str) -> StatementToken:
        if self.token.kind != kind:
            raise self.unexpected()
        return self.advance()

    def accept_word(self, word: str) -> bool:
        """Consume a word that is not reserved, such as VALUE."""
        token = self.token
        if token.kind != "name" or token.quoted or token.text.upper() != word:
            return False
        self.at += 1
        return True

    def parse_list(self, parse_part: Callable[[], _Part]) -> tuple[_Part, ...]:
        found = [parse_part()]
        while self.accept(","):
            found.append(parse_part())
        return tuple(found)

    # -- faults

    def unexpected(self) -> ValidationException:
        """Return the fault for the next token where an operand must begin."""
        kind = self.token.kind
        if kind in _OPERATORS:
            return malformed("Unexpected operator")
        return malformed("Unexpected keyword" if kind.isupper() else "Unexpected term")

    def locate(self, token: StatementToken) -> str:
        """Return line, column and length of a token, as in DynamoDB's messages: `1:8:5`."""
        before = self.text[: token.start]
        column = token.start - (before.rfind("\n") + 1) + 1
        return f"{before.count(chr(10)) + 1}:{column}:{token.length}"

    def enter(self) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            # The limit of AWS, and its text, are not known.
            raise malformed("Too many nested expressions")

    # -- operands

    def parse_operand(self) -> Expression:
        left = self.parse_term()
        depth = self.depth
        while self.token.kind in ("+", "-"):
            self.enter()
            operator = self.advance().kind
            right = self.parse_right(self.parse_term)
            left = tree.Arithmetic(operator, require_operand(left), require_operand(right))
        self.depth = depth
        return left

    def parse_right(self, parse: Callable[[], _Part]) -> _Part:
        """Parse the right side of an operator."""
        if self.token.kind in ("end", ";", ")"):
            raise malformed("Missing right-hand side expression of infix operator")
        return parse()

    def parse_term(self) -> Expression:
        token = self.token
        if token.kind == "name":
            is_call = not token.quoted and self.tokens[self.at + 1].kind == "("
            return self.parse_call() if is_call else self.parse_path()
        if token.kind == "(":
            self.advance()
            self.enter()
            inner = self.parse_expression()
            self.depth -= 1
            self.expect(")")
            return inner
        if token.kind in CONSTANTS:
            return self.add_constant(self.parse_constant())
        if token.kind == "EXISTS" and self.tokens[self.at + 1].kind == "(":
            raise self.unknown_function(token)
        if token.kind == "MISSING":
            raise ValidationException("MISSING must be compared using IS operator")
        raise self.unexpected()

    def parse_expression(self) -> Expression:
        """Parse what a parenthesis contains; `conditions` adds conditions."""
        return self.parse_operand()

    def parse_path(self) -> tree.Path:
        parts: list[str | int] = [self.parse_name()]
        while True:
            if self.accept("."):
                token = self.token
                if not token.quoted and token.text.upper() in RESERVED_IN_PATHS:
                    raise malformed("Invalid path dot component")
                parts.append(self.parse_name())
            elif self.accept("["):
                parts.append(self.parse_subscript())
                self.expect("]")
            else:
                return tree.Path(tuple(parts))

    def parse_name(self) -> str:
        return self.check_name(self.expect("name").text)

    def check_name(self, name: str) -> str:
        if not name:
            raise empty_component()
        if name[0] == "#":
            self.hash_names.add(name)
        return name

    def parse_subscript(self) -> str | int:
        """Parse a position in a list, or a name in a map: `a[0]`, `a['b']`."""
        if self.token.kind == "string":
            return self.check_name(self.advance().text)
        digits = self.expect("number").text
        if not digits.isdigit():
            raise malformed("Unexpected term")
        if len(digits) > 10 or int(digits) > MAX_LIST_INDEX:
            raise ValidationException(out_of_range(digits))
        return int(digits)

    def parse_call(self) -> tree.Call:
        name = self.advance()
        function = name.text.lower()
        if function not in FUNCTIONS or (function in SET_CHANGES and not self.in_assignment):
            raise self.unknown_function(name)
        self.expect("(")
        self.enter()
        arguments: tuple[tree.Operand, ...] = ()
        starts: list[StatementToken] = []

        def parse_argument() -> tree.Operand:
            starts.append(self.token)
            return require_operand(self.parse_operand())

        if self.token.kind != ")":
            arguments = self.parse_list(parse_argument)
        self.depth -= 1
        self.expect(")")
        for argument in arguments:
            if isinstance(argument, tree.Call) and argument.function != "size":
                raise unsupported("Call")
        if function in SET_CHANGES:
            self.set_calls.append((name, starts))
        return tree.Call(function, arguments)

    def unknown_function(self, name: StatementToken) -> ValidationException:
        return ValidationException(
            f"Unrecognized function: {name.text.lower()} at {self.locate(name)}"
        )

    # -- constants

    def add_constant(self, constant: Constant) -> tree.Value:
        name = f":{len(self.constants)}"
        self.constants[name] = constant
        return tree.Value(name)

    def parse_constant(self, where: str = "root") -> Constant:
        """Parse a constant; `where` is its position for messages.

        The position begins inside the value of an attribute, so it never has the attribute's name.
        """
        token = self.token
        if token.kind == "name" and self.tokens[self.at + 1].kind == "(":
            raise ValidationException(
                f"Unsupported data type: {token.text.lower()} under key {where} "
                f"at {self.locate(token)}"
            )
        if token.kind not in CONSTANTS:
            raise self.unexpected()
        self.advance()
        match token.kind:
            case "?":
                self.parameter_count += 1
                return PositionalParameter(self.parameter_count - 1)
            case "string":
                return Literal({"S": token.text})
            case "number":
                return parse_number(token.text, where)
            case "+" | "-":
                self.at -= 1
                return self.parse_signed(where)
            case "[":
                return ListOf(self.parse_constants("]", where))
            case "<<":
                return self.parse_set(where)
            case "{":
                return self.parse_map(where)
        return Literal(_WORDS[token.kind])

    def parse_constants(self, end: str, where: str) -> tuple[Constant, ...]:
        self.enter()
        found: list[Constant] = []
        if self.token.kind != end:
            found.append(self.parse_constant(f"{where}[0]"))
            while self.accept(","):
                found.append(self.parse_constant(f"{where}[{len(found)}]"))
        self.depth -= 1
        self.expect(end)
        return tuple(found)

    def parse_signed(self, where: str) -> Literal:
        """Parse a number with any number of signs."""
        is_negative = False
        while self.token.kind in ("+", "-"):
            is_negative ^= self.advance().kind == "-"
        return parse_number(("-" if is_negative else "") + self.expect("number").text, where)

    def parse_set(self, where: str) -> SetOf:
        if self.token.kind == ">>":
            raise ValidationException("Empty bags are not supported")
        members = self.parse_list(lambda: self.parse_member(where))
        self.expect(">>")
        if len({*map(tag_of, (member.value for member in members))}) > 1:
            raise ValidationException(NO_SET)
        return SetOf(members)

    def parse_member(self, where: str) -> Literal:
        token = self.token
        if token.kind == "string":
            return Literal({"S": self.advance().text})
        if token.kind in ("number", "+", "-"):
            return self.parse_signed(where)
        raise ValidationException(f"{NO_SET} at {self.locate(token)}")

    def parse_map(self, where: str, *, is_item: bool = False) -> MapOf:
        self.enter()
        members: dict[str, Constant] = {}
        while members or self.token.kind != "}":
            name = self.token
            if name.kind == "name":
                raise ValidationException(
                    "Tuple keys must be of type String. Actual type: VariableReference"
                    f" under {where} at {self.locate(name)}"
                )
            self.expect("string")
            self.expect(":")
            if not name.text:
                raise empty_component()
            if name.text in members:
                raise ValidationException(
                    f"Duplicate keys in tuple. Key: {name.text} under {where} "
                    f"at {self.locate(name)}"
                )
            members[name.text] = self.parse_constant(where if is_item else f"{where}.{name.text}")
            if not self.accept(","):
                break
        self.depth -= 1
        self.expect("}")
        return MapOf(tuple(members.items()))


def parse_number(text: str, where: str) -> Literal:
    """Return a number in normal form; a number out of range is refused with its position."""
    try:
        return Literal({"N": normalise_number(text)})
    except ValidationException as fault:
        raise ValidationException(f"{fault.old_message} under {where}") from None


def require_operand(expression: Expression) -> tree.Operand:
    """Return an expression that is a value; refuse a condition."""
    if isinstance(expression, tree.Call) and expression.function in TESTS:
        raise unsupported("Call")
    if isinstance(expression, tree.Path | tree.Value | tree.Call | tree.Arithmetic):
        return expression
    raise unsupported(type(expression).__name__)


def unsupported(node: str) -> ValidationException:
    """Return the fault for an expression that is valid PartiQL, but not supported there.

    DynamoDB names the node of the tree: `IsType`. Its names of the other nodes are not known.
    """
    return ValidationException(f"Unsupported operation: {node}")


def empty_component() -> ValidationException:
    return ValidationException("Path component cannot be an empty string")

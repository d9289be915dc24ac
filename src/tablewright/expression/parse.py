"""Parsing: tokens to trees.

Owns the grammar of conditions (filters and key conditions too), updates and projections. Written
by hand, with explicit stacks and no recursion: four thousand open parentheses fail like any other
mistake, and nothing nests deeper than `MAX_EXPRESSION_OPERATORS` in a tree that leaves this module.

The order of DynamoDB's checks, which is the order here:
1. Syntax errors and redundant parentheses, whichever the parser meets first.
2. Then, from left to right over the whole text: unknown functions, functions in the wrong place,
   reserved words, list indexes out of range. `_Parser.objections` collects them by position while
   parsing and the leftmost is raised at the end.
Everything that needs ExpressionAttributeNames or ExpressionAttributeValues comes later, in
`resolve`; this module does not know them.

    condition  ::= and (OR and)*          and ::= not (AND not)*         not ::= NOT* term
    term       ::= operand (= <> < <= > >=) operand | operand BETWEEN operand AND operand
                 | operand IN (operand, ...) | function(operand, ...) | ( condition )
    operand    ::= path | :value | function(operand, ...) | ( operand )
    update     ::= (SET path = sum, ... | REMOVE path, ... | ADD path :value, ...
                 | DELETE path :value, ...)+
    sum        ::= operand | operand + operand | operand - operand | ( sum )
    projection ::= path, ...
    path       ::= name (.name | [index])*
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from tablewright.errors import ValidationException
from tablewright.expression.lexer import Token, invalid, syntax_error, tokenize
from tablewright.expression.reserved import is_reserved
from tablewright.expression.rules import (
    COMPARATORS,
    CONDITION_OPERANDS,
    FUNCTIONS,
    TESTS,
    UPDATE_OPERANDS,
)
from tablewright.expression.tree import (
    Action,
    Add,
    And,
    Arithmetic,
    Between,
    Call,
    Comparison,
    Condition,
    Delete,
    In,
    Not,
    Operand,
    Or,
    Path,
    Projection,
    Remove,
    Section,
    Set,
    Update,
    Value,
)
from tablewright.limits import MAX_EXPRESSION_OPERATORS, MAX_LIST_INDEX

_Part = TypeVar("_Part")


def parse_condition(kind: str, text: str) -> Condition:
    """The tree of a condition, filter or key condition; `kind` names it in messages.

    >>> parse_condition("ConditionExpression", "attribute_exists(a)")
    Call(function='attribute_exists', arguments=(Path(parts=('a',)),))
    """
    parser = _Parser(kind, text)
    condition = parser.condition()
    parser.finish()
    if len(parser.tokens) > MAX_EXPRESSION_OPERATORS:
        _refuse_deep(kind, condition)
    return condition


def parse_update(text: str) -> Update:
    """The tree of an UpdateExpression."""
    parser = _Parser("UpdateExpression", text)
    sections = [parser.section()]
    while parser.token.kind != "end":
        sections.append(parser.section())
    parser.finish()
    return Update(tuple(sections))


def parse_projection(text: str) -> Projection:
    """The tree of a ProjectionExpression."""
    parser = _Parser("ProjectionExpression", text)
    paths = parser.several(parser.path)
    parser.finish()
    return Projection(paths)


def _refuse_deep(kind: str, condition: Condition) -> None:
    """Keep the stages after this one, which recurse, within Python's stack.

    DynamoDB says the same, but only after it has checked names and values.
    """
    level: list[Condition | Operand] = [condition]
    for _ in range(MAX_EXPRESSION_OPERATORS + 1):  # as many operators, and their operands
        below: list[Condition | Operand] = []
        for node in level:
            match node:
                case And(conditions) | Or(conditions):
                    below += conditions
                case Not(inner):
                    below.append(inner)
                case Call(_, arguments):
                    below += arguments
                case Comparison(_, left, right):
                    below += (left, right)
                case Between(operand, low, high):
                    below += (operand, low, high)
                case In(operand, options):
                    below += (operand, *options)
        if not below:
            return
        level = below
    raise too_many_operators(kind)


def too_many_operators(kind: str) -> ValidationException:
    """DynamoDB stops counting at the first operator too many."""
    return invalid(kind, "The expression contains too many operators; operator count: 301")


class _Group:
    """What stands so far between one pair of parentheses (or in the whole condition)."""

    __slots__ = ("alternatives", "nots", "terms", "wrapped")

    def __init__(self) -> None:
        self.alternatives: list[Condition] = []  # finished operands of OR
        self.terms: list[Condition] = []  # operands of the current AND
        self.nots = 0  # NOTs that wait for their term
        self.wrapped = False  # the last term came in parentheses of its own

    @property
    def bare(self) -> bool:
        return not (self.nots or self.terms or self.alternatives)

    def add(self, term: Condition, wrapped: bool) -> None:
        self.wrapped = wrapped and not self.nots
        for _ in range(self.nots):
            term = Not(term)
        self.nots = 0
        self.terms.append(term)

    def end_of_and(self) -> None:
        terms = self.terms
        self.alternatives.append(terms[0] if len(terms) == 1 else And(tuple(terms)))
        self.terms = []

    def whole(self) -> Condition:
        self.end_of_and()
        found = self.alternatives
        return found[0] if len(found) == 1 else Or(tuple(found))


class _Parser:
    __slots__ = ("at", "kind", "objections", "text", "token", "tokens")

    def __init__(self, kind: str, text: str) -> None:
        self.kind = kind
        self.text = text
        self.tokens = tokenize(kind, text)
        self.at = 0
        self.token: Token = self.tokens[0]
        self.objections: list[tuple[int, str]] = []

    # -- moving

    def advance(self) -> Token:
        token = self.token
        self.at += 1
        self.token = self.tokens[self.at]
        return token

    def expect(self, kind: str) -> Token:
        if self.token.kind != kind:
            raise self.unexpected()
        return self.advance()

    def several(self, part: Callable[[], _Part]) -> tuple[_Part, ...]:
        found = [part()]
        while self.token.kind == ",":
            self.advance()
            found.append(part())
        return tuple(found)

    def finish(self) -> None:
        if self.token.kind != "end":
            raise self.unexpected()
        if self.objections:
            raise invalid(self.kind, min(self.objections)[1])

    # -- objecting

    def unexpected(self) -> ValidationException:
        return syntax_error(self.kind, self.text, self.tokens, self.at)

    def redundant(self) -> ValidationException:
        return invalid(self.kind, "The expression has redundant parentheses;")

    def object(self, token: Token, message: str) -> None:
        self.objections.append((token.start, message))

    # -- conditions

    def condition(self) -> Condition:
        group = _Group()
        outer: list[_Group] = []
        while True:
            # A term begins.
            if self.token.kind == "NOT":
                self.advance()
                group.nots += 1
                continue
            if self.token.kind == "(":
                self.advance()
                outer.append(group)
                group = _Group()
                continue
            first = self.token
            operand = self.operand()
            wrapped = False
            while self.token.kind == ")" and outer and group.bare:
                # "(a" and ")": parentheses around an operand, or around a function, which may
                # still turn out to be either an operand or a condition.
                self.advance()
                if wrapped:
                    raise self.redundant()
                wrapped = True
                group = outer.pop()
            if self.token.kind in COMPARATORS or self.token.kind in ("BETWEEN", "IN"):
                self.operand_function(first, operand)
                term = self.comparison(operand)
                wrapped = False
            elif isinstance(operand, Call):
                if operand.function in CONDITION_OPERANDS:
                    self.misused(first, operand.function)
                term = operand
            else:
                raise self.unexpected()
            # A term has ended, and with it perhaps the group it is in.
            group.add(term, wrapped)
            while self.token.kind == ")" and outer:
                self.advance()
                if group.wrapped and len(group.terms) == 1 and not group.alternatives:
                    raise self.redundant()
                term = group.whole()
                group = outer.pop()
                group.add(term, wrapped=True)
            if self.token.kind == "AND":
                self.advance()
            elif self.token.kind == "OR":
                self.advance()
                group.end_of_and()
            elif self.token.kind == "end" and not outer:
                return group.whole()
            else:
                raise self.unexpected()

    def comparison(self, left: Operand) -> Condition:
        operator = self.advance().kind
        if operator == "BETWEEN":
            low = self.condition_operand()
            self.expect("AND")
            return Between(left, low, self.condition_operand())
        if operator == "IN":
            self.expect("(")
            options = self.several(self.condition_operand)
            self.expect(")")
            return In(left, options)
        return Comparison(operator, left, self.condition_operand())

    def condition_operand(self) -> Operand:
        first = self.token
        operand = self.operand()
        self.operand_function(first, operand)
        return operand

    def operand_function(self, first: Token, operand: Operand) -> None:
        """Object to a test where a condition needs a value."""
        if isinstance(operand, Call) and operand.function in TESTS:
            self.misused(first, operand.function)

    # -- functions

    def known_function(self, token: Token, nested: bool) -> None:
        function = token.text
        if function not in FUNCTIONS:
            self.object(token, f"Invalid function name; function: {function}")
        elif self.kind == "UpdateExpression":
            if function not in UPDATE_OPERANDS:
                self.object(
                    token,
                    f"The function is not allowed in an update expression; function: {function}",
                )
            elif nested and function == "list_append":
                self.misused(token, function)
        elif function in UPDATE_OPERANDS:
            self.object(
                token,
                f"The function is not allowed in a condition expression; function: {function}",
            )
        elif nested and function in TESTS:
            self.misused(token, function)

    def misused(self, token: Token, function: str) -> None:
        """A function that exists, where it cannot stand."""
        self.object(
            token,
            "The function is not allowed to be used this way in an expression; "
            f"function: {function}",
        )

    # -- operands

    def operand(self) -> Operand:
        """A path, a value or a function, in any parentheses; no arithmetic."""
        open_: list[tuple[Token, list[Operand]] | None] = []  # calls; None for a parenthesis
        while True:
            token = self.token
            operand: Operand
            if token.kind == "(":
                self.advance()
                open_.append(None)
                continue
            if token.kind == "name" and self.tokens[self.at + 1].kind == "(":
                self.advance()
                self.advance()
                self.known_function(token, nested=any(open_))
                open_.append((token, []))
                continue
            if token.kind == "value":
                self.advance()
                operand = Value(token.text)
            else:
                operand = self.path()
            wrapped = False
            while open_:
                innermost = open_[-1]
                if innermost is None:
                    self.expect(")")
                    if wrapped:
                        raise self.redundant()
                    wrapped = True
                else:
                    name, arguments = innermost
                    arguments.append(operand)
                    if self.token.kind == ",":
                        self.advance()
                        break  # the next argument
                    self.expect(")")
                    operand = Call(name.text, tuple(arguments))
                    wrapped = False
                open_.pop()
            else:
                return operand

    def path(self) -> Path:
        parts: list[str | int] = [self.path_name()]
        while True:
            if self.token.kind == ".":
                self.advance()
                parts.append(self.path_name())
            elif self.token.kind == "[":
                self.advance()
                index = self.expect("index")
                self.expect("]")
                position = int(index.text)
                if position > MAX_LIST_INDEX:
                    self.object(
                        index,
                        f"List index is not within the allowable range; index: [{index.text}]",
                    )
                parts.append(position)
            else:
                return Path(tuple(parts))

    def path_name(self) -> str:
        token = self.token
        if token.kind == "name":
            if is_reserved(token.text):
                self.object(
                    token,
                    f"Attribute name is a reserved keyword; reserved keyword: {token.text}",
                )
        elif token.kind != "alias":
            raise self.unexpected()
        self.advance()
        return token.text

    # -- updates

    def section(self) -> Section:
        match self.token.kind:
            case "SET":
                action: Callable[[], Action] = self.set_action
            case "REMOVE":
                action = self.remove_action
            case "ADD":
                action = self.add_action
            case "DELETE":
                action = self.delete_action
            case _:
                raise self.unexpected()
        keyword = self.advance().kind
        return Section(keyword, self.several(action))

    def set_action(self) -> Set:
        path = self.path()
        self.expect("=")
        return Set(path, self.sum())

    def remove_action(self) -> Remove:
        return Remove(self.path())

    def add_action(self) -> Add:
        path = self.path()
        return Add(path, Value(self.expect("value").text))

    def delete_action(self) -> Delete:
        path = self.path()
        return Delete(path, Value(self.expect("value").text))

    def sum(self) -> Operand:
        """The right side of SET: one operand, or two with + or - between them."""
        parentheses = 0
        while self.token.kind == "(":
            self.advance()
            parentheses += 1
        first = self.token
        operand = self.operand()
        parentheses = self.close(parentheses)
        if self.token.kind in ("+", "-"):
            self.arithmetic_operand(first, operand)
            operator = self.advance().kind
            first = self.token
            right = self.operand()
            self.arithmetic_operand(first, right)
            operand = Arithmetic(operator, operand, right)
            parentheses = self.close(parentheses)
        if parentheses:
            raise self.unexpected()
        return operand

    def close(self, parentheses: int) -> int:
        """Close as many of the open parentheses as possible here; return how many stay open."""
        wrapped = False
        while parentheses and self.token.kind == ")":
            self.advance()
            if wrapped:
                raise self.redundant()
            wrapped = True
            parentheses -= 1
        return parentheses

    def arithmetic_operand(self, first: Token, operand: Operand) -> None:
        if isinstance(operand, Call) and operand.function == "list_append":
            self.misused(first, operand.function)

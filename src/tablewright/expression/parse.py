"""The parser: tokens to syntax trees.

Owns the grammar of conditions (also filters and key conditions), updates and projections.
`OperandParser` parses paths, values and functions, which all kinds of expression have. The parser
has explicit stacks and no recursion, so thousands of open parentheses are an error like any other,
and a returned tree is never deeper than `MAX_EXPRESSION_OPERATORS`.

Checks are in DynamoDB's order:
1. Syntax errors and redundant parentheses, whichever the parser finds first.
2. From left to right over the whole text: unknown functions, functions that are not allowed at
   their position, reserved words, list indexes out of range. The parser collects these errors
   while it parses and raises the leftmost at the end.
`resolve` checks everything that depends on ExpressionAttributeNames or ExpressionAttributeValues.

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
from tablewright.expression import tree
from tablewright.expression.lexer import Token, invalid, is_reserved, syntax_error, tokenize
from tablewright.expression.rules import (
    COMPARATORS,
    CONDITION_OPERANDS,
    FUNCTIONS,
    TESTS,
    UPDATE_OPERANDS,
    not_in_condition,
    not_in_update,
    out_of_range,
)
from tablewright.limits import MAX_EXPRESSION_OPERATORS, MAX_LIST_INDEX

#: DynamoDB stops counting at 301.
TOO_MANY_OPERATORS = "The expression contains too many operators; operator count: 301"
_Part = TypeVar("_Part")


def parse_condition(kind: str, text: str) -> tree.Condition:
    """Parse a condition, filter or key condition; `kind` is its parameter, for messages.

    >>> parse_condition("ConditionExpression", "attribute_exists(a)")
    Call(function='attribute_exists', arguments=(Path(parts=('a',)),))
    """
    parser = _ConditionParser(kind, text)
    condition = parser.parse_condition()
    parser.finish()
    if len(parser.tokens) > MAX_EXPRESSION_OPERATORS:
        _refuse_deep(kind, condition)
    return condition


def parse_update(text: str) -> tree.UpdateTree:
    """Parse an UpdateExpression."""
    parser = _UpdateParser("UpdateExpression", text)
    sections = [parser.parse_section()]
    while parser.token.kind != "end":
        sections.append(parser.parse_section())
    parser.finish()
    return tree.UpdateTree(tuple(sections))


def parse_projection(text: str) -> tree.ProjectionTree:
    """Parse a ProjectionExpression."""
    parser = OperandParser("ProjectionExpression", text)
    paths = parser.parse_list(parser.parse_path)
    parser.finish()
    return tree.ProjectionTree(paths)


def _refuse_deep(kind: str, condition: tree.Condition) -> None:
    """Raise if a condition is too deep for the later stages, which are recursive.

    DynamoDB raises the same fault, but only after it has checked names and values.
    """
    level: list[tree.Condition | tree.Operand] = [condition]
    for _ in range(MAX_EXPRESSION_OPERATORS + 1):  # operators, and their operands
        below: list[tree.Condition | tree.Operand] = []
        for node in level:
            match node:
                case tree.And(conditions) | tree.Or(conditions):
                    below += conditions
                case tree.Not(inner):
                    below.append(inner)
                case tree.Call(_, arguments):
                    below += arguments
                case tree.Comparison(_, left, right):
                    below += (left, right)
                case tree.Between(operand, low, high):
                    below += (operand, low, high)
                case tree.In(operand, options):
                    below += (operand, *options)
        if not below:
            return
        level = below
    raise invalid(kind, TOO_MANY_OPERATORS)


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
                    not_in_update(function),
                )
            elif nested and function == "list_append":
                self.add_misuse(token, function)
        elif function in UPDATE_OPERANDS:
            self.add_error(
                token,
                not_in_condition(function),
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
                        out_of_range(index.text),
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


class _Group:
    """The parsed part of one pair of parentheses, or of the whole condition."""

    __slots__ = ("alternatives", "is_wrapped", "nots", "terms")

    def __init__(self) -> None:
        self.alternatives: list[tree.Condition] = []  # complete operands of OR
        self.terms: list[tree.Condition] = []  # operands of the current AND
        self.nots = 0  # NOTs before the next term
        self.is_wrapped = False  # the last term has its own parentheses

    @property
    def is_empty(self) -> bool:
        return not (self.nots or self.terms or self.alternatives)

    def add(self, term: tree.Condition, is_wrapped: bool) -> None:
        self.is_wrapped = is_wrapped and not self.nots
        for _ in range(self.nots):
            term = tree.Not(term)
        self.nots = 0
        self.terms.append(term)

    def end_and(self) -> None:
        terms = self.terms
        self.alternatives.append(terms[0] if len(terms) == 1 else tree.And(tuple(terms)))
        self.terms = []

    def finish(self) -> tree.Condition:
        self.end_and()
        found = self.alternatives
        return found[0] if len(found) == 1 else tree.Or(tuple(found))


class _ConditionParser(OperandParser):
    __slots__ = ()

    def parse_condition(self) -> tree.Condition:
        group = _Group()
        outer: list[_Group] = []
        while True:
            # The start of a term.
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
            operand = self.parse_operand()
            wrapped = False
            while self.token.kind == ")" and outer and group.is_empty:
                # Parentheses around an operand, or around a function that may be an operand or a
                # condition.
                self.advance()
                if wrapped:
                    raise self.redundant_parentheses()
                wrapped = True
                group = outer.pop()
            if self.token.kind in COMPARATORS or self.token.kind in ("BETWEEN", "IN"):
                self.check_is_value(first, operand)
                term = self.parse_comparison(operand)
                wrapped = False
            elif isinstance(operand, tree.Call):
                if operand.function in CONDITION_OPERANDS:
                    self.add_misuse(first, operand.function)
                term = operand
            else:
                raise self.unexpected_token()
            # The end of a term, and perhaps of its group.
            group.add(term, wrapped)
            while self.token.kind == ")" and outer:
                self.advance()
                if group.is_wrapped and len(group.terms) == 1 and not group.alternatives:
                    raise self.redundant_parentheses()
                term = group.finish()
                group = outer.pop()
                group.add(term, is_wrapped=True)
            if self.token.kind == "AND":
                self.advance()
            elif self.token.kind == "OR":
                self.advance()
                group.end_and()
            elif self.token.kind == "end" and not outer:
                return group.finish()
            else:
                raise self.unexpected_token()

    def parse_comparison(self, left: tree.Operand) -> tree.Condition:
        operator = self.advance().kind
        if operator == "BETWEEN":
            low = self.parse_condition_operand()
            self.expect("AND")
            return tree.Between(left, low, self.parse_condition_operand())
        if operator == "IN":
            self.expect("(")
            options = self.parse_list(self.parse_condition_operand)
            self.expect(")")
            return tree.In(left, options)
        return tree.Comparison(operator, left, self.parse_condition_operand())

    def parse_condition_operand(self) -> tree.Operand:
        first = self.token
        operand = self.parse_operand()
        self.check_is_value(first, operand)
        return operand

    def check_is_value(self, first: Token, operand: tree.Operand) -> None:
        """Add an error if an operand of a comparison is a function that returns a boolean."""
        if isinstance(operand, tree.Call) and operand.function in TESTS:
            self.add_misuse(first, operand.function)


class _UpdateParser(OperandParser):
    __slots__ = ()

    def parse_section(self) -> tree.UpdateSection:
        match self.token.kind:
            case "SET":
                action: Callable[[], tree.Action] = self.parse_set_action
            case "REMOVE":
                action = self.parse_remove_action
            case "ADD":
                action = self.parse_add_action
            case "DELETE":
                action = self.parse_delete_action
            case _:
                raise self.unexpected_token()
        keyword = self.advance().kind
        return tree.UpdateSection(keyword, self.parse_list(action))

    def parse_set_action(self) -> tree.SetAction:
        path = self.parse_path()
        self.expect("=")
        return tree.SetAction(path, self.parse_sum())

    def parse_remove_action(self) -> tree.RemoveAction:
        return tree.RemoveAction(self.parse_path())

    def parse_add_action(self) -> tree.AddAction:
        path = self.parse_path()
        return tree.AddAction(path, tree.Value(self.expect("value").text))

    def parse_delete_action(self) -> tree.DeleteAction:
        path = self.parse_path()
        return tree.DeleteAction(path, tree.Value(self.expect("value").text))

    def parse_sum(self) -> tree.Operand:
        """Parse the right side of SET: one operand, or two with + or - between them."""
        parentheses = 0
        while self.token.kind == "(":
            self.advance()
            parentheses += 1
        first = self.token
        operand = self.parse_operand()
        parentheses = self.close_parentheses(parentheses)
        if self.token.kind in ("+", "-"):
            self.check_is_number(first, operand)
            operator = self.advance().kind
            first = self.token
            right = self.parse_operand()
            self.check_is_number(first, right)
            operand = tree.Arithmetic(operator, operand, right)
            parentheses = self.close_parentheses(parentheses)
        if parentheses:
            raise self.unexpected_token()
        return operand

    def close_parentheses(self, parentheses: int) -> int:
        """Parse closing parentheses; return the number of parentheses that remain open."""
        wrapped = False
        while parentheses and self.token.kind == ")":
            self.advance()
            if wrapped:
                raise self.redundant_parentheses()
            wrapped = True
            parentheses -= 1
        return parentheses

    def check_is_number(self, first: Token, operand: tree.Operand) -> None:
        if isinstance(operand, tree.Call) and operand.function == "list_append":
            self.add_misuse(first, operand.function)

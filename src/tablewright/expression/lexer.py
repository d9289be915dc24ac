"""Tokens: an expression's text, cut into words.

Owns the alphabet of all expressions and the one message that talks about text, the syntax error.
One lexer serves every kind of expression, so `SET` is a keyword inside a condition too.

    kind      text
    name      price, a_b1                  a letter, then letters, digits, underscores
    alias     #p                           a name defined in ExpressionAttributeNames
    value     :p                           a value defined in ExpressionAttributeValues
    index     0, 17                        no leading zeros: 01 is two tokens
    AND ...   and, And                     keywords, in any case; the kind is the capital form
    = <> ( .  itself
    unknown   any other single character   becomes a syntax error where the parser meets it
    end       nothing                      printed as <EOF>

Law: the tokens and the blanks between them are the text; nothing is lost, nothing fails here. It
knows nothing of grammar.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from tablewright.errors import ValidationException
from tablewright.limits import MAX_EXPRESSION_SIZE

#: Kinds whose message about the length does not say the length.
_SIZE_UNSAID = ("UpdateExpression", "ProjectionExpression")

_KEYWORDS = frozenset(
    ("AND", "OR", "NOT", "IN", "BETWEEN", "SET", "REMOVE", "ADD", "DELETE"),
)
_TOKEN = re.compile(
    r"(?P<name>[A-Za-z][A-Za-z0-9_]*)|(?P<alias>#[A-Za-z0-9_]+)|(?P<value>:[A-Za-z0-9_]+)"
    r"|(?P<index>0|[1-9][0-9]*)|(?P<symbol><>|<=|>=|[=<>()\[\].,+-])|(?P<unknown>[^ \t\r\n])"
)


class Token(NamedTuple):
    kind: str
    text: str
    start: int


def tokenize(kind: str, text: str) -> list[Token]:
    """The tokens of an expression of this kind (`"UpdateExpression"`), and one of kind `end`.

    >>> [token.kind for token in tokenize("ConditionExpression", "a and #b = :c")]
    ['name', 'AND', 'alias', '=', 'value', 'end']
    """
    if not text:
        raise invalid(kind, "The expression can not be empty;")
    if len(text) > MAX_EXPRESSION_SIZE:
        # DynamoDB counts characters here, not bytes.
        raise invalid(
            kind,
            "Expression size has exceeded the maximum allowed size;"
            + ("" if kind in _SIZE_UNSAID else f" expression size: {len(text)}"),
        )
    tokens = []
    for match in _TOKEN.finditer(text):
        group = match.lastgroup or ""
        word = match.group()
        if group == "symbol":
            group = word
        elif group == "name" and (upper := word.upper()) in _KEYWORDS:
            group = upper
        tokens.append(Token(group, word, match.start()))
    tokens.append(Token("end", "<EOF>", len(text)))
    return tokens


def invalid(kind: str, message: str) -> ValidationException:
    """DynamoDB's answer to a wrong expression of this kind."""
    return ValidationException(f"Invalid {kind}: {message}")


def syntax_error(kind: str, text: str, tokens: list[Token], at: int) -> ValidationException:
    """The token that does not fit, shown with its neighbours as they stand in the text."""
    token = tokens[at]
    start = tokens[at - 1].start if at else 0
    after = tokens[at + 1] if at + 1 < len(tokens) else token
    end = len(text) if after.kind == "end" else after.start + len(after.text)
    return invalid(kind, f'Syntax error; token: "{token.text}", near: "{text[start:end]}"')

"""The lexer: split the text of an expression into tokens.

Owns the tokens of all expressions, and the syntax error, the only message that shows the text. All
kinds of expression have the same tokens, so `SET` is a keyword in a condition too.

    kind      text
    name      price, a_b1                  a letter, then letters, digits, underscores
    alias     #p                           a name defined in ExpressionAttributeNames
    value     :p                           a value defined in ExpressionAttributeValues
    index     0, 17                        no leading zeros: 01 is two tokens
    AND ...   and, And                     keywords, in any case; the kind is in upper case
    = <> ( .  itself
    unknown   any other single character   the parser raises a syntax error
    end       nothing                      shown as <EOF>

Invariant: the tokens and the whitespace between them are the whole text. The lexer refuses only
empty and oversized texts, and knows nothing about the grammar.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from tablewright.errors import ValidationException
from tablewright.limits import MAX_EXPRESSION_SIZE

#: Kinds of expression whose message about the size does not contain the size.
_SIZE_OMITTED = ("UpdateExpression", "ProjectionExpression")

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
    """Split an expression (`kind` is "UpdateExpression" etc.) into tokens; the last one is `end`.

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
            + ("" if kind in _SIZE_OMITTED else f" expression size: {len(text)}"),
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
    """Return DynamoDB's fault for an invalid expression; a PartiQL statement has no `kind`."""
    return ValidationException(f"Invalid {kind}: {message}" if kind else message)


def syntax_error(kind: str, text: str, tokens: list[Token], at: int) -> ValidationException:
    """Return the fault for an unexpected token, which shows the token and its neighbours."""
    token = tokens[at]
    start = tokens[at - 1].start if at else 0
    after = tokens[at + 1] if at + 1 < len(tokens) else token
    end = len(text) if after.kind == "end" else after.start + len(after.text)
    return invalid(kind, f'Syntax error; token: "{token.text}", near: "{text[start:end]}"')

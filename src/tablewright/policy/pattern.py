"""Patterns: texts of a policy with wildcards and policy variables.

    table/shop-*                    `*` matches any text, `?` any one character
    USER#${aws:username}            the value of a condition key of the request
    ${aws:PrincipalTag/team, 'all'} the same, with a default if the key has no value
    ${*}  ${?}  ${$}                the literal characters

A text is split into tokens once, when the policy is parsed. Variables are resolved per request.

Invariants:
- The value of a variable is literal text: `*` and `${...}` in it have no special meaning.
- A pattern with a variable that has no value (absent, empty or several values) matches nothing.
- Matching takes linear time per wildcard for any text, because values can be hostile.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, TypeAlias

from tablewright.errors import InvalidValue

#: The condition keys of a request by their names in lower case.
ConditionKeys: TypeAlias = Mapping[str, tuple[str, ...]]
NO_KEYS: Final[ConditionKeys] = {}
Matcher: TypeAlias = Callable[[str], object]

_VARIABLE = re.compile(r"\$\{\s*([^{}',]*?)\s*(?:,\s*'([^']*)'\s*)?\}")
_SPECIAL = re.compile(r"[*?]|\$\{")
_ARN_PARTS: Final = 6  # arn:partition:service:region:account:resource


@dataclass(frozen=True, slots=True)
class Wildcard:
    """`*` or `?`."""

    character: str


@dataclass(frozen=True, slots=True)
class Variable:
    """`${key}` or `${key, 'default'}`."""

    key: str
    default: str | None

    def value(self, keys: ConditionKeys) -> str | None:
        found = keys.get(self.key, ())
        return found[0] if len(found) == 1 and found[0] else self.default


Token: TypeAlias = str | Wildcard | Variable
Resolved: TypeAlias = tuple[str | Wildcard, ...]


@dataclass(frozen=True, slots=True)
class Pattern:
    """A text of a policy, as literals, wildcards and variables."""

    tokens: tuple[Token, ...]

    @property
    def variables(self) -> frozenset[str]:
        """The condition keys that the pattern refers to."""
        return frozenset(token.key for token in self.tokens if isinstance(token, Variable))

    def resolve(self, keys: ConditionKeys) -> Resolved | None:
        """Replace the variables by their values; None if one of them has no value."""
        tokens: list[str | Wildcard] = []
        for token in self.tokens:
            part = token.value(keys) if isinstance(token, Variable) else token
            if part is None:
                return None
            tokens.append(part)
        return tuple(tokens)


def parse_pattern(
    text: str, *, where: str, variables: bool, known: ConditionKeys = NO_KEYS
) -> Pattern:
    """Split a text of a policy into tokens; replace variables whose keys are `known` by text.

    `variables` is whether the policy's version has variables. In the older version, IAM treats
    `${` as text; this is never intended, so it is rejected.
    """
    if "${" in text and not variables:
        raise InvalidValue(
            f'{where}: {text!r} has a policy variable, which requires "Version": "2012-10-17"'
        )
    return Pattern(tuple(_bind(token, known) for token in _tokenise(text, where)))


def _bind(token: Token, known: ConditionKeys) -> Token:
    if isinstance(token, Variable) and token.key in known:
        return token.value(known) or token
    return token


def to_plain_text(tokens: Resolved) -> str:
    """Return the text of a pattern for operators without wildcards: `*` is literal."""
    return "".join(t.character if isinstance(t, Wildcard) else t for t in tokens)


@lru_cache(4096)
def compile_text_matcher(tokens: Resolved, *, ignore_case: bool = False) -> Matcher:
    """Return a function that tests whether a text matches."""
    flags = re.DOTALL | (re.IGNORECASE if ignore_case else 0)
    return re.compile(_glob_regex(tokens, "."), flags).fullmatch


@lru_cache(4096)
def compile_arn_matcher(tokens: Resolved) -> Matcher:
    """Return a function that tests whether an ARN matches, part by part.

    A wildcard does not match a colon, except in the resource, which is the last part. Missing parts
    at the end match anything, as in IAM: `arn:aws:dynamodb` means `arn:aws:dynamodb:*:*:*`.
    """
    if tokens == (Wildcard("*"),):
        return compile_text_matcher(tokens)
    parts: list[list[str | Wildcard]] = [[]]
    for token in tokens:
        if isinstance(token, Wildcard):
            parts[-1].append(token)
            continue
        first, *others = token.split(":", _ARN_PARTS - len(parts))
        parts[-1].append(first)
        for other in others:
            parts.append([other])  # noqa: PERF401 # a list of lists of a wider type
    while len(parts) < _ARN_PARTS:
        parts.append([Wildcard("*")])
    *before, resource = (tuple(part) for part in parts)
    pattern = [*(_glob_regex(part, "[^:]") for part in before), _glob_regex(resource, ".")]
    return re.compile(":".join(pattern), re.DOTALL).fullmatch


def _tokenise(text: str, where: str) -> Iterator[Token]:
    position = 0
    while position < len(text):
        character = text[position]
        if text.startswith("${", position):
            found = _VARIABLE.match(text, position)
            name = found[1] if found else ""
            if found is None or not name:
                raise InvalidValue(
                    f"{where}: {text!r} has an incomplete policy variable; write ${{key}} "
                    "or ${key, 'default'}"
                )
            position = found.end()
            yield name if name in ("*", "?", "$") else Variable(name.lower(), found[2])
        elif character in "*?":
            position += 1
            yield Wildcard(character)
        else:
            special = _SPECIAL.search(text, position)
            end = special.start() if special else len(text)
            yield text[position:end]
            position = end


def _glob_regex(tokens: Resolved, any_one: str) -> str:
    """Return a regular expression; each `*` matches the shortest text, without backtracking.

    This is sufficient: if the rest matches after a longer text, it also matches after the shortest.
    """
    pieces = [""]
    for token in tokens:
        if isinstance(token, str):
            pieces[-1] += re.escape(token)
        elif token.character == "?":
            pieces[-1] += any_one
        else:
            pieces.append("")
    first, *others = pieces
    if not others:
        return first
    middle = "".join(f"(?>{any_one}*?{piece})" for piece in others[:-1] if piece)
    return f"{first}{middle}{any_one}*{others[-1]}"

"""Policy documents: parse JSON into frozen values, and decide about access requests.

    {"Version": "2012-10-17", "Statement": [{
        "Effect": "Allow", "Action": "dynamodb:GetItem",
        "Resource": "arn:aws:dynamodb:*:*:table/shop",
        "Condition": {"StringEquals": {"dynamodb:Select": "COUNT"}}}]}

These policies are identity-based: they say what a user may do, and have no Principal element
(`principal` adds it, for policies of tables). Every mistake raises an `InvalidValue` with its path,
such as `Statement[0].Condition.StringEqual`.

Invariants:
- A Deny that applies overrides every Allow, in any order and in any policy.
- An access that no statement allows is denied.
- Unknown elements and conditions are rejected when the policy is parsed, never ignored: ignoring
  one could grant more than the policy says.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from tablewright.errors import InvalidValue
from tablewright.hints import did_you_mean
from tablewright.policy.condition import DYNAMODB_KEYS, Effect, PolicyCondition, build_condition
from tablewright.policy.pattern import (
    NO_KEYS,
    ConditionKeys,
    Matcher,
    Pattern,
    Variable,
    Wildcard,
    compile_arn_matcher,
    compile_text_matcher,
    parse_pattern,
)

#: A policy document: its JSON text, or the same as Python values.
Document: TypeAlias = str | Mapping[str, Any]

_VERSIONS = ("2012-10-17", "2008-10-17")
_POLICY_ELEMENTS = ("Version", "Id", "Statement")
_STATEMENT_ELEMENTS = (
    "Sid",
    "Effect",
    "Action",
    "NotAction",
    "Resource",
    "NotResource",
    "Condition",
)
_ACTION = re.compile(r"\*|[A-Za-z0-9*?-]+:[A-Za-z0-9*?]+").fullmatch
_ALLOWED_TEXT = re.compile(r"[\t\n\r\x20-\xff]*").fullmatch


class AccessRequest(
    Struct, frozen=True
):  # a Struct, because one is created per request: half the time
    """The input of a decision: an action, a resource, and the condition keys of the request.

    Names of condition keys are in lower case.
    """

    action: str
    resource: str
    keys: ConditionKeys


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement of a policy. `sid` is its optional name."""

    sid: str
    effect: Effect
    actions: tuple[Matcher, ...]
    excludes_actions: bool
    resources: tuple[Pattern, ...]
    excludes_resources: bool
    conditions: tuple[PolicyCondition, ...]
    #: Whether no resource pattern has a variable, so that matches do not depend on the request.
    has_fixed_resources: bool
    #: The condition keys that the statement reads, in lower case.
    keys: frozenset[str]

    def matches_action(self, action: str) -> bool:
        return any(matches(action) for matches in self.actions) != self.excludes_actions

    def matches_resource(self, resource: str, keys: ConditionKeys) -> bool:
        for pattern in self.resources:
            tokens = pattern.resolve(keys)
            if tokens is not None and compile_arn_matcher(tokens)(resource):
                return not self.excludes_resources
        return self.excludes_resources

    def conditions_hold(self, keys: ConditionKeys) -> bool:
        for condition in self.conditions:  # noqa: SIM110 # `all` takes twice the time
            if not condition.holds(keys):
                return False
        return True

    def applies(self, access: AccessRequest) -> bool:
        """Return whether the statement applies to an access request."""
        return (
            self.matches_action(access.action)
            and self.matches_resource(access.resource, access.keys)
            and self.conditions_hold(access.keys)
        )


class Decision(Struct, frozen=True):
    """Whether access is allowed, and the statement that allows or denies it.

    A denial without a statement is implicit: no statement allows the access.
    """

    outcome: Literal["allowed", "explicit deny", "implicit deny"]
    statement: Statement | None = None

    @property
    def is_allowed(self) -> bool:
        return self.outcome == "allowed"


def decide(applying: Iterable[Statement]) -> Decision:
    """Decide from the statements that apply to an access request."""
    allowing = None
    for statement in applying:
        if statement.effect == "Deny":
            return Decision("explicit deny", statement)
        allowing = allowing or statement
    return Decision("allowed", allowing) if allowing else Decision("implicit deny")


@dataclass(frozen=True, slots=True)
class Policy:
    """A policy document.

    >>> policy = parse_policy({
    ...     "Version": "2012-10-17",
    ...     "Statement": {"Effect": "Allow", "Action": "dynamodb:Get*", "Resource": "*"},
    ... })
    >>> policy.evaluate(AccessRequest("dynamodb:GetItem", "arn:aws:dynamodb:::table/t", {})).outcome
    'allowed'
    """

    statements: tuple[Statement, ...]
    id: str = ""

    def evaluate(self, access: AccessRequest) -> Decision:
        """Decide about an access request by this policy only."""
        return decide(statement for statement in self.statements if statement.applies(access))


def parse_policy(document: Document, known: ConditionKeys = NO_KEYS) -> Policy:
    """Parse a policy document; raise `InvalidValue` if it has a mistake.

    `known` has the condition keys whose values are the same in all requests.
    """
    policy = load_document(document)
    _check_elements(policy, _POLICY_ELEMENTS, "the policy")
    version = policy.get("Version", "2008-10-17")
    if version not in _VERSIONS:
        raise InvalidValue(f"Version: unknown version {version!r}; use {_VERSIONS[0]!r}")
    statements = policy.get("Statement")
    if statements is None:
        raise InvalidValue("the policy has no Statement")
    if isinstance(statements, Mapping):
        statements = [statements]
    if not isinstance(statements, (list, tuple)) or not statements:
        raise InvalidValue(f"Statement: must be one or more statements, not {statements!r}")
    parser = _StatementParser(known, has_variables=version == "2012-10-17")
    parsed = tuple(
        parser.statement(statement, f"Statement[{number}]")
        for number, statement in enumerate(statements)
    )
    sids = [statement.sid for statement in parsed if statement.sid]
    for sid in sids:
        if sids.count(sid) > 1:
            raise InvalidValue(
                f"two statements have the Sid {sid!r}; a Sid must be unique in its policy"
            )
    return Policy(parsed, _check_text(policy.get("Id", ""), "Id"))


class _StatementParser:
    def __init__(self, known: ConditionKeys, *, has_variables: bool) -> None:
        self._known = known
        self._has_variables = has_variables

    def statement(self, raw: Any, where: str) -> Statement:
        _check_elements(raw, _STATEMENT_ELEMENTS, where)
        effect = raw.get("Effect")
        if effect not in ("Allow", "Deny"):
            raise InvalidValue(f"{where}.Effect: must be 'Allow' or 'Deny', not {effect!r}")
        sid = _check_text(raw.get("Sid", ""), f"{where}.Sid")
        if sid and not (sid.isascii() and sid.isalnum()):
            raise InvalidValue(f"{where}.Sid: {sid!r} must contain only letters and digits")
        action_element, actions = _one_of(raw, "Action", "NotAction", where)
        resource_element, resources = _one_of(raw, "Resource", "NotResource", where)
        patterns = tuple(self._resource(text, f"{where}.{resource_element}") for text in resources)
        lines = list(self._conditions(raw.get("Condition", {}), effect, f"{where}.Condition"))
        variables = [pattern.variables for _, used in lines for pattern in used]
        in_resources = frozenset[str]().union(*(pattern.variables for pattern in patterns))
        return Statement(
            sid=sid,
            effect=effect,
            actions=tuple(_parse_action(text, f"{where}.{action_element}") for text in actions),
            excludes_actions=action_element == "NotAction",
            resources=patterns,
            excludes_resources=resource_element == "NotResource",
            conditions=tuple(condition for condition, _ in lines),
            has_fixed_resources=not in_resources,
            keys=in_resources.union((condition.key for condition, _ in lines), *variables),
        )

    def _resource(self, text: str, where: str) -> Pattern:
        pattern = self._pattern(text, where)
        if pattern.tokens == (Wildcard("*"),):
            return pattern
        parts = text.split(":", 5)
        if parts[0] != "arn":
            raise InvalidValue(
                f"{where}: {text!r} is not an ARN such as "
                "'arn:aws:dynamodb:us-east-1:123456789012:table/shop', nor '*'"
            )
        if any("${" in part for part in parts[:5]):
            raise InvalidValue(
                f"{where}: {text!r} has a policy variable before the resource, which is the last "
                "part of the ARN; variables are allowed only in the resource"
            )
        return pattern

    def _conditions(
        self, raw: Any, effect: Effect, where: str
    ) -> Iterator[tuple[PolicyCondition, list[Pattern]]]:
        if not isinstance(raw, Mapping):
            raise InvalidValue(f"{where}: must be an object of operators, not {raw!r}")
        for operator, compared in raw.items():
            at = f"{where}.{_check_text(operator, where)}"
            if not isinstance(compared, Mapping):
                raise InvalidValue(f"{at}: must be an object of condition keys, not {compared!r}")
            for key, values in compared.items():
                _check_key(key, at)
                patterns = [
                    self._pattern(text, f"{at}.{key}")
                    for text in _read_texts(values, f"{at}.{key}")
                ]
                condition = build_condition(
                    operator, key, patterns, effect=effect, where=f"{at}.{key}"
                )
                yield condition, patterns

    def _pattern(self, text: str, where: str) -> Pattern:
        pattern = parse_pattern(text, where=where, variables=self._has_variables, known=self._known)
        for token in pattern.tokens:
            if isinstance(token, Variable):
                _check_key(token.key, where)
        return pattern


def load_document(document: Document) -> Mapping[str, Any]:
    """Return a document as Python values, which the caller checks."""
    if not isinstance(document, str):
        return document
    try:
        loaded = json.loads(document, object_pairs_hook=_reject_duplicates)
    except InvalidValue:
        raise
    except ValueError as error:
        raise InvalidValue(f"the policy is not JSON: {error}") from None
    except RecursionError:
        raise InvalidValue("the policy is not JSON: it is nested too deeply") from None
    return loaded  # type: ignore[no-any-return] # checked by the caller, as any document


def _reject_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Reject duplicate names: `json` keeps the last one, so a condition could get lost."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise InvalidValue(f"the policy has the name {twice!r} twice in one object")
    return found


def _check_elements(raw: Any, known: tuple[str, ...], where: str) -> None:
    if not isinstance(raw, Mapping):
        raise InvalidValue(f"{where}: must be an object, not {raw!r}")
    for name in raw:
        if name in known:
            continue
        if name in ("Principal", "NotPrincipal"):
            raise InvalidValue(
                f"{where}: {name} belongs to resource-based policies; remove it from a policy of a "
                "user"
            )
        hint = did_you_mean(name, known, cutoff=0.7) or f"; it takes {', '.join(known)}"
        raise InvalidValue(f"{where}: unknown element {name!r}{hint}")


def _one_of(raw: Mapping[str, Any], name: str, negation: str, where: str) -> tuple[str, list[str]]:
    """Return which of two exclusive elements is present, and its texts."""
    given = [element for element in (name, negation) if element in raw]
    if len(given) != 1:
        found = "both" if given else "neither"
        raise InvalidValue(f"{where}: must have either {name} or {negation}, but has {found}")
    return given[0], list(_read_texts(raw[given[0]], f"{where}.{given[0]}", only_text=True))


def _parse_action(text: str, where: str) -> Matcher:
    if not _ACTION(text):
        raise InvalidValue(
            f"{where}: {text!r} is not an action such as 'dynamodb:GetItem', nor '*'"
        )
    tokens = parse_pattern(text, where=where, variables=False).resolve({})
    assert tokens is not None
    return compile_text_matcher(tokens, ignore_case=True)


def _check_key(key: Any, where: str) -> None:
    _check_text(key, where)
    service, colon, name = key.partition(":")
    if not (service and colon and name):
        raise InvalidValue(f"{where}: {key!r} is not a condition key such as 'aws:username'")
    # ForAllValues is true for a key that no request has: a typing error would allow everything.
    if service.lower() == "dynamodb" and key.lower() not in DYNAMODB_KEYS:
        hint = did_you_mean(key, DYNAMODB_KEYS.values())
        raise InvalidValue(f"{where}: DynamoDB has no condition key {key!r}{hint}")


def _read_texts(raw: Any, where: str, *, only_text: bool = False) -> Iterator[str]:
    """Yield the values of an element (one or a list) as text; booleans and numbers as in JSON."""
    values = raw if isinstance(raw, (list, tuple)) else [raw]
    if not values:
        raise InvalidValue(f"{where}: the list is empty")
    for value in values:
        if isinstance(value, bool) and not only_text:
            yield "true" if value else "false"
        elif isinstance(value, (int, float)) and not isinstance(value, bool) and not only_text:
            yield str(value)
        else:
            yield _check_text(value, where)


def _check_text(value: Any, where: str) -> str:
    if not isinstance(value, str):
        raise InvalidValue(f"{where}: must be a string, not {value!r}")
    if not _ALLOWED_TEXT(value):
        raise InvalidValue(
            f"{where}: {value!r} has a character that IAM does not allow in a policy; it allows "
            "tab, line breaks, and U+0020 to U+00FF"
        )
    return value

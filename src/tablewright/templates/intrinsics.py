"""Intrinsic functions of CloudFormation: compute the values of a template.

    Ref, Fn::GetAtt, Fn::Sub, Fn::Join, Fn::Select, Fn::Split, Fn::FindInMap, Fn::If,
    and in conditions Fn::Equals, Fn::And, Fn::Or, Fn::Not, Condition

Values that exist only after a deployment are replaced where tables need them: a Ref of another
resource is its logical id, the ARN of a key or a stream is composed of it. Everything else is
refused, with the place of the value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from tablewright.hints import did_you_mean
from tablewright.templates.document import Expansion
from tablewright.templates.table import Location

REGION = "us-east-1"
ACCOUNT = "123456789012"

_POSITION = re.compile("[0-9]{1,6}")
_VARIABLE = re.compile(r"\$\{(!?)([^{}]+)\}")
#: The ARNs of resources that the declaration of a table can name, by their type.
_ARNS: dict[str, str] = {
    "AWS::DynamoDB::Table": "dynamodb:{region}:{account}:table/{id}",
    "AWS::DynamoDB::GlobalTable": "dynamodb:{region}:{account}:table/{id}",
    "AWS::KMS::Key": "kms:{region}:{account}:key/{id}",
    "AWS::Kinesis::Stream": "kinesis:{region}:{account}:stream/{id}",
    "AWS::IAM::Role": "iam::{account}:role/{id}",
    "AWS::IAM::User": "iam::{account}:user/{id}",
}


class _NoValue:
    """The value of AWS::NoValue: the property is missing."""

    def __repr__(self) -> str:
        return "AWS::NoValue"


NO_VALUE: Final = _NoValue()


class Resolver:
    """Computes values of one template."""

    def __init__(
        self, file: str, template: Mapping[str, Any], parameters: Mapping[str, str]
    ) -> None:
        self._file = file
        self._expansion = Expansion(file)
        self._resources: Mapping[str, Any] = template["Resources"]
        self._mappings: Mapping[str, Any] = template.get("Mappings") or {}
        self._conditions: Mapping[str, Any] = template.get("Conditions") or {}
        self._declared: Mapping[str, Any] = template.get("Parameters") or {}
        unknown = [name for name in parameters if name not in self._declared]
        if unknown:
            hint = did_you_mean(unknown[0], self._declared)
            raise Location(file, "Parameters").refuse(f"no parameter {unknown[0]!r}{hint}")
        self._parameters = parameters
        self._pending: list[str] = []  # conditions that are being computed
        self._pseudo: dict[str, Any] = {
            "AWS::Region": REGION,
            "AWS::AccountId": ACCOUNT,
            "AWS::Partition": "aws",
            "AWS::URLSuffix": "amazonaws.com",
            "AWS::StackName": Path(file).name.partition(".")[0],
            "AWS::StackId": f"arn:aws:cloudformation:{REGION}:{ACCOUNT}:stack/local/0",
            "AWS::NotificationARNs": [],
            "AWS::NoValue": NO_VALUE,
        }

    def resolve(self, value: Any, at: Location) -> Any:
        """Return a value with all functions computed; `NO_VALUE` if it is missing."""
        self._expansion.add_values()
        if isinstance(value, list):
            found = [self.resolve(entry, at / number) for number, entry in enumerate(value)]
            return [entry for entry in found if entry is not NO_VALUE]
        if not isinstance(value, dict):
            return value
        if len(value) == 1:
            ((name, argument),) = value.items()
            if name == "Ref":
                return self._ref(argument, at)
            if isinstance(name, str) and name.startswith("Fn::"):
                function = _FUNCTIONS.get(name)
                if function is None:
                    raise at.refuse(
                        f"{name} is not supported{did_you_mean(name, _FUNCTIONS)}; "
                        "write the value into the template, or use a parameter"
                    )
                try:
                    return function(self, argument, at / name)
                except (TypeError, ValueError, LookupError, AttributeError):
                    raise (at / name).refuse(f"wrong arguments: {argument!r}") from None
        resolved = {name: self.resolve(entry, at / name) for name, entry in value.items()}
        return {name: entry for name, entry in resolved.items() if entry is not NO_VALUE}

    def holds(self, condition: Any, at: Location) -> bool:
        """Return whether a condition of the template is true."""
        if not isinstance(condition, str) or condition not in self._conditions:
            raise at.refuse(
                f"no condition {condition!r}{did_you_mean(condition, self._conditions)}"
            )
        if condition in self._pending:
            raise at.refuse(f"the condition {condition!r} depends on itself")
        self._pending.append(condition)
        try:
            where = Location(self._file, f"Conditions.{condition}")
            return self._test(self._conditions[condition], where)
        finally:
            self._pending.pop()

    def _test(self, raw: Any, at: Location) -> bool:
        self._expansion.add_values()
        if isinstance(raw, dict) and len(raw) == 1:
            ((name, argument),) = raw.items()
            if name == "Condition":
                return self.holds(argument, at)
            if name == "Fn::Equals":
                left, right = (self.resolve(one, at / name) for one in argument)
                return str(left) == str(right)
            if name in ("Fn::And", "Fn::Or"):
                tests = [self._test(one, at / name) for one in argument]
                return all(tests) if name == "Fn::And" else any(tests)
            if name == "Fn::Not":
                return not self._test(argument[0], at / name)
        raise at.refuse(f"not a condition: {raw!r}")

    def _ref(self, name: Any, at: Location) -> Any:
        if name in self._pseudo:
            return self._pseudo[name]
        if name in self._parameters:
            return self._parameters[name]
        declared = self._declared.get(name)
        if declared is not None:
            if "Default" not in declared:
                raise at.refuse(
                    f"the parameter {name!r} has no default; give a value with "
                    f"--parameter {name}=VALUE"
                )
            return declared["Default"]
        resource = self._resources.get(name)
        if resource is None:
            known = [*self._declared, *self._resources]
            raise at.refuse(
                f"no parameter and no resource {name!r}{did_you_mean(str(name), known)}"
            )
        return self._physical_name(name, resource, at)

    def _physical_name(self, name: str, resource: Any, at: Location) -> str:
        given = (resource.get("Properties") or {}).get("TableName")
        return name if given is None else str(self.resolve(given, at))

    def _get_att(self, argument: Any, at: Location) -> Any:
        name, attribute = argument if isinstance(argument, list) else argument.split(".", 1)
        resource = self._resources[name]
        form = _ARNS.get(resource.get("Type"))
        if attribute != "Arn" or form is None:
            raise at.refuse(
                f"{name}.{attribute} is known only after a deployment; write a value into the "
                "template, or use a parameter"
            )
        physical = self._physical_name(name, resource, at)
        return "arn:aws:" + form.format(region=REGION, account=ACCOUNT, id=physical)

    def _sub(self, argument: Any, at: Location) -> str:
        text, given = argument if isinstance(argument, list) else (argument, {})

        def replace(found: re.Match[str]) -> str:
            literal, name = found[1], found[2].strip()
            if literal:
                return "${" + found[2] + "}"
            if name in given:
                value = str(self.resolve(given[name], at))
            elif "." in name:
                value = str(self._get_att(name, at))
            else:
                value = str(self._ref(name, at))
            self._expansion.add_text(len(value))
            return value

        self._expansion.add_text(len(text))
        return _VARIABLE.sub(replace, text)

    def _join(self, argument: Any, at: Location) -> str:
        delimiter = str(argument[0])
        parts = [str(part) for part in self.resolve(argument[1], at)]
        self._expansion.add_text(sum(len(part) + len(delimiter) for part in parts))
        return delimiter.join(parts)

    def _select(self, argument: Any, at: Location) -> Any:
        position, entries = self.resolve(argument, at)
        if not _POSITION.fullmatch(str(position)):
            raise ValueError(position)
        return entries[int(position)]

    def _split(self, argument: Any, at: Location) -> list[str]:
        delimiter, text = self.resolve(argument, at)
        self._expansion.add_text(len(text))
        parts: list[str] = text.split(delimiter)
        self._expansion.add_values(len(parts))
        return parts

    def _find_in_map(self, argument: Any, at: Location) -> Any:
        mapping, first, second = self.resolve(argument, at)[:3]
        return self._mappings[mapping][first][second]

    def _if(self, argument: Any, at: Location) -> Any:
        condition, then, otherwise = argument
        return self.resolve(then if self.holds(condition, at) else otherwise, at)


_FUNCTIONS: dict[str, Callable[[Resolver, Any, Location], Any]] = {
    "Fn::FindInMap": Resolver._find_in_map,
    "Fn::GetAtt": Resolver._get_att,
    "Fn::If": Resolver._if,
    "Fn::Join": Resolver._join,
    "Fn::Select": Resolver._select,
    "Fn::Split": Resolver._split,
    "Fn::Sub": Resolver._sub,
}

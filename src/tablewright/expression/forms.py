"""Forms: expressions compiled from trees, without the values of a request.

`Scope` compiles expressions from texts. A statement of PartiQL is parsed elsewhere and has trees; a
form is compiled once for a statement, and `bind` combines it with the values of each request. The
faults have no first words such as "Invalid FilterExpression:".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tablewright.encoding.items import item_size
from tablewright.expression import tree
from tablewright.expression.compiled import CompiledCondition, CompiledProjection, CompiledUpdate
from tablewright.expression.evaluate import compile_condition, count_tests
from tablewright.expression.resolve import Values, resolve_condition, resolve_update
from tablewright.expression.update import CompiledActions


class ConditionForm:
    """A condition or filter without values."""

    __slots__ = ("_resolved", "_test", "_tests", "names", "tree")

    def __init__(self, condition: tree.Condition, names: Mapping[str, str]) -> None:
        self._resolved = resolve_condition("", condition, names)
        self._test = compile_condition(self._resolved.tree) if self._resolved.tree else None
        self._tests = count_tests(condition)
        self.tree = condition
        self.names = self._resolved.names  #: the top-level attributes that it reads

    def check(self, values: Values) -> None:
        """Raise DynamoDB's fault if the condition is invalid with these values."""
        self._resolved.check(values)

    def bind(self, values: Values) -> CompiledCondition:
        """Return the condition with values that `check` has accepted."""
        assert self._test is not None
        return CompiledCondition(
            self._test,
            self.names,
            values,
            item_size(values),
            self._resolved.nested_names,
            tests=self._tests,
        )


class UpdateForm:
    """An update without values; the actions are in any order."""

    __slots__ = ("_actions", "_project_written", "_resolved", "names")

    def __init__(self, actions: Iterable[tree.Action], names: Mapping[str, str]) -> None:
        sections: dict[str, list[tree.Action]] = {}
        for action in actions:
            sections.setdefault(type(action).__name__.upper(), []).append(action)
        update = tree.Update(
            tuple(tree.Section(keyword, tuple(some)) for keyword, some in sections.items())
        )
        self._resolved = resolve_update(update, names, "")
        resolved = self._resolved.tree or tree.Update(())
        written = [action.path for section in resolved.sections for action in section.actions]
        self._actions = CompiledActions(resolved)
        self._project_written = CompiledProjection(tuple(written))
        self.names = self._resolved.names  #: the top-level attributes that it reads or writes

    def check(self, values: Values) -> None:
        """Raise DynamoDB's fault if the update is invalid with these values."""
        self._resolved.check(values)

    def bind(self, values: Values) -> CompiledUpdate:
        """Return the update with values that `check` has accepted."""
        return CompiledUpdate(
            self._actions,
            self._project_written,
            values,
            item_size(values),
            self._resolved.nested_names,
            self._resolved.names,
        )

"""Compiled expressions: what a request does with its conditions, projections and updates.

Owns the objects that the engine calls. `scope` creates them from the text of expressions, `legacy`
from the parameters that preceded expressions. An object holds a compiled function, shared by all
requests with the same text, and the values of one request.

What requests share is a form: compiled once for a text or for a statement of PartiQL, and combined
with the values of each request. The faults of statements have no first words such as "Invalid
FilterExpression:".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from tablewright.encoding.items import item_size
from tablewright.expression import tree
from tablewright.expression.evaluate import Memo, compile_condition, count_tests
from tablewright.expression.key import KeyConditionForm, KeySelection, select
from tablewright.expression.projection import compile_projection
from tablewright.expression.resolve import Values, resolve_condition, resolve_update
from tablewright.expression.update import CompiledActions
from tablewright.limits import MAX_ITEM_SIZE
from tablewright.values import Item

#: A condition with more tests is evaluated with a `Memo`. Few tests, each of which walks through
#: 400 KB, take a tenth of a second.
FEW_TESTS: Final = 8
#: Values of a request up to this size are compared fast.
SMALL_VALUES: Final = 4096


class UncheckedCondition:
    """A condition or filter without values, whose tree needs no checks."""

    __slots__ = ("names", "nested_names", "test", "tests")

    def __init__(
        self,
        condition: tree.Condition,
        names: frozenset[str],
        nested_names: frozenset[str] = frozenset(),
    ) -> None:
        self.test = compile_condition(condition)
        self.tests = count_tests(condition)
        self.names = names  #: the top-level attributes that it reads
        self.nested_names = nested_names  #: those of them that have nested paths


class ConditionForm(UncheckedCondition):
    """A condition or filter without values. `kind` is its parameter, for messages."""

    __slots__ = ("resolved", "tree")

    def __init__(self, condition: tree.Condition, names: Mapping[str, str], kind: str = "") -> None:
        self.tree = condition
        self.resolved = resolved = resolve_condition(kind, condition, names)
        # Without a resolved tree, the checks always raise.
        super().__init__(resolved.tree or tree.And(()), resolved.names, resolved.nested_names)

    def check(self, values: Values) -> None:
        """Raise DynamoDB's fault if the condition is invalid with these values."""
        self.resolved.check(values)

    def bind(self, values: Values) -> CompiledCondition:
        """Return the condition with values that `check` has accepted."""
        return CompiledCondition(self, values, item_size(values))


class CompiledCondition:
    """A condition or filter, with the values of one request."""

    __slots__ = ("_memo", "_test", "_values", "is_heavy", "names", "nested_names")

    def __init__(self, form: UncheckedCondition, values: Values, values_size: int) -> None:
        self._test = form.test
        self._values = values
        self._memo = Memo(values) if form.tests > FEW_TESTS else None
        #: Whether one evaluation may take long, even for a small item.
        self.is_heavy = form.tests > FEW_TESTS or values_size > SMALL_VALUES
        self.names = form.names
        self.nested_names = form.nested_names

    def holds(self, item: Item) -> bool:
        """Return whether the condition is true for an item; `{}` is a missing item."""
        memo = self._memo
        if memo is not None:
            memo.begin()
        return self._test(item, self._values, memo)


class CompiledProjection:
    """A projection, called with an item."""

    __slots__ = ("_pick", "names", "nested_names")

    def __init__(self, paths: tuple[tree.Path, ...]) -> None:
        self._pick = compile_projection(paths)
        self.names = frozenset(str(path.parts[0]) for path in paths)  #: the top-level attributes
        #: those of them that have nested paths
        self.nested_names = frozenset(str(path.parts[0]) for path in paths if len(path.parts) > 1)

    def __call__(self, item: Item) -> Item:
        """Return the projected parts of an item; their values are not copied."""
        return self._pick(item)


class CompiledUpdate:
    """An update, with the values of one request."""

    __slots__ = (
        "_actions",
        "_project_written",
        "_read_names",
        "_values",
        "_values_size",
        "names",
        "nested_names",
        "only_removes",
    )

    def __init__(
        self,
        actions: CompiledActions,
        project_written: CompiledProjection,
        values: Values,
        values_size: int,
        nested_names: frozenset[str] = frozenset(),
        read_names: frozenset[str] = frozenset(),
    ) -> None:
        self._actions = actions
        self._project_written = project_written
        self._values = values
        self._values_size = values_size
        self.names = project_written.names  #: the top-level attributes that it writes
        self._read_names = read_names
        self.nested_names = nested_names  #: those that it reads or writes at nested paths
        #: It has only REMOVE and DELETE actions, so it does not create a missing item.
        self.only_removes = actions.only_removes

    @property
    def referenced_names(self) -> frozenset[str]:
        """The top-level attributes that it reads or writes."""
        return self.names | self._read_names

    def check_charge(self) -> None:
        """Raise a fault if the charges of the clauses exceed the limit, whatever the item is."""
        self._actions.charge.check(self._values, self._values_size)

    def apply(self, item: Item) -> Item:
        """Return the updated item. Raise `ValidationException` if the item does not allow it."""
        return self._actions.apply(item, self._values, None)[0]

    def apply_within_limit(self, item: Item, size: int) -> tuple[Item, int | None]:
        """Return the updated item, and its size if it is known.

        Raise `ValidationException` as `apply` does, or as soon as the item cannot fit into 400 KB.
        That is checked where the update can write so much.
        """
        actions = self._actions
        can_exceed = (size + self._values_size) * (actions.operands + 1) > MAX_ITEM_SIZE
        return actions.apply(item, self._values, size if can_exceed else None)

    def project_written(self, item: Item) -> Item | None:
        """Return the written parts of the old item (UPDATED_OLD) or the new one (UPDATED_NEW)."""
        return self._project_written(item) or None


class CompiledKeyCondition:
    """A key condition, with the values of one request."""

    __slots__ = ("_form", "_values")

    def __init__(self, form: KeyConditionForm, values: Values) -> None:
        self._form = form
        self._values = values

    @property
    def names(self) -> frozenset[str]:
        """The attributes that have conditions."""
        return frozenset(name for name, _, _ in self._form.terms)

    def select(
        self,
        partition_names: tuple[str, ...],
        sort_names: tuple[str, ...],
        types: Mapping[str, str],
        on_index: bool = False,
    ) -> KeySelection:
        """Return what to read from a table or index with these key attributes and types.

        Raise `ValidationException` if the condition does not match the key. The caller checks for
        empty strings, because the message names the index.
        """
        terms = self._form.bind(partition_names + sort_names, self._values, on_index)
        return select(terms, partition_names, sort_names, types)


class UpdateForm:
    """An update without values; the actions are in any order."""

    __slots__ = ("_actions", "_project_written", "_resolved", "names")

    def __init__(self, actions: Iterable[tree.Action], names: Mapping[str, str]) -> None:
        sections: dict[str, list[tree.Action]] = {}
        for action in actions:
            sections.setdefault(tree.KEYWORDS[type(action)], []).append(action)
        update = tree.UpdateTree(
            tuple(tree.UpdateSection(keyword, tuple(some)) for keyword, some in sections.items())
        )
        self._resolved = resolve_update(update, names, "")
        resolved = self._resolved.tree or tree.UpdateTree(())
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

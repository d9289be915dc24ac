"""Compiled expressions: what a request does with its conditions, projections and updates.

Owns the objects that the engine calls. `scope` creates them from the text of expressions, `legacy`
from the parameters that preceded expressions. An object holds a compiled function, shared by all
requests with the same text, and the values of one request.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tablewright.expression import tree
from tablewright.expression.document import compile_projection
from tablewright.expression.evaluate import Test
from tablewright.expression.key import KeyConditionForm, KeySelection, select
from tablewright.expression.resolve import Values
from tablewright.values import Item


class CompiledCondition:
    """A condition or filter, with the values of one request."""

    __slots__ = ("_test", "_values", "names", "nested_names")

    def __init__(
        self,
        test: Test,
        names: frozenset[str],
        values: Values,
        nested_names: frozenset[str] = frozenset(),
    ) -> None:
        self._test = test
        self._values = values
        self.names = names  #: the top-level attributes that it reads
        self.nested_names = nested_names  #: those of them that have nested paths

    def holds(self, item: Item) -> bool:
        """Return whether the condition is true for an item; `{}` is a missing item."""
        return self._test(item, self._values)


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
        "_apply",
        "_project_written",
        "_values",
        "added_size",
        "names",
        "nested_names",
        "only_removes",
        "referenced_names",
    )

    def __init__(
        self,
        apply: Callable[[Item, Values], Item],
        project_written: CompiledProjection,
        values: Values,
        nested_names: frozenset[str] = frozenset(),
        referenced_names: frozenset[str] = frozenset(),
        *,
        added_size: int,
        only_removes: bool = False,
    ) -> None:
        self._apply = apply
        self._project_written = project_written
        self._values = values
        self.names = project_written.names  #: the top-level attributes that it writes
        #: the top-level attributes that it reads or writes
        self.referenced_names = project_written.names | referenced_names
        self.nested_names = nested_names  #: those of them that have nested paths
        #: the bytes that count in addition to the values that it writes
        self.added_size = added_size
        #: It has only REMOVE and DELETE actions, so it does not create a missing item.
        self.only_removes = only_removes

    def apply(self, item: Item) -> Item:
        """Return the updated item. Raise `ValidationException` if the item does not allow it."""
        return self._apply(item, self._values)

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

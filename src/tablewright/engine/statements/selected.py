"""The attributes that a SELECT returns.

A path becomes an attribute with its last name: `address.city` is returned as `city`. (What AWS
returns for an element of a list is not known for certain; here `tags[0]` is the name.)
"""

from __future__ import annotations

from tablewright.errors import ValidationException
from tablewright.expression import CompiledProjection, tree
from tablewright.expression.evaluate import compile_path
from tablewright.values import Item


class SelectedAttributes(CompiledProjection):
    """The paths of a SELECT, called with an item.

    >>> select = SelectedAttributes((tree.Path(("id",)), tree.Path(("address", "city"))))
    >>> select({"id": {"N": "1"}, "address": {"M": {"city": {"S": "Rome"}}}, "x": {"N": "2"}})
    {'id': {'N': '1'}, 'city': {'S': 'Rome'}}
    """

    __slots__ = ()

    def __init__(self, paths: tuple[tree.Path, ...]) -> None:
        super().__init__(paths)
        names = [_attribute_name(path) for path in paths]
        for name in names:
            if names.count(name) > 1:
                raise ValidationException(f"Duplicate identifiers in select clause: {name}")
        reads = [(name, compile_path(path.parts)) for name, path in zip(names, paths, strict=True)]

        def pick(item: Item) -> Item:
            found = ((name, read(item, {})) for name, read in reads)
            return {name: value for name, value in found if value is not None}

        self._pick = pick


def _attribute_name(path: tree.Path) -> str:
    name = ""
    for part in path.parts:
        name = part if isinstance(part, str) else f"{name}[{part}]"
    return name

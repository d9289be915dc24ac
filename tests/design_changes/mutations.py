"""Mutations: random changes of the source of a design.

A mutation changes the syntax tree, or nothing if it finds no place. The result may be invalid; the
caller then tries another one. Classes, attributes and keys keep their names in Python, so that the
parts of two versions can be paired.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from copy import deepcopy
from random import Random
from typing import Any

Mutation = Callable[["Design", Random], bool]
#: Expressions that declare a place in an index.
_PLACES = ("index", "local", "swapped")
_TYPES = {
    "int": ("Decimal", "str", "float", "int | None"),
    "str": ("int", "KSUID | str", "str | None", "Literal['a', 'b']", "Any"),
    "Decimal": ("int", "str", "float", "Any"),
    "datetime": ("str", "date", "int"),
    "date": ("str", "datetime"),
    "UUID": ("str",),
    "KSUID": ("str",),
}
_FORMATS = {
    "day": "hour", "hour": "day", "epoch_seconds": "epoch_millis", "lower": "upper",
}  # fmt: skip
_ADDED = (
    "extra: Attr[str] = attr(default='x')",
    "extra: Attr[str | None] = attr(default=None)",
    "extra: Attr[str | None] = attr(default='x')",
    "extra: Attr[str] = attr()",
    "extra: Attr[set[str]] = attr(default_factory=set)",
    "extra: Attr[datetime] = created_at()",
    "extra: Attr[datetime] = updated_at()",
    "extra: Attr[int] = version()",
    "extra: Attr[datetime | None] = ttl(default=None)",
)


class Design:
    """The syntax tree of a design, without what is not about its tables."""

    def __init__(self, source: str) -> None:
        self.tree = ast.parse(source)
        self.tree.body = [
            node
            for node in self.tree.body
            if isinstance(node, ast.Import | ast.Assign | ast.AnnAssign)
            or (isinstance(node, ast.ImportFrom) and node.module != "__future__")
            or (isinstance(node, ast.ClassDef) and not _has_base(node, "Aggregate"))
            or (isinstance(node, ast.FunctionDef) and node.name.startswith("_"))
        ]

    @property
    def source(self) -> str:
        return ast.unparse(ast.fix_missing_locations(self.tree))

    @property
    def classes(self) -> list[ast.ClassDef]:
        return [node for node in self.tree.body if isinstance(node, ast.ClassDef)]

    @property
    def tables(self) -> list[ast.ClassDef]:
        return [node for node in self.classes if _has_base(node, "Table")]

    @property
    def entities(self) -> list[ast.ClassDef]:
        bases = {"Entity", "WriteOnce"}
        found = []
        for node in self.classes:
            if any(_has_base(node, base) for base in bases):
                bases.add(node.name)
                found.append(node)
        return found

    @property
    def enums(self) -> list[ast.ClassDef]:
        return [node for node in self.classes if any("Enum" in ast.unparse(b) for b in node.bases)]


def mutate(source: str, random: Random, count: int) -> str:
    """Return the source after some mutations."""
    design = Design(source)
    while count:
        changed = deepcopy(design)
        if random.choice(MUTATIONS)(changed, random) and changed.entities:
            design, count = changed, count - 1
    return design.source


def _has_base(node: ast.ClassDef, name: str) -> bool:
    return any(isinstance(base, ast.Name) and base.id == name for base in node.bases)


def _pick(random: Random, options: Any) -> Any:
    found = list(options)
    return random.choice(found) if found else None


def _statement(text: str) -> ast.stmt:
    return ast.parse(text).body[0]


def _value(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _calls(node: ast.AST, *names: str) -> Iterator[ast.Call]:
    """Yield the calls of functions and methods with these names."""
    for each in ast.walk(node):
        if isinstance(each, ast.Call):
            function = each.func
            name = function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")
            if name in names:
                yield each


def _keyword(call: ast.Call | ast.ClassDef, name: str) -> ast.keyword | None:
    return next((each for each in call.keywords if each.arg == name), None)


def _set(call: ast.Call | ast.ClassDef, name: str, text: str) -> None:
    call.keywords = [each for each in call.keywords if each.arg != name]
    call.keywords.append(ast.keyword(name, _value(text)))


def _attributes(entity: ast.ClassDef) -> list[tuple[str, ast.AnnAssign, ast.Call]]:
    """Return the attributes that are declared with attr()."""
    return [
        (node.target.id, node, node.value)
        for node in entity.body
        if isinstance(node, ast.AnnAssign)
        and isinstance(node.target, ast.Name)
        and isinstance(node.value, ast.Call)
        and isinstance(node.value.func, ast.Name)
        and node.value.func.id == "attr"
    ]


def _any_attribute(
    design: Design, random: Random
) -> tuple[ast.ClassDef, str, ast.AnnAssign, ast.Call] | None:
    found = [(entity, *each) for entity in design.entities for each in _attributes(entity)]
    return _pick(random, found)  # type: ignore[no-any-return]  # one of them


def _members(design: Design, *names: str) -> list[tuple[ast.ClassDef, ast.Assign, ast.Call]]:
    """Return the members of entities that these functions make."""
    return [
        (entity, node, node.value)
        for entity in design.entities
        for node in entity.body
        if isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Call)
        and node.value in list(_calls(node.value, *names))[:1]
    ]


# -- attributes ------------------------------------------------------------------------------------


def change_stored_name(design: Design, random: Random) -> bool:
    found = _any_attribute(design, random)
    if found is None:
        return False
    _, name, _, call = found
    given = _keyword(call, "name")
    stored = ast.literal_eval(given.value) if given else name
    _set(call, "name", repr(f"{stored}_2"))
    if random.random() < 0.7:
        _set(call, "renamed_from", repr(stored))
    return True


def change_default(design: Design, random: Random) -> bool:
    found = _any_attribute(design, random)
    default = found and _keyword(found[3], "default")
    if found is None or not isinstance(default, ast.keyword):
        return False
    others = {int: ["7", "0"], str: ["'y'", "''"], type(None): ["'y'", "7"]}
    value = getattr(default.value, "value", "")
    _set(found[3], "default", random.choice(others.get(type(value), ["None"])))
    return True


def make_required(design: Design, random: Random) -> bool:
    found = _any_attribute(design, random)
    if found is None or _keyword(found[3], "default") is None:
        return False
    found[3].keywords = [each for each in found[3].keywords if each.arg != "default"]
    annotation = ast.unparse(found[2].annotation).replace(" | None", "")
    found[2].annotation = _value(annotation)
    return True


def make_optional(design: Design, random: Random) -> bool:
    found = _any_attribute(design, random)
    if found is None or _keyword(found[3], "default") is not None:
        return False
    kind = ast.unparse(found[2].annotation)
    default = {"Attr[str]": "'z'", "Attr[int]": "3"}.get(kind)
    if default is None:
        found[2].annotation = _value(f"{kind.removesuffix(']')} | None]")
    _set(found[3], "default", default or "None")
    return True


def change_type(design: Design, random: Random) -> bool:
    found = _any_attribute(design, random)
    if found is None:
        return False
    names = [
        each
        for each in ast.walk(found[2].annotation)
        if isinstance(each, ast.Name) and each.id in _TYPES
    ]
    if not names:
        return False
    chosen = random.choice(names)
    text = ast.unparse(found[2].annotation)
    new = random.choice(_TYPES[chosen.id])
    found[2].annotation = _value(text.replace(chosen.id, new, 1))
    return True


def add_attribute(design: Design, random: Random) -> bool:
    entity = _pick(random, design.entities)
    entity.body.insert(0, _statement(random.choice(_ADDED)))
    return True


def remove_attribute(design: Design, random: Random) -> bool:
    found = _any_attribute(design, random)
    if found is None:
        return False
    found[0].body.remove(found[2])
    return True


def change_role(design: Design, random: Random) -> bool:
    calls = [
        call
        for entity in design.entities
        for call in _calls(entity, "version", "created_at", "updated_at", "ttl")
    ]
    call = _pick(random, calls)
    if call is None:
        return False
    others = {
        "version": ["attr(default=0)", "attr()"],
        "created_at": ["updated_at()", "attr(default_factory=lambda: datetime.now(UTC))"],
        "updated_at": ["created_at()", "attr(default_factory=lambda: datetime.now(UTC))"],
        "ttl": ["attr(default=None)"],
    }
    new = _value(random.choice(others[call.func.id]))
    assert isinstance(new, ast.Call)
    call.func, call.keywords = new.func, new.keywords
    return True


def remove_stamp(design: Design, random: Random) -> bool:
    found = [
        (entity, node)
        for entity in design.entities
        for node in entity.body
        if isinstance(node, ast.AnnAssign)
        and isinstance(node.value, ast.Call)
        and any(_calls(node.value, "version", "created_at", "updated_at", "ttl"))
    ]
    if not found:
        return False
    entity, node = random.choice(found)
    entity.body.remove(node)
    return True


def change_ttl_name(design: Design, random: Random) -> bool:
    call = _pick(random, [call for entity in design.entities for call in _calls(entity, "ttl")])
    if call is None:
        return False
    _set(call, "name", "'until'")
    return True


def change_choices(design: Design, random: Random) -> bool:
    enum = _pick(random, design.enums)
    if enum is None:
        return False
    members = [node for node in enum.body if isinstance(node, ast.Assign)]
    way = random.choice(("add", "remove", "change"))
    if way == "add":
        enum.body.append(_statement("EXTRA = 'extra'"))
    elif way == "remove":
        enum.body.remove(members[-1])
    else:
        random.choice(members).value = _value("'other'")
    return True


def change_literal_type(design: Design, random: Random) -> bool:
    found = [
        node
        for entity in design.entities
        for node in ast.walk(entity)
        if isinstance(node, ast.Subscript) and ast.unparse(node.value) == "Literal"
    ]
    if not found:
        return False
    chosen = random.choice(found)
    options = list(ast.literal_eval(chosen.slice))
    options = [*options, "extra"] if random.random() < 0.5 else options[:1]
    chosen.slice = _value(", ".join(map(repr, options)))
    return True


def change_field(design: Design, random: Random) -> bool:
    """Change a model or a dataclass that attributes contain."""
    models = [
        node
        for node in design.classes
        if _has_base(node, "BaseModel") or "dataclass" in map(ast.unparse, node.decorator_list)
    ]
    model = _pick(random, models)
    if model is None:
        return False
    model.body.append(_statement(random.choice(("extra: str = 'x'", "extra: int | None = None"))))
    return True


# -- keys ------------------------------------------------------------------------------------------


def change_literal(design: Design, random: Random) -> bool:
    found = [
        node
        for entity in design.entities
        for call in _calls(entity, "key", "unique", *_PLACES)
        for argument in call.args
        for node in ast.walk(argument)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    chosen = _pick(random, found)
    if chosen is None:
        return False
    chosen.value += "X"
    return True


def change_pad(design: Design, random: Random) -> bool:
    pads = [
        pad
        for entity in design.entities
        for _, _, call in _attributes(entity)
        if (pad := _keyword(call, "pad")) is not None
    ]
    if not pads:
        return False
    random.choice(pads).value = _value(str(random.choice((5, 6, 7))))
    return True


def change_format(design: Design, random: Random) -> bool:
    calls = [call for entity in design.entities for call in _calls(entity, *_FORMATS)]
    call = _pick(random, calls)
    if call is None:
        return False
    call.func.id = _FORMATS[call.func.id]
    return True


def change_shards(design: Design, random: Random) -> bool:
    call = _pick(random, [call for entity in design.entities for call in _calls(entity, "shard")])
    if call is None:
        return False
    _set(call, "of", random.choice(("2", "8")))
    return True


def wrap_in_format(design: Design, random: Random) -> bool:
    found = _pick(random, _members(design, "key", "unique", "index"))
    if found is None:
        return False
    paths = [
        node
        for argument in found[2].args
        for node in ast.walk(argument)
        if isinstance(node, ast.BinOp) and isinstance(node.right, ast.Name)
    ]
    if not paths:
        return False
    path = random.choice(paths)
    path.right = _value(f"lower({ast.unparse(path.right)})")
    return True


def add_place(design: Design, random: Random) -> bool:
    entity, table = _pick(random, design.entities), _pick(random, design.tables)
    attributes = _attributes(entity)
    if not attributes or not table:
        return False
    if random.random() < 0.5:
        table.body.append(_statement("extra_index = GSI('XPK', 'XSK')"))
        index = "extra_index"
    else:
        names = [
            ast.unparse(node.targets[0])
            for node in table.body
            if isinstance(node, ast.Assign) and any(_calls(node, "GSI"))
        ]
        index = _pick(random, names) or "missing"
    name, _, call = random.choice(attributes)
    if random.random() < 0.3:
        given = _keyword(call, "name")
        stored = ast.literal_eval(given.value) if given else name
        table.body.append(_statement(f"extra_natural = GSI({stored!r})"))
        entity.body.append(_statement(f"extra_place = index({table.name}.extra_natural, {name})"))
        return True
    when = random.choice(("", f", when={name}.exists()"))
    place = f"extra_place = index({table.name}.{index}, 'EXTRA' / {name}, 'EXTRA'{when})"
    entity.body.append(_statement(place))
    return True


def remove_member(design: Design, random: Random) -> bool:
    """Remove a place in an index, a unique value or a history."""
    found = _pick(random, _members(design, *_PLACES, "unique", "history"))
    if found is None:
        return False
    found[0].body.remove(found[1])
    return True


def change_when(design: Design, random: Random) -> bool:
    places = [call for _, _, call in _members(design, "index", "local")]
    call = _pick(random, places)
    if call is None:
        return False
    when = _keyword(call, "when")
    if when is not None and random.random() < 0.5:
        call.keywords.remove(when)
        return True
    entity = next(each for each in design.entities if call in list(_calls(each, *_PLACES)))
    attributes = _attributes(entity)
    if not attributes:
        return False
    name = random.choice(attributes)[0]
    _set(call, "when", random.choice((f"{name}.exists()", f"{name} != {name!r}")))
    return True


def add_unique(design: Design, random: Random) -> bool:
    entity = _pick(random, design.entities)
    texts = [name for name, node, _ in _attributes(entity) if "str" in ast.unparse(node.annotation)]
    name = _pick(random, texts)
    if name is None:
        return False
    entity.body.append(_statement(f"extra_unique = unique('EXTRA' / {name})"))
    return True


def change_unique(design: Design, random: Random) -> bool:
    found = _pick(random, _members(design, "unique"))
    if found is None:
        return False
    entity, _, call = found
    if random.random() < 0.5:
        _set(call, "type_name", "'Other'")
        return True
    names = [name for name, _, _ in _attributes(entity)]
    _set(call, "keep", f"({', '.join(random.sample(names, min(3, len(names))))},)")
    return True


def change_history(design: Design, random: Random) -> bool:
    found = _pick(random, _members(design, "history"))
    if found is None:
        return False
    _set(found[2], "always", str(_keyword(found[2], "always") is None))
    return True


# -- entities and tables ---------------------------------------------------------------------------


def change_type_name(design: Design, random: Random) -> bool:
    entity = _pick(random, design.entities)
    given = _keyword(entity, "type_name")
    stored = ast.literal_eval(given.value) if given else entity.name
    _set(entity, "type_name", repr(f"{stored}2"))
    if random.random() < 0.7:
        _set(entity, "renamed_from", repr(stored))
    return True


def remove_entity(design: Design, random: Random) -> bool:
    if len(design.entities) < 2:
        return False
    design.tree.body.remove(random.choice(design.entities))
    return True


def add_entity(design: Design, random: Random) -> bool:
    """Add an entity in a partition of its own, of another entity, or of an index."""
    found = [each for each in _members(design, "key") if len(each[2].args) == 2]
    if not found:
        return False
    entity, _, call = random.choice(found)
    table = _keyword(entity, "table")
    if table is None or _keyword(entity, "variants"):
        return False
    names = {node.id for node in ast.walk(call.args[0]) if isinstance(node, ast.Name)}
    declared = {name: ast.unparse(node) for name, node, _ in _attributes(entity) if name in names}
    lines = [f"class Extra(Entity, table={ast.unparse(table.value)}):"]
    lines += [f"    {text}" for text in declared.values()]
    lines += ["    extra_id: Attr[str] = attr()"]
    if random.random() < 0.5:
        lines += [f"    primary = key({ast.unparse(call.args[0])}, 'ZZZ' / extra_id)"]
    else:
        lines += ["    primary = key('ZZZ' / extra_id, 'ZZZ')"]
    shared = [
        each for _, _, each in _members(design, "index")
        if len(each.args) == 3 and isinstance(each.args[1], ast.Constant)
    ]  # fmt: skip
    if shared and random.random() < 0.7:
        place = random.choice(shared)
        index, partition = (ast.unparse(each) for each in place.args[:2])
        lines += [f"    shared = index({index}, {partition}, 'ZZZ' / extra_id)"]
    design.tree.body.append(_statement("\n".join(lines)))
    return True


def change_table(design: Design, random: Random) -> bool:
    table = _pick(random, design.tables)
    option, value = random.choice(
        (
            ("type_attribute", "'kind_of'"),
            ("type_attribute", "None"),
            ("type_form", "'set'"),
            ("delimiter", "':'"),
            ("escape", "False"),
            ("pk", "'other_pk'"),
            ("stream", "'NEW_IMAGE'"),
            ("stream", "'KEYS_ONLY'"),
            ("name", "'other_table'"),
        )
    )
    _set(table, option, value)
    return True


def change_tenancy(design: Design, random: Random) -> bool:
    call = _pick(random, [call for table in design.tables for call in _calls(table, "Tenancy")])
    if call is None:
        return False
    _set(call, "shared", "('SHARED',)")
    return True


def change_index(design: Design, random: Random) -> bool:
    table = _pick(random, design.tables)
    nodes = [node for node in table.body if isinstance(node, ast.Assign)]
    way = random.choice(("add", "remove", "project"))
    if way == "add" or not nodes:
        table.body.append(_statement("extra_index = GSI('XPK', 'XSK')"))
    elif way == "remove":
        table.body.remove(random.choice(nodes))
        table.body = table.body or [ast.Pass()]
    else:
        call = random.choice(nodes).value
        if isinstance(call, ast.Call):
            _set(call, "project", "('extra', 'size')")
    return True


def change_local_index(design: Design, random: Random) -> bool:
    """Add a local index, or remove one with the places in it, or change its projection."""
    table = _pick(random, design.tables)
    found = [
        node for node in table.body if isinstance(node, ast.Assign) and list(_calls(node, "LSI"))
    ]
    way = random.choice(("add", "remove", "project"))
    if way == "add" or not found:
        table.body.append(_statement("extra_local = LSI('extra_sort')"))
        return True
    chosen = random.choice(found)
    if way == "project":
        _set(next(_calls(chosen, "LSI")), "project", "'KEYS_ONLY'")
        return True
    table.body.remove(chosen)
    place = f"{table.name}.{ast.unparse(chosen.targets[0])}"
    for entity, member, call in _members(design, "local"):
        if call.args and ast.unparse(call.args[0]) == place:
            entity.body.remove(member)
    table.body = table.body or [ast.Pass()]
    return True


def change_stream(design: Design, random: Random) -> bool:
    """Change or remove the stream of a table, or add one."""
    table = _pick(random, design.tables)
    given = _keyword(table, "stream")
    if given is not None and random.random() < 0.3:
        table.keywords.remove(given)
        return True
    views = ("NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES", "KEYS_ONLY")
    _set(table, "stream", repr(random.choice(views)))
    return True


MUTATIONS: list[Mutation] = [
    change_stored_name,
    change_default,
    make_required,
    make_optional,
    change_type,
    add_attribute,
    add_attribute,
    remove_attribute,
    change_role,
    remove_stamp,
    change_ttl_name,
    change_tenancy,
    change_choices,
    change_choices,
    change_literal_type,
    change_field,
    change_literal,
    change_pad,
    change_format,
    change_shards,
    change_shards,
    wrap_in_format,
    add_place,
    remove_member,
    change_when,
    add_unique,
    change_unique,
    change_history,
    change_type_name,
    remove_entity,
    add_entity,
    change_table,
    change_index,
    change_local_index,
    change_stream,
    change_stream,
]

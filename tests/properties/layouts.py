"""Random designs for the property tests of reads: several entities in one partition and one index.

The sort key of a root is a literal, a number or a text. Those of the other entities are below it,
beside it, before or after it, and some of them begin like it. Each entity may be in the index.
"""

# No `from __future__ import annotations`: the types of members are arguments.

from dataclasses import dataclass
from typing import Any, Literal

from hypothesis import strategies as st

from tablewright import (
    GSI,
    Aggregate,
    Attr,
    Entity,
    Page,
    Projection,
    Table,
    Tenancy,
    attr,
    child,
    children,
    index,
    key,
    put,
    root,
)
from tablewright.database import Database
from tablewright.errors import DeclarationError
from tablewright.values import Item

#: Ids that sort between another id and what is below it.
TEXTS = ["1", "1 x", "1!", "10", "1#", "1$", "2"]
NUMBERS = range(4)
PARTITIONS = ["a", "b"]
#: Sort before the root, between roots, and after it.
LITERALS = ["A", "ROO", "ROOT", "ROOTS", "Z"]

Ending = Literal["literal", "number", "text"]


@dataclass(frozen=True)
class Sort:
    """How a sort key is composed."""

    literal: str
    ending: Ending
    is_below: bool = False
    is_indexed: bool = False

    def expression(self, root_ending: Ending, above: Any, number: Any, text: Any) -> Any:
        start: Any = self.literal
        if self.is_below and root_ending == "literal":
            start = f"ROOT#{self.literal}"
        elif self.is_below:
            start = "ROOT" / above / self.literal
        own = {"literal": None, "number": number, "text": text}[self.ending]
        return start if own is None else start / own


ENDINGS: st.SearchStrategy[Ending] = st.sampled_from(["literal", "number", "text"])
SORTS = st.builds(Sort, st.sampled_from(LITERALS), ENDINGS, st.booleans(), st.booleans())


@dataclass(frozen=True)
class Design:
    """A table whose first entity is the root of its aggregates."""

    table: Any
    entities: list[Any]
    sorts: list[Sort]

    @property
    def root(self) -> Any:
        return self.entities[0]

    def above(self, position: int) -> list[Any]:
        """Return the ids of roots that entities at a position can belong to."""
        if self.sorts[0].ending == "literal" or (position and not self.sorts[position].is_below):
            return [None]
        return list(NUMBERS) if self.sorts[0].ending == "number" else TEXTS

    def make(self, position: int, partition: str, above: Any, own: Any, note: str) -> Any:
        """Return an entity of the class at a position."""
        sort, values = self.sorts[position], {"partition": partition, "note": note}
        if position == 0:
            values |= {sort.ending: above} if above is not None else {}
        else:
            values |= {sort.ending: own} if sort.ending != "literal" else {}
            values |= {f"above_{self.sorts[0].ending}": above} if above is not None else {}
        return self.entities[position](**values)

    def stored(self, db: Database, kind: Any) -> list[tuple[Item, Any]]:
        """Return the items of an entity with what they are, in the order of their sort keys."""
        mapped = kind.__entity__
        found = [
            (item, mapped.decode(item))
            for item in items_of(db)
            if mapped.includes(mapped.table.entity_of(item))
        ]
        return sorted(found, key=lambda each: str(each[0]["SK"]["S"]).encode())


def items_of(db: Database) -> list[Item]:
    """Return all stored items."""
    engine = db._transport.engine  # type: ignore[attr-defined]
    body: dict[str, Any] = {"TableName": "layouts"}
    found: list[Item] = []
    while True:
        answer = engine.call("Scan", body)
        found += answer["Items"]
        if "LastEvaluatedKey" not in answer:
            return found
        body["ExclusiveStartKey"] = answer["LastEvaluatedKey"]


def declare(sorts: list[Sort]) -> Design:
    """Declare a table; leave out entities whose keys are refused."""

    class Layouts(Table, name="layouts"):
        everything = GSI("SK", "PK")
        by_group = GSI("GSI1PK", "GSI1SK")
        tenancy = Tenancy("partition", write=("P#{partition}",), filtered=(by_group,))

    entities: list[Any] = []
    kept: list[Sort] = []
    root_ending = sorts[0].ending
    for position, sort in enumerate(sorts):
        try:

            class One(Entity, table=Layouts, type_name=f"E{position}"):
                partition: Attr[str] = attr()
                above_number: Attr[int] = attr(pad=3, default=0)
                above_text: Attr[str] = attr(default="-")
                number: Attr[int] = attr(pad=3, default=0)
                text: Attr[str] = attr(default="-")
                note: Attr[str] = attr(default="")
                primary = key(
                    "P" / partition,
                    sort.expression(
                        root_ending,
                        above_number if root_ending == "number" else above_text,
                        number,
                        text,
                    ),
                )
                by_group = index(
                    Layouts.by_group,
                    "GROUP" if sort.is_indexed else "OTHER",
                    sort.expression(
                        root_ending,
                        above_number if root_ending == "number" else above_text,
                        number,
                        text,
                    ),
                )

        except DeclarationError:
            continue  # its keys can be those of another entity
        entities.append(One)
        kept.append(sort)
    return Design(Layouts, entities, kept)


@st.composite
def designs(draw: st.DrawFn) -> Design:
    first = Sort("ROOT", draw(ENDINGS), is_indexed=True)
    return declare([first, *draw(st.lists(SORTS, min_size=1, max_size=4))])


def fill(db: Database, design: Design, data: st.DataObject, largest: int) -> None:
    """Store entities of all kinds in both partitions; some of them are as large as `largest`."""
    for position, sort in enumerate(design.sorts):
        own: Any = {"literal": st.none(), "number": st.sampled_from(NUMBERS)}.get(
            sort.ending, st.sampled_from(TEXTS)
        )
        keys = st.tuples(
            st.sampled_from(PARTITIONS),
            st.sampled_from(design.above(position)),
            own,
            st.sampled_from([1, 1, 1, 1, 1, largest]),
        )
        for partition, above, number, size in data.draw(st.lists(keys, max_size=8)):
            db.run(put(design.make(position, partition, above, number, "x" * size)))


def aggregate_of(design: Design, forms: dict[int, str]) -> Any:
    """Declare an aggregate of the root and of the entities at these positions."""
    annotations: dict[str, Any] = {"root": design.root}
    members: dict[str, Any] = {"root": root()}
    for position, form in forms.items():
        kind: Any = design.entities[position]
        if form == "projection":

            class Line(Projection[kind]):
                partition: str
                note: str

            kind = Line
        member = f"m{position}"
        annotations[member] = (
            Page[kind] if form == "page" else kind | None if form == "child" else list[kind]
        )
        members[member] = child() if form == "child" else children()
    return type("Whole", (Aggregate,), {"__annotations__": annotations, **members})

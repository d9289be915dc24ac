"""What belongs to an entity, and what one refers to, in diagrams and documents."""

from __future__ import annotations

from tablewright import Attr, Entity, Table, attr, key
from tablewright.presentation.erd import erd, mermaid
from tablewright.publish.document import document
from tablewright.rules import cascade, reference
from tablewright.verify import Design
from torture.cascades import Tracker


class Blog(Table, name="blog"): ...


class Writer(Entity, table=Blog):
    writer: Attr[str] = attr()
    primary = key("WRITER" / writer, "WRITER")
    drafts = cascade("Draft", by="of")


class Draft(Entity, table=Blog):
    of: Attr[str] = attr()
    number: Attr[int] = attr(pad=3)
    reviewer_id: Attr[str | None] = attr(default=None)
    primary = key("WRITER" / of, "DRAFT" / number)
    reviewer = reference(Writer, by=reviewer_id)


def test_a_declared_link_is_drawn_instead_of_a_guess() -> None:
    drawn = erd(Blog.__table__.entities)
    assert drawn.relation_rows() == [
        ("Writer", "Draft", "0 or more", "drafts"),
        ("Writer", "Draft", "0 or more", "reviewer"),
    ]
    text = mermaid(drawn)
    assert "WRITER ||--o{ DRAFT : drafts" in text
    assert "str reviewer_id FK" in text
    assert "str of PK, FK" in text


def test_the_document_says_what_happens() -> None:
    design = Design(name="tracker", doc="", tables=(Tracker, Blog), sample=None, checks=None)
    text = document(design)
    for sentence in (
        "`Project.issues`: items of Issue are deleted with their Project. They are written only if "
        "the Project exists.",
        "`Project.notes`: items of Note stay without their Project when it is deleted.",
        "`Project.bills`: items of Bill keep their Project from being deleted.",
        "`Draft.reviewer`: `reviewer_id` in Draft refers to an item of Writer, which must exist "
        "when it is written.",
    ):
        assert sentence in text

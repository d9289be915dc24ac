"""What belongs together and what refers to what; `links_mistakes.py` misuses it."""
# pyright: strict

from __future__ import annotations

from typing import assert_type

from tablewright import (
    GSI,
    Attr,
    Entity,
    Get,
    Page,
    Query,
    Table,
    access_pattern,
    attr,
    batch_get,
    connect,
    create,
    index,
    key,
)
from tablewright.plans import BatchGet, Included, Then
from tablewright.rules import cascade, detach, reference, restrict


class Press(Table, name="press"):
    by_author = GSI("GSI1PK", "GSI1SK")


class Article(Entity, table=Press):
    paper: Attr[str] = attr()
    number: Attr[int] = attr(pad=4)
    author_id: Attr[str | None] = attr(default=None)
    primary = key("PAPER" / paper, "ARTICLE" / number)
    by_author = index(Press.by_author, "AUTHOR" / author_id, "ARTICLE" / paper / number)
    author = reference("Author", by=author_id)


class Advert(Entity, table=Press):
    paper: Attr[str] = attr()
    page: Attr[int] = attr(pad=4)
    primary = key("PAPER" / paper, "ADVERT" / page)


class Paper(Entity, table=Press):
    paper: Attr[str] = attr()
    primary = key("PAPER" / paper, "PAPER")
    articles = cascade(Article)
    adverts = restrict(Advert)


class Author(Entity, table=Press):
    author: Attr[str] = attr()
    primary = key("AUTHOR" / author, "AUTHOR")
    articles = detach(Article.by_author, by=(Article.author_id,))


class Letter(Entity, table=Press):
    paper: Attr[str] = attr()
    number: Attr[int] = attr(pad=4)
    writer: Attr[str] = attr()
    primary = key("PAPER" / paper, "LETTER" / number)
    author = reference(Author, by=writer)
    article = reference(Article)


@access_pattern
def letters(paper: str) -> Included[Letter, Author]:
    """The letters to a paper, each with its author."""
    return Letter.primary.within(paper).page_size(9).include(Letter.author)


def references_are_typed() -> None:
    with connect(":memory:", Press) as db:
        db.run(create(Paper(paper="p")))
        db.run(create(Author(author="a")))
        db.run(create(Article(paper="p", number=1, author_id="a")))
        letter = db.run(create(Letter(paper="p", number=1, writer="a")))
        assert_type(Letter.author(letter), Get[Author])
        assert_type(db.run(Letter.article(letter)), Article | None)
        all_of_them: Query[Letter] = Letter.primary.within("p")
        assert_type(all_of_them.include(Letter.author), Included[Letter, Author])
        page = db.run(letters("p").page_size(2).after(None).before(None))
        assert_type(page, Page[tuple[Letter, Author | None]])
        for each, author in page:
            assert_type(each, Letter)
            assert_type(author, Author | None)
        assert_type(Letter.primary("p", 1).then(Letter.author), Then[Letter, Author | None])
        assert_type(batch_get([Letter.author(each) for each, _ in page]), BatchGet[Author])
        assert_type(db.run(Paper.primary("p").delete()), Paper | None)

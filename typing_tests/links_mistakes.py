"""One mistake a line, as in `mistakes.py`: the misuse of what is declared in `links.py`."""

from __future__ import annotations

from tablewright import Query
from tablewright.rules import cascade, detach, reference, restrict
from typing_tests.links import Article, Author, Letter

letters: Query[Letter] = Letter.primary.within("p")
authors: Query[Author] = Author.primary.within("a")

cascade(5)  # E: an entity, a key of one, or its name
detach(None)  # E: an entity, a key of one, or its name
restrict(Article, by=5)  # E: attributes, or their names
reference(Author.primary("a"))  # E: an entity is not a plan
reference(Author, by=1)  # E: attributes, or their names
authors.include(Letter.author)  # E: a reference of another entity
letters.include(Letter.writer)  # E: an attribute is not a reference
letters.include("author")  # E: a reference is not its name
letters.include()  # E: a reference is missing
Letter.author(Author(author="a"))  # E: another entity has it
letters.include(Letter.autor)  # E: a misspelled reference

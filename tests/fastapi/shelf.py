"""A design whose access patterns are an HTTP API: the books and loans of libraries."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from enum import StrEnum

from tablewright import (
    GSI,
    Aggregate,
    Attr,
    Create,
    Delete,
    Entity,
    First,
    Get,
    Input,
    Load,
    Patch,
    Put,
    Query,
    Table,
    Tenancy,
    Transaction,
    Update,
    access_pattern,
    attr,
    children,
    create,
    index,
    key,
    put,
    root,
    transact,
    update,
    version,
)
from tablewright.plans import Count, ReturningOld, Then


class Shelf(Table, name="shelf"):
    gsi1 = GSI("GSI1PK", "GSI1SK")
    tenancy = Tenancy("library", write=("LIB#{library}", "LIB#{library}#*"))


class State(StrEnum):
    IN = "in"
    OUT = "out"


class Book(Entity, table=Shelf):
    library: Attr[str] = attr()
    isbn: Attr[str] = attr()
    title: Attr[str] = attr()
    state: Attr[State] = attr(default=State.IN)
    version: Attr[int] = version()
    primary = key("LIB" / library / "BOOK" / isbn, "BOOK")
    by_state = index(Shelf.gsi1, "LIB" / library / "STATE" / state, "BOOK" / isbn)


class Loan(Entity, table=Shelf):
    library: Attr[str] = attr()
    isbn: Attr[str] = attr()
    day: Attr[date] = attr()
    reader: Attr[str] = attr()
    primary = key("LIB" / library / "BOOK" / isbn, "LOAN" / day)
    by_reader = index(Shelf.gsi1, "LIB" / library / "READER" / reader, "LOAN" / day)


class BookWithLoans(Aggregate):
    book: Book = root()
    loans: list[Loan] = children()


class NewBook(Input[Book], exclude=("library",)): ...


class BookPatch(Patch[Book]): ...


@access_pattern
def add_book(library: str, new: NewBook) -> Create[Book]:
    """Add a book.

    A library has each book once.
    """
    return create(new.entity(library=library))


@access_pattern
def put_loan(loan: Loan) -> Put[Loan]:
    return put(loan)


@access_pattern(route="PUT /exchanged-loan")
def exchange_loan(loan: Loan) -> ReturningOld[Loan | None]:
    return put(loan).returning("old")


@access_pattern
def book(library: str, isbn: str) -> Get[Book]:
    """A book."""
    return Book.primary(library, isbn)


@access_pattern
def book_with_loans(library: str, isbn: str) -> Load[BookWithLoans]:
    return BookWithLoans.of(Book.primary(library, isbn))


@access_pattern
def loans(library: str, isbn: str) -> Query[Loan]:
    """The loans of a book."""
    return Loan.primary.within(library, isbn)


@access_pattern
def loans_of(library: str, reader: str) -> Query[Loan]:
    """The loans of a reader."""
    return Loan.by_reader(library, reader)


@access_pattern
def loans_since(library: str, isbn: str, since: date = date(2026, 1, 1)) -> Query[Loan]:
    return Loan.primary.within(library, isbn).gte(since)


@access_pattern
def latest_loans(library: str, isbn: str, limit: int) -> Query[Loan]:
    return Loan.primary.within(library, isbn).desc().page_size(limit)


@access_pattern(route="GET /libraries/{library}/books/{state}/first")
def first_book(library: str, state: State) -> First[Book]:
    return Book.by_state(library, state).first()


@access_pattern
def count_books(library: str, state: State) -> Count:
    return Book.by_state(library, state).count()


@access_pattern
def lend_first(library: str, state: State) -> Then[Book, Book]:
    """Lend the first book in a state."""
    found = Book.by_state(library, state).first()
    return found.then(lambda book: update(book, Book.state.set(State.OUT)))


@access_pattern
def edit_book(library: str, isbn: str, patch: BookPatch) -> Update[Book]:
    return Book.primary(library, isbn).update(*Book.changes_from(patch))


@access_pattern
def retitle(library: str, isbn: str, title: str) -> ReturningOld[Book]:
    return Book.primary(library, isbn).update(Book.title.set(title)).returning("old")


@access_pattern
def lend(library: str, isbn: str, reader: str, day: date) -> Transaction:
    """Lend a book that is in."""
    change = Book.primary(library, isbn).update(Book.state.set(State.OUT))
    loan = Loan(library=library, isbn=isbn, day=day, reader=reader)
    return transact(change.condition(Book.state == State.IN), create(loan))


@access_pattern
def add_loans(loans: Sequence[Loan]) -> Transaction:
    return transact(*(create(loan) for loan in loans))


@access_pattern
def remove_book(library: str, isbn: str) -> Delete[Book]:
    return Book.primary(library, isbn).delete()


@access_pattern
def remove_books(*isbns: str, library: str) -> Transaction:
    return transact(*(Book.primary(library, isbn).delete() for isbn in isbns))

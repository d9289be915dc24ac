"""References: what a write refers to exists, and reads follow references on request."""

from __future__ import annotations

import pytest

from tablewright import (
    GSI,
    Attr,
    Engine,
    Entity,
    Query,
    Table,
    Tenancy,
    access_pattern,
    attr,
    batch_get,
    connect,
    create,
    explain,
    index,
    key,
    put,
    transact,
    update_all,
)
from tablewright.database import Database
from tablewright.errors import (
    AccessDeniedException,
    DeclarationError,
    InvalidValue,
    NotFound,
    TenantViolation,
)
from tablewright.plans import Included
from tablewright.publish.iam import policy
from tablewright.rules import reference, restrict
from tablewright.verify import Design
from tests.costs import run_within_range
from tests.new_table import new_table
from tests.prepared import Prepare, with_tables
from tests.transports import record_requests


class Blog(Table, name="include"):
    by_user = GSI("GSI1PK", "GSI1SK")


class User(Entity, table=Blog):
    user: Attr[str] = attr()
    name: Attr[str] = attr(default="")
    primary = key("USER" / user, "USER")
    posts = restrict("Post.by_author", by="author_id")


class Post(Entity, table=Blog):
    blog: Attr[str] = attr()
    number: Attr[int] = attr(pad=3)
    author_id: Attr[str | None] = attr(default=None)
    answers: Attr[int | None] = attr(default=None)
    primary = key("BLOG" / blog, "POST" / number)
    by_author = index(Blog.by_user, "USER" / author_id, "POST" / blog / number)
    author = reference(User, by=author_id)
    question = reference("Post", by=(blog, answers))


@access_pattern(role="reads")
def posts_with_authors(blog: str) -> Included[Post, User]:
    """The posts of a blog, each with its author."""
    return Post.primary.within(blog).page_size(5).include(Post.author)


@pytest.fixture
def prepare() -> Prepare:
    return with_tables(Blog)


@pytest.fixture
def db(engine: Engine) -> Database:
    db = connect(engine, Blog)
    for name in "ab":
        db.run(create(User(user=name, name=name.upper())))
    for number in range(6):
        author = (None, "a", "b")[number % 3]
        db.run(create(Post(blog="x", number=number, author_id=author)))
    return db


POSTS = Post.primary.within("x")


# -- writes ---------------------------------------------------------------------------------------


def test_what_a_write_refers_to_must_exist(db: Database) -> None:
    for write in (
        create(Post(blog="x", number=9, author_id="none")),
        put(Post(blog="x", number=1, author_id="none")),
        Post.primary("x", 1).update(Post.author_id.set("none")),
        update_all(POSTS, Post.author_id.set("none")),
        create(Post(blog="x", number=9, answers=99)),
    ):
        with pytest.raises(NotFound, match=r"(User\.posts|Post\.question) needs it"):
            db.run(write)


def test_other_changes_check_nothing(db: Database) -> None:
    recorded = record_requests(db)
    db.run(Post.primary("x", 1).update(Post.answers.set(None)))
    db.run(put(Post(blog="x", number=7)))
    db.run(Post.primary("x", 1).delete())
    names = {"UpdateItem", "PutItem", "DeleteItem", "GetItem"}
    assert {name for name, _ in recorded.requests} <= names


def test_an_item_can_refer_to_one_of_its_entity(db: Database) -> None:
    db.run(
        transact(
            create(Post(blog="x", number=10)),
            create(Post(blog="x", number=11, answers=10)),
        )
    )
    answer = db.run(Post.primary("x", 11))
    assert answer is not None
    assert db.run(Post.question(answer)) == Post(blog="x", number=10)


def test_a_target_that_restricts_stays_while_it_is_referred_to(db: Database) -> None:
    with pytest.raises(Exception, match=r"items of Post belong to it \(User\.posts\)"):
        db.run(User.primary("a").delete())


# -- reads ----------------------------------------------------------------------------------------


def test_a_page_includes_what_it_refers_to(db: Database) -> None:
    recorded = record_requests(db)
    page = db.run(posts_with_authors("x"))
    assert [(post.number, user and user.name) for post, user in page] == [
        *((0, None), (1, "A"), (2, "B"), (3, None), (4, "A")),
    ]
    assert [name for name, _ in recorded.requests] == ["Query", "BatchGetItem"]
    rest = db.run(posts_with_authors("x").after(page.next_cursor))
    assert [post.number for post, _ in rest] == [5]
    back = db.run(posts_with_authors("x").before(rest.previous_cursor))
    assert list(back) == list(page)


def test_a_page_without_references_is_one_request(db: Database) -> None:
    recorded = record_requests(db)
    assert len(db.run(POSTS.filter(~Post.author_id.exists()).include(Post.author))) == 2
    assert [name for name, _ in recorded.requests] == ["Query"]


def test_a_target_that_is_gone_is_none(db: Database) -> None:
    db.transport.send(
        "DeleteItem",
        {"TableName": "include", "Key": {"PK": {"S": "USER#a"}, "SK": {"S": "USER"}}},
    )
    found = {post.number: user for post, user in db.run(POSTS.include(Post.author))}
    assert found[1] is None
    assert found[2] == User(user="b", name="B")


def test_an_index_and_many_targets(db: Database) -> None:
    for number in range(120):
        db.run(create(User(user=f"u{number}")))
        db.run(create(Post(blog="y", number=number, author_id=f"u{number}")))
    pairs = db.run(Post.primary.within("y").include(Post.author))
    assert [user and user.user for _, user in pairs] == [f"u{number}" for number in range(120)]
    assert len(db.run(Post.by_author("a").include(Post.author))) == 2


def test_one_entity_and_lists_follow_references_too(db: Database) -> None:
    found = db.run(Post.primary("x", 1).then(Post.author))
    assert found is not None
    assert found[1] == User(user="a", name="A")
    posts = [post for post in db.run(POSTS) if post.author_id]
    users = db.run(batch_get([Post.author(post) for post in posts]))
    assert [user and user.user for user in users] == ["a", "b", "a", "b"]
    with pytest.raises(InvalidValue, match=r"Post\.author: this Post refers to no User"):
        Post.author(Post(blog="x", number=1))


def test_what_is_not_whole_is_refused(db: Database) -> None:
    with pytest.raises(DeclarationError, match="whole Post items"):
        POSTS.select(Post.number).include(Post.author)  # type: ignore[arg-type]
    with pytest.raises(DeclarationError, match="whole User items"):
        User.primary.within("a").include(Post.author)  # type: ignore[arg-type]


# -- what the shape says --------------------------------------------------------------------------


def test_the_units_are_in_the_range_that_explain_states(db: Database) -> None:
    run_within_range(db, POSTS.page_size(3).include(Post.author))
    run_within_range(db, POSTS.consistent().include(Post.author), items=8)
    run_within_range(db, create(Post(blog="x", number=50, author_id="a", answers=1)))
    shape = explain(posts_with_authors)
    assert shape.operation == "Query + BatchGetItem"


def test_the_policy_of_a_pattern_allows_both_requests(db: Database) -> None:
    design = Design(name="include", doc="", tables=(Blog,), sample=None, checks=None)
    document = policy(design, "reads")
    engine = db.transport.engine  # type: ignore[attr-defined]
    limited = connect(engine, Blog, policy=document)
    assert len(limited.run(posts_with_authors("x"))) == 5
    for statement in document["Statement"]:
        if "dynamodb:BatchGetItem" in statement["Action"]:
            statement["Action"].remove("dynamodb:BatchGetItem")
    with pytest.raises(AccessDeniedException):
        connect(engine, Blog, policy=document).run(posts_with_authors("x"))


class Shared(Table, name="include_shared"):
    tenancy = Tenancy("org", write=("ORG#{org}",))


class Person(Entity, table=Shared):
    org: Attr[str] = attr()
    person: Attr[str] = attr()
    primary = key("ORG" / org, "PERSON" / person)


class Memo(Entity, table=Shared):
    org: Attr[str] = attr()
    number: Attr[int] = attr(pad=3)
    other: Attr[str] = attr()
    person: Attr[str] = attr()
    primary = key("ORG" / org, "MEMO" / number)
    writer = reference(Person, by=(other, person))


def test_a_tenant_neither_refers_to_others_nor_reads_them() -> None:
    with connect(":memory:", Shared) as db:
        for org in "ab":
            db.run(create(Person(org=org, person="p")))
        foreign = Memo(org="a", number=1, other="b", person="p")
        tenant = db.for_tenant(org="a")
        with pytest.raises(TenantViolation):
            tenant.run(create(foreign))
        db.run(create(foreign))
        memos: Query[Memo] = Memo.primary.within("a")
        with pytest.raises(TenantViolation):
            tenant.run(memos.include(Memo.writer))
        db.run(put(Memo(org="a", number=1, other="a", person="p")))
        assert [person for _, person in tenant.run(memos.include(Memo.writer))] == [
            Person(org="a", person="p")
        ]


class Shop(Table, name="include_variants"): ...


class Item(Entity, table=Shop, variants=True):
    item: Attr[str] = attr()
    part_of: Attr[str | None] = attr(default=None)
    primary = key("ITEM" / item, "ITEM")
    whole = reference("Item", by=part_of)


class Wheel(Item):
    spokes: Attr[int] = attr(default=0)


class Car(Item):
    doors: Attr[int] = attr(default=0)


def test_variants_have_the_references_of_their_base_and_are_referred_to() -> None:
    with connect(":memory:", Shop) as db:
        with pytest.raises(NotFound):
            db.run(create(Wheel(item="w", part_of="c")))
        db.run(create(Car(item="c", doors=2)))
        db.run(create(Wheel(item="w", part_of="c", spokes=9)))
        car = Car(item="c", doors=2)
        assert db.run(Wheel.primary.within("w").include(Wheel.whole))[0][1] == car
        assert db.run(Item.primary.within("w").include(Item.whole))[0][1] == car


# -- declarations ---------------------------------------------------------------------------------


def test_a_target_that_is_never_declared_is_reported_when_a_database_is_opened() -> None:
    table = new_table()

    class Note(Entity, table=table):
        note: Attr[str] = attr()
        primary = key("NOTE" / note, "NOTE")
        author = reference("Usr", by=note)

    with pytest.raises(DeclarationError, match=r"Note\.author: reference\(Usr\): no entity of"):
        connect(":memory:", table)


@pytest.mark.parametrize("wrong", [None, 5, Blog])
def test_what_is_no_entity_is_refused(wrong: type[Entity]) -> None:
    with pytest.raises(DeclarationError, match="takes an entity"):
        reference(wrong)


def test_another_table_or_type_is_refused() -> None:
    table = new_table()
    for by, target, message in (
        ("note", User, "refers to items of its own table"),
        ("count", "Note", "Note.count is int, and Note.note is str"),
    ):
        with pytest.raises(DeclarationError, match=message):
            type(
                "Note",
                (Entity,),
                {
                    "__annotations__": {"note": Attr[str], "count": Attr[int]},
                    "note": (note := attr()),
                    "count": attr(),
                    "primary": key("NOTE" / note, "NOTE"),
                    "other": reference(target, by=by),
                },
                table=new_table() if by == "count" else table,
            )

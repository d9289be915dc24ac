"""Pydantic validates a value wherever it enters: its type's constraints, and field validators."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, ClassVar

import pytest
from pydantic import (
    BaseModel,
    Field,
    TypeAdapter,
    computed_field,
    field_serializer,
    field_validator,
    model_validator,
)

from tablewright import (
    GSI,
    Attr,
    Engine,
    Entity,
    Table,
    access_pattern,
    attr,
    connect,
    create,
    explain,
    index,
    key,
    put,
    unique,
    update,
)
from tablewright.database import Database
from tablewright.errors import InvalidValue
from tests.model.declaring.declarations import raw, refused
from tests.things import NamedEntity

Short = Annotated[str, Field(max_length=5)]


class Club(Table, name="club"):
    by_town = GSI("GSI1PK", "GSI1SK")


class Home(BaseModel):
    street: Short
    number: int = Field(default=1, ge=1)
    rooms: list[Annotated[int, Field(ge=1)]] = []

    @field_validator("street")
    @classmethod
    def has_letters(cls, street: str) -> str:
        if street.isdigit():
            raise ValueError("a street has letters")
        return street


class Member(Entity, table=Club):
    limit: ClassVar[int] = 10

    member_id: Attr[Annotated[str, Field(pattern="^M[0-9]+$")]] = attr()
    email: Attr[str] = attr(default="x@y.z")
    town: Attr[Short] = attr(default="Here")
    points: Attr[Annotated[int, Field(ge=0)]] = attr(default=0)
    tags: Attr[set[Short]] = attr(default_factory=set)
    names: Attr[Annotated[list[Short], Field(min_length=2)]] = attr(
        default_factory=lambda: ["a", "b"]
    )
    home: Attr[Home | None] = attr(default=None)

    primary = key("MEMBER" / member_id, "MEMBER")
    of_town = index(Club.by_town, "TOWN" / town, "MEMBER" / email)
    by_email = unique("EMAIL" / email)

    @field_validator("email")
    @classmethod
    def is_an_address(cls, email: str) -> str:
        if "@" not in email:
            raise ValueError("an address has an @")
        return email.lower()

    @field_serializer("points")
    def as_text(self, points: int) -> str:
        return f"{points} points"

    def shown(self) -> str:
        return f"<{self.email}>"

    @computed_field  # type: ignore[prop-decorator]  # as pydantic says
    @property
    def signature(self) -> str:
        return f"{self.member_id} {self.shown()}"


@pytest.fixture
def db() -> Iterator[Database]:
    with connect(Engine(":memory:"), Club) as db:
        yield db


def test_values_that_fit_enter(db: Database) -> None:
    member = db.run(create(Member(member_id="M1", email="Ann@B.c", points=3, names=["a", "b"])))
    assert member.email == "ann@b.c"
    item = next(each for each in raw(db, Club) if each["SK"] == {"S": "MEMBER"})
    assert item["email"] == {"S": "ann@b.c"}
    assert item["GSI1SK"] == {"S": "MEMBER#ann@b.c"}
    assert db.run(Member.by_email("ANN@b.c")) == member
    assert db.run(Member.of_town("Here").eq("ANN@b.c")) == [member]
    changed = db.run(update(member, Member.email.set("BOB@b.c"), Member.names.append("c")))
    assert changed.email == "bob@b.c"
    assert changed.names == ["a", "b", "c"]
    item = next(each for each in raw(db, Club) if each["SK"] == {"S": "MEMBER"})
    assert item["GSI1SK"] == {"S": "MEMBER#bob@b.c"}
    assert db.run(Member.by_email("bob@b.c")) == member


def assign(name: str, value: Any) -> None:
    setattr(Member(member_id="M1"), name, value)


ENTERING: dict[str, tuple[Any, str]] = {
    "constructor": (lambda: Member(member_id="X"), r"member_id: 'X'"),
    "constructor, validator": (lambda: Member(member_id="M1", email="x"), "an address has an @"),
    "assignment": (lambda: assign("points", -1), "greater than or equal to 0"),
    "assignment, validator": (lambda: assign("email", "x"), "an address has an @"),
    "get": (lambda: Member.primary("X"), r"Member\.member_id: 'X': .*pattern"),
    "partition": (lambda: Member.primary.within("X"), r"Member\.member_id: 'X'"),
    "index": (lambda: Member.of_town("somewhere"), r"Member\.town: 'somewhere'"),
    "eq": (lambda: Member.of_town("Here").eq("x"), r"Member\.email: 'x': .*an address"),
    "unique": (lambda: Member.by_email("x"), r"Member\.email: 'x': .*an address"),
    "set": (lambda: Member.points.set(-1), r"Member\.points: -1: .*greater"),
    "set, validator": (lambda: Member.email.set("x"), r"Member\.email: 'x': .*an address"),
    "set_if_absent": (lambda: Member.points.set_if_absent(-1), r"Member\.points: -1"),
    "append": (lambda: Member.names.append("ok", "too long"), r"Member\.names: 'too long'"),
    "prepend": (lambda: Member.names.prepend("too long"), r"Member\.names: 'too long'"),
    "append_if_absent": (lambda: Member.names.append_if_absent("too long"), "'too long'"),
    "add_to_set": (lambda: Member.tags.add_to_set({"too long"}), r"Member\.tags: 'too long'"),
    "path": (
        lambda: Member.home.path(lambda home: home.number).set(0),
        r"Member\.home\.number: 0: .*greater",
    ),
    "path, Annotated": (
        lambda: Member.home.path(lambda home: home.street).set("too long"),
        r"Member\.home\.street: 'too long'",
    ),
    "path, validator": (
        lambda: Member.home.path(lambda home: home.street).set("12"),
        r"Member\.home\.street: '12': .*a street has letters",
    ),
    "path, member": (
        lambda: Member.home.path(lambda home: home.rooms).append(0),
        r"Member\.home\.rooms: 0",
    ),
}


@pytest.mark.parametrize("way", ENTERING)
def test_a_value_that_does_not_fit_is_refused(way: str) -> None:
    enter, told = ENTERING[way]
    with pytest.raises(InvalidValue, match=told):
        enter()


def test_a_value_of_another_type_is_not_converted() -> None:
    with pytest.raises(InvalidValue, match=r"Member\.points: '5' \(str\) is not an int"):
        Member.points.set("5")  # type: ignore[arg-type]


def test_a_value_that_was_changed_in_place_is_refused_before_the_write(db: Database) -> None:
    member = Member(member_id="M1", names=["a", "b"])
    member.names.append("too long")
    with pytest.raises(InvalidValue, match=r"Member\.names"):
        db.run(put(member))


def test_an_increment_is_not_a_value_of_the_attribute(db: Database) -> None:
    db.run(create(Member(member_id="M1", points=3)))
    taken = Member.primary("M1").update(Member.points.increment(-2)).condition(Member.points >= 2)
    assert db.run(taken).points == 1
    assert [repr(Member.points > -1), repr(Member.town == "somewhere")]


def test_bounds_of_ranges_are_not_values_of_the_attribute(db: Database) -> None:
    assert db.run(Member.of_town("Here").gte("a")) == []
    assert db.run(Member.of_town("Here").begins_with("a")) == []


def test_a_traced_pattern_takes_any_value() -> None:
    @access_pattern
    def rename(member_id: str, email: str, name: str) -> Any:
        changes = Member.email.set(email), Member.names.append(name)
        return Member.primary(member_id).update(*changes)

    assert explain(rename).operation
    with pytest.raises(InvalidValue, match="an address"):
        rename("M1", "x", "n")


def test_computed_fields_and_serializers_are_in_the_json() -> None:
    member = Member(member_id="M1", email="A@b.c", points=2)
    assert member.signature == "M1 <a@b.c>"
    adapter = TypeAdapter(Member)
    dumped = adapter.dump_python(member)
    assert dumped["signature"] == "M1 <a@b.c>"
    assert dumped["points"] == "2 points"
    assert "signature" in adapter.json_schema(mode="serialization")["properties"]
    assert "signature" not in adapter.json_schema()["properties"]


def test_computed_fields_are_not_stored(db: Database) -> None:
    db.run(create(Member(member_id="M1")))
    assert all("signature" not in item for item in raw(db, Club))


def test_a_field_validator_of_an_abstract_base_is_inherited() -> None:
    class Named(Entity):
        name: Attr[str] = attr()

        @field_validator("*")
        @classmethod
        def is_not_empty(cls, value: Any) -> Any:
            if not value:
                raise ValueError("it is empty")
            return value

    class Cat(Named, table=Club):
        primary = key("CAT" / Named.name, "CAT")

    with pytest.raises(InvalidValue, match=r"Cat\.name: '': .*it is empty"):
        Cat(name="")
    with pytest.raises(InvalidValue, match=r"Cat\.name: '': .*it is empty"):
        Cat.primary("")


def test_a_validator_of_the_whole_entity_is_refused() -> None:
    with refused("Dog.check: an update changes single attributes", __file__):

        class Dog(NamedEntity, table=Club):
            @model_validator(mode="after")
            def check(self) -> Dog:
                return self


def test_a_validator_of_an_unknown_attribute_is_refused() -> None:
    with refused("Dog.check is about 'nmae', which is not", "did you mean 'name'?", __file__):

        class Dog(NamedEntity, table=Club):
            @field_validator("nmae")
            @classmethod
            def check(cls, value: str) -> str:
                return value


def test_a_default_that_does_not_fit_is_refused() -> None:
    with refused("Dog.age: the default is not valid", __file__):

        class Dog(NamedEntity, table=Club):
            age: Attr[Annotated[int, Field(ge=0)]] = attr(default=-1)


def test_a_variable_of_an_abstract_entity_that_is_not_an_attribute_is_refused() -> None:
    class Animal(Entity):
        size: int

    with refused("Cow.size: int is", "write size: Attr[int] = attr()", __file__):

        class Cow(Animal, table=Club):
            name: Attr[str] = attr()
            primary = key("COW" / name, "COW")


def test_a_variable_that_is_not_an_attribute_is_refused() -> None:
    with refused("Dog.size: int | None is", "write size: Attr[int | None] = attr()", __file__):

        class Dog(NamedEntity, table=Club):
            size: int | None = None

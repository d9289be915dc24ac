"""Encrypted attributes: what is stored, who can read it, and what declarations refuse."""

from __future__ import annotations

import base64
import types
from collections.abc import Callable, Iterator
from datetime import date
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from tablewright import (
    GSI,
    Attr,
    Engine,
    Entity,
    Projection,
    Table,
    attr,
    batch_write,
    connect,
    create,
    history,
    index,
    key,
    put,
    save,
    transact,
    unique,
    update,
    version,
)
from tablewright.database import Database
from tablewright.errors import DeclarationError, DecryptionFailed, InvalidValue, UnreadableItem
from tablewright.formats import EnvironmentKeys, KeyProvider, KeyRing, encrypted
from tablewright.mapping.formats.attributes import codec_of, coded_converter
from tablewright.mapping.formats.encryption import Cipher, Unsealed, sealed
from tablewright.plan.description import describe_entity
from tablewright.streams import Updated
from tests.new_table import new_table

OLD, NEW = bytes(range(32)), bytes(range(32, 64))


class Rotating:
    """Secrets of which a test changes the current one."""

    def __init__(self) -> None:
        self.secrets = {"2025": OLD}
        self.now = "2025"

    def current(self) -> str:
        return self.now

    def secret(self, key_id: str) -> bytes:
        return self.secrets[key_id]

    def __repr__(self) -> str:
        return "Rotating"


KEYS = Rotating()


class Clinic(Table, name="clinic", stream="NEW_AND_OLD_IMAGES"):
    by_ward = GSI("GSI1PK", "GSI1SK")


class Contact(BaseModel):
    name: str
    phones: list[str]


class Change(Entity, table=Clinic):
    number: Attr[str] = attr()
    version: Attr[int] = attr(pad=4)
    old: Attr[str] = attr(codec=encrypted(KEYS))
    new: Attr[str] = attr(codec=encrypted(KEYS))
    primary = key("PATIENT" / number, "CHANGE" / version)


class Visit(Entity, table=Clinic):
    number: Attr[str] = attr()
    on: Attr[date] = attr()
    report: Attr[str] = attr(codec=encrypted(KEYS))
    primary = key("PATIENT" / number, "VISIT" / on)


class Patient(Entity, table=Clinic):
    number: Attr[str] = attr()
    ward: Attr[str] = attr(default="A")
    diagnosis: Attr[str] = attr(codec=encrypted(KEYS))
    contacts: Attr[list[Contact]] = attr(name="people", codec=encrypted(KEYS), default_factory=list)
    note: Attr[str | None] = attr(codec=encrypted(KEYS), default=None)
    version: Attr[int] = version()
    primary = key("PATIENT" / number, "PATIENT")
    by_ward = index(Clinic.by_ward, "WARD" / ward, "PATIENT" / number)
    by_number = unique("NUMBER" / number)
    changes = history(diagnosis, Change)


class Diagnosis(Projection[Patient]):
    number: str
    diagnosis: str


@pytest.fixture(autouse=True)
def keys() -> Iterator[Rotating]:
    """The secrets, which are afterwards as they were."""
    yield KEYS
    KEYS.secrets, KEYS.now = {"2025": OLD}, "2025"


@pytest.fixture
def db(engine: Engine) -> Database:
    return connect(engine, Clinic)


def prepare(engine: Engine) -> None:
    connect(engine, Clinic)


def ann(number: str = "7") -> Patient:
    contacts = [Contact(name="Eve", phones=["1"])]
    return Patient(number=number, diagnosis="flu", contacts=contacts)


def item(engine: Engine, number: str = "7", sort: str = "PATIENT") -> dict[str, Any]:
    key = {"PK": {"S": f"PATIENT#{number}"}, "SK": {"S": sort}}
    found: dict[str, Any] = engine.call("GetItem", {"TableName": "clinic", "Key": key})["Item"]
    return found


def test_a_value_is_stored_encrypted_and_read_again(db: Database, engine: Engine) -> None:
    stored_ann = db.run(create(ann()))
    stored = item(engine)
    for name in ("diagnosis", "people"):
        content = base64.b64decode(stored[name]["B"])
        assert content[:6] == b"\x01\x042025"
        assert b"flu" not in content
        assert b"Eve" not in content
    assert "note" not in stored
    assert db.run(Patient.primary("7")) == stored_ann
    assert list(db.run(Patient.by_ward("A"))) == [stored_ann]
    assert list(db.run(Patient.by_ward("A").select(Diagnosis))) == [
        Diagnosis(number="7", diagnosis="flu")
    ]
    assert list(db.run(Patient.by_ward("A").select(Patient.contacts))) == [(stored_ann.contacts,)]
    assert db.run(Patient.by_number("7")) == stored_ann


def test_the_content_is_aes_gcm_of_the_value_with_its_place() -> None:
    """The bytes are a promise: other programs read them."""
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    made = coded_converter(str, encrypted(KEYS), None, "Thing.x", "x")
    key = {"PK": {"S": "A#1"}, "SK": {"N": "7"}}
    content = base64.b64decode(sealed(made.encode("é"), key)["B"])
    assert content[:6] == b"\x01\x042025"
    place = b'["x",[["PK","S","A#1"],["SK","N","7"]]]'
    assert AESGCM(OLD).decrypt(content[6:18], content[18:], place).decode() == "é"


@given(st.text() | st.binary() | st.lists(st.integers() | st.text()), st.text(min_size=1))
def test_every_value_comes_back_for_its_key_only(value: Any, name: str) -> None:
    kind = list[int | str] if isinstance(value, list) else type(value)
    made = coded_converter(kind, encrypted(KEYS), None, "Thing.x", "x")
    assert made.cipher is not None
    stored = sealed(made.encode(value), {"PK": {"S": name}})
    assert made.decode(made.cipher.open(stored, {"PK": {"S": name}})) == value
    with pytest.raises(DecryptionFailed):
        made.cipher.open(stored, {"PK": {"S": name + "x"}})


@pytest.mark.parametrize(("one", "other"), [("1", "1.0"), ("100", "1E+2")])
def test_keys_that_are_equal_numbers_are_the_same_place(one: str, other: str) -> None:
    made = coded_converter(str, encrypted(KEYS), None, "Thing.x", "x")
    assert made.cipher is not None
    stored = sealed(made.encode("a"), {"id": {"N": one}})
    assert made.decode(made.cipher.open(stored, {"id": {"N": other}})) == "a"


def test_every_kind_of_write_encrypts(db: Database, engine: Engine) -> None:
    stored_ann = db.run(create(ann()))
    db.run(Patient.primary("7").update(Patient.note.set("a"), Patient.diagnosis.set("cold")))
    found = db.run(Patient.primary("7").or_raise())
    assert (found.note, found.diagnosis, found.contacts) == ("a", "cold", stored_ann.contacts)
    found.contacts[0].phones.append("2")
    db.run(save(found))
    assert db.run(save(found)) is found  # nothing has changed
    assert db.run(Patient.primary("7").or_raise()).contacts[0].phones == ["1", "2"]
    db.run(update(found, Patient.note.remove()))
    assert "note" not in item(engine)
    db.run(put(found))
    db.run(transact(update(found, Patient.diagnosis.set("flu")), create(ann("8"))))
    assert db.run(Patient.primary("8").or_raise()).diagnosis == "flu"
    old = db.run(Patient.primary("7").update(Patient.diagnosis.set("well")).returning("old"))
    assert old.diagnosis == "flu"
    visit = Patient.primary("9").upsert(
        Patient.diagnosis.set_if_absent("new"), Patient.note.set("b")
    )
    assert db.run(visit).diagnosis == "new"
    assert db.run(visit).note == "b"
    everything = msgspec.json.encode(engine.call("Scan", {"TableName": "clinic"})["Items"])
    assert not any(f'"S":"{each}"'.encode() in everything for each in ("flu", "cold", "new"))


def test_batches_encrypt(db: Database, engine: Engine) -> None:
    visits = [Visit(number="7", on=date(2026, 1, n), report=f"r{n}") for n in (1, 2)]
    db.run(batch_write([put(each) for each in visits]))
    assert list(db.run(Visit.primary.within("7"))) == visits
    assert item(engine, sort="VISIT#2026-01-01")["report"].keys() == {"B"}


def test_a_move_encrypts_for_the_new_key_and_so_do_its_rows(db: Database) -> None:
    db.run(create(ann()))
    visit = db.run(create(Visit(number="7", on=date(2026, 1, 1), report="r")))
    db.run(Patient.primary("7").update(Patient.number.set("8")))
    assert db.run(Patient.primary("8").or_raise()).diagnosis == "flu"
    moved = db.run(Visit.primary("8", visit.on).or_raise())
    assert moved.report == "r"
    db.run(update(moved, Visit.on.set(date(2026, 1, 2))))
    assert db.run(Visit.primary("8", date(2026, 1, 2)).or_raise()).report == "r"


def test_a_history_encrypts_its_values(db: Database, engine: Engine) -> None:
    db.run(create(ann()))
    db.run(Patient.primary("7").update(Patient.diagnosis.set("cold")))
    (change,) = db.run(Change.primary.within("7"))
    assert (change.old, change.new) == ("flu", "cold")
    assert item(engine, sort="CHANGE#0002")["old"].keys() == {"B"}


def test_streams_decrypt(db: Database) -> None:
    db.run(create(ann()))
    db.run(Patient.primary("7").update(Patient.note.set("a")))
    events = [each for each in db.stream_events() if isinstance(each, Updated)]
    assert [(each.old.note, each.new.note) for each in events] == [(None, "a")]


def test_a_rotated_secret_encrypts_what_is_written(
    db: Database, engine: Engine, keys: Rotating
) -> None:
    db.run(create(ann()))
    keys.secrets["2026"], keys.now = NEW, "2026"
    found = db.run(Patient.primary("7").or_raise())  # by the old secret
    db.run(put(found))
    assert base64.b64decode(item(engine)["diagnosis"]["B"])[2:6] == b"2026"
    del keys.secrets["2025"]
    assert db.run(Patient.primary("7").or_raise()).diagnosis == "flu"


def test_a_missing_secret_is_a_typed_error_with_its_id(db: Database, keys: Rotating) -> None:
    db.run(create(ann()))
    keys.secrets = {"2026": NEW}
    with pytest.raises(DecryptionFailed) as failure:
        db.run(Patient.primary("7"))
    error = failure.value
    assert (error.key_id, error.where) == ("2025", "Patient.diagnosis")
    assert error.key == {"PK": {"S": "PATIENT#7"}, "SK": {"S": "PATIENT"}}
    assert str(error).startswith(
        "Patient.diagnosis cannot be decrypted: Rotating has no secret '2025'"
    )
    page = db.run(Patient.by_ward("A").skip_unreadable())
    assert [type(each) for each in page.unreadable] == [DecryptionFailed]
    keys.now = "2027"
    with pytest.raises(InvalidValue, match="Rotating has no secret '2027', which is the current"):
        db.run(create(ann("8")))


def test_another_secret_with_the_same_id_is_a_typed_error(db: Database, keys: Rotating) -> None:
    db.run(create(ann()))
    keys.secrets = {"2025": NEW}
    with pytest.raises(DecryptionFailed, match="the secret '2025' does not decrypt it"):
        db.run(Patient.primary("7"))


@pytest.mark.parametrize(
    "change",
    [
        lambda one, other: {"diagnosis": other["diagnosis"]},  # of another item
        lambda one, other: {"diagnosis": one["people"]},  # of another attribute
        lambda one, other: {"diagnosis": {"B": one["diagnosis"]["B"][:-8] + "AAAAAAA="}},
        lambda one, other: {"diagnosis": {"B": "AQQ="}},
        lambda one, other: {"diagnosis": {"B": "ZmlnIHRyZWU="}},
        lambda one, other: {"diagnosis": {"B": ""}},
    ],
)
def test_a_value_that_was_moved_or_changed_is_not_read(
    db: Database, engine: Engine, change: Callable[[Any, Any], dict[str, Any]]
) -> None:
    db.run(create(ann()))
    db.run(create(ann("8")))
    one, other = item(engine), item(engine, "8")
    engine.call("PutItem", {"TableName": "clinic", "Item": one | change(one, other)})
    with pytest.raises(DecryptionFailed, match=r"Patient.diagnosis cannot be decrypted.*PATIENT#7"):
        db.run(Patient.primary("7"))


def test_a_value_that_is_not_encrypted_is_unreadable(db: Database, engine: Engine) -> None:
    db.run(create(ann()))
    plain = item(engine) | {"diagnosis": {"S": "flu"}}
    engine.call("PutItem", {"TableName": "clinic", "Item": plain})
    with pytest.raises(UnreadableItem, match="stored as S"):
        db.run(Patient.primary("7"))


def test_a_value_cannot_be_sent_without_its_encryption(engine: Engine) -> None:
    made = coded_converter(str, encrypted(KEYS), None, "Thing.x", "x")
    value = made.encode("flu")
    assert repr(value) == "{'B': <a value that is encrypted when it is written>}"
    with pytest.raises(TypeError):
        msgspec.json.encode(value)
    with pytest.raises(UnreadableItem, match="with the key of its item only"):
        made.decode({"B": "AQQ="})
    assert value == made.encode("flu") != made.encode("cold")
    assert len({value["B"], Unsealed(b"flu")}) == 1


# -- secrets ---------------------------------------------------------------------------------------


def test_the_last_secret_of_a_ring_is_the_current_one() -> None:
    assert KeyRing({"2025": OLD, "2026": NEW}).current() == "2026"
    ring = KeyRing({"2025": OLD, "2026": NEW}, current="2025")
    assert (ring.current(), ring.secret("2026"), repr(ring)) == (
        "2025", NEW, "KeyRing of 2025, 2026",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda: KeyRing({}), "it has no secret"),
        (lambda: KeyRing({"a": b"short"}), "the secret 'a' must be 32 bytes"),
        (lambda: KeyRing({"a": "x" * 32}), "the secret 'a' must be 32 bytes"),  # type: ignore[dict-item]
        (lambda: KeyRing({"": OLD}), "the key id '' is not a text"),
        (lambda: KeyRing({"ä" * 128: OLD}), "is not a text of 1 to 255 bytes"),
        (lambda: KeyRing({"a": OLD}, current="b"), "current='b'.*it has only a"),
        (lambda: encrypted(OLD), r"of type bytes has no current\(\); pass KeyRing"),  # type: ignore[arg-type]
        (lambda: encrypted(Rotating), r"Rotating has no current\(\)"),  # type: ignore[arg-type]
    ],
)
def test_invalid_secrets_are_refused(make: Callable[[], Any], problem: str) -> None:
    with pytest.raises(DeclarationError, match=problem):
        make()


def test_secrets_of_the_environment_are_read_when_a_value_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    keys = EnvironmentKeys("CLINIC_KEYS")
    made = coded_converter(str, encrypted(keys), None, "Thing.x", "x")
    place = {"PK": {"S": "A"}}
    monkeypatch.delenv("CLINIC_KEYS", raising=False)
    with pytest.raises(InvalidValue, match="variable CLINIC_KEYS has no secrets; set CLINIC_KEYS="):
        sealed(made.encode("a"), place)
    monkeypatch.setenv("CLINIC_KEYS", f"2025:{OLD.hex()}")
    stored = sealed(made.encode("a"), place)
    monkeypatch.setenv("CLINIC_KEYS", f"2026:{NEW.hex()}, 2025:{OLD.hex()}")
    assert isinstance(made.cipher, Cipher)
    assert made.decode(made.cipher.open(stored, place)) == "a"
    assert keys.current() == "2026"
    assert repr(keys) == "EnvironmentKeys('CLINIC_KEYS')"
    secret = "f" * 63
    for invalid in (f"2026:{secret}", f":{NEW.hex()}", NEW.hex(), "2026:xy"):
        monkeypatch.setenv("CLINIC_KEYS", invalid)
        with pytest.raises(InvalidValue, match="cannot be read") as refusal:
            keys.secret("2026")
        assert secret not in str(refusal.value)


def test_a_secret_of_a_provider_is_checked(keys: Rotating) -> None:
    keys.secrets["2025"] = b"short"
    provider: KeyProvider = keys
    made = coded_converter(str, encrypted(provider), None, "Thing.x", "x")
    with pytest.raises(DeclarationError, match="the secret '2025' must be 32 bytes"):
        sealed(made.encode("a"), {"PK": {"S": "A"}})


# -- declarations ----------------------------------------------------------------------------------


def declared(**members: Any) -> None:
    """Declare an entity with an encrypted attribute `x`, and these members."""
    table = new_table()
    body: dict[str, Any] = {
        "__annotations__": {"name": Attr[str], "x": Attr[str]},
        "name": attr(),
        "x": attr(codec=encrypted(KEYS)),
    } | members
    body.setdefault("primary", key("THING" / body["name"], "THING"))
    types.new_class("Thing", (Entity,), {"table": table}, lambda made: made.update(body))


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"immutable": True}, "immutable=True needs to compare stored values"),
        ({"transitions": {"a": ["b"]}}, "transitions= needs to compare stored values"),
        ({"key_only": True}, "key_only=True needs to compare stored values"),
    ],
)
def test_options_that_compare_values_are_refused(options: Any, problem: str) -> None:
    with pytest.raises(DeclarationError, match=rf"Thing\.x: {problem}"):
        declared(x=attr(codec=encrypted(KEYS), **options))


def test_keys_and_sentinels_cannot_contain_an_encrypted_value() -> None:
    secret = attr(codec=encrypted(KEYS))
    with pytest.raises(DeclarationError, match=r"encrypted\(x\) is stored encrypted, so no key"):
        declared(x=secret, primary=key("THING" / secret, "THING"))
    name, secret = attr(), attr(codec=encrypted(KEYS))
    with pytest.raises(DeclarationError, match="keep='x' is encrypted for its item"):
        declared(name=name, x=secret, only=unique("NAME" / name, keep=(name, secret)))


def test_a_history_must_encrypt_what_its_entity_does() -> None:
    table = new_table()

    class Event(Entity, table=table):
        name: Attr[str] = attr()
        version: Attr[int] = attr(pad=4)
        new: Attr[str] = attr()
        primary = key("EVENT" / name, "V" / version)

    with pytest.raises(DeclarationError, match=r"Event\.new would store the encrypted x as it is"):

        class Thing(Entity, table=table):
            name: Attr[str] = attr()
            x: Attr[str] = attr(codec=encrypted(KEYS))
            version: Attr[int] = version()
            primary = key("THING" / name, "THING")
            changes = history(x, Event)


def test_conditions_can_only_ask_whether_there_is_a_value() -> None:
    with pytest.raises(DeclarationError, match="encrypted"):
        Patient.primary("7").update(Patient.ward.set("B")).condition(Patient.diagnosis == "flu")
    Patient.primary("7").update(Patient.ward.set("B")).condition(Patient.note.exists())
    with pytest.raises(InvalidValue, match="in one value"):
        Patient.contacts.append(Contact(name="Eve", phones=[]))


def test_a_codec_is_found_by_its_format() -> None:
    assert codec_of(encrypted(KEYS), "Thing.x").label == "encrypted({})"


def test_the_lock_of_a_design_says_what_is_encrypted_and_contains_no_value() -> None:
    class Thing(Entity, table=new_table()):
        name: Attr[str] = attr()
        x: Attr[str] = attr(codec=encrypted(KEYS), default="a default")
        flag: Attr[bool] = attr(codec=encrypted(KEYS))
        primary = key("THING" / name, "THING")

    described = describe_entity(Thing.__entity__)
    types = {name: each.type for name, each in described.attributes.items()}
    assert types == {"name": "str", "x": "encrypted(str)", "flag": "encrypted(bool)"}
    assert b"a default" not in msgspec.json.encode(described)

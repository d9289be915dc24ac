"""One mistake a line, as in `mistakes.py`: the misuse of the entities in `kinds.py`.

mypy does not check the bound of a type variable of `self`, so some lines are for pyright alone.
"""

from __future__ import annotations

from tablewright import Attr, attr, put, update, upsert
from typing_tests.kinds import Account, Company, Draft, Entry, Person, Photo

put(Entry(entry_id="E1"))  # E: it is written once
update(Entry(entry_id="E1"), Entry.text.set("x"))  # E: it is written once
Entry.primary("E1").update(Entry.text.set("x"))  # E (pyright): it is written once
upsert(Entry(entry_id="E1"), Entry.text.set("x"))  # E: it is written once
Entry.primary("E1").upsert(Entry.text.set("x"))  # E (pyright): it is written once
Draft.primary("D1").update(Entry.text.set("x"))  # E: an attribute of another entity

Person(name="ann", owner="x")  # E: an attribute of another variant
Company(name="acme")  # E: it has no owner
Account.primary(5)  # E: a name is a text
Account.age.exists()  # E: an attribute of a variant
Person.primary("ann").update(Company.owner.set("x"))  # E: an attribute of another variant
Photo.primary("ann", "fr", "Paris", "2020", "Rue", 5)  # E: a year is a number
Photo.primary("ann", "fr", "Paris", 2020, "Rue")  # E: a value is missing
Photo.primary.within("ann", "fr", "Paris")  # E: a value is missing
Photo.primary.within("ann", "fr", 2020, "Paris")  # E: in the wrong order
Photo.of_year("2020")  # E: a year is a number
Photo.noted("x").eq("fr", "Paris", "Rue", "5")  # E: a number is a number


class Shop(Account):
    name: Attr[int] = attr(name="shop_name")  # E: the name of the base is a text

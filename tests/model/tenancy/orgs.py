"""A table whose tenants own partitions by prefix and share a catalogue."""

from __future__ import annotations

from tablewright import GSI, Attr, Entity, Table, Tenancy, attr, index, key, unique
from tablewright.formats import lower


class Work(Table, name="work"):
    reverse = GSI("SK", "PK")
    by_state = GSI("GSI1PK", "GSI1SK")
    of_org = GSI("GSI2PK", "GSI2SK")
    tenancy = Tenancy(
        "org",
        write=("ORG#{org}", "ORG#{org}#*"),
        read=("AUDIT#{org}#*",),
        shared=("CATALOG", "PRICES#*"),
        filtered=(by_state,),
    )


class Org(Entity, table=Work):
    org: Attr[str] = attr()
    primary = key("ORG" / org, "#META")


class Project(Entity, table=Work):
    org: Attr[str] = attr()
    project: Attr[str] = attr()
    state: Attr[str] = attr(default="open")
    primary = key("ORG" / org / "PROJECT" / project, "#PROJECT")
    reverse = primary.swapped(Work.reverse)
    by_state = index(Work.by_state, "STATE" / state, project)
    in_org = index(Work.of_org, "ORG" / org / "PROJECTS", project)


class Task(Entity, table=Work):
    org: Attr[str] = attr()
    project: Attr[str] = attr()
    number: Attr[int] = attr(pad=3)
    primary = key("ORG" / org / "PROJECT" / project, "TASK" / number)


class Audit(Entity, table=Work):
    org: Attr[str] = attr()
    number: Attr[int] = attr(pad=3)
    primary = key("AUDIT" / org / "LOG", number)


class Member(Entity, table=Work):
    """Two values that are unique within an organisation, and one among all."""

    org: Attr[str] = attr()
    member: Attr[str] = attr()
    email: Attr[str | None] = attr(default=None)
    badge: Attr[str | None] = attr(default=None)
    passport: Attr[str | None] = attr(default=None)
    primary = key("ORG" / org, "MEMBER" / member)
    by_email = unique("ORG" / org, "EMAIL" / lower(email))
    by_badge = unique("ORG" / org / "BADGE" / badge)
    by_passport = unique("PASSPORT" / passport)


class Product(Entity, table=Work):
    sku: Attr[str] = attr()
    primary = key("CATALOG", "PRODUCT" / sku)
    by_state = index(Work.by_state, "STATE#open", sku)


class Price(Entity, table=Work):
    sku: Attr[str] = attr()
    amount: Attr[int] = attr()
    primary = key("PRICES" / sku, "PRICE")

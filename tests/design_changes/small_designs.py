"""Twelve small designs, each about one part of modelling. The experiment changes their sources."""

from __future__ import annotations

SMALL_DESIGNS = {
    "plain": """
class Notes(Table, name="notes"):
    gsi1 = GSI("GSI1PK", "GSI1SK")

class Note(Entity, table=Notes):
    note_id: Attr[str] = attr()
    text: Attr[str] = attr()
    size: Attr[int] = attr(default=0)
    author: Attr[str | None] = attr(default=None)
    primary = key("NOTE" / note_id, "NOTE")
    of_author = index(Notes.gsi1, "AUTHOR" / author, "NOTE" / note_id)
""",
    "collection": """
class Shop(Table, name="shop"):
    gsi1 = GSI("GSI1PK", "GSI1SK")
    tenancy = Tenancy("customer_id", write=("CUSTOMER#{customer_id}",), filtered=(gsi1,))

class Customer(Entity, table=Shop):
    customer_id: Attr[str] = attr()
    name: Attr[str] = attr(default="")
    primary = key("CUSTOMER" / customer_id, "PROFILE")

class Order(Entity, table=Shop):
    customer_id: Attr[str] = attr()
    number: Attr[int] = attr(pad=4)
    total: Attr[Decimal] = attr(default=Decimal(0))
    primary = key("CUSTOMER" / customer_id, "ORDER" / number)
    all_orders = index(Shop.gsi1, "ORDERS", "NUMBER" / number / customer_id)
""",
    "sparse": """
class State(StrEnum):
    OPEN = "open"
    LATE = "late"
    DONE = "done"

class Desk(Table, name="desk"):
    gsi1 = GSI("GSI1PK", "GSI1SK")
    gsi2 = GSI("GSI2PK", "GSI2SK")

class Ticket(Entity, table=Desk):
    ticket: Attr[str] = attr()
    state: Attr[State] = attr(default=State.OPEN)
    owner: Attr[str | None] = attr(default=None)
    weight: Attr[int] = attr(default=1, pad=3)
    primary = key("TICKET" / ticket, "TICKET")
    open = index(Desk.gsi1, "OPEN", "WEIGHT" / weight / ticket, when=state == State.OPEN)
    late = index(Desk.gsi1, "LATE", "OWNER" / owner, when=state == State.LATE)
    of_owner = index(Desk.gsi2, "OWNER" / owner, ticket, when=weight > 0)
""",
    "unique": """
class Staff(Table, name="staff"):
    gsi1 = GSI("GSI1PK", "GSI1SK")

class Agent(Entity, table=Staff):
    agent_id: Attr[str] = attr()
    email: Attr[str] = attr()
    phone: Attr[str | None] = attr(default=None)
    team: Attr[str] = attr(default="red")
    primary = key("AGENT" / agent_id, "AGENT")
    by_email = unique("EMAIL" / lower(email))
    by_phone = unique("PHONE" / phone, type_name="Phone")
    of_team = index(Staff.gsi1, "TEAM" / team, agent_id)
""",
    "versions": """
class Plans(Table, name="plans"):
    gsi1 = GSI("GSI1PK", "GSI1SK")

class Step(Entity, table=Plans):
    plan_id: Attr[str] = attr()
    version: Attr[int] = attr(pad=5)
    old: Attr[str] = attr()
    new: Attr[str] = attr()
    primary = key("PLAN" / plan_id, "STEP" / version)

class Plan(Entity, table=Plans):
    plan_id: Attr[str] = attr()
    status: Attr[str] = attr(default="draft")
    title: Attr[str] = attr(default="")
    version: Attr[int] = version()
    created: Attr[datetime] = created_at()
    updated: Attr[datetime] = updated_at()
    primary = key("PLAN" / plan_id, "PLAN")
    steps = history(status, Step)
    newest = index(Plans.gsi1, "PLANS", "TITLE" / title / plan_id)
""",
    "natural": """
class Scores(Table, name="scores", pk="player", sk=None):
    by_team = GSI("team", "score")

class Player(Entity, table=Scores):
    player: Attr[str] = attr()
    team: Attr[str] = attr()
    score: Attr[int] = attr(default=0)
    rank: Attr[int | None] = attr(default=None)
    primary = key(player)
    ranking = index(Scores.by_team, team, score)
""",
    "several": """
class Sales(Table, name="sales"):
    by_region = GSI(("country", "region"), ("status", "day"))

class Sale(Entity, table=Sales):
    sale_id: Attr[str] = attr()
    country: Attr[str] = attr()
    region: Attr[str] = attr()
    status: Attr[Literal["open", "paid"]] = attr(default="open")
    day: Attr[date] = attr()
    amount: Attr[Decimal] = attr(default=Decimal(1))
    primary = key("SALE" / sale_id, "SALE")
    in_region = index(Sales.by_region, (country, region), (status, day))
""",
    "in_keys": """
class Visits(Table, name="visits"):
    gsi1 = GSI("GSI1PK", "GSI1SK")

class Visit(Entity, table=Visits):
    page: Attr[str] = attr(key_only=True)
    number: Attr[int] = attr(key_only=True, pad=4)
    at: Attr[datetime] = attr()
    seconds: Attr[int] = attr(default=0)
    primary = key("PAGE" / page, "VISIT" / number)
    by_day = index(Visits.gsi1, "DAY" / day(at), epoch_seconds(at) / page)
""",
    "variants": """
class Accounts(Table, name="accounts"):
    gsi1 = GSI("GSI1PK", "GSI1SK")
    gsi2 = GSI("GSI2PK", "GSI2SK")

class Account(Entity, table=Accounts, variants=True):
    name: Attr[str] = attr()
    plan: Attr[str] = attr(default="free")
    primary = key("ACCOUNT" / name, "ACCOUNT")
    of_plan = index(Accounts.gsi1, "PLAN" / plan, "ACCOUNT" / name)

class Person(Account):
    language: Attr[str] = attr(default="en")

class Company(Account, type_name="COMPANY"):
    owner: Attr[str] = attr()
    owned = index(Accounts.gsi2, "OWNER" / owner, "COMPANY" / Account.name)
""",
    "untyped": """
class Files(Table, name="files", type_attribute=None, delimiter="/"):
    gsi1 = GSI("GSI1PK", "GSI1SK")
    lookup = GSI("digest", project="KEYS_ONLY")

class Folder(Entity, table=Files):
    path: Attr[str] = attr()
    label: Attr[str] = attr(default="")
    primary = key("folder" / path, "folder")

class File(Entity, table=Files):
    path: Attr[str] = attr()
    name: Attr[str] = attr()
    digest: Attr[str] = attr()
    size: Attr[int] = attr(default=0)
    primary = key("folder" / path, "file" / name)
    by_size = index(Files.gsi1, "sizes", padded(size, 5) / name)
    by_digest = index(Files.lookup, digest)
""",
    "structures": """
@dataclass
class Address:
    city: str
    zip: str = "0"

class Contact(BaseModel):
    mail: str
    address: Address | None = None

class People(Table, name="people", stream="NEW_IMAGE"):
    gsi1 = GSI("GSI1PK", "GSI1SK")

class Person(Entity, table=People):
    person_id: Attr[UUID] = attr()
    contact: Attr[Contact] = attr()
    tags: Attr[set[str]] = attr(default_factory=set)
    scores: Attr[list[int]] = attr(default_factory=list)
    home: Attr[Address | None] = attr(default=None)
    expires: Attr[datetime | None] = ttl(default=None)
    primary = key("PERSON" / person_id, "PERSON")
    by_mail = index(People.gsi1, "MAIL" / contact.path(lambda c: c.mail), "PERSON" / person_id)
""",
    "shards": """
class Log(Table, name="log"):
    gsi1 = GSI("GSI1PK", "GSI1SK")
    reverse = GSI("SK", "PK")
    by_size = LSI("size_key")

class Entry(Entity, table=Log):
    door: Attr[str] = attr()
    at: Attr[datetime] = attr()
    size: Attr[int] = attr(default=1, pad=4)
    primary = key("ENTRIES" / shard(door, of=4) / door, iso(at, "seconds"))
    of_hour = index(Log.gsi1, "HOUR" / hour(at) / shard(door, of=4), descending(size) / door)
    swapped = primary.swapped(Log.reverse)
    sizes = primary.local(Log.by_size, "SIZE" / size)
""",
}

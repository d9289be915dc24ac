"""Promise: a counter is the number or the sum of what it counts, whatever programs write, while
requests are throttled, conflict, are sent twice, and lose their responses; `reconcile` corrects
what other programs have written, while programs write.

Method: a round is some programs of up to four clients. Plans do no input or output, so a scheduler
runs all of them in one thread and chooses whose request comes next. Each client makes calls on
every path of writing: create, put, upsert, update, save, delete, moves of children and of parents,
transactions, ranges and aggregates. In some programs, another program writes counters and children
without counting, and a client reconciles.

The oracle is plain Python. After each program, the counters are computed from the stored children,
and each counted child has its parent. A program of one client without lost responses is compared
call by call with a model: dicts, whose rule is that a write which would leave a counted child
without its parent is refused.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Generator
from copy import deepcopy
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, TypeAlias

from tablewright import (
    Aggregate,
    Attr,
    Entity,
    Table,
    attr,
    children,
    create,
    delete_all,
    key,
    put,
    root,
    save,
    transact,
    update_all,
    upsert,
    version,
)
from tablewright.engine import Engine
from tablewright.errors import (
    DynamoDBError,
    InvalidValue,
    ProvisionedThroughputExceededException,
    TablewrightError,
    TransactionCanceledException,
    WriteRejected,
)
from tablewright.model.databases.provision import Provision
from tablewright.plan.plan import Context, Plan, Wait
from tablewright.plans import reconcile
from tablewright.rules import count_of, sum_of
from tablewright.transport.transport import RetriesExhausted
from torture.migrations import READS, flat, lost
from torture.run import Part, Round


class Hub(Table, name="hub"): ...


class Owner(Entity, table=Hub):
    name: Attr[str] = attr()
    text: Attr[str] = attr(default="")
    version: Attr[int] = version()
    forks: Attr[int] = count_of("Repo", by=("forker",))
    primary = key("OWNER" / name, "OWNER")


class Repo(Entity, table=Hub):
    repo: Attr[str] = attr()
    text: Attr[str] = attr(default="")
    forker: Attr[str | None] = attr(default=None)
    stars: Attr[int] = count_of("Star")
    loud: Attr[int] = count_of("Star", when=lambda star: star.is_loud == True)  # noqa: E712
    weight: Attr[Decimal] = sum_of("Star.weight")
    primary = key("REPO" / repo, "REPO")


class Star(Entity, table=Hub):
    repo: Attr[str] = attr()
    user: Attr[str] = attr()
    is_loud: Attr[bool] = attr(default=False)
    weight: Attr[Decimal] = attr(default=Decimal(1))
    primary = key("REPO" / repo, "STAR" / user)


class RepoWithStars(Aggregate):
    repo: Repo = root()
    stars: list[Star] = children()


OWNERS, REPOS, USERS = ("o", "p"), ("r", "s", "t"), ("a", "b", "c")
NAME = "hub"


class Refused(Exception):
    """The model refuses a write."""


class Model:
    """What is stored, without counters: by their keys, the values of each item."""

    def __init__(self) -> None:
        self.owners: dict[str, str] = {}
        self.repos: dict[str, dict[str, Any]] = {}
        self.stars: dict[tuple[str, str], dict[str, Any]] = {}

    def check(self) -> None:
        """Raise Refused if a counted child has no parent."""
        if any(repo not in self.repos for repo, _ in self.stars):
            raise Refused
        if any(each["forker"] not in (None, *self.owners) for each in self.repos.values()):
            raise Refused

    def counters(self) -> dict[tuple[str, str], tuple[Any, ...]]:
        """Return the counters of each parent, by its kind and name."""
        found: dict[tuple[str, str], tuple[Any, ...]] = {}
        for owner in self.owners:
            found["Owner", owner] = (sum(e["forker"] == owner for e in self.repos.values()),)
        for repo in self.repos:
            stars = [each for (of, _), each in self.stars.items() if of == repo]
            weight = sum((each["weight"] for each in stars), Decimal(0))
            found["Repo", repo] = (len(stars), sum(each["is_loud"] for each in stars), weight)
        return found


Change: TypeAlias = Callable[[Model], None]


class Call:
    """A call of a program: the plan, or what makes it from an item that is read first."""

    def __init__(
        self,
        what: str,
        plan: Plan[Any],
        change: Change,
        *items: object,
        then: Callable[[Any], Any] | None = None,
    ) -> None:
        self.what = what
        self.plan = plan
        self.change = change
        #: The items that it writes: a transaction writes each one once.
        self.items = set(items)
        self.then = then

    def steps(self, context: Context) -> Generator[Any, bytes, Any]:
        found = yield from flat(self.plan, context)
        if self.then is None:
            return found
        if found is None:
            raise WriteRejected("nothing was read", entity="", key={}, current=None, reason="")
        return (yield from flat(self.then(found), context))


def existing(items: dict[Any, Any], name: Any) -> Any:
    if name not in items:
        raise Refused
    return items[name]


def absent(items: dict[Any, Any], name: Any) -> None:
    if name in items:
        raise Refused


class Calls:
    """Makes random calls."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance

    def write(self) -> Call:
        """Return a call that can be part of a transaction."""
        makers = (
            *(self.create_star, self.put_star, self.change_star, self.delete_star) * 3,
            *(self.create_repo, self.put_repo, self.delete_repo, self.fork),
            *(self.move_star, self.owner, self.upsert_star),
        )
        return self.chance.choice(makers)()

    def any(self) -> Call:
        roll = self.chance.random()
        if roll < 0.6:
            return self.write()
        if roll < 0.8:
            return self.transaction()
        others = (self.move_repo, self.empty, self.delete_whole, self.change_all, self.save_star)
        return self.chance.choice(others)()

    def _star(self) -> tuple[str, str, dict[str, Any]]:
        chance = self.chance
        values = {"is_loud": chance.random() < 0.5, "weight": Decimal(chance.randint(0, 3))}
        return chance.choice(REPOS), chance.choice(USERS), values

    def create_star(self) -> Call:
        repo, user, values = self._star()

        def change(model: Model) -> None:
            absent(model.stars, (repo, user))
            model.stars[repo, user] = values

        return Call(
            "create star", create(Star(repo=repo, user=user, **values)), change, (repo, user)
        )

    def put_star(self) -> Call:
        repo, user, values = self._star()

        def change(model: Model) -> None:
            model.stars[repo, user] = values

        return Call("put star", put(Star(repo=repo, user=user, **values)), change, (repo, user))

    def upsert_star(self) -> Call:
        repo, user, values = self._star()
        loud, by_key = values["is_loud"], self.chance.random() < 0.5

        def change(model: Model) -> None:
            created = {"weight": Decimal(1) if by_key else values["weight"]}
            model.stars[repo, user] = model.stars.get((repo, user), created) | {"is_loud": loud}

        plan: Plan[Any] = upsert(Star(repo=repo, user=user, **values), Star.is_loud.set(loud))
        if by_key:
            plan = Star.primary(repo, user).upsert(Star.is_loud.set(loud))
        return Call("upsert star", plan, change, (repo, user))

    def change_star(self) -> Call:
        repo, user, values = self._star()
        name = self.chance.choice(("is_loud", "weight"))

        def change(model: Model) -> None:
            model.stars[repo, user] = existing(model.stars, (repo, user)) | {name: values[name]}

        plan = Star.primary(repo, user).update(getattr(Star, name).set(values[name]))
        return Call(f"change star {name}", plan, change, (repo, user))

    def save_star(self) -> Call:
        repo, user, values = self._star()

        def change(model: Model) -> None:
            existing(model.stars, (repo, user))
            model.stars[repo, user] = values

        def then(star: Star) -> Any:
            star.is_loud, star.weight = values["is_loud"], values["weight"]
            return save(star)

        return Call("save star", Star.primary(repo, user), change, then=then)

    def delete_star(self) -> Call:
        repo, user, _ = self._star()

        def change(model: Model) -> None:
            model.stars.pop((repo, user), None)

        return Call("delete star", Star.primary(repo, user).delete(), change, (repo, user))

    def move_star(self) -> Call:
        repo, user, _ = self._star()
        other = self.chance.choice(REPOS)

        def change(model: Model) -> None:
            star = existing(model.stars, (repo, user))
            if other != repo:
                absent(model.stars, (other, user))
                del model.stars[repo, user]
                model.stars[other, user] = star

        plan = Star.primary(repo, user).update(Star.repo.set(other))
        return Call("move star", plan, change, (repo, user), (other, user))

    def create_repo(self) -> Call:
        repo = self.chance.choice(REPOS)

        def change(model: Model) -> None:
            absent(model.repos, repo)
            model.repos[repo] = {"forker": None}

        return Call("create repo", create(Repo(repo=repo)), change, repo)

    def put_repo(self) -> Call:
        repo, forker = self.chance.choice(REPOS), self.chance.choice((None, *OWNERS))

        def change(model: Model) -> None:
            model.repos[repo] = {"forker": forker}

        return Call("put repo", put(Repo(repo=repo, forker=forker)), change, repo)

    def fork(self) -> Call:
        repo, forker = self.chance.choice(REPOS), self.chance.choice((None, *OWNERS))

        def change(model: Model) -> None:
            existing(model.repos, repo)
            model.repos[repo] = {"forker": forker}

        return Call("fork repo", Repo.primary(repo).update(Repo.forker.set(forker)), change, repo)

    def delete_repo(self) -> Call:
        repo = self.chance.choice(REPOS)

        def change(model: Model) -> None:
            model.repos.pop(repo, None)

        return Call("delete repo", Repo.primary(repo).delete(), change, repo)

    def owner(self) -> Call:
        owner, kind = self.chance.choice(OWNERS), self.chance.choice(("upsert", "delete"))

        def change(model: Model) -> None:
            if kind == "upsert":
                model.owners[owner] = "x"
            else:
                model.owners.pop(owner, None)

        plan: Any = Owner.primary(owner).delete()
        if kind == "upsert":
            plan = Owner.primary(owner).upsert(Owner.text.set("x"))
        return Call(f"{kind} owner", plan, change, owner)

    def move_repo(self) -> Call:
        repo, other = self.chance.choice(REPOS), self.chance.choice(REPOS)

        def change(model: Model) -> None:
            found = existing(model.repos, repo)
            if repo == other:
                return
            absent(model.repos, other)
            del model.repos[repo]
            model.repos[other] = found
            for of, user in [each for each in model.stars if each[0] == repo]:
                absent(model.stars, (other, user))
                model.stars[other, user] = model.stars.pop((of, user))

        return Call("move repo", Repo.primary(repo).update(Repo.repo.set(other)), change)

    def empty(self) -> Call:
        repo = self.chance.choice(REPOS)

        def change(model: Model) -> None:
            for each in [each for each in model.stars if each[0] == repo]:
                del model.stars[each]

        return Call("delete_all stars", delete_all(Star.primary.within(repo)), change)

    def delete_whole(self) -> Call:
        repo = self.chance.choice(REPOS)

        def change(model: Model) -> None:
            model.repos.pop(repo, None)
            for each in [each for each in model.stars if each[0] == repo]:
                del model.stars[each]

        whole = RepoWithStars.of(Repo.primary(repo))
        return Call("delete_all of a repo", delete_all(whole), change)

    def change_all(self) -> Call:
        repo, _, values = self._star()

        def change(model: Model) -> None:
            for each in [each for each in model.stars if each[0] == repo]:
                model.stars[each] = model.stars[each] | {"is_loud": values["is_loud"]}

        plan = update_all(Star.primary.within(repo), Star.is_loud.set(values["is_loud"]))
        return Call("update_all stars", plan, change)

    def transaction(self) -> Call:
        parts = [self.write()]
        for each in (self.write() for _ in range(self.chance.randint(2, 4))):
            if not any(each.items & other.items for other in parts):
                parts.append(each)

        def change(model: Model) -> None:
            for each in parts:
                each.change(model)

        plans: Any = [each.plan for each in parts]
        what = ", ".join(each.what for each in parts)
        return Call(f"transact({what})", transact(*plans), change)


class Program:
    """A table, clients that write it, and what goes wrong."""

    def __init__(self, attack: Round, chance: random.Random, engine: Engine | None = None) -> None:
        self.attack = attack
        self.chance = chance
        self.engine = engine or Engine(":memory:")
        names = {Hub.__table__: NAME}
        self.context = Context(names, b"0" * 32, clock=lambda: datetime(2026, 1, 1, tzinfo=UTC))
        self.faults = 0.0
        self.sent = 0
        self.run_at_once(Provision(Hub.__table__, create=True))
        self.faults = chance.choice((0.0, 0.05, 0.15))

    def send(self, operation: str, body: dict[str, Any]) -> bytes:
        chance, attack = self.chance, self.attack
        if operation in ("Scan", "Query"):
            body = body | {"Limit": chance.randint(1, 4)}
        is_write = operation not in READS
        if chance.random() < self.faults:
            attack.count("throttled requests")
            raise ProvisionedThroughputExceededException("too fast")
        if operation == "TransactWriteItems":
            if chance.random() < self.faults:
                attack.count("conflicts")
                reasons = [{"Code": "None"} for _ in body["TransactItems"]]
                chance.choice(reasons)["Code"] = "TransactionConflict"
                raise TransactionCanceledException(reasons)
            self.sent += 1
            body = body | {"ClientRequestToken": f"token-{self.sent}"}
            if chance.random() < self.faults:
                attack.count("requests sent twice")
                self.engine.run(self.engine.prepare(operation, body))
        answer = self.engine.run(self.engine.prepare(operation, body)) or b"{}"
        if is_write and chance.random() < self.faults:
            attack.count("lost responses")
            raise lost()
        return answer

    def run(self, steps: Generator[Any, bytes, Any]) -> Generator[None, None, Any]:
        """Run a call; yield before each request."""
        try:
            step = next(steps)
            while True:
                try:
                    if isinstance(step, Wait):
                        answer = b""
                    else:
                        yield
                        answer = self.send(step.operation, step.body)
                except (DynamoDBError, RetriesExhausted) as fault:
                    step = steps.throw(fault)
                else:
                    step = steps.send(answer)
        except StopIteration as end:
            return end.value

    def run_at_once(self, plan: Plan[Any]) -> Any:
        """Run a plan without other clients."""
        steps = self.run(flat(plan, self.context))
        while True:
            try:
                next(steps)
            except StopIteration as end:
                return end.value

    def begin(self) -> Model:
        """Create some parents."""
        model = Model()
        for repo in self.chance.sample(REPOS, self.chance.randint(0, len(REPOS))):
            self.run_at_once(create(Repo(repo=repo)))
            model.repos[repo] = {"forker": None}
        for owner in self.chance.sample(OWNERS, self.chance.randint(0, len(OWNERS))):
            self.run_at_once(create(Owner(name=owner, text="x")))
            model.owners[owner] = "x"
        return model

    def client(self, count: int) -> Generator[None, None, None]:
        """Make calls, whatever comes of them."""
        calls = Calls(self.chance)
        for _ in range(count):
            call = calls.any()
            self.attack.count("calls")
            try:
                yield from self.run(call.steps(self.context))
            except (WriteRejected, InvalidValue):
                self.attack.count("refused calls")
            except (DynamoDBError, TablewrightError, RetriesExhausted):
                self.attack.count("failed calls")

    def reconciler(self) -> Generator[None, None, None]:
        for _ in range(2):
            try:
                yield from self.run(flat(reconcile(Hub), self.context))
            except (DynamoDBError, TablewrightError, RetriesExhausted):
                self.attack.count("failed calls")

    def spoil(self) -> None:
        """Write counters and children as a program that does not count."""
        for item in self.items():
            if self.chance.random() < 0.5:
                wrong: dict[str, Any] = {"stars": {"N": "7"}, "weight": {"N": "-2"}}
                if item["type"]["S"] == "Star":
                    wrong = {"is_loud": {"BOOL": True}, "weight": {"N": "3"}}
                self.engine.call("PutItem", {"TableName": NAME, "Item": item | wrong})

    def items(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.engine.call("Scan", {"TableName": NAME})["Items"]
        return found

    # -- the oracle --------------------------------------------------------------------------

    def stored(self) -> tuple[Model, dict[tuple[str, str], tuple[Any, ...]]]:
        """Return what is stored, and the counters of each parent."""
        model, counters = Model(), dict[tuple[str, str], tuple[Any, ...]]()
        for item in self.items():
            kind = item["type"]["S"]
            number = {name: Decimal(value.get("N", 0)) for name, value in item.items()}
            if kind == "Star":
                values = {"is_loud": item["is_loud"]["BOOL"], "weight": number["weight"]}
                model.stars[item["repo"]["S"], item["user"]["S"]] = values
            elif kind == "Repo":
                model.repos[item["repo"]["S"]] = {"forker": item.get("forker", {}).get("S")}
                names = ("stars", "loud", "weight")
                counters["Repo", item["repo"]["S"]] = tuple(number[name] for name in names)
            else:
                model.owners[item["name"]["S"]] = item["text"]["S"]
                counters["Owner", item["name"]["S"]] = (number["forks"],)
        return model, counters

    def drifts(self) -> dict[tuple[str, str], tuple[Any, ...]]:
        """Return how much each counter is larger than what it counts."""
        model, counters = self.stored()
        counted = model.counters()
        return {
            parent: tuple(one - other for one, other in zip(stored, counted[parent], strict=True))
            for parent, stored in counters.items()
        }

    def check(self, what: str) -> Model:
        model, counters = self.stored()
        self.attack.require(
            counters == model.counters(), f"{what}: a counter is wrong", f"{counters} {vars(model)}"
        )
        try:
            model.check()
        except Refused:
            self.attack.require(False, f"{what}: a child has no parent", str(vars(model)))
        return model


def play_serial(attack: Round, chance: random.Random) -> None:
    """Compare a program of one client with the model, call by call."""
    program, calls = Program(attack, chance), Calls(chance)
    program.faults = 0.0
    model = program.begin()
    for _ in range(chance.randint(5, 25)):
        call = calls.any()
        after: Model | None = deepcopy(model)
        assert after is not None
        try:
            call.change(after)
            after.check()
        except Refused:
            after = None
        attack.count("calls")
        try:
            for _ in program.run(call.steps(program.context)):
                pass
        except InvalidValue as error:
            attack.require("same item" in str(error), f"{call.what}: {error}")
            after = model
        except WriteRejected as error:
            attack.count("refused calls")
            attack.require(after is None, f"{call.what} is refused: {error}", str(vars(model)))
            after = model
        attack.require(after is not None, f"{call.what} is not refused", str(vars(model)))
        assert after is not None
        model = after
        found = program.check(call.what)
        attack.require(
            vars(found) == vars(model), f"{call.what}: other items", f"{vars(found)} {vars(model)}"
        )


def play_together(attack: Round, chance: random.Random) -> None:
    """Run several clients at the same time."""
    program = Program(attack, chance)
    faults, program.faults = program.faults, 0.0
    program.begin()
    for _ in program.client(8):  # something to begin with
        pass
    program.faults = faults
    clients = [program.client(chance.randint(2, 6)) for _ in range(chance.randint(2, 4))]
    drifts = dict[tuple[str, str], tuple[Any, ...]]()
    spoiled = chance.random() < 0.5
    if spoiled:
        program.spoil()
        attack.count("spoiled programs")
        drifts = program.drifts()
        clients.append(program.reconciler())
    while clients:
        client = chance.choice(clients)
        if next(client, clients) is clients:
            clients.remove(client)
    program.faults = 0.0
    if spoiled:
        for parent, drift in program.drifts().items():
            # A moved repository takes its counters along, as they are.
            like = [each for (kind, _), each in drifts.items() if kind == parent[0]]
            is_kept = parent not in drifts or all(
                one in (0, *(each[at] for each in like)) for at, one in enumerate(drift)
            )
            attack.require(is_kept, "reconcile makes a counter wrong", f"{parent} {like} {drift}")
        program.run_at_once(reconcile(Hub))
    program.check("clients at the same time")
    differences: list[Any] = []
    for _ in program.run(
        flat(reconcile(Hub, dry_run=True, found=differences.append), program.context)
    ):
        pass
    attack.require(not differences, "reconcile finds a difference", str(differences))


def play(attack: Round) -> None:
    for number in range(attack.size(50, 25)):
        chance = random.Random(f"{attack.seed} {number}")
        attack.count("programs")
        (play_serial if number % 2 else play_together)(attack, chance)


PART = Part(
    "counters",
    "A counter is what it counts, whatever programs write at the same time",
    "random programs on every path of writing, against a plain Python model",
    60,
    play,
)

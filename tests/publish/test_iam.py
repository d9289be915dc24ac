"""Generated policies allow every pattern of a design, and nothing that no pattern needs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from tablewright import (
    GSI,
    Attr,
    Engine,
    Entity,
    Table,
    Tenancy,
    access_pattern,
    attr,
    connect,
    create,
    index,
    key,
    save,
    transact,
)
from tablewright.designs import market
from tablewright.designs.catalog import bundled, load
from tablewright.errors import AccessDeniedException, InvalidValue
from tablewright.mapping.item_kind import record_key
from tablewright.model.databases.provision import Provision, definition
from tablewright.plan.plan import Context, run
from tablewright.plans import Create, Get, Query, Save, Transaction, Upsert, access_patterns
from tablewright.policy import Principal
from tablewright.publish.iam import (
    COGNITO,
    AwsAccount,
    policies,
    policy,
    policy_size,
    roles,
    tenant_policy,
    tenant_tag,
)
from tablewright.publish.iam.policies import grants
from tablewright.publish.infrastructure import create_table_requests
from tablewright.transport.targets import Local
from tablewright.verify import Design, verify
from tests import commands

DESIGNS = bundled()
NAMES = [design.name for design in DESIGNS]

#: Grants of menu that only an interrupted deletion needs: it goes on without the root.
RESUMED = {
    ("dynamodb:ConditionCheckItem", "menu_collection"),
    ("dynamodb:ConditionCheckItem", "menu_composite"),
}


def first_failure(design: Design, document: dict[str, Any]) -> str | None:
    """Return the first check of a design that fails under a policy."""
    with (
        Engine() as engine,
        connect(engine, *design.tables) as database,
        connect(engine, *design.tables, policy=document) as limited,
    ):
        results = verify(design, database, through=limited)
        failed = next((each.check for each in results if not each.ok), None)
        return failed or refused_connection(engine, design, document)


def refused_connection(engine: Engine, design: Design, document: dict[str, Any]) -> str | None:
    """Return what `connect` sends, and a program that uses these tables may not."""
    used = {each["Resource"].split("/")[1] for each in document["Statement"]}
    for table in (each.__table__ for each in design.tables):
        name = {"TableName": table.name}
        requests: dict[str, dict[str, Any]] = {
            "DescribeTable": name,
            "GetItem": name | {"Key": record_key(table), "ConsistentRead": True},
        }
        if definition(table, table.name).ttl is not None:
            requests["DescribeTimeToLive"] = name
        for operation, body in requests.items() if table.name in used else ():
            try:
                engine.call(operation, body, policy=Principal("program", [document]))
            except AccessDeniedException:
                return f"{operation} of {table.name}"
    return None


@pytest.mark.parametrize("design", DESIGNS, ids=NAMES)
def test_every_pattern_passes_under_the_generated_policy(design: Design) -> None:
    assert first_failure(design, policies(design)["all"]) is None


@pytest.mark.slow
@pytest.mark.parametrize("design", DESIGNS, ids=NAMES)
def test_each_single_grant_is_needed(design: Design) -> None:
    whole = policies(design)["all"]
    unneeded = {
        (action, resource.rpartition("table/")[2])
        for action, resource, document in without_one_grant(whole)
        if first_failure(design, document) is None
    }
    assert unneeded == (RESUMED if design.name == "menu" else set())


def without_one_grant(
    whole: dict[str, Any],
) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield the policy without each of its grants: the action, the resource and the policy."""
    for position, statement in enumerate(whole["Statement"]):
        for action in statement["Action"]:
            document = deepcopy(whole)
            document["Statement"][position]["Action"].remove(action)
            if not document["Statement"][position]["Action"]:
                del document["Statement"][position]
            yield action, statement["Resource"], document


@pytest.mark.parametrize("design", DESIGNS, ids=NAMES)
def test_reading_programs_cannot_write(design: Design) -> None:
    writes = {"PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "ConditionCheckItem"}
    actions = {
        action.removeprefix("dynamodb:")
        for statement in policies(design)["read"]["Statement"]
        for action in statement["Action"]
    }
    assert actions
    assert not actions & writes


@pytest.mark.parametrize("design", DESIGNS, ids=NAMES)
def test_the_provisioning_policy_creates_the_tables(design: Design) -> None:
    principal = Principal("deploy", [policies(design)["provision"]])
    with Engine() as engine:
        for request in create_table_requests(design):
            engine.call("CreateTable", request, policy=principal)
            engine.call("DescribeTable", {"TableName": request["TableName"]}, policy=principal)
            with pytest.raises(AccessDeniedException):
                engine.call("Scan", {"TableName": request["TableName"]}, policy=principal)


@pytest.mark.parametrize("design", DESIGNS, ids=NAMES)
def test_the_provisioning_policy_is_what_an_update_needs(design: Design) -> None:
    """It adds the indexes and the record of the indexes, and reads and writes no other item."""
    principal = Principal("deploy", [policies(design)["provision"]])
    with Engine() as engine:
        for request in create_table_requests(design):
            request.pop("GlobalSecondaryIndexes", None)
            request.pop("LocalSecondaryIndexes", None)
            keys = {element["AttributeName"] for element in request["KeySchema"]}
            request["AttributeDefinitions"] = [
                each for each in request["AttributeDefinitions"] if each["AttributeName"] in keys
            ]
            engine.call("CreateTable", request)
        local = Local(engine, principal)
        names = {table.__table__: table.__table__.name for table in design.tables}
        context = Context(names=names, secret=b"")
        for table, name in names.items():
            if any(index.kind == "local" for index in table.indexes.values()):
                engine.call("DeleteTable", {"TableName": name})
            run(Provision(table, create=True, update=True), context, local.send)
            run(Provision(table, create=False, update=True), context, local.send)
            key = {name: {"S": "x"} for name in table.key(record_key(table))}
            with pytest.raises(AccessDeniedException):
                local.send("GetItem", {"TableName": name, "Key": key})


# -- named roles ---------------------------------------------------------------------------------


class Notes(Table, name="notes"):
    by_owner = GSI("GSI1PK", "GSI1SK")
    by_topic = GSI("GSI2PK", "GSI2SK")
    tenancy = Tenancy("org", write=("ORG#{org}", "ORG#{org}#*"), shared=("CATALOG",))


class Note(Entity, table=Notes):
    org: Attr[str] = attr()
    note_id: Attr[str] = attr()
    project: Attr[str] = attr()
    topic: Attr[str] = attr()
    primary = key("ORG" / org, "NOTE" / note_id)
    by_owner = index(Notes.by_owner, "ORG" / org, "PROJECT" / project)
    by_topic = index(Notes.by_topic, "TOPIC" / topic, "NOTE" / note_id)


class Task(Entity, table=Notes):
    org: Attr[str] = attr()
    project: Attr[str] = attr()
    task_id: Attr[str] = attr()
    primary = key("ORG" / org / "PROJECT" / project, "TASK" / task_id)


class Template(Entity, table=Notes):
    template_id: Attr[str] = attr()
    primary = key("CATALOG", "TEMPLATE" / template_id)


@access_pattern(role="web")
def notes(org: str) -> Query[Note]:
    return Note.primary.within(org)


@access_pattern(role="web")
def notes_of_project(org: str, project: str) -> Query[Note]:
    return Note.by_owner(org).eq(project)


@access_pattern(role="worker")
def tasks(org: str, project: str) -> Query[Task]:
    return Task.primary.within(org, project)


@access_pattern(role="worker")
def add_task(task: Task) -> Create[Task]:
    return create(task)


@access_pattern(role="search")
def topics(org: str) -> Query[tuple[str]]:
    return Note.primary.within(org).select(Note.topic)


@access_pattern
def template(template_id: str) -> Get[Template]:
    return Template.primary(template_id)


@access_pattern
def notes_about(topic: str) -> Query[Note]:
    return Note.by_topic(topic)


@access_pattern
def add_template(template: Template) -> Create[Template]:
    return create(template)


NOTES = Design(name="notes", doc="", tables=(Notes,), sample=None, checks=None)


def test_each_named_role_has_its_patterns() -> None:
    assert {role: [each.name for each in found] for role, found in roles(NOTES).items()} == {
        "all": [
            *("notes", "notes_of_project", "tasks", "add_task", "topics", "template"),
            *("notes_about", "add_template"),
        ],
        "read": ["notes", "notes_of_project", "tasks", "topics", "template", "notes_about"],
        "write": ["add_task", "add_template"],
        "web": ["notes", "notes_of_project"],
        "worker": ["tasks", "add_task"],
        "search": ["topics"],
    }
    account = AwsAccount("eu-west-1", "123456789012")
    arn = "arn:aws:dynamodb:eu-west-1:123456789012:table/notes"
    assert policy(NOTES, "web", account) == {
        "Version": "2012-10-17",
        "Statement": [
            {
                "Effect": "Allow",
                "Action": ["dynamodb:DescribeTable", "dynamodb:Query"],
                "Resource": arn,
            },
            {"Effect": "Allow", "Action": ["dynamodb:Query"], "Resource": f"{arn}/index/by_owner"},
            {
                "Effect": "Allow",
                "Action": ["dynamodb:GetItem"],
                "Resource": arn,
                "Condition": {
                    "ForAllValues:StringEquals": {"dynamodb:LeadingKeys": ["${$}tablewright"]},
                    "Null": {"dynamodb:LeadingKeys": "false"},
                },
            },
        ],
    }
    with pytest.raises(InvalidValue, match="no role 'worked'"):
        policy(NOTES, "worked")


def test_a_role_that_selects_attributes_reads_no_others() -> None:
    document = policy(NOTES, "search")
    _, statement, _ = document["Statement"]
    assert statement["Condition"]["ForAllValues:StringEquals"] == {
        "dynamodb:Attributes": ["PK", "SK", "topic", "type"]
    }
    with (
        Engine() as engine,
        connect(engine, Notes) as database,
        connect(engine, Notes, policy=document) as limited,
    ):
        database.run(create(Note(org="x", note_id="n", project="p", topic="t")))
        assert list(limited.run(topics("x"))) == [("t",)]
        for refused in (
            notes("x"),
            Note.primary.within("x").select(Note.project),
            Note.primary.within("x").count(),
        ):
            with pytest.raises(AccessDeniedException):
                limited.run(refused)


class Readings(Table, name="readings", pk="station", sk="at"):
    pass


class Reading(Entity, table=Readings):
    station: Attr[int] = attr()
    at: Attr[int] = attr()
    primary = key(station, at)


@access_pattern
def readings(station: int) -> Query[Reading]:
    return Reading.primary.within(station)


def may_read(engine: Engine, table: str, key: dict[str, Any], document: dict[str, Any]) -> bool:
    """Return whether a policy allows to read an item."""
    request = {"TableName": table, "Key": key, "ConsistentRead": True}
    try:
        engine.call("GetItem", request, policy=Principal("program", [document]))
    except AccessDeniedException:
        return False
    return True


@pytest.mark.parametrize("role", ["web", "worker", "search", "tenants", "readings"])
def test_a_program_may_read_the_record_of_its_table_and_no_other_item(role: str) -> None:
    table, design = Notes.__table__, NOTES
    if role == "readings":  # its keys are numbers
        table, role = Readings.__table__, "all"
        design = Design(name="readings", doc="", tables=(Readings,), sample=None, checks=None)
    document = tenant_policy(design).policy if role == "tenants" else policy(design, role)
    with Engine() as engine, connect(engine, *design.tables):
        record = record_key(table)
        assert may_read(engine, table.name, record, document)
        tag = next(iter(record[table.attributes[0]]))
        other = {**record, table.attributes[0]: {tag: "7"}}
        assert not may_read(engine, table.name, other, document)
        for statement in document["Statement"]:
            if "dynamodb:GetItem" in statement["Action"]:
                statement["Action"].remove("dynamodb:GetItem")
        document["Statement"] = [each for each in document["Statement"] if each["Action"]]
        assert not may_read(engine, table.name, record, document)


class Counters(Table, name="counters"):
    pass


class Counter(Entity, table=Counters):
    counter_id: Attr[str] = attr()
    hits: Attr[int] = attr(default=1)
    primary = key("COUNTER", counter_id)


@access_pattern(role="upserts")
def count_hit(counter_id: str) -> Upsert[Counter]:
    return Counter.primary(counter_id).upsert(Counter.hits.increment(1))


@access_pattern(role="saves")
def save_counter(counter: Counter) -> Save[Counter]:
    return save(counter)


@access_pattern(role="saves together")
def save_counters(first: Counter, second: Counter) -> Transaction[tuple[Counter, Counter]]:
    return transact(save(first), save(second).condition(Counter.hits > 0))


def test_saves_in_a_transaction_need_the_actions_that_they_may_have() -> None:
    (found,) = (each for each in access_patterns(Counters) if each.name == "save_counters")
    needed = {grant.action for grant in grants([found])}
    assert needed == {"ConditionCheckItem", "DeleteItem", "GetItem", "PutItem", "UpdateItem"}
    shape = found.shape
    assert [each.operation for each in shape.requests] == [
        *("GetItem", "GetItem", "TransactWriteItems"),
    ]
    assert sum(each.read_units for each in shape.requests) == shape.read_units
    with Engine() as engine, connect(engine, Counters) as database:
        database.run(transact(create(Counter(counter_id="a")), create(Counter(counter_id="b"))))
        design = Design(name="counters", doc="", tables=(Counters,), sample=None, checks=None)
        limited = connect(engine, Counters, policy=policy(design, "saves together"))
        first, second = (database.run(Counter.primary(each)) for each in "ab")
        assert first is not None
        assert second is not None
        first.counter_id = "c"
        limited.run(save_counters(first, second))  # moves one, and checks the other
        assert database.run(Counter.primary("c")) == first


@pytest.mark.parametrize("role", ["upserts", "saves"])
def test_a_role_may_do_what_depends_on_stored_items(role: str) -> None:
    design = Design(name="counters", doc="", tables=(Counters,), sample=None, checks=None)
    with (
        Engine() as engine,
        connect(engine, Counters) as database,
        connect(engine, Counters, policy=policy(design, role)) as limited,
    ):
        database.run(create(Counter(counter_id="a")))
        if role == "upserts":
            assert [limited.run(count_hit(each)).hits for each in "ab"] == [2, 2]
            return
        found = database.run(Counter.primary("a"))
        assert found is not None
        found.hits = 7
        limited.run(save_counter(found))
        found.counter_id = "b"
        limited.run(save_counter(found))
        assert database.run(Counter.primary("b")) == found


# -- tenants -------------------------------------------------------------------------------------


def test_a_tenant_policy_lists_what_it_leaves_out() -> None:
    found = tenant_policy(NOTES)
    assert [each.name for each in found.patterns] == [
        *("notes", "notes_of_project", "tasks", "add_task", "topics", "template"),
    ]
    assert {each.pattern.rpartition(".")[2]: each.reason for each in found.left_out} == {
        "notes_about": 'GSI2PK="TOPIC#{topic}" is not a partition that a tenant may read',
        "add_template": 'PK="CATALOG" is not a partition that a tenant may write',
    }
    actions = {action for each in found.policy["Statement"] for action in each["Action"]}
    assert "dynamodb:Scan" not in actions
    *limited, described = found.policy["Statement"]
    assert all(each["Condition"]["Null"] for each in limited)
    assert described["Action"] == ["dynamodb:DescribeTable"]


class Quotes(Table, name="quotes"):
    tenancy = Tenancy("org", write=("ORG#{org}",), shared=("CATALOG", 'LIST"{X'))


class Quoted(Entity, table=Quotes):
    quoted_id: Attr[str] = attr()
    primary = key('CATALOG"X', quoted_id)


class Listed(Entity, table=Quotes):
    listed_id: Attr[str] = attr()
    primary = key('LIST"{X', listed_id)


class Literal(Entity, table=Quotes):
    literal_id: Attr[str] = attr()
    primary = key("ORG#{org}", literal_id)


@access_pattern
def quoted(quoted_id: str) -> Get[Quoted]:
    return Quoted.primary(quoted_id)


@access_pattern
def listed(listed_id: str) -> Get[Listed]:
    return Listed.primary(listed_id)


@access_pattern
def literal(literal_id: str) -> Get[Literal]:
    return Literal.primary(literal_id)


def test_a_partition_is_compared_as_a_value_not_as_text() -> None:
    design = Design(name="quotes", doc="", tables=(Quotes,), sample=None, checks=None)
    found = tenant_policy(design)
    assert [each.name for each in found.patterns] == ["listed"]
    assert [each.reason for each in found.left_out] == [
        'PK="CATALOG"X" is not a partition that a tenant may read',
        'PK="ORG#{org}" is not a partition that a tenant may read',
    ]
    statement, *_ = found.policy["Statement"]
    (condition,) = (each for name, each in statement["Condition"].items() if name != "Null")
    assert condition == {"dynamodb:LeadingKeys": ['LIST"{X']}


#: Ids that would reach another tenant if they were compared as text, or as wildcards.
HOSTILE = ["x", "x1", "x#PROJECT", "*", "?", "x*", "$", "${aws:username}", "X", "x#PROJECT#y", "é"]


def test_the_tag_of_a_tenant_is_its_id_as_stored() -> None:
    assert [tenant_tag(Notes, tenant) for tenant in ("x", "x#PROJECT", "$")] == [
        *("x", "x$!PROJECT", "$$")
    ]
    with pytest.raises(InvalidValue, match="the id of the tenant is empty"):
        tenant_tag(Notes, "")


@pytest.mark.parametrize("variable", [None, COGNITO], ids=["principal tag", "Cognito"])
def test_a_tenant_reaches_its_own_partitions_only(variable: str | None) -> None:
    found = tenant_policy(NOTES, variable=variable)
    with Engine() as engine, connect(engine, Notes) as database:
        for tenant in HOSTILE:
            database.run(create(Note(org=tenant, note_id="n", project="p", topic="t")))
            database.run(create(Task(org=tenant, project="p", task_id="t")))
        database.run(create(Template(template_id="t")))
        for tenant in HOSTILE:
            principal = session(tenant_tag(Notes, tenant), found.policy, variable)
            with connect(engine, Notes, policy=principal) as limited:
                assert limited.run(template("t")) is not None
                for other in HOSTILE:
                    plans = (notes(other), notes_of_project(other, "p"), tasks(other, "p"))
                    for plan in plans:
                        if other == tenant:
                            assert len(limited.run(plan)) == 1  # type: ignore[arg-type]
                        else:
                            with pytest.raises(AccessDeniedException):
                                limited.run(plan)
                    new = Task(org=other, project="p", task_id=f"of {tenant}")
                    if other == tenant:
                        limited.run(add_task(new))
                    else:
                        with pytest.raises(AccessDeniedException):
                            limited.run(add_task(new))
                for refused in (notes_about("t"), add_template(Template(template_id="new"))):
                    with pytest.raises(AccessDeniedException):
                        limited.run(refused)


def session(tenant: str, document: dict[str, Any], variable: str | None) -> Principal:
    if variable is None:
        return Principal("session", [document], tags={"org": tenant})
    text = json.dumps(document).replace(COGNITO, "${aws:PrincipalTag/sub}")
    return Principal("session", [json.loads(text)], tags={"sub": tenant})


def test_the_tenants_of_market_run_their_patterns() -> None:
    found = tenant_policy(load("market"))
    assert {each.name for each in found.patterns} >= {"user_profile", "carts", "put_cart"}
    assert {each.pattern.rpartition(".")[2] for each in found.left_out} >= {"order_by_id"}
    reasons = {each.pattern.rpartition(".")[2]: each.reason for each in found.left_out}
    assert reasons["place_order"] == 'pk="U#{user_id}#O" is not a partition that a tenant may write'


def test_the_policy_of_a_user_allows_the_own_order_by_id_and_no_other() -> None:
    design = load("market")
    found = tenant_policy(design)
    assert design.sample is not None
    with Engine() as engine, connect(engine, market.Market) as database:
        for entity in design.sample():
            database.run(create(entity))
        whole = database.run(market.order_with_items("2025-0001"))
        tag = tenant_tag(market.Market, "rabinovich")
        principal = Principal("session", [found.policy], tags={"user_id": tag})
        with connect(engine, market.Market, policy=principal) as limited:
            assert limited.run(market.own_order_with_items("rabinovich", "2025-0001")) == whole
            assert limited.run(market.own_order_with_items("rabinovich", "2025-0002")) is None
            for refused in (
                market.own_order_with_items("rabin", "2025-0001"),
                market.order_with_items("2025-0001"),
            ):
                with pytest.raises(AccessDeniedException):
                    limited.run(refused)


def test_a_design_without_tenants_has_no_tenant_policy() -> None:
    with pytest.raises(InvalidValue, match="commerce has no tenants"):
        tenant_policy(load("commerce"))


# -- the command ---------------------------------------------------------------------------------


def test_the_command_writes_policies() -> None:
    everything = json.loads(commands.run("publish", "iam", "commerce").stdout)
    assert list(everything) == ["all", "read", "write", "provision", "migrate"]
    one = commands.run("publish", "iam", "commerce", "--role", "read")
    assert json.loads(one.stdout) == everything["read"]


def test_the_command_lists_what_a_tenant_may_not_do() -> None:
    done = commands.run("publish", "iam", "market", "--tenant", "--region", "eu-west-1")
    assert "${aws:PrincipalTag/user_id}" in done.stdout
    assert "arn:aws:dynamodb:eu-west-1:*:table/Market" in done.stdout
    assert "not allowed: tablewright.designs.market.patterns.order_by_id: " in done.stderr
    assert "note: ${aws:PrincipalTag/user_id} must hold the id as keys store it" in done.stderr
    assert "tenant_tag(Market, id)" in done.stderr


def test_a_policy_is_measured_without_white_space() -> None:
    assert policy_size({"Sid": "a b", "Action": ["c", "d"]}) == len(
        '{"Sid":"ab","Action":["c","d"]}'
    )


def test_the_command_warns_of_a_policy_that_is_too_long(tmp_path: Path) -> None:
    tables = "".join(LONG.format(number=number) for number in range(30))
    (tmp_path / "long.py").write_text(f"from tablewright import *\n{tables}")
    done = commands.run("publish", "iam", tmp_path / "long.py")
    assert done.returncode == 0
    assert "warning: the policy of all has " in done.stderr
    assert "characters without white space, and a managed policy takes 6,144" in done.stderr


LONG = """
class Table{number}(Table, name="{number}" * 100): ...

class Item{number}(Entity, table=Table{number}):
    id: Attr[str] = attr()
    primary = key("ITEM" / id, "ITEM")

@access_pattern
def item{number}(id: str) -> Get[Item{number}]:
    return Item{number}.primary(id)
"""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["commerce", "--tenant"], "commerce has no tenants"),
        (["market", "--region", "moon"], "'moon' is not a region, such as eu-west-1, or *"),
        (["market", "--account", "12"], "'12' is not the id of an account: 12 digits, or *"),
        (["market", "--partition", "aws-gov"], "did you mean 'aws-us-gov'?"),
        (["market", "--tenant", "--variable", "${x}"], "write the name alone, without ${…}"),
        (
            ["commerce", "--role", "raed"],
            "no role 'raed'; its roles are all, read, write, provision, migrate; did you mean",
        ),
        (["market", "--tenant", "--role", "read"], "leave --role out"),
        (["market", "--variable", "aws:userid"], "--variable is for --tenant"),
    ],
)
def test_the_command_says_what_is_wrong(arguments: list[str], message: str) -> None:
    done = commands.run("publish", "iam", *arguments)
    assert done.returncode == 2
    assert message in done.stderr

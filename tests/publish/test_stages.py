"""A change of indexes takes one update of the stack for each, and ends at the new template."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablewright import Engine, Table, connect, put
from tablewright.designs.catalog import load
from tablewright.errors import IndexNotReady, TableReplacement
from tablewright.model.description import describe_design
from tablewright.publish.infrastructure import (
    cloudformation,
    item_lines,
    migration_plans,
    runbook,
    stages,
)
from tablewright.publish.migration_text import deployment
from tablewright.server import serving
from tests import commands

COMMERCE = load("commerce")
TABLE = "CommerceSingleTable"
NOW = cloudformation(COMMERCE)


def index(name: str, *, project: str = "ALL") -> dict[str, Any]:
    return {
        "IndexName": name,
        "KeySchema": [{"AttributeName": f"{name}PK", "KeyType": "HASH"}],
        "Projection": {"ProjectionType": project},
    }


def template(*indexes: dict[str, Any]) -> dict[str, Any]:
    """Return a template of one table with these indexes."""
    keys = ["PK", *(each["KeySchema"][0]["AttributeName"] for each in indexes)]
    properties: dict[str, Any] = {
        "TableName": "orders",
        "KeySchema": [{"AttributeName": "PK", "KeyType": "HASH"}],
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": n, "AttributeType": "S"} for n in keys],
    }
    if indexes:
        properties["GlobalSecondaryIndexes"] = list(indexes)
    resource = {"Type": "AWS::DynamoDB::Table", "Properties": properties}
    return {"Resources": {"Orders": resource}}


def commit_module(text: str) -> None:
    """Write blog.py and commit it to a new repository in the working directory."""
    Path("blog.py").write_text(text)
    git = ("git", "-c", "user.name=a", "-c", "user.email=a@b")
    for command in (("init", "-q"), ("add", "."), ("commit", "-qm", "first")):
        subprocess.run([*git, *command], check=True)


def deploy(engine: Engine, before: dict[str, Any], after: dict[str, Any]) -> None:
    """Update a table under CloudFormation's rule; the engine checks its own rules."""
    was = {each["IndexName"]: each for each in before.get("GlobalSecondaryIndexes", ())}
    now = {each["IndexName"]: each for each in after.get("GlobalSecondaryIndexes", ())}
    updates = [{"Delete": {"IndexName": name}} for name in was.keys() - now.keys()]
    updates += [{"Create": now[name]} for name in now.keys() - was.keys()]
    assert all(was[name] == now[name] for name in was.keys() & now.keys())
    assert len(updates) <= 1
    if updates:
        engine.call(
            "UpdateTable",
            {
                "TableName": after["TableName"],
                "AttributeDefinitions": after["AttributeDefinitions"],
                "GlobalSecondaryIndexUpdates": updates,
            },
        )


def stored(engine: Engine, table: str) -> tuple[Any, Any]:
    """Return the attributes and the indexes of a stored table."""
    found = engine.call("DescribeTable", {"TableName": table})["Table"]
    indexes = {
        each["IndexName"]: (each["KeySchema"], each["Projection"])
        for each in found.get("GlobalSecondaryIndexes", ())
    }
    return sorted(map(str, found["AttributeDefinitions"])), indexes


indexes = st.lists(
    st.builds(
        index,
        st.sampled_from(["one", "two", "three"]),
        project=st.sampled_from(["ALL", "KEYS_ONLY"]),
    ),
    unique_by=lambda each: each["IndexName"],
)


@given(indexes, indexes)
def test_stages_lead_from_any_indexes_to_any_others(
    old: list[dict[str, Any]], new: list[dict[str, Any]]
) -> None:
    before, after = template(*old), template(*new)
    current = before["Resources"]["Orders"]["Properties"]
    with Engine() as engine, Engine() as expected:
        engine.call("CreateTable", current)
        expected.call("CreateTable", after["Resources"]["Orders"]["Properties"])
        for stage in stages(before, after):
            properties = stage.template["Resources"]["Orders"]["Properties"]
            deploy(engine, current, properties)
            current = properties
        assert stored(engine, "orders") == stored(expected, "orders")


def before_the_indexes() -> dict[str, Any]:
    """Return the template of commerce as it was before two of its indexes."""
    old = deepcopy(NOW)
    properties = old["Resources"][TABLE]["Properties"]
    properties["GlobalSecondaryIndexes"] = properties["GlobalSecondaryIndexes"][:1]
    properties["AttributeDefinitions"] = properties["AttributeDefinitions"][:4]
    return old


def test_each_new_index_is_a_stage() -> None:
    found = stages(before_the_indexes(), NOW)
    assert [[str(change) for change in stage.changes] for stage in found] == [
        ["create gsi_status_orders of commerce_single_table"],
        ["create gsi_customer_status_orders of commerce_single_table"],
    ]
    assert found[-1].template == NOW


def test_equal_templates_have_no_stages() -> None:
    assert stages(NOW, NOW) == []


def test_a_new_table_has_all_its_indexes_in_the_first_stage() -> None:
    old = cloudformation(load("shop"))
    both = deepcopy(NOW)
    both["Resources"] |= old["Resources"]
    (stage,) = stages(old, both)
    assert stage.template == both
    assert stage.changes == ()


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("KeySchema", [{"AttributeName": "PK", "KeyType": "HASH"}]),
        ("TableName", "other"),
        ("LocalSecondaryIndexes", [index("lsi")]),
    ],
)
def test_a_change_that_replaces_a_table_is_refused(member: str, value: Any) -> None:
    old = deepcopy(NOW)
    old["Resources"][TABLE]["Properties"][member] = value
    with pytest.raises(TableReplacement, match=f"{TABLE}: {member} changed"):
        stages(old, NOW)


def test_another_type_of_a_key_attribute_is_refused() -> None:
    old = deepcopy(NOW)
    old["Resources"][TABLE]["Properties"]["AttributeDefinitions"][2]["AttributeType"] = "N"
    with pytest.raises(TableReplacement, match="the type of GSI1PK changed"):
        stages(old, NOW)


def test_a_table_that_is_no_longer_declared_is_refused() -> None:
    old = deepcopy(NOW)
    old["Resources"]["Gone"] = old["Resources"][TABLE]
    with pytest.raises(TableReplacement, match="Gone: the table is no longer declared"):
        stages(old, NOW)


def titles(text: str) -> list[str]:
    return re.findall(r"^## \d+\. (.*)$", text, re.MULTILINE)


def test_the_runbook_migrates_the_items_when_all_new_indexes_exist() -> None:
    text = runbook(COMMERCE, stages(before_the_indexes(), NOW), ["1.json", "2.json"])
    assert text.startswith("# commerce: 2 updates\n")
    assert titles(text) == [
        "Record the version",
        "Create gsi_status_orders of commerce_single_table",
        "Create gsi_customer_status_orders of commerce_single_table",
        "Deploy the program",
        "Migrate the items",
        "Complete the migration",
    ]
    assert "$ tablewright migrate apply commerce dynamodb://REGION --template\n" in text


def test_an_index_that_only_the_old_version_reads_is_deleted_after_the_migration() -> None:
    old = deepcopy(NOW)
    properties = old["Resources"][TABLE]["Properties"]
    properties["GlobalSecondaryIndexes"][0] |= {"IndexName": "gone"}
    found = stages(old, NOW)
    assert [len(stage.changes) for stage in found] == [1, 1]
    assert titles(runbook(COMMERCE, found, ["1.json", "2.json"]))[1:] == [
        f"Create {NOW['Resources'][TABLE]['Properties']['GlobalSecondaryIndexes'][0]['IndexName']} "
        "of commerce_single_table",
        "Stop the program",
        "Migrate the items",
        "Deploy the program",
        "Delete gone of commerce_single_table",
        "Complete the migration",
    ]


def test_a_program_is_deployed_after_the_settings_that_it_needs() -> None:
    old = deepcopy(NOW)
    properties = old["Resources"][TABLE]["Properties"]
    del properties["BillingMode"]
    properties["GlobalSecondaryIndexes"].append(index("gone"))
    properties["AttributeDefinitions"].append({"AttributeName": "gonePK", "AttributeType": "S"})
    text = runbook(COMMERCE, stages(old, NOW), ["1.json", "2.json"])
    assert titles(text)[1:6] == [
        "Change settings and create tables",
        "Stop the program",
        "Migrate the items",
        "Deploy the program",
        "Delete gone of commerce_single_table",
    ]


def test_a_change_of_settings_needs_no_migration() -> None:
    old = deepcopy(NOW)
    del old["Resources"][TABLE]["Properties"]["BillingMode"]
    text = runbook(COMMERCE, stages(old, NOW), ["1.json"])
    assert titles(text) == ["Change settings and create tables", "Deploy the program"]


def test_an_index_with_other_keys_comes_before_the_program() -> None:
    old = deepcopy(NOW)
    changed = old["Resources"][TABLE]["Properties"]["GlobalSecondaryIndexes"][0]
    changed["Projection"] = {"ProjectionType": "KEYS_ONLY"}
    text = runbook(COMMERCE, stages(old, NOW), ["1.json", "2.json"])
    assert f"{changed['IndexName']} of commerce_single_table: this change gives" in text
    assert [title.split()[0] for title in titles(text)] == [
        "Delete",
        "Create",
        "Deploy",
        "Backfill",
    ]


DESIGN = """
from tablewright import GSI, Attr, Entity, Table, attr, index, key

class Blog(Table, name="blog"):
    {index}

class Post(Entity, table=Blog):
    post_id: Attr[str] = attr()
    author: Attr[str] = attr()
    primary = key("POST" / post_id, "POST")
    {place}
"""


def test_the_command_compares_with_a_revision(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    commit_module(DESIGN.format(index="pass", place="pass"))
    Path("blog.py").write_text(
        DESIGN.format(
            index='by_author = GSI("GSI1PK", "GSI1SK")',
            place='by_author = index(Blog.by_author, "AUTHOR" / author, "POST" / post_id)',
        )
    )
    done = commands.run("publish", "cloudformation", "blog.py", "--since", "HEAD", "-o", "out")
    assert done.returncode == 0, done.stderr
    assert done.stdout == (
        "out/1.json: create by_author of blog\nout/RUNBOOK.md: how to apply them\n"
    )
    migrate = "tablewright migrate apply blog.py dynamodb://REGION --template"
    assert migrate in Path("out/RUNBOOK.md").read_text()
    again = commands.run("publish", "cloudformation", "blog.py", "--since", "out/1.json", "-o", "x")
    assert again.stdout == (
        "The templates are equal; there is nothing to deploy.\n"
        "Stored items were not compared: a CloudFormation template does not describe them. To "
        "compare them, use --since with a git revision.\n"
    )


KEYS = """
from tablewright import GSI, Attr, Entity, Table, attr, index, key, unique
from tablewright.formats import upper

class Blog(Table, name="blog"):
    gsi1 = GSI("GSI1PK", "GSI1SK")
    gsi2 = GSI("GSI2PK", "GSI2SK")

class Post(Entity, table=Blog):
    post_id: Attr[str] = attr()
    author: Attr[str] = attr()
    {members}
"""
PRIMARY = 'primary = key("POST" / post_id, "POST")'
PLACE = 'by_author = index(Blog.gsi1, "AUTHOR" / author, "POST" / post_id)'


STOPS = ["Record the version", "Stop the program", "Migrate the items", "Deploy the program"]
ROLLS = ["Record the version", "Deploy the program", "Migrate the items"]


@pytest.mark.parametrize(
    ("members", "lines", "steps"),
    [
        (
            [PRIMARY, PLACE.replace("AUTHOR", "WRITER")],
            ["Post.gsi1: the key in the index is made of other parts: "
             "GSI1PK=AUTHOR#{author}, GSI1SK=POST#{post_id} -> "
             "GSI1PK=WRITER#{author}, GSI1SK=POST#{post_id}"],
            STOPS,
        ),
        (
            [PRIMARY.replace('"POST")', '"BLOGPOST")'), PLACE],
            ["Post: the primary key is made of other parts: PK=POST#{post_id}, SK=POST -> "
             "PK=POST#{post_id}, SK=BLOGPOST"],
            ROLLS,
        ),
        (
            [PRIMARY, PLACE, PLACE.replace("by_author", "other").replace("gsi1", "gsi2")],
            ["Post.gsi2: the entity is added to the index: nothing -> "
             "GSI2PK=AUTHOR#{author}, GSI2SK=POST#{post_id}"],
            ROLLS,
        ),
        (
            [PRIMARY, PLACE, 'name = unique("NAME" / author)'],
            ["Post.name: the value is unique: nothing -> PK=NAME#{author}, SK=NAME#{author}"],
            ROLLS,
        ),
        (
            [PRIMARY, PLACE, 'text: Attr[str] = attr(renamed_from="note", default="")'],
            ["Post.text: the attribute is renamed: note -> text"],
            STOPS,
        ),
        (
            [PRIMARY, PLACE, "tag: Attr[str] = attr()"],
            ["Post.tag: the attribute is new and required"],
            STOPS,
        ),
        (
            [PRIMARY, PLACE, 'tag: Attr[str] = attr(fill="")'],
            ["Post.tag: the attribute is new and required"],
            ROLLS,
        ),
    ],
)  # fmt: skip
def test_changes_of_items_decide_the_order_of_the_steps(
    members: list[str], lines: list[str], steps: list[str], tmp_path: Path
) -> None:
    old, module = tmp_path / "old.py", tmp_path / "blog.py"
    note = 'note: Attr[str] = attr(default="")'
    old.write_text(KEYS.format(members="\n    ".join([PRIMARY, PLACE, note])))
    if not any("note" in each for each in members):
        members = [*members, note]
    text = KEYS.format(members="\n    ".join(members))
    module.write_text(text.replace('name="blog"', 'name="blog", deletion_protection=True'))
    before, design = load(str(old)), load(str(module))
    plans = migration_plans(design, describe_design(*before.tables))
    assert item_lines(plans, []) == lines
    found = stages(cloudformation(before), cloudformation(design))
    written = runbook(design, found, ["1.json"], name="blog.py", old="old.py", plans=plans)
    assert f"The migration below includes this:\n\n- {lines[0]}\n" in written
    assert deployment(plans["blog"]) in written.replace("\n", " ")
    settings = "Change settings and create tables"
    assert titles(written) == [steps[0], settings, *steps[1:], "Complete the migration"]
    assert "$ tablewright migrate baseline old.py dynamodb://REGION\n" in written


def test_an_index_that_is_replaced_under_its_name_is_not_migrated(tmp_path: Path) -> None:
    old, module = tmp_path / "old.py", tmp_path / "blog.py"
    old.write_text(KEYS.format(members=f"{PRIMARY}\n    {PLACE}"))
    renamed = old.read_text().replace('"POST")', '"BLOGPOST")')
    module.write_text(renamed.replace('"GSI1SK")', '"GSI1SK", project="KEYS_ONLY")'))
    before, design = load(str(old)), load(str(module))
    plans = migration_plans(design, describe_design(*before.tables))
    found = stages(cloudformation(before), cloudformation(design))
    written = runbook(design, found, ["1.json", "2.json"], name="blog.py", plans=plans)
    assert "The steps below do not include this" in written
    assert "\n- Post: the primary key is made of other parts: " in written
    assert "Migrate the items" not in titles(written)


def test_the_command_lists_changes_of_items(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    commit_module(KEYS.format(members=f"{PRIMARY}\n    {PLACE}"))
    old, module = Path("old.py"), Path("blog.py")
    old.write_text(module.read_text())
    changed = PLACE.replace("AUTHOR", "WRITER")
    module.write_text(KEYS.format(members=f"{PRIMARY}\n    {changed}"))
    for since in ("HEAD", "blog.py@HEAD", "old.py"):
        done = commands.run("publish", "cloudformation", "blog.py", "--since", since, "-o", "out")
        assert done.returncode == 0, done.stderr
        first, named, programs, advice = done.stdout.splitlines()
        assert first == "Stored items change:"
        assert named.startswith("  Post.gsi1: the key in the index is made of other parts: ")
        assert "until the step `await-programs`" in programs
        assert "`tablewright migrate plan blog.py TARGET`" in advice
        assert not Path("out").exists()
    # With a change of the table, the runbook says it, too.
    module.write_text(
        module.read_text().replace('name="blog"', 'name="blog", deletion_protection=True')
    )
    done = commands.run("publish", "cloudformation", "blog.py", "--since", "HEAD", "-o", "out")
    assert named in done.stdout.splitlines()
    written = Path("out/RUNBOOK.md").read_text()
    assert f"The migration below includes this:\n\n- {named.strip()}\n" in written
    assert "$ tablewright migrate baseline blog.py@HEAD dynamodb://REGION\n" in written
    # What no migration carries out is refused, and nothing is written.
    module.write_text(
        module.read_text().replace('name="blog"', 'name="blog", type_attribute="kind"')
    )
    done = commands.run("publish", "cloudformation", "blog.py", "--since", "HEAD", "-o", "new")
    assert done.returncode == 2
    assert "declare another table and copy the items" in done.stderr
    assert not Path("new").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--since", "HEAD"], "name a folder with --output"),
        (["--since", "HEAD", "--global-table", "-o", "x"], "leave --global-table out"),
        (["--since", "list.json", "-o", "x"], "list.json is not a CloudFormation template"),
        (["--since", "nothing", "-o", "x"], "git: "),
    ],
)
def test_the_command_says_what_is_wrong(
    arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("list.json").write_text(json.dumps([]))
    done = commands.run("publish", "cloudformation", "shop", *arguments)
    assert done.returncode == 2
    assert message in done.stderr


NEW_PLACES = """
    by_author = index(Blog.by_author, "AUTHOR" / author, "POST" / post_id)
    by_day = index(Blog.by_day, "DAY" / day, "POST" / post_id)
    of_day = index(Blog.days, day)
"""
OLD_INDEX = 'gone = GSI("GSI9PK", "GSI9SK")'
OLD_PLACE = 'gone = index(Blog.gone, "ALL", "POST" / post_id)'
NEW_INDEXES = (
    'by_author = GSI("GSI1PK", "GSI1SK"); by_day = GSI("GSI2PK", "GSI2SK"); days = GSI("day")'
)


class Simulation:
    """The steps of a runbook, on an engine with CloudFormation's rule."""

    def __init__(self, engine: Engine, url: str, template: dict[str, Any]) -> None:
        self.engine, self.url, self.template = engine, url, template

    def run(self, command: str) -> None:
        words = shlex.split(command.replace("dynamodb://REGION", self.url))
        if words[:3] == ["aws", "cloudformation", "deploy"]:
            after = json.loads((Path("out") / words[-1]).read_text())
            (old,), (new,) = (each["Resources"].values() for each in (self.template, after))
            deploy(self.engine, old["Properties"], new["Properties"])
            self.template = after
        elif words[:3] == ["aws", "dynamodb", "describe-table"]:
            found = self.engine.call("DescribeTable", {"TableName": words[4]})["Table"]
            assert {each["IndexStatus"] for each in found["GlobalSecondaryIndexes"]} == {"ACTIVE"}
        else:
            assert words[:2] == ["tablewright", "migrate"]
            if words[2] == "baseline":  # in a checkout of the old version
                words[3] = "old.py"
            else:
                words.append("--yes")
            done = commands.run(*words[1:])
            assert done.returncode == 0, done.stderr


def _entity(table: type[Table]) -> Any:
    return table.__table__.entities[0].type


@pytest.mark.parametrize("is_removing", [False, True])
def test_the_runbook_leads_to_complete_indexes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_removing: bool
) -> None:
    """Indexes with composed keys can be read after the migration, and refuse it before."""
    monkeypatch.chdir(tmp_path)
    design = DESIGN.replace("primary =", "day: Attr[str] = attr()\n    primary =")
    index, place = (OLD_INDEX, OLD_PLACE) if is_removing else ("pass", "pass")
    Path("old.py").write_text(design.format(index=index, place=place))
    Path("blog.py").write_text(design.format(index=NEW_INDEXES, place=NEW_PLACES))
    before = cloudformation(load("old.py"))
    Path("before.json").write_text(json.dumps(before))
    done = commands.run(
        "publish", "cloudformation", "blog.py", "--since", "before.json", "-o", "out"
    )
    assert done.returncode == 0, done.stderr
    steps = re.split(r"^## \d+\. ", Path("out/RUNBOOK.md").read_text(), flags=re.MULTILINE)[1:]
    (old_table,), (table,) = load("old.py").tables, load("blog.py").tables
    old_post, post = (_entity(each) for each in (old_table, table))
    reads: dict[str, Any] = {
        "by_author": post.by_author("ann"),
        "by_day": post.by_day("monday"),
        "days": post.of_day("monday"),
    }
    with Engine() as engine, serving(engine) as url:
        engine.call("CreateTable", before["Resources"]["Blog"]["Properties"])
        old = connect(engine, old_table)
        for number in range(3):
            old.run(put(old_post(post_id=str(number), author="ann", day="monday")))
        simulation = Simulation(engine, url, before)
        program, readable = None, []
        for step in steps:
            title = step.partition("\n")[0]
            for command in re.findall(r"^\$ (.*)$", step, re.MULTILINE):
                simulation.run(command)
            if title == "Deploy the program":
                program = connect(engine, table)
                program.run(put(post(post_id="new", author="ann", day="monday")))
            if title.startswith("Create days"):  # DynamoDB fills it
                readable.append("days")
            if title == "Migrate the items":
                readable += ["by_author", "by_day"]
            for name, plan in reads.items():
                if program is not None and name in readable:
                    assert len(program.run(plan)) == 4
                elif program is not None:
                    with pytest.raises(IndexNotReady):
                        program.run(plan)
        assert sorted(readable) == sorted(reads)
        assert simulation.template == cloudformation(load("blog.py"))
        items = engine.call("Scan", {"TableName": "blog"})["Items"]
        assert not any("GSI9PK" in item for item in items)

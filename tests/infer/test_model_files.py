"""Model files of NoSQL Workbench become designs, and are written back as they were."""

from __future__ import annotations

import copy
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tablewright import connect
from tablewright.designs.catalog import BUNDLED, load
from tablewright.errors import ModelFileRefused
from tablewright.infer import ImportedModel, import_model, read_model
from tablewright.mapping.table import TableMap
from tablewright.model.databases.provision import definition
from tablewright.publish.workbench import nosql_workbench
from tablewright.values import Item
from tablewright.verify import Design, compare_stored, verify
from tablewright.verify.contents import Scanner
from tablewright.verify.seeding import load_sample
from tests.commands import mistake, run
from tests.examples import examples
from tests.infer import workbench

FILES = {path.stem: path for path in sorted(workbench.SAMPLES.glob("**/*.json"))}
ATTRIBUTE = {"AttributeName": "PK", "AttributeType": "S"}


def write_model(folder: Path, model: Any) -> Path:
    file = folder / "model.json"
    file.write_text(json.dumps(model), encoding="utf-8")
    return file


def imported(file: Path, folder: Path) -> tuple[ImportedModel, Design]:
    """Return the design of a model file."""
    made = import_model(read_model(file))
    module = folder / f"{file.stem.replace('-', '_')}.py"
    module.write_text(made.source, encoding="utf-8")
    return made, load(str(module))


def sample_model() -> dict[str, Any]:
    """Return a model with a table that has a facet, an index and unknown members."""
    types = {"SK": "S", "total": "N", "GSI1PK": "S", "tags": "SS"}
    declared = [{"AttributeName": name, "AttributeType": tag} for name, tag in types.items()]
    rows = [
        {"PK": {"S": f"USER#{n}"}, "SK": {"S": "PROFILE"}, "total": {"N": f"{n}0"}} for n in (1, 2)
    ]
    model = {
        "ModelName": 'A "model"\nof \\ two lines',
        "ModelMetadata": {"Author": "Ann", "Version": "3.0", "Reviewed": ["yes"]},
        "AccessPatterns": [{"Name": "users", "Operation": "Query"}],
        "DataModel": [
            {
                "TableName": "users",
                "KeyAttributes": {"PartitionKey": ATTRIBUTE, "SortKey": declared[0]},
                "NonKeyAttributes": declared[1:],
                "TableFacets": [
                    {
                        "FacetName": "Users",
                        "KeyAttributeAlias": {"PartitionKeyAlias": "a", "SortKeyAlias": "b"},
                        "TableData": rows,
                        "NonKeyAttributes": ["total", "tags"],
                        "Colour": "red",
                    }
                ],
                "GlobalSecondaryIndexes": [
                    {
                        "IndexName": "GSI1",
                        "KeyAttributes": {"PartitionKey": declared[2]},
                        "Projection": {"ProjectionType": "KEYS_ONLY"},
                        "Owner": {"team": "a"},
                    }
                ],
                "SampleDataFormats": {"total": ["dataTypes", "Number"]},
                "DataAccess": {"MySql": {}},
                "BillingMode": "PAY_PER_REQUEST",
            }
        ],
    }
    return cast("dict[str, Any]", json.loads(json.dumps(model)))  # without shared objects


def facet_of(model: Any) -> Any:
    return model["DataModel"][0]["TableFacets"][0]


def normal(model: Any) -> Any:
    """Return a model with what version 3.0 adds, and rows as `workbench` reads them."""
    model = copy.deepcopy(model)
    model["ModelMetadata"] |= {"AWSService": "Amazon DynamoDB", "Version": "3.0"}
    for table in model["DataModel"]:
        table.setdefault("BillingMode", "PAY_PER_REQUEST")
        for owner in (table, *table.get("TableFacets", ())):
            if "TableData" in owner:
                owner["TableData"] = workbench.rows({"TableData": owner["TableData"]})
    return model


# -- the way in -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FILES)
def test_a_design_is_verified_and_written_back_as_it_was(name: str, tmp_path: Path) -> None:
    made, design = imported(FILES[name], tmp_path)
    assert made.warnings == ()
    with connect(":memory:", *design.tables) as database:
        assert [result.problem for result in verify(design, database) if not result.ok] == []
    written = nosql_workbench(design)
    assert written.left_out == ()
    assert written.model == normal(json.loads(FILES[name].read_text()))


def test_provisioned_capacity_is_declared_and_written_back(tmp_path: Path) -> None:
    model = sample_model()
    table = model["DataModel"][0]
    units = {"ReadCapacityUnits": 7, "WriteCapacityUnits": 2}
    scaling = {"ScalingPolicyConfiguration": {"TargetValue": 60}}
    settings = {"ProvisionedThroughput": units, "AutoScalingRead": scaling}
    table |= {"BillingMode": "PROVISIONED", "ProvisionedCapacitySettings": settings}
    made, design = imported(write_model(tmp_path, model), tmp_path)
    assert "billing=Provisioned(read=7, write=2)" in made.source
    assert nosql_workbench(design).model["DataModel"] == normal(model)["DataModel"]
    module = tmp_path / "on_demand.py"
    module.write_text(re.sub(r",\s*billing=Provisioned\(.*?\)", "", made.source))
    (written,) = nosql_workbench(load(str(module))).model["DataModel"]
    assert written["BillingMode"] == "PAY_PER_REQUEST"
    assert "ProvisionedCapacitySettings" not in written


def test_provisioned_billing_without_capacity_is_a_warning(tmp_path: Path) -> None:
    model = sample_model()
    model["DataModel"][0]["BillingMode"] = "PROVISIONED"
    made, _ = imported(write_model(tmp_path, model), tmp_path)
    assert "there is no ProvisionedThroughput" in made.warnings[0]


def test_modules_are_formatted_as_ruff_does(tmp_path: Path) -> None:
    for path in FILES.values():
        imported(path, tmp_path)
    for command in (["format", "--check"], ["check", "--select", "E4,E7,E9,F,I"]):
        arguments = [sys.executable, "-m", "ruff", *command, "--isolated", "--quiet", str(tmp_path)]
        assert subprocess.run(arguments, check=False, capture_output=True).stdout == b""


def test_an_entity_has_the_name_of_its_facet(tmp_path: Path) -> None:
    made, _ = imported(FILES["game-player-profiles"], tmp_path)
    assert made.entities == ("Activity", "Equipment", "Friend", "Item", "Metadata", "Task")


def test_unknown_members_are_kept(tmp_path: Path) -> None:
    model = sample_model()
    _, design = imported(write_model(tmp_path, model), tmp_path)
    assert nosql_workbench(design).model == normal(model)


def test_a_table_without_rows_has_one_entity_with_its_attributes(tmp_path: Path) -> None:
    model = sample_model()
    facet_of(model)["TableData"] = []
    made, design = imported(write_model(tmp_path, model), tmp_path)
    assert made.entities == ("UserItem",)
    (entity,) = design.tables[0].__table__.entities
    assert {each.stored for each in entity.attributes.values()} == {
        *("PK", "SK", "total", "GSI1PK", "tags")
    }
    assert nosql_workbench(design).model == normal(model)


def test_rows_of_the_table_and_of_several_facets_are_read_once(tmp_path: Path) -> None:
    model = sample_model()
    (table,) = model["DataModel"]
    rows = facet_of(model)["TableData"]
    table["TableFacets"].append({**facet_of(model), "FacetName": "Again"})
    table["TableData"] = rows[:1]
    made, design = imported(write_model(tmp_path, model), tmp_path)
    assert made.rows == 2
    assert nosql_workbench(design).model == normal(model)


@pytest.mark.parametrize("text", ["2026-01-15T10:15:30Z", "2026-01-15T10:15:30.123456Z"])
def test_moments_are_stored_as_they_are(text: str, tmp_path: Path) -> None:
    model = sample_model()
    attribute = {"AttributeName": "createdAt", "AttributeType": "S"}
    model["DataModel"][0]["NonKeyAttributes"].append(attribute)
    facet_of(model)["TableData"][0]["createdAt"] = {"S": text}
    made, design = imported(write_model(tmp_path, model), tmp_path)
    assert made.warnings == ()
    assert nosql_workbench(design).model == normal(model)
    assert ("datetime" in made.source) == ("." in text)


def test_rows_without_the_type_attribute_stay_so(tmp_path: Path) -> None:
    model = sample_model()
    attribute = {"AttributeName": "entityType", "AttributeType": "S"}
    model["DataModel"][0]["NonKeyAttributes"].append(attribute)
    facet_of(model)["TableData"][0]["entityType"] = {"S": "User"}
    made, design = imported(write_model(tmp_path, model), tmp_path)
    assert made.warnings == ()
    assert nosql_workbench(design).model == normal(model)


def test_sample_data_that_is_added_later_is_in_the_facet_of_its_entity(tmp_path: Path) -> None:
    model = sample_model()
    made, _ = imported(write_model(tmp_path, model), tmp_path)
    new = '    return [\n        User(user_id="7", total=70),\n'
    module = tmp_path / "changed.py"
    module.write_text(made.source.replace("    return [\n", new, 1))
    written = nosql_workbench(load(str(module))).model
    assert [row["PK"]["S"] for row in facet_of(written)["TableData"]] == [
        *("USER#1", "USER#2", "USER#7")
    ]


def test_what_a_design_cannot_store_is_a_warning(tmp_path: Path) -> None:
    model = sample_model()
    (table,) = model["DataModel"]
    table["NonKeyAttributes"].append({"AttributeName": "note", "AttributeType": "NULL"})
    facet_of(model)["TableData"][0]["note"] = {"NULL": True}
    table["NonKeyAttributes"][1]["AttributeType"] = "N"
    index_key = {"AttributeName": "GSI1PK", "AttributeType": "N"}
    table["GlobalSecondaryIndexes"][0]["KeyAttributes"]["PartitionKey"] = index_key
    model["ModelMetadata"]["Version"] = "4.0"
    file = write_model(tmp_path, model)
    made = import_model(read_model(file))
    assert made.warnings == (
        f"{file}: version 4.0 of the format is newer than 3.0",
        f"{file}: table users: no row is in an index with the key GSI1PK, so its type is S in the "
        "design, and N in the file",
        f'{file}: table users: facet Users: row 2: note is {{"NULL":true}} in the design, and '
        "absent in the file",
    )


@pytest.mark.parametrize("version", ["1.0", "2.0", None])
def test_older_files_are_read(version: str | None, tmp_path: Path) -> None:
    model = sample_model()
    model["ModelMetadata"]["Version"] = version
    if version is None:
        del model["ModelMetadata"]["Version"]
    assert import_model(read_model(write_model(tmp_path, model))).warnings == ()


# -- the way out and in again ---------------------------------------------------------------------


@pytest.mark.parametrize("name", BUNDLED)
def test_a_bundled_design_comes_back_with_its_items_keys_and_indexes(
    name: str, tmp_path: Path
) -> None:
    design = load(name)
    written = nosql_workbench(design).model
    made, again = imported(write_model(tmp_path, written), tmp_path)
    assert made.warnings == ()
    assert nosql_workbench(again).model == written
    for before, after in zip(design.tables, again.tables, strict=True):
        assert after.__table__.name == before.__table__.name
        items = stored_items(design, before.__table__)
        assert stored_items(again, after.__table__) == items
        assert compare_stored(after.__table__, items).differences == []
        assert described(after.__table__) == described(before.__table__)
    with connect(":memory:", *again.tables) as database:
        assert all(result.ok for result in verify(again, database))


def stored_items(design: Design, table: TableMap) -> list[Item]:
    with connect(":memory:", *design.tables) as database:
        load_sample(design, database)
        return Scanner(database).items(table)


def described(table: TableMap) -> dict[str, Any]:
    """Return the CreateTable request, without what the format cannot hold."""
    found = definition(table, table.name)
    return replace(found, indexes=found.global_indexes).to_create_table()


TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
VALUES = st.one_of(
    st.builds(lambda text: {"S": text}, TEXT),
    st.builds(lambda number: {"N": str(number)}, st.integers(-999, 999)),
    st.builds(lambda flag: {"BOOL": flag}, st.booleans()),
    st.builds(lambda text: {"L": [{"S": text}, {"NULL": True}]}, TEXT),
    st.builds(lambda one, other: {"M": {one: {"S": other}}}, TEXT, TEXT),
)


@examples(30)
@given(texts=st.lists(TEXT, min_size=1, max_size=4, unique=True), value=VALUES, name=TEXT)
def test_any_text_is_written_back(
    texts: list[str], value: Any, name: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Quotes, backslashes and line ends in names and values do not become code."""
    folder = tmp_path_factory.mktemp("model")
    model = sample_model()
    model["ModelName"] = name
    model["DataModel"][0]["NonKeyAttributes"].append(
        {"AttributeName": "it", "AttributeType": next(iter(value))}
    )
    facet_of(model)["NonKeyAttributes"].append("it")
    facet_of(model)["FacetName"] = name
    facet_of(model)["TableData"] = [
        {"PK": {"S": f"USER#{text}"}, "SK": {"S": "PROFILE"}, "total": {"N": "1"}, "it": value}
        for text in texts
    ]
    made, design = imported(write_model(folder, model), folder)
    assert made.warnings == ()
    assert nosql_workbench(design).model == normal(model)


JUNK: list[Any] = [
    None,
    True,
    0,
    1.5,
    "",
    "x",
    '"\\\n',
    "\ud800",
    [],
    {},
    [1],
    {"S": "x"},
    {"N": "1"},
    {"SS": []},
]


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield each member of a document, as its owner and its name or position."""
    if isinstance(value, (dict, list)):
        for name in list(value) if isinstance(value, dict) else range(len(value)):
            yield value, name
            yield from places(value[name])


#: Files of all forms: with facets, with provisioned capacity, with and without rows.
MODELS = [
    sample_model(),
    *(json.loads(FILES[name].read_text()) for name in ("complaint-management", "online-shop-06")),
    json.loads(FILES["game-player-profiles"].read_text()),
]


@examples(80)
@given(data=st.data())
def test_a_spoiled_file_is_refused_or_imported(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    model = copy.deepcopy(data.draw(st.sampled_from(MODELS)))
    for _ in range(data.draw(st.integers(1, 3))):
        owner, name = data.draw(st.sampled_from(list(places(model))))
        match data.draw(st.sampled_from(["delete", "replace", "repeat"])):
            case "delete":
                del owner[name]
            case "repeat" if isinstance(owner, list):
                owner.append(copy.deepcopy(owner[name]))
            case _:
                owner[name] = copy.deepcopy(data.draw(st.sampled_from(JUNK)))
    folder = tmp_path_factory.mktemp("model")
    try:
        made, design = imported(write_model(folder, model), folder)
    except ModelFileRefused:
        return
    with connect(":memory:", *design.tables) as database:
        assert all(result.ok for result in verify(design, database))
    again = write_model(folder, nosql_workbench(design).model)
    assert import_model(read_model(again)).rows == made.rows


# -- defects --------------------------------------------------------------------------------------


def _row_without_key(model: Any) -> None:
    del facet_of(model)["TableData"][1]["SK"]


def _undeclared(model: Any) -> None:
    facet_of(model)["TableData"][0]["size"] = {"S": "L"}


def _wrong_type(model: Any) -> None:
    facet_of(model)["TableData"][1]["total"] = {"S": "2"}


def _duplicate(model: Any) -> None:
    facet_of(model)["TableData"][1]["PK"] = {"S": "USER#1"}


def _different_twin(model: Any) -> None:
    twin = copy.deepcopy(facet_of(model))
    twin["FacetName"] = "Twins"
    twin["TableData"][0]["total"] = {"N": "9"}
    model["DataModel"][0]["TableFacets"].append(twin)


def _no_value(model: Any) -> None:
    facet_of(model)["TableData"][0]["total"] = 1


def _number_as_number(model: Any) -> None:
    facet_of(model)["TableData"][0]["total"] = {"N": 1}


def _no_number(model: Any) -> None:
    facet_of(model)["TableData"][0]["total"] = {"N": "many"}


def _empty_key(model: Any) -> None:
    facet_of(model)["TableData"][0]["PK"] = {"S": ""}


def _row_is_a_list(model: Any) -> None:
    facet_of(model)["TableData"][1] = []


def _undeclared_index_key(model: Any) -> None:
    del model["DataModel"][0]["NonKeyAttributes"][1]


def _other_index_key(model: Any) -> None:
    model["DataModel"][0]["NonKeyAttributes"][1]["AttributeType"] = "N"


def _projection(model: Any) -> None:
    model["DataModel"][0]["GlobalSecondaryIndexes"][0]["Projection"]["ProjectionType"] = "SOME"


def _key_type(model: Any) -> None:
    model["DataModel"][0]["KeyAttributes"]["SortKey"]["AttributeType"] = "M"


def _declared_twice(model: Any) -> None:
    model["DataModel"][0]["NonKeyAttributes"].append(
        {"AttributeName": "total", "AttributeType": "S"}
    )


def _no_keys(model: Any) -> None:
    del model["DataModel"][0]["KeyAttributes"]


def _table_name(model: Any) -> None:
    model["DataModel"][0]["TableName"] = "a b"


def _same_table(model: Any) -> None:
    model["DataModel"] *= 2


def _no_tables(model: Any) -> None:
    model["DataModel"] = []


def _no_list(model: Any) -> None:
    model["DataModel"] = {}


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (_row_without_key, "table users: facet Users: row 2: the key attribute SK is missing"),
        (
            _undeclared,
            "table users: facet Users: row 1: PK='USER#1', SK='PROFILE': the attribute size is not "
            "declared in NonKeyAttributes",
        ),
        (
            _wrong_type,
            "table users: facet Users: row 2: PK='USER#2', SK='PROFILE': total has type S; it is "
            "declared as N",
        ),
        (
            _duplicate,
            "table users: facet Users: row 2: has the same key as row 1: PK='USER#1', SK='PROFILE'",
        ),
        (
            _different_twin,
            "table users: facet Twins: row 1: another facet has a different row with this key: "
            "PK='USER#1', SK='PROFILE'",
        ),
        (
            _no_value,
            'table users: facet Users: row 1: total: 1 is not a value such as {"S": "text"}',
        ),
        (
            _number_as_number,
            "table users: facet Users: row 1: total: 1 is not the content of a value of type N",
        ),
        (_no_number, "table users: facet Users: row 1: PK='USER#1', SK='PROFILE': The parameter"),
        (_empty_key, "table users: facet Users: row 1: One or more parameter values"),
        (_row_is_a_list, "table users: facet Users: row 2: [] is not an object"),
        (
            _undeclared_index_key,
            "table users: index GSI1: the key GSI1PK is not one of the table's attributes",
        ),
        (
            _other_index_key,
            "table users: index GSI1: the key GSI1PK has type S, and type N in the table",
        ),
        (_projection, "table users: index GSI1: 'SOME' is not a projection; use ALL"),
        (_key_type, "table users: SK has the type 'M'; use one of B, N, S"),
        (_declared_twice, "table users: total is declared with the types N and S"),
        (_no_keys, "table users: KeyAttributes is missing"),
        (_table_name, "table a b: "),
        (_same_table, "two tables have the name 'users'"),
        (_no_tables, "DataModel has no tables"),
        (_no_list, "DataModel is {}; it must be a list"),
    ],
)
def test_a_defect_names_the_file_the_table_and_the_row(
    spoil: Any, message: str, tmp_path: Path
) -> None:
    model = sample_model()
    spoil(model)
    file = write_model(tmp_path, model)
    with pytest.raises(ModelFileRefused) as caught:
        import_model(read_model(file))
    assert str(caught.value).startswith(f"{file}: {message}")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"{", "not valid JSON"),
        (b"[]", "not a model of NoSQL Workbench"),
        (b'{"Resources": {}}', "it seems to be a CloudFormation template: `tablewright serve"),
        (b'{"TableName": "a", "KeySchema": []}', "it seems to be a CreateTable request"),
        (b"\xff", "the file is not UTF-8 text"),
        (b'{"DataModel": [], "Size": NaN}', "NaN is not a number of JSON"),
        (b"[" * 100_000, "nested too deeply"),
    ],
)
def test_another_file_is_refused(content: bytes, message: str, tmp_path: Path) -> None:
    file = tmp_path / "other.json"
    file.write_bytes(content)
    with pytest.raises(ModelFileRefused, match=message):
        read_model(file)


# -- the command ----------------------------------------------------------------------------------


def test_the_command_writes_a_module_that_verify_accepts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run("infer", str(FILES["online-shop-facets"]), "-o", "shop.py")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.splitlines() == [
        "shop.py: Customer, Invoice, OrderItem, Payment, Product, Shipment, ShipmentItem, "
        "Warehouse, WarehouseItem, from 20 rows",
        "Next: tablewright verify shop.py runs its checks.",
    ]
    verified = run("verify", "shop.py")
    assert verified.returncode == 0
    assert "9 checks passed" in verified.stdout
    assert run("infer", str(FILES["online-shop-facets"])).stdout == Path("shop.py").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("missing.json",), "missing.json: no such file"),
        (("template.txt",), "template.txt: not a model of NoSQL Workbench"),
        (
            ("model.json", "--table", "users"),
            "is read as a whole; leave --table, --limit, --evidence, --patterns",
        ),
        (("model.json", "-o", "model.json"), "model.json exists; choose another file"),
    ],
)
def test_a_mistake_is_one_line(
    arguments: tuple[str, ...], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_model(tmp_path, sample_model())
    Path("template.txt").write_text('\ufeff\n {"Resources": {}}', encoding="utf-8")
    assert message in mistake("infer", *arguments)


def test_the_content_tells_a_model_from_a_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    source = run("infer", write_model(tmp_path, sample_model()).rename("model.txt")).stdout
    assert "WORKBENCH = " in source
    Path("users.py").write_text(source)
    assert run("seed", "users.py", "users.json").returncode == 0
    assert run("infer", "users.json").stdout.startswith('"""users: a first design')

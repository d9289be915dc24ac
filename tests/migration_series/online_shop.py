"""The online shop in 14 versions: the designs of sample models of NoSQL Workbench, with their rows.

Each version is what `tablewright infer` makes of a model, with what only a person knows: values
for stored items that the new version needs and the old one did not store.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from tablewright import put
from tablewright.database import Database
from tablewright.designs.catalog import load
from tablewright.infer import import_model, read_model
from tablewright.values import Item
from tests.infer import workbench
from tests.migration_series.walking import SeriesVersion

FILES = sorted(workbench.SAMPLES.glob("**/online-shop-[01]*.json"))
NUMBERS = [path.stem[-2:] for path in FILES]

_TIMES = '{"p#12345": "2020-06-21T19:18:00", "p#99887": "2020-06-21T19:20:00"}'
_KEY_ONLY = "attr(key_only=True"
#: By version and entity: an attribute with its declaration, and what is added to it.
_FILLS: dict[str, list[tuple[str, str, str]]] = {
    "10": [("OrderItem", f"time: Attr[str] = {_KEY_ONLY}", f"lambda item: {_TIMES}[item['SK']]")],
    "11": [
        ("Invoice", 'attr(name="Detail"', '{"Payments": []}'),
        # For the way back: version 12 has the warehouse only in a key.
        ("Shipment", 'attr(name="WarehouseId"', "lambda item: item['GSI2-PK']"),
    ],
    "12": [
        (
            "Shipment",
            f"warehouse_id: Attr[str] = {_KEY_ONLY}",
            "lambda item: item['WarehouseId'].removeprefix('w#')",
        )
    ],
    "13": [
        (entity, f"customer_id: Attr[str] = {_KEY_ONLY}", '"12345"')
        for entity in ("Invoice", "OrderItem")
    ],
}


def source(number: str, *, as_inferred: bool = False) -> str:
    """Return the source of a version."""
    text = import_model(read_model(FILES[NUMBERS.index(number)])).source
    if as_inferred:
        return text
    # The first model has no rows, so that no attribute shows that it is the type.
    text = text.replace("type_attribute=None", 'type_attribute="EntityType"')
    for entity, declared, fill in _FILLS.get(number, ()):
        head, body = text.split(f"class {entity}(", 1)
        assert declared in body
        text = f"{head}class {entity}({body.replace(declared, f'{declared}, fill={fill}', 1)}"
    return text


def version(
    number: str,
    folder: Path,
    *,
    as_inferred: bool = False,
    declared: Mapping[str, str] | None = None,
) -> SeriesVersion:
    """Return a version, with texts of its source replaced; its programs write all rows."""
    text = source(number, as_inferred=as_inferred)
    for before, after in (declared or {}).items():
        assert before in text
        text = text.replace(before, after)
    file = folder / f"online_shop_{number}.py"
    file.write_text(text, encoding="utf-8")
    design = load(str(file))
    (table,) = design.tables
    sample = design.sample
    assert sample is not None

    def write(database: Database) -> None:
        for entity in sample():
            database.run(put(entity))

    return SeriesVersion(number, table, write)


def rows(number: str) -> list[Item]:
    """Return the rows of a model."""
    (table,) = json.loads(FILES[NUMBERS.index(number)].read_text())["DataModel"]
    return workbench.rows(table)

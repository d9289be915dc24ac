"""Rules of follow-ups: each finds what it is for, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.publish.advice.designs import find

LINES = """
from tablewright.plans import BatchGet, Then, UpdateRange

class Line(Entity, table=Shop):
    order_id: Attr[str] = attr()
    number: Attr[int] = attr(pad=3)
    product_id: Attr[str] = attr()
    amount: Attr[int] = attr(default=1)

    primary = key("ORDER" / order_id, "LINE" / number)
    by_product = index(Shop.by_product, "PRODUCT" / product_id, "ORDER" / order_id)

class Product(Entity, table=Shop):
    product_id: Attr[str] = attr()
    name: Attr[str] = attr()

    primary = key("PRODUCT" / product_id, "PRODUCT")

@access_pattern
def product(product_id: str) -> Get[Product]:
    return Product.primary(product_id)

def sample() -> list[Entity]:
    lines = [Line(order_id="O", number=n, product_id=f"P{n}") for n in range(4)]
    return [*lines, *(Product(product_id=f"P{n}", name="x") for n in range(4))]

def checks(stored):
    from tablewright.verify import Check
    yield Check("lines", lines("O"), stored(Line))
"""
INDEX = 'by_product = GSI("GSI1PK", "GSI1SK")'
LISTED = """
@access_pattern
def lines(order_id: str) -> Query[Line]:
    return Line.primary.within(order_id)
"""
FOLLOWED = """
@access_pattern
def line_with_product(order_id: str, number: int) -> Then[Line, Product | None]:
    return Line.primary(order_id, number).then(lambda line: Product.primary(line.product_id))
"""
BATCH = """
@access_pattern
def products(ids: list[str]) -> BatchGet[Product]:
    return batch_get([Product.primary(id) for id in ids])
"""

WITHOUT_CHECKS = LINES.partition("def checks")[0]


# -- reads ----------------------------------------------------------------------------------------


def test_rows_of_a_list_that_a_pattern_follows_one_by_one(tmp_path: Path) -> None:
    source = LINES + LISTED + FOLLOWED
    (finding,) = find(tmp_path, source, "n-plus-one", indexes=INDEX)
    assert (finding.severity, finding.subject) == ("note", "lines()")
    assert "line_with_product() reads Product for one of them" in finding.reason
    assert finding.fix.endswith("batch_get([Product.primary(row.product_id) for row in rows])")


def test_rates_show_a_get_for_each_row_of_a_list(tmp_path: Path) -> None:
    source = LINES + LISTED
    rates = "lines = 10\nproduct = 40\n"
    (finding,) = find(tmp_path, source, "n-plus-one", indexes=INDEX, rates=rates)
    assert (finding.severity, finding.subject) == ("warning", "lines()")
    assert finding.reason == (
        "it returns rows of Line, 4 on average, 10 times per second, and product() is called 40 "
        "times per second, as if for each of them: 50 requests per second instead of about 20"
    )


def test_a_list_whose_limit_is_an_argument(tmp_path: Path) -> None:
    listed = LISTED.replace("(order_id: str)", "(order_id: str, most: int)")
    listed = listed.replace("within(order_id)", "within(order_id).limit(most)")
    (finding,) = find(tmp_path, WITHOUT_CHECKS + listed + FOLLOWED, "n-plus-one", indexes=INDEX)
    assert finding.subject == "lines()"


def test_the_rows_of_a_scan_have_no_value_in_common(tmp_path: Path) -> None:
    listed = LISTED.replace("Line.primary.within(order_id)", 'Line.scan(reason="a report")')
    followed = FOLLOWED.replace("line.product_id", "line.order_id")
    (finding,) = find(tmp_path, WITHOUT_CHECKS + listed + followed, "n-plus-one", indexes=INDEX)
    assert finding.subject == "lines()"


COUNTED = LISTED.replace("Query[Line]", "Count").replace(
    "Line.primary.within(order_id)", 'Line.scan(reason="a report").segments(2).count()'
)
BOUND = LISTED.replace("order_id: str", "product_id: str").replace(
    "primary.within(order_id)", "by_product(product_id)"
)


@pytest.mark.parametrize(
    ("source", "rates"),
    [
        (LINES + LISTED, ""),
        (LINES + LISTED, "lines = 10\nproduct = 30\n"),
        (LINES + LISTED + FOLLOWED + BATCH, ""),
        (LINES + LISTED + BATCH, "lines = 10\nproduct = 40\n"),
        (WITHOUT_CHECKS + BOUND + FOLLOWED, ""),
        (WITHOUT_CHECKS + LISTED.replace("(order_id)", "(order_id).limit(1)") + FOLLOWED, ""),
        (WITHOUT_CHECKS + FOLLOWED, ""),
        (WITHOUT_CHECKS + COUNTED + FOLLOWED, ""),
    ],
    ids=[
        "no rates",
        "rare",
        "batch",
        "rates and batch",
        "one product",
        "one row",
        "no list",
        "a number",
    ],
)
def test_other_reads_are_not_made_for_each_row(tmp_path: Path, source: str, rates: str) -> None:
    assert find(tmp_path, source, "n-plus-one", indexes=INDEX, rates=rates) == []


# -- writes ---------------------------------------------------------------------------------------

WRITE = """
@access_pattern
def write(order_id: str, number: int) -> Then[Line, Line]:
    return {read}.then(lambda found: {write})
"""
BY_INDEX = 'Line.by_product("P1").first()'
BY_KEY = "Line.primary(order_id, number)"
OF_VALUE = "Line.primary(order_id, 1).update(Line.amount.set(found.amount + 1))"
OF_KEY = "Line.primary(found.order_id, found.number).update(Line.amount.set(7))"
COMPARED = f"{OF_VALUE}.condition(Line.amount == found.amount)"


def writing(read: str, write: str) -> str:
    return WITHOUT_CHECKS + WRITE.format(read=read, write=write)


@pytest.mark.parametrize(
    ("read", "write", "severity"),
    [
        (BY_INDEX, OF_VALUE, "warning"),
        (BY_KEY, OF_VALUE, "warning"),
        (BY_INDEX, OF_KEY, "note"),
        (BY_INDEX, COMPARED, "note"),
    ],
)
def test_a_write_of_what_may_have_changed(
    tmp_path: Path, read: str, write: str, severity: str
) -> None:
    (finding,) = find(tmp_path, writing(read, write), "stale-read", indexes=INDEX)
    assert (finding.severity, finding.subject) == (severity, "write()")
    if severity == "warning":
        assert "it writes amount of the Line that it reads" in finding.reason
    else:
        assert "it finds what it writes with Shop.by_product" in finding.reason


def test_an_update_of_all_rows_of_an_index(tmp_path: Path) -> None:
    source = (
        WITHOUT_CHECKS
        + """
@access_pattern
def empty(product_id: str) -> UpdateRange:
    return update_all(Line.by_product(product_id), Line.amount.set(0))
"""
    )
    (finding,) = find(tmp_path, source, "stale-read", indexes=INDEX)
    assert finding.severity == "note"


@pytest.mark.parametrize(
    ("read", "write"),
    [
        (f"{BY_KEY}.consistent()", OF_VALUE),
        (BY_KEY, OF_KEY),
        (BY_KEY, COMPARED),
        (BY_INDEX, "Product.primary(found.product_id)"),
    ],
)
def test_writes_of_what_is_certain(tmp_path: Path, read: str, write: str) -> None:
    source = writing(read, write)
    if "Product" in write:
        source = source.replace("Then[Line, Line]", "Then[Line, Product | None]")
    assert find(tmp_path, source, "stale-read", indexes=INDEX) == []

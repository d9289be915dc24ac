"""The HTML page of a design: complete, self-contained, accessible, and safe for any value."""

from __future__ import annotations

import re
from functools import cache
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tablewright import GSI, Attr, Entity, Table, attr, index, key
from tablewright.designs.catalog import BUNDLED, load
from tablewright.presentation.element import Markup, element, escape
from tablewright.presentation.erd import RELATION_COLUMNS, Attribute, Erd, Node, Relation
from tablewright.presentation.erd_svg import erd_svg, width, wrap
from tablewright.presentation.layers import layers
from tablewright.publish import html_document
from tablewright.verify import Design
from tests.commands import run

NAMES = list(BUNDLED)
HOSTILE = "<script>alert(1)</script>&\"'`\u202e\u2066\x00\x1b\ud800"


class Reader(HTMLParser):
    """Collects the elements and the text of a page; fails if a tag is not closed in order."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.continues = False  # after `wbr`
        self.feed(page)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.continues = tag == "wbr"
        if tag not in ("meta", "wbr", "input"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.continues:
            self.texts[-1] += data
        elif "style" not in self.open:
            self.texts.append(data)
        self.continues = False

    def count(self, tag: str) -> int:
        return sum(name == tag for name, _ in self.tags)


@cache
def page_of(name: str) -> str:
    return html_document(load(name))


def diagrams(page: str) -> list[ElementTree.Element]:
    return [ElementTree.fromstring(each) for each in re.findall(r"<svg.*?</svg>", page, re.DOTALL)]


@pytest.mark.parametrize("name", NAMES)
def test_the_page_has_every_entity_index_and_pattern(name: str) -> None:
    design, texts = load(name), set(Reader(page_of(name)).texts)
    for table in design.tables:
        assert texts >= {entity.name for entity in table.__table__.entities}
        assert texts >= set(table.__table__.indexes)
    assert texts >= {pattern.name for pattern in design.patterns}


@pytest.mark.parametrize("name", NAMES)
def test_the_page_loads_nothing_and_runs_nothing(name: str) -> None:
    page = page_of(name)
    assert not re.search(r"https?:|url\(|@import|<script|<link|<img|<iframe", page)
    for tag, attributes in Reader(page).tags:
        assert not {"src", "srcset", "action", "style"} & attributes.keys()
        assert not [each for each in attributes if each.startswith("on")]
        assert tag != "a" or (attributes["href"] or "").startswith("#")


@pytest.mark.parametrize("name", NAMES)
def test_the_page_can_be_read_aloud(name: str) -> None:
    reader = Reader(page_of(name))
    assert ("html", {"lang": "en"}) in reader.tags
    assert reader.count("title") == 1 + reader.count("svg")
    levels = [int(tag[1]) for tag, _ in reader.tags if re.fullmatch("h[1-6]", tag)]
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert reader.count("caption") == reader.count("table")
    ids = [found["id"] for _, found in reader.tags if "id" in found]
    assert len(ids) == len(set(ids))
    for _, found in reader.tags:
        if found.get("class") == "scroll":
            assert found["aria-label"]


@pytest.mark.parametrize("name", NAMES)
def test_each_diagram_is_an_image_with_a_title_and_contains_every_entity(name: str) -> None:
    tables = load(name).tables
    drawn = diagrams(page_of(name))
    assert len(drawn) == page_of(name).count('<table class="keymap"') == len(tables)
    for number, svg in enumerate(drawn):
        assert svg.get("role") == "img"
        assert svg[0].tag == "title"
        assert svg[0].text
        assert svg.get("aria-labelledby") == svg[0].get("id")
        texts = {each.text for each in svg.iter("text")}
        assert texts >= {entity.name for entity in tables[number].__table__.entities}


def test_the_relations_of_a_diagram_are_also_a_table() -> None:
    _, _, shown = page_of("shop").partition("The relations as a table")
    texts = [text for text in Reader(shown.partition("</details>")[0][10:]).texts if text.strip()]
    assert texts[:5] == ["Relations", *RELATION_COLUMNS]
    assert texts[-4:] == ["Product", "OrderItem", "0 or more", "product_id"]


@pytest.mark.parametrize("name", NAMES)
def test_no_shape_is_outside_of_its_diagram_and_no_boxes_overlap(name: str) -> None:
    for svg in diagrams(page_of(name)):
        total, height = float(svg.get("width", 0)), float(svg.get("height", 0))
        places = []
        for each in svg.iter("rect"):
            x, y, w, h = (float(each.get(key, 0)) for key in ("x", "y", "width", "height"))
            assert x >= 0
            assert y >= 0
            assert x + w <= total + 0.5
            assert y + h <= height + 0.5
            if each.get("class") == "box":
                places.append((x, y, x + w, y + h))
        for n, one in enumerate(places):
            for other in places[:n]:
                apart = one[2] < other[0] or other[2] < one[0] or one[3] < other[1]
                assert apart or other[3] < one[1]


def test_the_page_is_the_same_in_each_run(tmp_path: Path) -> None:
    file = tmp_path / "shop.html"
    assert run("publish", "docs", "shop", "--html", "-o", str(file)).returncode == 0
    assert file.read_text(encoding="utf-8") == page_of("shop")


# -- hostile values ------------------------------------------------------------------------------


class Odd(Table, name="documented_odd", pk="<pk>", sk="s\u202ek"):
    by_name = GSI("<i>PK</i>", "n" * 120)


class Thing(Entity, table=Odd):
    """A thing."""

    thing_id: Attr[str] = attr(name="<b>id</b>\x07")
    name: Attr[str] = attr(name="</svg>\u200b")
    primary = key("<T>" / thing_id, "]]>" / name)
    named = index(Odd.by_name, "<!--" / name, "-->" / thing_id)


def sample() -> list[Thing]:
    return [Thing(thing_id="<img src=x onerror=alert(1)>\u202e", name="\x00</td>`a`<script>")]


def test_every_value_is_escaped() -> None:
    design = Design(f"odd {HOSTILE}", f"Odd {HOSTILE}.\n\n- {HOSTILE}", (Odd,), sample, None)
    page = html_document(design)
    page.encode()  # no surrogates
    assert not re.search("[\x00-\x08\x0b-\x1f\u200b\u202e\u2066]", page)
    assert not re.search(r"<(script|img|b|T)\b|<!--|<i>PK", page)
    reader = Reader(page)
    assert "<script>alert(1)</script>&\"'`[U+202E][U+2066][U+0000][U+001B][U+D800]" in "".join(
        reader.texts
    )
    assert any("[U+0000]</td>`a`<script>" in each for each in reader.texts)
    for svg in diagrams(page):
        assert svg.get("role") == "img"
    assert len(diagrams(page)) == 1


def test_an_element_escapes_children_and_attributes_but_not_elements() -> None:
    inner = element("b", "<", title='"x"\x00')
    assert inner == '<b title="&quot;x&quot;[U+0000]">&lt;</b>'
    assert element("p", inner, ["a&", inner], class_=None) == f"<p>{inner}a&amp;{inner}</p>"
    assert isinstance(escape("<"), Markup)


# -- layout --------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["", "a", "customer_id" * 30, "\u6f22\u5b57" * 80, "a b " * 99])
def test_wrapped_lines_fit_and_lose_nothing(text: str) -> None:
    lines = wrap(text, 100, 12)
    assert "".join(lines) == text
    assert all(width(line, 12) <= 100 for line in lines)


def test_an_edge_across_columns_passes_a_waypoint_and_a_cycle_is_reversed() -> None:
    found = layers(["A", "B", "C"], [("A", "B"), ("B", "C"), ("A", "C"), ("C", "A")])
    assert [[each for each in column if " " not in each] for column in found.columns] == [
        ["A"],
        ["B"],
        ["C"],
    ]
    assert [len(chain.nodes) for chain in found.chains] == [2, 2, 3, 3]
    assert [chain.is_reversed for chain in found.chains] == [False, False, False, True]


def test_long_names_are_wrapped_inside_of_their_box() -> None:
    node = Node("A", "A" * 300, (Attribute("t" * 200, "n" * 200, ("PK", "FK")),))
    loop = Relation("A", "A", True, "l" * 200)
    svg = ElementTree.fromstring(erd_svg(Erd((node,), (loop,)), "A", "a"))
    texts = [each.text or "" for each in svg.iter("text")]
    assert max(map(len, texts)) < 60
    for letter in "Antl":
        assert sum(text.count(letter) for text in texts if set(text) == {letter}) >= 200

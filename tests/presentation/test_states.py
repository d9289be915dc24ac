"""The values of an attribute with transitions, as a diagram in Markdown, HTML and the studio."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from tablewright import Attr, Entity, Table, attr, key
from tablewright.presentation.states import States, mermaid_states, states_of, states_svg
from tablewright.publish import document, html_document
from tablewright.rules import any_state
from tablewright.studio.web.server import serving_studio
from tablewright.studio.workspace import Workspace
from tablewright.verify import Design
from tests.studio.conftest import Browser


class Sales(Table, name="sales"):
    pass


class Order(Entity, table=Sales):
    order_id: Attr[str] = attr()
    state: Attr[str] = attr(
        default="NEW", transitions={"NEW": ["PAID"], "PAID": ["SENT"], any_state: ["VOID"]}
    )
    primary = key("ORDER" / order_id, "ORDER")


DESIGN = Design("sales", "Orders.", (Sales,), sample=list, checks=None)


def test_mermaid_has_an_arrow_for_each_change() -> None:
    (states,) = states_of(Order.__entity__)
    assert mermaid_states(states).splitlines() == [
        "stateDiagram-v2",
        '    state "NEW" as s0',
        '    state "PAID" as s1',
        '    state "SENT" as s2',
        '    state "VOID" as s3',
        "    [*] --> s0",
        "    s0 --> s1",
        "    s0 --> s3",
        "    s1 --> s2",
        "    s1 --> s3",
        "    s2 --> s3",
        "    s3 --> [*]",
    ]


def test_the_image_has_a_box_for_each_value_an_arrow_for_each_change_and_words() -> None:
    (states,) = states_of(Order.__entity__)
    image = ElementTree.fromstring(states_svg(states, "s"))
    assert [box.get("class") for box in image.iter("rect")].count("box") == 4
    lines = [path for path in image.iter("path") if path.get("class") == "relation"]
    assert len(lines) == 2 * 5  # a line and the head of an arrow
    assert image.findtext("desc") == (
        "NEW (the default) may become PAID or VOID. PAID may become SENT or VOID. "
        "SENT may become VOID. VOID may become no other value."
    )


@pytest.mark.parametrize("value", ['a"] --> x', "<script>", "é\u202e", ""])
def test_any_value_can_be_shown(value: str) -> None:
    states = States("Order", "state", {value: ("b",), "b": ()}, value)
    ElementTree.fromstring(states_svg(states, "s"))
    (line,) = (line for line in mermaid_states(states).splitlines() if line.endswith(" as s0"))
    assert line.count('"') == 2


def test_documents_and_the_studio_show_it() -> None:
    assert "stateDiagram-v2" in document(DESIGN)
    assert "Values of Order.state" in html_document(DESIGN)
    workspace = Workspace(DESIGN, ":memory:")
    with serving_studio(workspace) as link:
        assert "NEW (the default) may become PAID or VOID." in Browser(link).get("/design").text
    workspace.close()

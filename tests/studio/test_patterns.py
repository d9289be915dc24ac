"""The patterns view: every pattern of the five designs through its form, over HTTP."""

from __future__ import annotations

import re
from urllib.parse import quote, urlencode

import pytest

from tablewright import Engine
from tablewright.cli.studio import open_workspace
from tablewright.studio.markup.result_parts import result_tree
from tablewright.studio.patterns.form_values import texts
from tablewright.studio.patterns.forms import fields_of
from tablewright.studio.web.server import serving_studio
from tablewright.verify.checks import Raises
from tests.studio.calls import DESIGNS, EACH_DESIGN, Call, checked_calls
from tests.studio.conftest import Answer, Browser

TOKEN = re.compile(r'name="~preview" value="([^"]+)"')


def pairs_of(call: Call) -> list[tuple[str, str]]:
    """Return the inputs that give the arguments of a call."""
    return [
        pair
        for field in fields_of(call.pattern)
        if field.label in call.arguments
        for pair in texts(field, call.arguments[field.label])
    ]


def path_of(call: Call) -> str:
    return f"/patterns/{quote(call.pattern.label)}"


def timeless(text: str) -> str:
    """Return a text without moments: those of a write differ."""
    return re.sub(r"[-\d]{10}T[:.\d]{8,15}Z", "moment", text)


def submit(browser: Browser, path: str, pairs: list[tuple[str, str]]) -> Answer:
    return browser.send("POST", path, urlencode(pairs), Sec_Fetch_Site="same-origin")


@pytest.mark.slow
@pytest.mark.parametrize("name", DESIGNS)
def test_every_pattern_through_its_form_gives_what_running_it_gives(name: str) -> None:
    workspace = open_workspace([name])
    engine = workspace.target
    assert workspace.design is not None
    assert isinstance(engine, Engine)
    database = workspace.database()
    with serving_studio(workspace) as link:
        browser = Browser(link)
        for call in checked_calls(workspace.design, database):
            pairs = pairs_of(call)
            if not call.is_write:
                found = browser.get(f"{path_of(call)}?{urlencode([('~run', '1'), *pairs])}")
                assert found.status == 200
                assert result_tree(database.run(call.plan())) in found.text
                continue
            found = submit(browser, path_of(call), pairs)
            assert found.status == 200
            token = TOKEN.search(found.text)
            if isinstance(call.check.expect, Raises):
                assert token is None
                assert f"<b>{call.check.expect.error.__name__}</b>" in found.text
                continue
            assert token is not None
            with engine.sandbox():
                expected = database.run(call.plan())
            found = submit(browser, f"{path_of(call)}/write", [*pairs, ("~preview", token[1])])
            assert "<b>Written</b>" in found.text
            assert timeless(result_tree(expected)) in timeless(found.text)
    workspace.close()


@pytest.mark.parametrize("name", EACH_DESIGN)
def test_the_form_of_every_pattern_is_shown(name: str) -> None:
    workspace = open_workspace([name])
    assert workspace.design is not None
    with serving_studio(workspace) as link:
        browser = Browser(link)
        assert browser.get("/patterns").status == 200
        for pattern in workspace.design.patterns:
            found = browser.get(f"/patterns/{quote(pattern.label)}")
            assert found.status == 200
            assert all(f'name="{name}' in found.text for name in pattern.parameters)
    workspace.close()


def test_an_error_is_beside_its_field_and_the_input_is_kept(browser: Browser) -> None:
    found = browser.get("/patterns/customer_timeline?customer_id=C1&limit=many").text
    assert 'value="many"' in found
    assert "valid integer" in found
    assert 'aria-invalid="true"' in found


def test_a_preview_is_applied_once(browser: Browser) -> None:
    pairs = [("customer_id", "C1"), ("order_id", "O101"), ("status", "SHIPPED")]
    path = "/patterns/update_order_status"
    token = TOKEN.search(submit(browser, path, pairs).text)
    assert token is not None
    sent = [*pairs, ("~preview", token[1])]
    assert "<b>Written</b>" in submit(browser, f"{path}/write", sent).text
    again = submit(browser, f"{path}/write", sent).text
    assert "Nothing was written; this is a new preview" in again


def test_a_changed_form_is_not_written(browser: Browser) -> None:
    pairs = [("customer_id", "C1"), ("order_id", "O101"), ("status", "SHIPPED")]
    path = "/patterns/update_order_status"
    token = TOKEN.search(submit(browser, path, pairs).text)
    assert token is not None
    other = [
        ("customer_id", "C1"),
        ("order_id", "O101"),
        ("status", "LOST"),
        ("~preview", token[1]),
    ]
    assert "The form is another one" in submit(browser, f"{path}/write", other).text


def test_a_change_between_preview_and_write_makes_a_new_preview(browser: Browser) -> None:
    pairs = [("customer_id", "C1"), ("order_id", "O101"), ("status", "SHIPPED")]
    path = "/patterns/update_order_status"
    tokens = [TOKEN.search(submit(browser, path, pairs).text) for _ in range(2)]
    sent = [[*pairs, ("~preview", token[1])] for token in tokens if token]
    assert "<b>Written</b>" in submit(browser, f"{path}/write", sent[0]).text
    found = submit(browser, f"{path}/write", sent[1]).text
    assert "The data has changed since the preview" in found
    assert TOKEN.search(found) is not None


def test_pages_lead_forward_and_back(browser: Browser) -> None:
    def links(text: str) -> dict[str, str]:
        found = re.findall(r'<a class="btn" href="([^"]+)">([^<]+)</a>', text)
        return {name: href.replace("&amp;", "&") for href, name in found}

    first = browser.get("/patterns/customer_timeline?customer_id=C1&limit=1")
    assert list(links(first.text)) == ["next →"]
    second = browser.get(links(first.text)["next →"])
    assert "← previous" in links(second.text)
    tree = re.compile(r'<ul class="tree">.*?</ul></li></ul>', re.DOTALL)
    back = browser.get(links(second.text)["← previous"])
    assert tree.findall(back.text) == tree.findall(first.text) != tree.findall(second.text)


def test_the_list_is_filtered(browser: Browser) -> None:
    found = browser.get("/patterns?filter=timeline").text
    assert "customer_<wbr>timeline" in found
    assert "put_<wbr>customer" not in found


def test_a_read_only_target_shows_previews_without_a_button() -> None:
    workspace = open_workspace(["commerce"], write=False)
    with serving_studio(workspace) as link:
        pairs = [("customer_id", "C1"), ("order_id", "O101"), ("status", "SHIPPED")]
        found = submit(Browser(link), "/patterns/update_order_status", pairs).text
        assert "read-only" in found
        assert TOKEN.search(found) is None
        assert "Write 2 items" not in found
    workspace.close()


def test_a_tenant_sees_its_own_shards_only() -> None:
    workspace = open_workspace(["market"])
    with serving_studio(workspace) as link:
        browser = Browser(link)
        sample = workspace.design.sample() if workspace.design and workspace.design.sample else []
        users = [each.user_id for each in sample if type(each).__name__ == "User"]
        own = browser.get(f"/patterns/user_profile?user_id={users[0]}&~tenant={users[0]}").text
        other = browser.get(f"/patterns/user_profile?user_id={users[1]}&~tenant={users[0]}").text
        assert "items returned" in own
        assert "TenantViolation" in other
    workspace.close()


def test_what_is_stored_can_be_used_as_what_is_expected(browser: Browser) -> None:
    path = "/patterns/update_order_status_with_history"
    pairs = [
        ("customer_id", "C1"), ("order_id", "O101"), ("status", "SHIPPED"),
        ("expected_version", "7"), ("changed_by", "me"), ("reason", "test"),
    ]  # fmt: skip
    found = submit(browser, path, pairs).text
    assert "VersionConflict" in found
    assert "stored now: 1" in found
    link = re.search(r'<a href="([^"]+)">use it</a>', found)
    assert link is not None
    filled = browser.get(link[1].replace("&amp;", "&")).text
    assert re.search(r'name="expected_version" value="1"', filled)

"""A studio by keyboard alone: skip link, shortcuts, and every control within reach."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.pages import COMMERCE, walk
from tests.browser.studios import Studio

#: Remembers how each element looks, and returns the number of those that Tab should reach. A radio
#: that is not checked is reached by arrow keys, so one of each group counts.
MARK = """() => {
    window.look = node => { const style = getComputedStyle(node);
        return style.boxShadow + style.outlineStyle + style.outlineColor + style.backgroundColor; };
    window.looks = new Map([...document.querySelectorAll('*')].map(each => [each, look(each)]));
    window.reached = new Set();
    const groups = new Set();
    return [...document.querySelectorAll(
        'a[href], button, input, select, textarea, summary, [tabindex="0"]')].filter(each => {
        if (each.disabled || each.tabIndex < 0 || each.type === 'hidden') return false;
        if (!each.checkVisibility({visibilityProperty: true})) return false;
        if (each.type !== 'radio') return true;
        const group = each.form?.id + each.name;
        const first = !groups.has(group);
        groups.add(group);
        return first;
    }).length;
}"""
#: Returns a description of the focused element, whether it was reached before, and whether it, its
#: label or what surrounds it looks different with the focus. A date has several stops inside, which
#: the browser marks itself.
FOCUSED = """() => {
    const each = document.activeElement;
    if (each === document.body || each === document.documentElement) return null;
    const inside = window.last === each;
    const again = reached.has(each) && !inside;
    reached.add(each);
    window.last = each;
    const places = [each, each.parentElement, each.labels && each.labels[0]];
    return [each.outerHTML.slice(0, 120), again,
        inside || places.some(node => node && looks.get(node) !== look(node))];
}"""


def test_the_first_key_leads_to_the_content(studio: Studio, page: Page) -> None:
    studio.enter(page)
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_focused()
    expect(page.locator(".skip")).to_be_in_viewport()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()


def test_a_slash_goes_to_the_search_box_and_g_to_a_view(studio: Studio, page: Page) -> None:
    studio.enter(page)
    page.keyboard.press("/")
    expect(page.locator("#q")).to_be_focused()
    page.keyboard.type("g/t")
    expect(page.locator("#q")).to_have_value("g/t")
    for letter, name in [("i", "Items"), ("c", "Console"), ("t", "Tables"), ("e", "Evolve")]:
        page.evaluate("document.activeElement.blur()")
        page.keyboard.press("g")
        page.keyboard.press(letter)
        expect(page.locator(".top nav a[aria-current]")).to_have_text(name)


def test_tab_reaches_every_control_of_every_page_with_a_visible_focus(
    studio: Studio, page: Page
) -> None:
    for path in walk(page, studio, each=1):
        count = page.evaluate(MARK)
        for _ in range(4 * count):
            page.keyboard.press("Tab")
            found = page.evaluate(FOCUSED)
            if found is None or found[1]:
                break
            assert found[2], f"{path}: the focus of {found[0]} is not visible"
        reached = page.evaluate("reached.size")
        assert reached >= count, f"{path}: {reached} of {count} controls are reached"


def test_the_focus_is_where_the_result_is_after_ctrl_enter(studio: Studio, page: Page) -> None:
    focused = page.locator("#pattern :focus")
    studio.enter(page, f"/patterns/{COMMERCE}.put_customer")
    page.get_by_label("customer_id").fill("C9")
    page.keyboard.press("Control+Enter")
    expect(focused).to_have_text("Preview")
    expect(page.locator("#waiting")).to_be_hidden()
    page.keyboard.press("Control+Enter")
    expect(focused).to_contain_text("Written")
    page.goto(f"{studio.url}/patterns/{COMMERCE}.put_order")
    page.get_by_label("total").fill("a lot")
    page.keyboard.press("Control+Enter")
    expect(focused).to_have_value("a lot")
    page.goto(f"{studio.url}/patterns/{COMMERCE}.customer_profile")
    page.get_by_label("customer_id").focus()
    page.keyboard.press("Control+Enter")
    expect(focused).to_have_text("Result")

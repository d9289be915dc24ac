"""Take screenshots of the studio on the commerce design.

    python -m tests.browser.screenshots            those of the README
    python -m tests.browser.screenshots --all      every view, light and dark, into .browser/shots

The fonts are Inter and JetBrains Mono if they are installed (Debian: fonts-inter and
fonts-jetbrains-mono), so that the pictures look alike on every machine.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from playwright.sync_api import Browser, Page

from tests.browser.chromium import SCHEMES, Scheme, launched, show
from tests.browser.pages import COMMERCE, PAGES
from tests.browser.studios import Studio, studio_of

ROOT = Path(__file__).parents[2]
README = ROOT / "docs/images"
ALL = ROOT / ".browser/shots"
FONTS = ":root { --sans: Inter, sans-serif; --mono: 'JetBrains Mono', monospace; }"
#: The write whose preview is shown.
CHANGE = {
    "customer_id": "C1",
    "order_id": "O101",
    "status": "FULFILLED",
    "expected_version": "1",
    "changed_by": "warehouse",
    "reason": "all items shipped",
}
#: The highest picture.
LIMIT = 2400


def shoot(page: Page, path: Path, scheme: Scheme, width: int, limit: int = LIMIT) -> None:
    """Take a picture of the page that is open, from its top."""
    page.add_style_tag(content=FONTS)
    show(page, scheme, width)
    height = min(limit, page.evaluate("document.documentElement.scrollHeight"))
    path.parent.mkdir(parents=True, exist_ok=True)
    clip = {"x": 0, "y": 0, "width": width, "height": height}
    page.screenshot(path=path, clip=clip, full_page=True)  # type: ignore[arg-type,unused-ignore]


def open_page(browser: Browser, studio: Studio) -> Page:
    """Return a page of the studio whose fonts can be set."""
    page = browser.new_context(bypass_csp=True, reduced_motion="reduce").new_page()
    studio.enter(page)
    return page


def shoot_readme(page: Page, studio: Studio) -> None:
    page.goto(f"{studio.url}/items/commerce_single_table?pk=CUST%23C1")
    page.get_by_role("link", name="ORDER#O101", exact=True).click()
    page.locator("#drawer pre").first.wait_for()
    page.goto(page.url)  # at its top
    shoot(page, README / "studio-items.png", "light", 1280, 900)
    page.goto(f"{studio.url}/patterns/{COMMERCE}.update_order_status_with_history")
    for name, text in CHANGE.items():
        page.locator(f"#pattern [name={name}]").fill(text)
    page.get_by_role("button", name="Preview").click()
    page.get_by_text("nothing is written yet").wait_for()
    shoot(page, README / "studio-patterns.png", "dark", 1280, 980)


def shoot_all(page: Page, studio: Studio) -> None:
    for path in PAGES:
        page.goto(studio.url + path)
        name = re.sub(r"\W+", "-", path.removeprefix("/"))[:60]
        for width in (1280, 400):
            for scheme in SCHEMES:
                shoot(page, ALL / f"{name}-{width}-{scheme}.png", scheme, width)


def main() -> None:
    with launched() as browser, studio_of("commerce") as studio:
        page = open_page(browser, studio)
        if "--all" in sys.argv:
            shoot_all(page, studio)
        else:
            shoot_readme(page, studio)


if __name__ == "__main__":
    main()

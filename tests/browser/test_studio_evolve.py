"""The view of versions: a migration that is under way is followed without a reload."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page, expect

from tablewright import migrations
from tests.browser.accessibility import assert_accessible
from tests.browser.studios import studio_of
from tests.studio.desk import Desk


def test_a_migration_is_followed_until_its_end(page: Page, tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    migrations.baseline(desk.path, desk.table(desk.old))
    with studio_of(str(tmp_path / "new_desk.py"), desk.path) as studio:
        studio.enter(page, "/evolve")
        expect(page.locator("main")).to_contain_text("status: the attribute is renamed")
        assert_accessible(page)
        desk.interrupt(desk.new, "rewrite")
        page.clock.install()
        page.reload()
        expect(page.locator("#evolve")).to_contain_text("migrate apply is under way")
        assert_accessible(page)
        migrations.apply(desk.path, desk.table(desk.new))
        page.clock.run_for(2500)
        expect(page.locator("#evolve")).to_contain_text("not completed")
        expect(page.locator("h1")).to_have_text("Evolve")

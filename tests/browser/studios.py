"""Studios for the tests: a design on its sample data, served by this process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

from msgspec import Struct
from playwright.sync_api import Page

from tablewright.cli.studio import open_workspace
from tablewright.studio.web.server import serving_studio
from tablewright.studio.workspace import Workspace


class Studio(Struct, frozen=True):
    """A studio that runs; `link` opens it once."""

    workspace: Workspace
    link: str

    @property
    def url(self) -> str:
        return "http://" + urlsplit(self.link).netloc

    @property
    def port(self) -> int:
        found = urlsplit(self.link).port
        assert found is not None
        return found

    def enter(self, page: Page, path: str = "/tables") -> None:
        """Open a page of the studio with its link."""
        page.goto(f"{self.url}{path}?{urlsplit(self.link).query}")
        page.wait_for_url(lambda url: "token=" not in url)


@contextmanager
def studio_of(*arguments: str, write: bool | None = None) -> Iterator[Studio]:
    """Run the studio of `tablewright studio ARGUMENTS`."""
    workspace = open_workspace(list(arguments), write=write)
    with running(workspace) as studio:
        yield studio


@contextmanager
def running(workspace: Workspace) -> Iterator[Studio]:
    """Run a studio; close its workspace at the end."""
    try:
        with serving_studio(workspace) as link:
            yield Studio(workspace, link)
    finally:
        workspace.close()

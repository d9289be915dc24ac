"""Problems as pages that a person understands: what happened, and what to do."""

from __future__ import annotations

from tablewright.errors import CannotOpen, DynamoDBError, EndpointUnavailable, TablewrightError
from tablewright.publish.html.element import Markup, element, join
from tablewright.studio.markup.parts import note, swap
from tablewright.studio.web.frame import WebPage, connection_state
from tablewright.studio.web.http import FormRefused, WebRequest, WebResponse
from tablewright.studio.workspace import ReadOnlyTarget, Workspace

#: How often a page that could not reach the target tries again.
RETRY = "every 3s"


class MissingPage(TablewrightError):
    """A view has no page for this URL; `page` says more, if it is given."""

    def __init__(self, page: WebPage | None = None) -> None:
        super().__init__("there is no such page" if page is None else page.title)
        self.page = page


def problem_page(
    error: TablewrightError, request: WebRequest, workspace: Workspace
) -> WebPage | WebResponse:
    """Return the page of an error of the target or of the input."""
    if isinstance(error, (EndpointUnavailable, CannotOpen)):
        if "hx-request" in request.headers:
            return _keep_page(workspace)
        return _lost(request)
    if isinstance(error, MissingPage):
        return error.page or missing_page(request)
    if isinstance(error, ReadOnlyTarget):
        return WebPage("Read-only", _note("The target is read-only", str(error)), status=403)
    if isinstance(error, FormRefused):
        return WebPage("Refused", _note("The form was refused", str(error)), status=error.status)
    title = "The target refused the request" if isinstance(error, DynamoDBError) else "A problem"
    return WebPage("Problem", _note(title, str(error)), status=400)


def missing_page(request: WebRequest) -> WebPage:
    """Return the page for a URL that no view has."""
    text = f"The studio has no page {request.path}. Use the views above."
    return WebPage("Not found", _note("There is no such page", text), status=404)


def unexpected_page() -> WebPage:
    """Return the page for a mistake of the studio itself."""
    text = "This is a mistake of the studio. The terminal shows the details; please report them."
    return WebPage("Error", _note("The page could not be made", text), status=500)


def _keep_page(workspace: Workspace) -> WebResponse:
    """Show the banner in the page that sent the request; the rest of it stays."""
    headers = {"HX-Retarget": "#lost", "HX-Reswap": "outerMorph", "HX-Reselect": "#lost"}
    return WebResponse(status=503, body=connection_state(workspace), headers=headers)


def _lost(request: WebRequest) -> WebPage:
    """Return a page that tries again by itself, if it shows something; the banner says why."""
    retry = request.method == "GET"
    text = "Nothing can be shown." if retry else "Go back and try again: nothing was confirmed."
    again = swap("#main", push=False, hx_get="", hx_trigger=RETRY) if retry else {}
    content = element("div", _note("Not connected", text, "bad"), **again)
    return WebPage("Not connected", content, status=503)


def _note(title: str, text: str, kind: str = "warn") -> Markup:
    heading = element("div.head", element("h1", title))
    return join([heading, note(text, kind, role="alert")])

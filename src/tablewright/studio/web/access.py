"""Access: who may use the studio, and what a browser may do with its pages.

- Host: only the name in the link, with the port; others get 421. So a page of a host whose name was
  pointed to 127.0.0.1 cannot read anything (DNS rebinding).
- Name: cookies ignore ports, so a cookie of 127.0.0.1 would go to every other server on this
  machine that the browser visits. The name is therefore random, `studio-….localhost`: browsers
  resolve it to this machine without DNS, and send its cookie to no other name. A cookie that was
  copied is of no use at another name, as at 127.0.0.1.
- Session: the first visit brings a token, which the command printed and which is valid once. It is
  exchanged for a cookie that is sent with requests of the studio's own pages only. Other users of
  the machine have neither.
- Origin: a request that may change something must come from a page of the studio.
- Content security policy: a page runs scripts and uses styles of the studio only, and no inline
  ones; it sends requests to the studio only.
"""

from __future__ import annotations

import hmac
import re
import secrets
from collections.abc import Callable

from tablewright.presentation.element import element
from tablewright.studio.web.frame import bare_page
from tablewright.studio.web.http import WebRequest, WebResponse

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
#: The headers of every response.
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
SAFE_METHODS = frozenset({"GET", "HEAD"})
#: It does not tell the name: a page of another name could read it.
OTHER_NAME = (
    "The studio does not accept this host name. Open the link that tablewright studio printed. If "
    "the browser cannot open it, start the studio with --host 127.0.0.1."
)
_LOOPBACK_NAME = re.compile(r"127\.0\.0\.1|([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)*localhost")


def random_name() -> str:
    """Return a name of this machine that no one can guess."""
    return f"studio-{secrets.token_hex(8)}.localhost"


def is_loopback_name(name: str) -> bool:
    """Return whether a studio can have this name.

    >>> is_loopback_name("shop.localhost"), is_loopback_name("127.0.0.1"), is_loopback_name("shop")
    (True, True, False)
    """
    return _LOOPBACK_NAME.fullmatch(name) is not None


class AccessRules:
    """The rules of one server; `on_use` is called with the next link when a link was used.

    `name` is the host name in the link; None chooses a random one.
    """

    def __init__(
        self,
        port: int,
        name: str | None = None,
        on_use: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._host = f"{name or random_name()}:{port}"
        self._origin = f"http://{self._host}"
        #: With a name that was chosen, studios on several ports share a host and its cookies.
        self._cookie = f"tablewright_studio_{port}"
        self._session = secrets.token_urlsafe(32)
        self._token = secrets.token_urlsafe(32)
        self._on_use = on_use

    @property
    def link(self) -> str:
        """The URL for the first visit."""
        return f"{self._origin}/?token={self._token}"

    def check(self, request: WebRequest) -> WebResponse | None:
        """Return the response to a request that is refused, or that brings the token."""
        if request.headers.get("host", "").lower() != self._host:
            return refusal(421, "Wrong host name", OTHER_NAME)
        if request.path.startswith("/static/"):
            return None  # the refusals use them, too
        if not self._is_known(request):
            if _equal(request.query.get("token"), self._token):
                return self._open_session(request)
            return refusal(
                403,
                "The link is needed",
                "Open the link that the command tablewright studio printed. A link works once; "
                "after it was used, the command printed another one.",
            )
        if request.method not in SAFE_METHODS and not self._is_own_page(request):
            return refusal(
                403, "Another page", "Only pages of the studio may change data; this was another."
            )
        if "token" in request.query:  # the link was opened again
            return _forward(request, {})
        return None

    def _is_known(self, request: WebRequest) -> bool:
        return _equal(request.cookie(self._cookie), self._session)

    def _is_own_page(self, request: WebRequest) -> bool:
        site = request.headers.get("sec-fetch-site")
        if site is not None:
            return site in ("same-origin", "none")
        origin = request.headers.get("origin")
        return origin is None or origin == self._origin

    def _open_session(self, request: WebRequest) -> WebResponse:
        self._token = secrets.token_urlsafe(32)
        self._on_use(self.link)
        cookie = f"{self._cookie}={self._session}; HttpOnly; SameSite=Strict; Path=/"
        return _forward(request, {"Set-Cookie": cookie})


def _forward(request: WebRequest, headers: dict[str, str]) -> WebResponse:
    """Return a page that leads to the same URL without the token.

    A redirection would not do: if a link in another page was followed, the browser would not send
    the cookie with the redirected request.
    """
    url = "/" + request.path.lstrip("/")  # "//name" would be another host
    refresh = element("meta", http_equiv="refresh", content=f"0; url={url}")
    body = bare_page("Tablewright Studio", element("p", "Opening the studio …"), refresh)
    return WebResponse(body=body, headers={**headers, "Cache-Control": "no-store"})


def refusal(status: int, title: str, message: str) -> WebResponse:
    """Return a small page that explains why a request was refused."""
    content = [element("h1", title), element("p", message)]
    return WebResponse(status=status, body=bare_page(title, content))


def _equal(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode(), other.encode())

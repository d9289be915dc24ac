"""URLs of the studio's pages."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote, urlencode


def url(route: str, *parts: str, **query: str | int | Sequence[str] | None) -> str:
    """Return the URL of a route: its `{}` are the parts, and the query leaves out what is None.

    A name of the query may have several values.

    >>> url("/items/{}", "a/b", pk="USER#1", cursor=None)
    '/items/a%2Fb?pk=USER%231'
    """
    path = route.format(*(quote(part, safe="") for part in parts))
    given = {
        name: [str(value)] if isinstance(value, (str, int)) else value
        for name, value in query.items()
        if value is not None
    }
    encoded = urlencode(given, doseq=True)
    return f"{path}?{encoded}" if encoded else path

"""The Python calls of a page of items in the studio: `python -m benchmarks.page_calls` prints them.

A call counts if it enters a function in a file of the package, in any thread of the studio, as in
`put_calls`. The page shows the sample data of the bundled design `commerce`. The studio has shown
it before, so what a design needs once is not counted.
"""

from __future__ import annotations

import http.client
from collections import Counter
from urllib.parse import urlsplit

from benchmarks.put_calls import Calls, median_of, print_calls
from tablewright.designs.catalog import load
from tablewright.engine import Engine
from tablewright.studio.web.server import serving_studio
from tablewright.studio.workspace import Workspace
from tablewright.verify import seed

DESIGN, PAGE = "commerce", "/items/commerce_single_table"
#: The requests that are not counted, and those that are.
WARM_UP, REQUESTS = 5, 20


def page_calls() -> int:
    """Return the number of calls for a page of items."""
    return median_calls().total()


def median_calls() -> Counter[str]:
    """Return the calls of a typical request."""
    found: list[Counter[str]] = []
    design = load(DESIGN)
    with Calls() as calls, Engine(":memory:") as engine:
        seed(design, engine)
        with serving_studio(Workspace(design, engine)) as link:
            parts = urlsplit(link)
            client = http.client.HTTPConnection("127.0.0.1", parts.port or 80)
            host = {"Host": parts.netloc}
            client.request("GET", f"{parts.path}?{parts.query}", headers=host)
            opened = client.getresponse()
            opened.read()
            session = {**host, "Cookie": (opened.getheader("Set-Cookie") or "").partition(";")[0]}
            for _ in range(WARM_UP + REQUESTS):
                calls.clear()
                client.request("GET", PAGE, headers=session)
                response = client.getresponse()
                response.read()
                if response.status != 200:
                    raise RuntimeError(f"expected status 200, got {response.status}")
                found.append(Counter(calls))
            client.close()
    return median_of(found[WARM_UP:])


if __name__ == "__main__":
    print_calls(median_calls)

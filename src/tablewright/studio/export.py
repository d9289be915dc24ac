"""Static pages: the design, and perhaps its sample data, as files that need no server.

The pages are those of the studio. Starting with the design, every page that a page links to is
written, as far as its view can be static; other links become plain text. The files are the same in
every run.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from urllib.parse import urlsplit

from tablewright.errors import InvalidValue
from tablewright.publish.html.element import relinked
from tablewright.studio.web import routes
from tablewright.studio.web.frame import WebPage, framed, static_file
from tablewright.studio.web.http import Fields, WebRequest, WebResponse
from tablewright.studio.workspace import Workspace
from tablewright.whole_file import PARTIAL, replace_whole

START = "/design"
DESIGN = ("/design",)
DATA = ("/items", "/item/")
#: The pages of data that are written at most: this is for sample data.
MAX_PAGES = 2000


def export(workspace: Workspace, folder: Path, *, data: bool = False) -> list[Path]:
    """Write the pages of a design into a folder and return the paths of the files.

    With `data`, the items of the target are written, too. Raises InvalidValue if these are more
    than fit on static pages, or if the folder contains other files.
    """
    static = workspace.as_static(("Design", "Items") if data else ("Design",))
    files = dict(_files(static, DESIGN + DATA if data else DESIGN))
    folder.mkdir(parents=True, exist_ok=True)
    present = {path.name for path in folder.iterdir() if path.suffix != PARTIAL}
    others = sorted(present - files.keys())
    if others:
        raise InvalidValue(
            f"{folder} contains other files, such as {others[0]}; name a new or an empty folder"
        )
    for name, content in reversed(files.items()):  # the first page last
        replace_whole(folder / name, content)
    return [folder / name for name in files]


def _files(workspace: Workspace, prefixes: tuple[str, ...]) -> Iterator[tuple[str, bytes]]:
    """Yield the name and the content of each file."""
    waiting, names = [START], {START: "index.html", "/": "index.html"}

    def relink(link: str) -> str | None:
        """Return a link to the file of a page or a static file, which is written later."""
        url, hash_sign, fragment = link.partition("#")
        if url not in names:
            if not url.startswith(("/static/", *prefixes)):
                return None
            if len(names) > MAX_PAGES:
                raise InvalidValue(
                    f"there are more than {MAX_PAGES:,} pages; export the design only"
                )
            names[url] = file_name(url)
            waiting.append(url)
        return names[url] + hash_sign + fragment

    while waiting:
        url = waiting.pop(0)
        with relinked(relink):
            content = _answer(workspace, url)
        yield names[url], content


def _answer(workspace: Workspace, url: str) -> bytes:
    """Return a page, or another file."""
    parts = urlsplit(url)
    if parts.path.startswith("/static/"):
        return static_file(parts.path.removeprefix("/static/"))
    request = WebRequest(method="GET", path=parts.path, query=Fields.parse(parts.query), headers={})
    found = routes.find_view(request)
    assert found is not None, url
    view, arguments = found
    answer: WebPage | WebResponse = view(workspace, request, *arguments)
    return answer.body if isinstance(answer, WebResponse) else framed(answer, workspace)


def file_name(url: str) -> str:
    """Return the name of the file for a URL; a query becomes a part of a checksum.

    >>> file_name("/design/patterns"), file_name("/static/style.css?1")
    ('design-patterns.html', 'style.css')
    """
    parts = urlsplit(url)
    last = parts.path.rpartition("/")[2]
    if "." in last and parts.path.startswith(("/static/", "/design/documents/")):
        return last
    runs = groupby(parts.path.strip("/"), lambda each: each.isalnum() or each in "_-")
    words = "".join("".join(run) if is_word else "-" for is_word, run in runs)[:60]
    mark = f"-{sha256(url.encode()).hexdigest()[:10]}" if parts.query else ""
    return f"{words}{mark}.html"

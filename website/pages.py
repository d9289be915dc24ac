"""Write the pages of the site: the documents, and what is generated from the code.

    README.md, docs/*.md    ──▶ copied, with links between them adapted
    public names            ──▶ api/*.md: signature, docstring, and an example of a guide
    commands                ──▶ commands.md: usage, arguments and options of every command

Every example on a page is a block of a document, so it runs in the tests. Links to files that are
not on the site lead to the repository.
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from website.api import api_pages
from website.commands import commands_page
from website.diagrams import diagram_style, drawn
from website.navigation import navigation
from website.project import ROOT, repository_url

#: The documents that are copied, and their names on the site.
COPIED = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
}
_LINK = re.compile(r"(\]\()([^)\s]+)(\))")
_FENCE = re.compile(r"^(```.*?^```)", re.MULTILINE | re.DOTALL)


def main(folder: Path) -> None:
    """Write all pages into a folder, and the navigation beside it."""
    shutil.rmtree(folder, ignore_errors=True)
    for name, text in pages():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (folder / "site.css").write_text((ROOT / "website/site.css").read_text() + diagram_style())
    for picture in sorted((ROOT / "docs").rglob("*.png")) + sorted((ROOT / "docs").rglob("*.svg")):
        place = folder / picture.relative_to(ROOT / "docs")
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(picture, place)
    config = (ROOT / "website/mkdocs.yml").read_text()
    (folder.parent / "mkdocs.yml").write_text(config + navigation())


def pages() -> Iterator[tuple[str, str]]:
    """Yield the name and the text of every page."""
    names = site_names()
    for source, name in names.items():
        text = adapted((ROOT / source).read_text(encoding="utf-8"), source, names)
        yield name, drawn(text, Path(name).stem) if name.startswith("designs/") else text
    yield from api_pages()
    yield "commands.md", commands_page()


def site_names() -> dict[str, str]:
    """Return the documents that are on the site, and their names there."""
    documents = sorted((ROOT / "docs").rglob("*.md"))
    return COPIED | {
        str(path.relative_to(ROOT)): str(path.relative_to(ROOT / "docs")) for path in documents
    }


def adapted(text: str, source: str, names: dict[str, str]) -> str:
    """Return a document whose links lead to pages of the site, or to the repository."""

    def relink(found: re.Match[str]) -> str:
        return found[1] + link(found[2], source, names) + found[3]

    parts = _FENCE.split(text)  # code is left as it is
    return "".join(
        part if position % 2 else _LINK.sub(relink, part) for position, part in enumerate(parts)
    )


def link(target: str, source: str, names: dict[str, str]) -> str:
    """Return a link of a document as it is on the site.

    >>> link("docs/tutorial.md#next", "README.md", {"README.md": "index.md",
    ...      "docs/tutorial.md": "tutorial.md"})
    'tutorial.md#next'
    """
    if target.startswith(("http:", "https:", "mailto:", "#")):
        return target
    path, mark, fragment = target.partition("#")
    resolved = _resolve(PurePosixPath(source).parent / path)
    if resolved in names:
        here = PurePosixPath(names[source]).parent
        return _relative(names[resolved], here) + mark + fragment
    if resolved.startswith("docs/") and (ROOT / resolved).suffix in (".png", ".svg"):
        here = PurePosixPath(names[source]).parent
        return _relative(resolved.removeprefix("docs/"), here)
    return f"{repository_url()}/blob/main/{resolved}{mark}{fragment}"


def _resolve(path: PurePosixPath) -> str:
    parts: list[str] = []
    for part in path.parts:
        if part == "..":
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)


def _relative(name: str, here: PurePosixPath) -> str:
    up = "../" * len(here.parts)
    return up + name


if __name__ == "__main__":
    main(Path(sys.argv[1]))

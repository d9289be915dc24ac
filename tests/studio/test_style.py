"""The style sheet has the hues of the HTML page of a design, and only classes that are used."""

from __future__ import annotations

import re
from pathlib import Path

import tablewright
from tablewright.presentation.style import HUES, TOKENS
from tablewright.studio.web.frame import static_file

#: Classes of which the code composes the names: hues, and widths of parts of keys.
COMPOSED = re.compile(r"[ew]\d+")


def test_the_style_sheet_has_the_hues_and_tokens_of_the_page() -> None:
    sheet = static_file("style.css").decode()
    for number, (ink, tint) in enumerate(HUES):
        colors = f"--e: light-dark({', '.join(ink)}); --et: light-dark({', '.join(tint)});"
        assert f".e{number} {{ {colors} }}" in sheet
    for name, values in TOKENS.items():
        assert f"--{name}: light-dark({', '.join(values)});" in sheet


def test_every_class_of_the_style_sheet_is_used() -> None:
    package = Path(tablewright.__file__).parent
    files = [
        *package.glob("studio/**/*.py"),
        *package.glob("studio/static/[!h]*.js"),  # htmx is not ours
        *package.glob("presentation/*.py"),
    ]
    code = "\n".join(path.read_text("utf-8") for path in files)
    sheet = re.sub(r"/\*.*?\*/|\{[^{}]*\}", "", static_file("style.css").decode(), flags=re.DOTALL)
    classes = {name for name in re.findall(r"\.([a-z][\w-]*)", sheet) if not COMPOSED.match(name)}
    assert len(classes) > 100
    # As `element("div.row")`, or in a text such as "btn sm".
    used = set(re.findall(r"(?<=[\"'`. ])[a-z][\w-]*(?=[\"'`. ])", code))
    assert classes - used == set()

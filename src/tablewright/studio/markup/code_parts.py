"""Code as markup: tabs without a script, with keywords and texts coloured."""

from __future__ import annotations

import re
from collections.abc import Mapping

from tablewright.publish.html.element import Markup, element, join

_KEYWORDS = {
    "Python": "from import as for in if is None True False",
    "boto3": "import None True False",
    "AWS CLI": "aws dynamodb",
    "PartiQL": "SELECT FROM WHERE AND OR NOT BETWEEN IN IS MISSING ORDER BY DESC INSERT INTO VALUE "
    "UPDATE SET REMOVE DELETE RETURNING ALL NEW OLD MODIFIED EXISTS true false null",
}
_COMMENT = {
    "Python": r"#[^\n]*",
    "boto3": r"#[^\n]*",
    "AWS CLI": r"#[^\n]*",
    "PartiQL": r"--[^\n]*",
}
_TEXT = r"""'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*\""""


def code_tabs(codes: Mapping[str, str]) -> Markup:
    """Return tabs with code; the first one is shown."""
    choices: list[Markup] = []
    for number, name in enumerate(codes):
        choices += [
            element("input", type="radio", name="code", id=f"code-{number}",
                    checked="" if number == 0 else None),
            element("label", name, for_=f"code-{number}"),
        ]  # fmt: skip
    copy = element("button", "Copy", class_="btn sm", type="button", data_copy="#code > pre")
    shown = [
        element("pre", highlighted(code, name), tabindex="0", aria_label=f"{name} code")
        for name, code in codes.items()
    ]
    tabs = element("div", choices, copy, shown, class_="tabs", id="code")
    return element("div", tabs, class_="top-line", role="group", aria_label="The same as code")


def highlighted(code: str, language: str) -> Markup:
    """Return code with its comments, texts and keywords coloured."""
    words = "|".join(_KEYWORDS[language].split())
    option = r"|(?P<o>(?<=\s)--[a-z-]+)" if language == "AWS CLI" else ""
    pattern = re.compile(
        rf"(?P<s>{_TEXT})|(?P<c>{_COMMENT[language]})|(?P<k>\b(?:{words})\b){option}"
    )
    pieces: list[str] = []
    end = 0
    for found in pattern.finditer(code):
        kind = "k" if found.lastgroup == "o" else found.lastgroup
        pieces += [code[end : found.start()], element("span", found[0], class_=kind)]
        end = found.end()
    return join([*pieces, code[end:]])

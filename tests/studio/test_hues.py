"""The hues of the studio are those of the HTML page of a design."""

from __future__ import annotations

from tablewright.presentation.style import HUES, TOKENS
from tablewright.studio.web.frame import static_file


def test_the_style_sheet_has_the_hues_and_tokens_of_the_page() -> None:
    sheet = static_file("style.css").decode()
    for number, (ink, tint) in enumerate(HUES):
        colors = f"--e: light-dark({', '.join(ink)}); --et: light-dark({', '.join(tint)});"
        assert f".e{number} {{ {colors} }}" in sheet
    for name, values in TOKENS.items():
        assert f"--{name}: light-dark({', '.join(values)});" in sheet

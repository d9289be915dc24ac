"""The style of a page: tokens with a light and a dark value, and the rules that use them."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

#: Name -> the light value and the dark value.
TOKENS = {
    "bg": ("#f6f7f9", "#0e1014"),
    "panel": ("#ffffff", "#15181e"),
    "sunken": ("#f1f2f5", "#1b1f27"),
    "line": ("#e2e5ea", "#282d37"),
    "edge": ("#858d9b", "#6d7686"),
    "ink": ("#171a21", "#e9ebf0"),
    "ink-2": ("#4a515e", "#b3bac7"),
    "ink-3": ("#5f6774", "#929baa"),
    "accent": ("#4b41d1", "#aaa4ff"),
}
#: The hues of entities: for each, the ink and the tint. The first is for what is of no entity.
HUES = (
    (("#565d69", "#a7afbd"), ("#eceef1", "#23272f")),
    (("#9a4a00", "#ffb169"), ("#fdf0e2", "#33220f")),
    (("#0a5bb0", "#7fbcff"), ("#e6f1fd", "#12253b")),
    (("#007361", "#7cebd4"), ("#e0f5f1", "#0d2b27")),
    (("#8a0f5e", "#f47fbf"), ("#fdeaf4", "#381629")),
    (("#4d5d00", "#cfdc62"), ("#f3f6dc", "#272b0e")),
    (("#6a35b0", "#cdb0ff"), ("#f3ecfd", "#291c40")),
    (("#8a2a16", "#ffa892"), ("#fdece7", "#371b14")),
    (("#2e5566", "#a5d3e6"), ("#e8f2f6", "#17282f")),
    (("#1d6b22", "#86df8b"), ("#e5f5e5", "#122b15")),
    (("#3a45b5", "#a3aeff"), ("#ebedfc", "#1c2145")),
    (("#a5173f", "#ff92ac"), ("#fde9ee", "#3a1520")),
    (("#63503c", "#d9c3a8"), ("#f3eee7", "#2b241b")),
)


@cache
def rules(name: str) -> str:
    """Return the rules of a document or of diagrams, which the studio uses, too."""
    return (files("tablewright.presentation") / f"{name}.css").read_text(encoding="utf-8")


def stylesheet() -> str:
    """Return the style sheet; print is always light."""
    fonts = (
        "--sans: system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif;"
        "\n  --mono: ui-monospace, 'SF Mono', 'Cascadia Mono', Menlo, Consolas, 'DejaVu Sans Mono',"
        " monospace;"
    )
    light, dark = tokens(0), tokens(1)
    return (
        f":root {{\n  color-scheme: light dark;\n  {fonts}\n}}\n{light}"
        f"@media screen and (prefers-color-scheme: dark) {{\n{dark}}}\n"
        f"{rules('diagram')}{rules('document')}"
    )


def tokens(mode: int, scope: str = "") -> str:
    """Return the light values (mode 0) or the dark ones (mode 1), for elements in a scope."""
    values = " ".join(f"--{name}: {each[mode]};" for name, each in TOKENS.items())
    hues = "".join(
        f"{scope} .e{number} {{ --e: {ink[mode]}; --et: {tint[mode]}; }}\n".lstrip()
        for number, (ink, tint) in enumerate(HUES)
    )
    return f"{scope or ':root'} {{ {values} }}\n{hues}"


def hue(position: int) -> str:
    """Return the class of the hue of the entity at this position."""
    return f"e{position % (len(HUES) - 1) + 1}"

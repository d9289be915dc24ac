"""The style of a page: tokens with a light and a dark value, and the rules that use them."""

from __future__ import annotations

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

#: The rules of diagrams, which the studio uses, too.
DIAGRAM = """\
.diagram { display: block; margin: 0 auto; }
.diagram text { font: 12px var(--mono); fill: var(--ink); white-space: pre;
  font-variant-ligatures: none; }
.diagram .name { font: 650 13px var(--sans); fill: var(--e, var(--ink)); }
.diagram .quiet { font: 11px var(--sans); fill: var(--ink-3); }
.diagram .kind { font-size: 11px; fill: var(--ink-3); text-anchor: end; }
.diagram .mark { font: 650 9px var(--sans); fill: var(--ink-3); }
.diagram .key { font-weight: 650; }
.diagram .label { font: 11px var(--sans); fill: var(--ink-2); text-anchor: end; }
.diagram .box { fill: var(--panel); stroke: var(--e); stroke-width: 1.25; }
.diagram .cap { fill: var(--et); }
.diagram .part { fill: var(--et); }
.diagram .attribute { fill: var(--e); font-weight: 650; }
.diagram .literal { fill: var(--ink-2); }
.diagram .relation { fill: none; stroke: var(--edge); stroke-width: 1.5; }
.diagram .zero { fill: var(--panel); stroke: var(--edge); stroke-width: 1.5; }
.diagram .grid { fill: none; stroke: var(--line); }
.diagram .head { fill: var(--sunken); }
.diagram .absent { fill: var(--sunken); fill-opacity: .55; }
.diagram .stripe { fill: var(--e); }
"""

_RULES = """\
*, *::before, *::after { box-sizing: border-box; }
body { margin: 0; background: var(--bg); color: var(--ink); font: 14px/21px var(--sans);
  -webkit-text-size-adjust: 100%; overflow-wrap: anywhere; }
body > * { max-width: 1440px; margin: 0 auto; padding: 0 24px; }
header { padding-top: 24px; }
main { padding-bottom: 32px; }
h1, h2, h3 { font-weight: 650; line-height: 1.3; scroll-margin-top: 8px; }
h1 { font-size: 24px; margin: 0 0 4px; letter-spacing: -.01em; }
h2 { font-size: 18px; margin: 32px 0 8px; padding-top: 16px; border-top: 1px solid var(--line); }
h3 { font-size: 15px; margin: 24px 0 8px; }
p, main > ul { margin: 8px 0; max-width: 84ch; }
main > ul { padding-left: 20px; }
li { margin: 2px 0; }
a { color: var(--accent); }
code, pre { font-family: var(--mono); font-size: 12px; font-variant-ligatures: none;
  unicode-bidi: isolate; }
p code, li code { padding: 1px 3px; border-radius: 3px; background: var(--sunken); }
pre { margin: 8px 0; padding: 12px 16px; line-height: 18px; }
nav ul { display: flex; flex-wrap: wrap; gap: 4px 16px; margin: 12px 0 0; padding: 0;
  list-style: none; }
.scroll, pre { overflow-x: auto; margin: 8px 0 16px; background: var(--panel);
  border: 1px solid var(--line); border-radius: 10px; }
.scroll:focus-visible, pre:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
table { width: 100%; border-collapse: collapse; font-size: 13px; line-height: 19px; }
caption { padding: 8px 12px; text-align: left; font-size: 12px; color: var(--ink-3); }
th, td { padding: 6px 12px; text-align: left; vertical-align: top; unicode-bidi: isolate;
  border-top: 1px solid var(--line); min-width: 88px; overflow-wrap: normal; }
.dense { font-size: 12px; line-height: 17px; }
.dense code { font-size: 11px; }
.dense th, .dense td { min-width: 72px; padding: 6px 8px; }
.dense .long, .long { min-width: 220px; overflow-wrap: anywhere; }
thead th { background: var(--sunken); color: var(--ink-2); font-size: 12px; font-weight: 600; }
tbody th { font-weight: 600; }
td code, th code { white-space: pre-wrap; }
.num { text-align: right; font-variant-numeric: tabular-nums; }
details { margin: 0 0 16px; }
summary { color: var(--ink-2); font-size: 12px; cursor: pointer; }
@media (max-width: 600px) {
  body > * { padding: 0 12px; }
  header { padding-top: 16px; }
  th, td { padding: 6px 8px; }
  pre { padding: 8px 12px; }
  .long { min-width: 200px; }
  .stacks { font-size: 13px; line-height: 19px; }
  .stacks, .stacks caption, .stacks tbody, .stacks tr, .stacks tbody th, .stacks tbody td
    { display: block; min-width: 0; overflow-wrap: anywhere; }
  .stacks thead { position: absolute; width: 1px; height: 1px; overflow: hidden;
    clip-path: inset(50%); }
  .stacks tr { padding: 8px 0; border-top: 1px solid var(--line); }
  .stacks tbody th, .stacks tbody td { padding: 2px 12px; border: 0; text-align: left; }
  .stacks td::before { content: attr(data-label) ": "; color: var(--ink-3); font-size: 12px; }
  .stacks td:empty { display: none; }
}
@media print {
  @page { size: landscape; margin: 12mm; }
  body { font-size: 10pt; background: none; }
  body > * { max-width: none; padding: 0; }
  nav, summary { display: none; }
  .scroll, pre { overflow: visible; border-radius: 0; }
  pre { white-space: pre-wrap; }
  svg { max-width: 100%; height: auto; }
  h2, h3 { break-after: avoid; }
  tr, svg { break-inside: avoid; }
  th, td, .dense th, .dense td, .dense .long { min-width: 0; padding: 3px 6px; font-size: 8pt;
    line-height: 1.35; }
  td code, th code, .dense code { font-size: 7.5pt; }
}
"""


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
        f"@media screen and (prefers-color-scheme: dark) {{\n{dark}}}\n{DIAGRAM}{_RULES}"
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

"""Parts of SVG that the diagrams share: the image with its title, and texts."""

from __future__ import annotations

from collections.abc import Iterable

from tablewright.publish.html.element import Markup, element


def image(
    children: Iterable[str], size: tuple[float, float], title: str, description: str, ident: str
) -> Markup:
    """Return an image with a title and a description for screen readers.

    The colours come from the style sheet of the page. `ident` must be unique on the page.
    """
    width, height = size
    return element(
        "svg",
        element("title", title, id=f"{ident}-title"),
        element("desc", description, id=f"{ident}-desc"),
        children,
        class_="diagram",
        role="img",
        aria_labelledby=f"{ident}-title",
        aria_describedby=f"{ident}-desc",
        width=width,
        height=height,
        viewBox=f"0 0 {width:.1f} {height:.1f}",
    )


def text(content: str, x: float, y: float, class_: str, length: float | None = None) -> Markup:
    """Return a text; with `length`, the browser fits it to this width in any font."""
    adjust = None if length is None else "spacingAndGlyphs"
    return element("text", content, x=x, y=y, class_=class_, textLength=length, lengthAdjust=adjust)


def rectangle(
    x: float, y: float, width: float, height: float, class_: str, rx: float | None = None
) -> Markup:
    """Return a rectangle."""
    return element("rect", x=x, y=y, width=width, height=height, class_=class_, rx=rx)


def path(commands: str, class_: str) -> Markup:
    """Return a path of a line."""
    return element("path", d=commands, class_=class_)

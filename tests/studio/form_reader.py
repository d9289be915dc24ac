"""The inputs of a form in a page, as a browser would submit them."""

from __future__ import annotations

from html.parser import HTMLParser


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.pairs: list[tuple[str, str]] = []
        self._is_inside = False
        self._area: list[str] | None = None
        self._name = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            self._is_inside = given.get("method") == "post"
        elif not self._is_inside:
            return
        elif tag == "input":
            is_box = given.get("type") in ("checkbox", "radio")
            if "name" in given and (not is_box or "checked" in given):
                self.pairs.append((given["name"], given.get("value", "on")))
        elif tag == "textarea":
            self._name, self._area = given["name"], []
        elif tag == "select":
            self._name = given["name"]
        elif tag == "option" and "selected" in given:
            self.pairs.append((self._name, given["value"]))

    def handle_data(self, data: str) -> None:
        if self._area is not None:
            self._area.append(data)

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._is_inside = False
        elif tag == "textarea" and self._area is not None:
            text = "".join(self._area).removeprefix("\n")
            self.pairs.append((self._name, text.replace("\n", "\r\n")))
            self._area = None


def form_pairs(page: str) -> list[tuple[str, str]]:
    """Return the inputs of the forms of a page that are submitted with POST."""
    reader = _Reader()
    reader.feed(page)
    return reader.pairs

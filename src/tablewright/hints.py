"""Hints: the known word that an unknown one is close to.

Owns the comparison and the wording "did you mean …?" of every error message about a name.
Upper and lower case, and underscores, do not count: `customerId` is close to `customer_id`.
"""

from __future__ import annotations

from collections.abc import Iterable

#: difflib's default.
CUTOFF = 0.6


def closest(word: object, words: Iterable[str], *, cutoff: float = CUTOFF) -> str | None:
    """Return the word that is most similar; None if no similarity reaches `cutoff` (0 to 1)."""
    from difflib import get_close_matches  # errors only

    known = {_plain(each): each for each in words}
    matches = get_close_matches(_plain(word), known, n=1, cutoff=cutoff)
    return known[matches[0]] if matches else None


def did_you_mean(word: object, words: Iterable[str], *, cutoff: float = CUTOFF) -> str:
    """Return the end of an error message; "" if no word is close.

    >>> did_you_mean("put_item", ["GetItem", "PutItem"])
    "; did you mean 'PutItem'?"
    >>> did_you_mean("stauts", ["total"])
    ''
    """
    match = closest(word, words, cutoff=cutoff)
    return "" if match is None else f"; did you mean {match!r}?"


def did_you_mean_or_list(word: object, words: Iterable[str], kind: str) -> str:
    """Return the end of an error message: the word that is close, or else all words.

    `kind` is what the words name, in the plural.

    >>> did_you_mean_or_list("films", ["shop", "events"], "tables")
    '; the tables are: shop, events'
    >>> did_you_mean_or_list("films", [], "tables")
    '; there are no tables'
    """
    known = list(words)
    listed = f"the {kind} are: {', '.join(known)}" if known else f"there are no {kind}"
    return did_you_mean(word, known) or f"; {listed}"


def _plain(word: object) -> str:
    return str(word).replace("_", "").lower()

"""Rules of index keys: each finds what it is for, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.publish.advice.designs import find

GSI1 = 'gsi1 = GSI("GSI1PK", "GSI1SK")'
POST = """
class Post(Entity, table=Shop):
    id: Attr[str] = attr()
    author: Attr[str] = attr()
    title: Attr[str] = attr()
    likes: Attr[int] = attr(default=0, pad=6)
    created_at: Attr[datetime] = created_at()
    updated_at: Attr[datetime] = updated_at()

    primary = key("POST" / id, "POST" / id.again)
    by_author = index(Shop.gsi1, {key})

@access_pattern{rate}
def change(id: str, author: str, title: str) -> Update[Post]:
    return Post.primary(id).update({change})
"""
READ = """
@access_pattern
def by_author({parameters}) -> Query[Post]:
    return Post.by_author({arguments}){chain}
"""


def read(arguments: str = "author", chain: str = "") -> str:
    parameters = arguments and f"{arguments}: str"
    return READ.format(parameters=parameters, arguments=arguments, chain=chain)


def post(key: str, change: str = "Post.title.set(title)", rate: str = "") -> str:
    return POST.format(key=key, change=change, rate=rate)


def test_a_time_of_the_last_update_in_an_index_key(tmp_path: Path) -> None:
    source = post('"BY" / author, updated_at / id', rate="(rate=50)")
    (finding,) = find(tmp_path, source, "changing-index-key", indexes=GSI1)
    assert finding.subject == "Post.by_author"
    assert "updated_at is updated_at(): each call of change()" in finding.reason
    assert finding.reason.endswith("2 write units, about 100 per second")


def test_a_counter_in_an_index_key(tmp_path: Path) -> None:
    source = post('"BY" / author, likes / id', "Post.likes.increment(1)")
    (finding,) = find(tmp_path, source, "changing-index-key", indexes=GSI1)
    assert "likes is a counter" in finding.reason


@pytest.mark.parametrize(
    ("key", "change"),
    [
        ('"BY" / author, created_at / id', "Post.title.set(title)"),
        ('"BY" / author, likes / id', "Post.title.set(title)"),
        # The row has to move anyway.
        ('"BY" / author, updated_at / id', "Post.author.set(author)"),
    ],
)
def test_index_keys_that_do_not_change_by_themselves(tmp_path: Path, key: str, change: str) -> None:
    assert find(tmp_path, post(key, change), "changing-index-key", indexes=GSI1) == []


def test_an_attribute_of_an_index_key_that_is_set_at_a_known_rate(tmp_path: Path) -> None:
    source = post('"BY" / author, "P" / id', "Post.author.set(author)", "(rate=50)")
    (finding,) = find(tmp_path, source, "changing-index-key", indexes=GSI1)
    assert finding.severity == "note"
    assert finding.reason.endswith("2 write units, about 100 per second")


INCLUDED = 'gsi1 = GSI("GSI1PK", "GSI1SK", project=("title", "updated_at"))'


def test_a_projection_that_names_a_stamp(tmp_path: Path) -> None:
    source = post('"BY" / author, "P" / id')
    (finding,) = find(tmp_path, source, "projected-stamp", indexes=INCLUDED)
    assert finding.subject == "Post.updated_at"
    assert finding.fix == 'gsi1 = GSI(…, project=("title",))'


def test_a_projection_that_does_not_name_a_stamp(tmp_path: Path) -> None:
    source, indexes = post('"BY" / author, "P" / id'), INCLUDED.replace(', "updated_at"', ",")
    assert find(tmp_path, source, "projected-stamp", indexes=indexes) == []


def test_updates_of_whole_items_in_an_index_are_a_note_without_rates(tmp_path: Path) -> None:
    source = post('"BY" / author, "P" / id') + read()
    (finding,) = find(tmp_path, source, "projected-stamp", indexes=GSI1)
    assert (finding.severity, finding.subject) == ("note", "Post.updated_at")
    written = "change() also writes 1 index row that stays in place, at least 1 write unit"
    assert written in finding.reason
    assert finding.fix.startswith('gsi1 = GSI(…, project="KEYS_ONLY") and batch_get(…)')


def test_rates_decide_whether_whole_items_in_an_index_cost_too_much(tmp_path: Path) -> None:
    source = post('"BY" / author, "P" / id') + read()
    often = "change = 100\nby_author = 1\n"
    (finding,) = find(tmp_path, source, "projected-stamp", indexes=GSI1, rates=often)
    assert finding.severity == "warning"
    assert "about 100 per second" in finding.reason
    rarely = "change = 1\nby_author = 100\n"
    assert find(tmp_path, source, "projected-stamp", indexes=GSI1, rates=rarely) == []


def test_a_row_that_moves_is_no_row_that_stays_in_place(tmp_path: Path) -> None:
    source = post('"BY" / author, "P" / id', "Post.author.set(author)") + read()
    assert find(tmp_path, source, "projected-stamp", indexes=GSI1) == []


def test_a_composed_key_of_stored_attributes(tmp_path: Path) -> None:
    source = post('"BY" / author, "AT" / created_at / id') + read()
    (finding,) = find(tmp_path, source, "composed-index-key", indexes=GSI1)
    assert finding.severity == "note"
    assert finding.fix == (
        'gsi1 = GSI("author", ("created_at", "id")) and '
        "by_author = index(Shop.gsi1, author, (created_at, id))"
    )


COMMENT = """
class Comment(Entity, table=Shop):
    id: Attr[str] = attr()
    author: Attr[str] = attr()
    created_at: Attr[datetime] = created_at()
    primary = key("COMMENT" / id, "COMMENT" / id.again)
"""


@pytest.mark.parametrize(
    ("key", "more"),
    [
        ('"BY" / author, "DAY" / day(created_at) / id', read()),  # a format
        ('"BY" / author, "AT" / created_at / id, when=likes > 0', read()),
        ('"BY", "AT" / created_at / id', read("")),  # a constant
        ('"BY" / author, "AT" / created_at / id', read() + COMMENT),  # has these attributes, too
        ('"BY" / author, "AT" / created_at / id', read(chain='.filter(Post.id != "P")')),
    ],
)
def test_composed_keys_that_must_be_composed(tmp_path: Path, key: str, more: str) -> None:
    assert find(tmp_path, post(key) + more, "composed-index-key", indexes=GSI1) == []

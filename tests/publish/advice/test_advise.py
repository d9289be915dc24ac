"""Findings have a place, comments allow them, and the command prints them in three formats."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tablewright.designs.catalog import bundled, load
from tablewright.publish.advice import RULES, advise, sarif
from tablewright.verify import Design
from tests import commands
from tests.publish.advice.designs import IMPORTS, find
from tests.publish.advice.sarif_log import read_log

BRAND = """
class Brand(Entity, table=Shop):
    id: Attr[str] = attr()
{above}    primary = key("BRAND", "BRAND" / id){behind}

@access_pattern
def brands() -> Query[Brand]:
    return Brand.primary.within()
"""
ALLOW = '# tablewright: allow(hot-partition, "few brands")'


def brand(above: str = "", behind: str = "") -> str:
    return BRAND.format(above=above and f"    {above}\n", behind=behind and f"  {behind}")


@pytest.fixture
def design(tmp_path: Path) -> Path:
    file = tmp_path / "brands.py"
    file.write_text(IMPORTS.format(indexes="pass") + brand())
    return file


@pytest.mark.parametrize("design", bundled(), ids=lambda design: design.name)
def test_the_bundled_designs_have_no_finding_that_their_source_does_not_allow(
    design: Design,
) -> None:
    assert [finding for finding in advise(design) if finding.fails] == []


def test_a_finding_has_the_place_of_the_declaration(tmp_path: Path) -> None:
    (finding,) = find(tmp_path, brand())
    lines = (tmp_path / "design.py").read_text().splitlines()
    assert finding.place.file == str(tmp_path / "design.py")
    assert lines[finding.place.line - 1].strip().startswith("primary = key(")
    assert finding.subject == "Brand.primary"


@pytest.mark.parametrize("comment", [("above", ALLOW), ("behind", ALLOW)])
def test_a_comment_allows_a_finding(tmp_path: Path, comment: tuple[str, str]) -> None:
    (finding,) = find(tmp_path, brand(**dict([comment])))
    assert finding.allowed == "few brands"
    assert not finding.fails


def test_several_comments_may_be_above_a_declaration(tmp_path: Path) -> None:
    other = '# tablewright: allow(collection-limit, "few brands")'
    findings = find(tmp_path, brand(f"{ALLOW}\n    {other}"), indexes='lsi = LSI("SKU")')
    assert {each.rule for each in findings if each.allowed} >= {"hot-partition"}


@pytest.mark.parametrize(
    ("comment", "reason"),
    [
        ('# tablewright: allow(unused-index, "why")', "unused-index finds nothing"),
        ('# tablewright: allow(hot-partitions, "why")', "did you mean 'hot-partition'"),
        ("# tablewright: allow(hot-partition)", "is not a comment that allows a finding"),
        ('# tablewright: allow(hot-partition, "")', "is not a comment that allows a finding"),
        (f"{ALLOW} {ALLOW}", "is not a comment that allows a finding"),
        ("# tablewright: ignore", "is not a comment that allows a finding"),
    ],
)
def test_a_comment_that_allows_nothing_is_a_finding(
    tmp_path: Path, comment: str, reason: str
) -> None:
    hot, unused = sorted(find(tmp_path, brand(comment)), key=lambda each: each.rule)
    assert not hot.allowed
    assert (unused.rule, unused.severity) == ("unused-allow", "warning")
    assert reason in unused.reason
    assert unused.place.line == hot.place.line - 1


def test_a_comment_of_another_declaration_or_in_a_text_allows_nothing(tmp_path: Path) -> None:
    source = brand().replace("    id:", f"    '''{ALLOW}'''\n    {ALLOW}\n    id:")
    assert [each.rule for each in find(tmp_path, source) if each.fails] == [
        "unused-allow",
        "hot-partition",
    ]


def test_a_comment_above_the_first_attribute_is_not_one_of_the_class(tmp_path: Path) -> None:
    comment = '# tablewright: allow(keys-only-stream, "no events")'
    source = """
class Events(Table{stream}):
    {comment}
    gsi1 = GSI("GSI1PK")

class Event(Entity, table=Events):
    id: Attr[str] = attr()
    primary = key("EVENT" / id, "EVENT" / id.again)
"""
    found = find(tmp_path, source.format(stream=', stream="KEYS_ONLY"', comment=comment))
    assert {each.rule for each in found if not each.allowed} == {"keys-only-stream", "unused-allow"}


def test_the_findings_of_variants_are_about_their_base(tmp_path: Path) -> None:
    source = """
class Animal(Entity, table=Shop, variants=True):
    id: Attr[str] = attr()
    primary = key("ANIMALS", "A" / id)

class Dog(Animal):
    bark: Attr[str] = attr()

class Cat(Animal):
    meow: Attr[str] = attr()
"""
    (finding,) = find(tmp_path, source)
    lines = (tmp_path / "design.py").read_text().splitlines()
    assert lines[finding.place.line - 1] == '    primary = key("ANIMALS", "A" / id)'


def test_the_command_prints_each_finding_and_fails(design: Path) -> None:
    done = commands.run("advise", design)
    assert done.returncode == 1
    assert "warning hot-partition" in done.stdout
    assert 'fix: spread them over shards: primary = key("BRAND" / shard(id, of=8)' in done.stdout
    assert done.stdout.endswith("1 warning\n")


def test_the_command_succeeds_if_comments_allow_all_findings(design: Path) -> None:
    design.write_text(design.read_text().replace(brand(), brand(ALLOW)))
    done = commands.run("advise", design)
    assert (done.returncode, done.stdout) == (0, "nothing found; 1 allowed by comments\n")


def test_without_patterns_the_command_says_that_rules_need_them(design: Path) -> None:
    text = IMPORTS.format(indexes="pass") + brand(ALLOW).partition("@access_pattern")[0]
    design.write_text(text)
    printed = commands.run("advise", design).stdout
    assert "brands declares no access patterns; most rules need them." in printed


def test_findings_as_json(design: Path) -> None:
    done = commands.run("advise", design, "--json")
    assert done.returncode == 1
    (finding,) = json.loads(done.stdout)
    assert finding["rule"] == "hot-partition"
    assert finding["place"]["file"] == str(design)


def test_findings_as_sarif(design: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    design.write_text(design.read_text().replace(brand(), brand(ALLOW)))
    file = design.rename(design.with_name("our brands.py"))
    monkeypatch.chdir(file.parent)
    (run,) = read_log(commands.run("advise", file.name, "--sarif").stdout).runs
    assert [rule.id for rule in run.tool.driver.rules] == [rule.id for rule in RULES]
    (result,) = run.results
    assert result.rule_id == "hot-partition"
    place = result.locations[0].physical_location
    assert place.artifact_location.uri == "our%20brands.py"
    assert 'key("BRAND"' in file.read_text().splitlines()[place.region.start_line - 1]
    assert [each.justification for each in result.suppressions] == ["few brands"]


def test_places_outside_of_the_working_directory_are_absolute(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    findings = advise(load("shop"))
    log = read_log(json.dumps(sarif(findings, RULES)))
    places = [each.locations[0].physical_location for each in log.runs[0].results]
    assert len(places) == len(findings) > 0
    assert all(each.artifact_location.uri.startswith("file:///") for each in places)


def test_two_formats_are_refused(design: Path) -> None:
    done = commands.run("advise", design, "--json", "--sarif")
    assert done.returncode == 2
    assert "choose one" in done.stderr


def test_wrong_rates_are_refused(design: Path) -> None:
    file = design.parent / "rates.toml"
    file.write_text("brand = 1")
    done = commands.run("advise", design, "--rates", file)
    assert done.returncode == 2
    assert "has no pattern 'brand'; did you mean 'brands'?" in " ".join(done.stderr.split())


def test_declared_rates_are_used_without_a_file(design: Path) -> None:
    design.write_text(design.read_text().replace("@access_pattern", "@access_pattern(rate=1)"))
    assert commands.run("advise", design).returncode == 0


def test_the_document_describes_every_rule_with_its_severity() -> None:
    text = (Path(__file__).parents[3] / "docs/advice.md").read_text()
    rows = re.findall(r"^\| `([a-z-]+)` \| (\w+)", text, re.MULTILINE)
    assert rows == [(rule.id, rule.severity) for rule in RULES]


def test_the_first_console_example_of_the_document() -> None:
    text = (Path(__file__).parents[3] / "docs/advice.md").read_text()
    assert f"$ tablewright advise shop\n{commands.run('advise', 'shop').stdout}" in text


def test_a_rule_has_one_id() -> None:
    ids = [rule.id for rule in RULES]
    assert len(set(ids)) == len(ids)

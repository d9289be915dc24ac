"""`tablewright credentials`, run as a user runs it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tablewright.cli.all_commands import app
from tablewright.server.access.credentials import Credentials

EXPORTS = re.compile(
    r"export AWS_ACCESS_KEY_ID=(TWAK[A-Z2-7]{16})\n"
    r"export AWS_SECRET_ACCESS_KEY=([A-Za-z0-9+/]{40})\n"
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "users.toml"


def run(*arguments: str | Path, given: str | None = None) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, ["credentials", *map(str, arguments)], input=given)
    return result.exit_code, result.stdout, result.stderr


def added(*arguments: str | Path) -> tuple[str, str]:
    """Add a key; return what is printed of it."""
    code, printed, _ = run("add", *arguments)
    match = EXPORTS.fullmatch(printed)
    assert code == 0
    assert match is not None
    return match[1], match[2]


def test_a_key_is_made_and_printed_as_variables_of_aws(file: Path) -> None:
    """In a process of its own, as `eval "$(tablewright credentials add …)"` runs it."""
    command = [sys.executable, "-m", "tablewright", "credentials", "add", str(file), "alice"]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    match = EXPORTS.fullmatch(result.stdout)
    assert match is not None
    user = Credentials(file).find(match[1])
    assert user is not None
    assert (user.name, user.secret) == ("alice", match[2])
    assert match[2] not in result.stderr
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_user_gets_policies_and_tags(file: Path) -> None:
    policy = file.with_name("read.json")
    statement = {"Effect": "Allow", "Action": "dynamodb:GetItem", "Resource": "*"}
    policy.write_text(json.dumps({"Statement": statement}))
    key, _ = added(file, "alice", "--policy", policy, "--tag", "team=a=b", "--tag", "x=")
    user = Credentials(file).find(key)
    assert user is not None
    assert user.principal is not None
    assert user.principal._known["aws:principaltag/team"] == ("a=b",)
    assert user.principal._known["aws:principaltag/x"] == ("",)
    assert 'policies = ["read.json"]' in file.read_text()


def test_a_second_key_belongs_to_the_same_user(file: Path) -> None:
    keys = [added(file, "alice")[0] for _ in range(2)]
    credentials = Credentials(file)
    assert [user.name for key in keys if (user := credentials.find(key))] == ["alice", "alice"]


def test_a_secret_of_ones_own_is_read_from_standard_input(file: Path) -> None:
    code, printed, _ = run("add", file, "alice", "--access-key-id", "TWAK1", given="hush-hush\n")
    assert (code, printed) == (0, "export AWS_ACCESS_KEY_ID=TWAK1\n")
    user = Credentials(file).find("TWAK1")
    assert user is not None
    assert user.secret == "hush-hush"


def test_a_secret_is_no_option(file: Path) -> None:
    assert "secret" not in " ".join(re.findall(r"--[\w-]+", run("add", "--help")[1]))


def test_listing_shows_no_secrets(file: Path) -> None:
    key, secret = added(file, "alice", "--tag", "team=billing")
    token = 'session_token = "hush-hush"\nexpires = 2027-01-01T00:00:00Z\n'
    commanded = '[[users.carol.keys]]\ncommand = ["vault", "hush-hush"]\n[users.dave]\n'
    statement = '{ Effect = "Allow", Action = "dynamodb:*", Resource = "*" }'
    commanded += f"[users.erin]\npolicies = [{{ Statement = {statement} }}]\n"
    file.write_text(file.read_text() + token + commanded)
    code, printed, _ = run("list", file)
    assert code == 0
    rows = [re.split(r"\s*│\s*", line)[1:-1] for line in printed.splitlines() if "│" in line]
    assert rows == [
        ["alice", key, "yes", "2027-01-01T00:00:00+00:00", "everything", "team=billing"],
        ["carol", "from the command vault", "", "", "everything", ""],
        ["dave", "none", "", "", "everything", ""],
        ["erin", "none", "", "", "1 policy", ""],
    ]
    assert secret not in printed
    assert "hush" not in printed


def test_a_user_or_a_key_is_removed(file: Path) -> None:
    (first, _), (second, _), (other, _) = (added(file, name) for name in ("a", "a", "b"))
    assert run("remove", file, first) == (0, f"removed {first}\n", "")
    assert run("remove", file, "a") == (0, f"removed {second}\n", "")
    credentials = Credentials(file)
    assert [key for key in (first, second, other) if credentials.find(key)] == [other]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["add", "{file}", "a b"], "user 'a b': a name must have"),
        (["add", "{file}", "a", "--tag", "x"], "--tag x: expected NAME=VALUE"),
        (["add", "{file}", "a", "--policy", "/no/such.json"], "/no/such.json: No such file"),
        (["add", "/no/such/users.toml", "a"], "/no/such: No such file or directory"),
        (["add", "{file}", "a", "--access-key-id", "TWAK1"], "first line of standard input"),
        (["list", "{file}"], "users.toml: no such file; create it with"),
        (["remove", "{file}", "a"], "users.toml: no such file; create it with"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(
    file: Path, arguments: list[str], message: str
) -> None:
    code, printed, complaint = run(*(text.format(file=file) for text in arguments), given="")
    assert (code, printed) == (2, "")
    assert complaint.count("\n") == 1
    assert message in complaint
    assert not file.exists()

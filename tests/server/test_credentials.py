from __future__ import annotations

import json
import logging
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tablewright.errors import CredentialsRefused
from tablewright.policy import AccessRequest as PolicyAccess
from tablewright.server.access import credentials_edit
from tablewright.server.access.credentials import Caller, Credentials, read_file

ALICE = """\
[users.alice]
tags = { team = "billing" }

[[users.alice.keys]]
access_key_id = "TWAKALICE"
secret_access_key = "hush-hush"
"""
BOB = """
# Bob reads.
[[users.bob.keys]]
access_key_id = "TWAKBOB"
secret_access_key = "bobs-secret"
session_token = "bobs-token"
expires = 2027-01-01T00:00:00Z
"""
READ_ONLY = {
    "Version": "2012-10-17",
    "Statement": [{"Effect": "Allow", "Action": "dynamodb:GetItem", "Resource": "*"}],
}


class Clock:
    now = 1_768_480_496.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write(tmp_path / "users.toml", ALICE)


@pytest.fixture
def clock() -> Clock:
    return Clock()


def write(path: Path, text: str) -> Path:
    """Replace a file, as editors do."""
    new = path.with_name("new")
    new.write_text(text)
    new.chmod(0o600)
    return new.replace(path)


def find_later(credentials: Credentials, clock: Clock, access_key_id: str) -> Caller | None:
    """Look a second later, when changes of the file have been noticed."""
    clock.now += 1
    credentials.find(access_key_id)
    credentials.join()
    return credentials.find(access_key_id)


def prints(*answers: dict[str, object] | str, exit_code: int = 0) -> str:
    """A key whose command prints these answers, one with each run."""
    texts = [answer if isinstance(answer, str) else json.dumps(answer) for answer in answers]
    code = (
        "import pathlib, sys\n"
        "file = pathlib.Path('runs')\n"
        "run = int(file.read_text()) if file.exists() else 0\n"
        "file.write_text(str(run + 1))\n"
        f"print({texts}[min(run, {len(texts) - 1})])\n"
        f"sys.exit({exit_code})"
    )
    return f"[[users.carol.keys]]\ncommand = {json.dumps([sys.executable, '-c', code])}\n"


def issued(number: int, expires: str | None = "2026-01-15T13:00:00Z") -> dict[str, object]:
    answer: dict[str, object] = {
        "Version": 1,
        "AccessKeyId": f"TWAKCAROL{number}",
        "SecretAccessKey": "carols-secret",
        "SessionToken": f"token-{number}",
    }
    return answer if expires is None else {**answer, "Expiration": expires}


# --- reading ---------------------------------------------------------------------------------


def test_a_user_is_found_by_access_key_id(path: Path) -> None:
    write(path, ALICE + BOB)
    credentials = Credentials(path)
    assert credentials.find("TWAKALICE") == Caller("alice", "TWAKALICE", "hush-hush")
    assert credentials.find("TWAKBOB") == Caller(
        "bob", "TWAKBOB", "bobs-secret", "bobs-token", 1_798_761_600
    )
    assert credentials.find("TWAKCAROL") is None


def test_a_user_may_have_several_keys(path: Path) -> None:
    second = '[[users.alice.keys]]\naccess_key_id = "TWAK2"\nsecret_access_key = "x"\n'
    credentials = Credentials(write(path, ALICE + second))
    names = [user.name for key in ("TWAKALICE", "TWAK2") if (user := credentials.find(key))]
    assert names == ["alice", "alice"]


def may(user: Caller | None, action: str) -> bool:
    assert user is not None
    assert user.principal is not None
    access = PolicyAccess(action, "arn:aws:dynamodb:us-east-1:123456789012:table/t", {})
    return user.principal.decide(access).is_allowed


def test_a_user_without_policies_may_do_everything(path: Path) -> None:
    write(path, ALICE)
    (user,) = Credentials(path)._users.values()
    assert user.principal is None


def test_a_mistake_in_a_policy_is_refused_with_the_user_and_the_place(path: Path) -> None:
    inline = '{ Statement = { Effect = "Alow" } }'
    write(path, ALICE.replace("\n\n", f"\npolicies = [{inline}]\n\n", 1))
    with pytest.raises(CredentialsRefused, match=r"user alice: policies: .*Effect"):
        Credentials(path)


def test_policies_are_inline_or_files_beside_the_file(path: Path) -> None:
    (path.parent / "read.json").write_text(json.dumps(READ_ONLY))
    inline = '{ Statement = [{ Effect = "Deny", Action = "dynamodb:PutItem", Resource = "*" }] }'
    credentials = Credentials(
        write(path, ALICE.replace("\n\n", f'\npolicies = ["read.json", {inline}]\n\n', 1))
    )
    user = credentials.find("TWAKALICE")
    assert user is not None
    assert may(user, "dynamodb:GetItem")
    assert not may(user, "dynamodb:PutItem")


def test_a_command_returns_what_aws_calls_credential_process(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(path.parent)
    user = Credentials(write(path, prints(issued(1)))).find("TWAKCAROL1")
    assert user == Caller("carol", "TWAKCAROL1", "carols-secret", "token-1", 1_768_482_000)


def test_secrets_are_not_in_a_repr(path: Path) -> None:
    write(path, ALICE + BOB)
    shown = repr([Credentials(path).find("TWAKBOB"), read_file(path, lambda _: None)])
    assert "TWAKBOB" in shown
    assert not any(secret in shown for secret in ("hush-hush", "bobs-secret", "bobs-token"))


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o644, 0o622])
def test_a_file_that_others_can_open_is_refused(path: Path, mode: int) -> None:
    path.chmod(mode)
    with pytest.raises(CredentialsRefused, match=rf"mode {mode:04o} .* run: chmod 600 {path}"):
        Credentials(path)


@pytest.mark.parametrize("mode", [0o600, 0o400])
def test_a_file_of_its_owner_alone_is_read(path: Path, mode: int) -> None:
    path.chmod(mode)
    assert Credentials(path).find("TWAKALICE")


KEY = '[[users.a.keys]]\naccess_key_id = "TWAK1"\nsecret_access_key = "hush"\n'
MISTAKES = {
    "[users.a\n": "not valid TOML: .*line 1",
    "[user.a]": "'user' is not a setting; did you mean 'users'?",
    "users = 1": "users: expected a table: .*, got int",
    "[users]\na = 1": "user a: expected a table",
    '[users."a b"]': "user 'a b': a name must have 1 to 64 letters",
    "[users.a]\npolicy = []": "user a: 'policy' is not a setting; did you mean 'policies'?",
    "[users.a]\nkeys = 1": r"user a: expected keys as tables: \[\[users.a.keys\]\], got int",
    "[users.a]\ntags = { n = 1 }": "user a: tag n: expected a string in quotes, got int",
    '[users.a]\npolicies = "x"': "user a: policies: expected a list",
    '[users.a]\npolicies = ["x.json"]': "user a: policy .*/x.json: No such file",
    '[users.a]\npolicies = ["users.toml"]': "user a: policy .*users.toml: not valid JSON",
    "[users.a]\npolicies = [{ Version = 1 }]": "user a: the document has no Statement",
    "[[users.a.keys]]": "user a, key 1: access_key_id is missing",
    '[[users.a.keys]]\naccess_key_id = "TWAK1"': "user a, key 1: secret_access_key is missing",
    KEY.replace('"TWAK1"', "1"): "key 1: access_key_id: expected a string in quotes, got int",
    KEY.replace("TWAK1", "TW/1"): "key 1: access_key_id 'TW/1' must have",
    KEY.replace("hush", ""): "key 1: secret_access_key is empty",
    KEY.replace("secret_access", "secret_acess"): "'secret_acess_key' .* mean 'secret_access_key'",
    KEY + 'session_token = ""': "key 1: session_token is empty; leave it out",
    KEY + "expires = 2027-01-01T00:00:00": "key 1: expires 2027-.* has no time zone; add Z",
    KEY + 'expires = "soon"': "key 1: expires: expected a date: .*, got str",
    KEY + KEY: "user a, key 2: duplicate access_key_id TWAK1, also a key of user a",
    KEY + KEY.replace("users.a", "users.b"): "user b, key 1: .* TWAK1, also a key of user a",
    KEY + 'command = ["x"]': "'access_key_id' is not a setting of a key with a command",
    "[[users.a.keys]]\ncommand = []": "key 1: command is an empty list",
    "[[users.a.keys]]\ncommand = 'x'": "key 1: command: expected a list",
    "[[users.a.keys]]\ncommand = ['/no/such']": "key 1: command /no/such: No such file",
}


@pytest.mark.parametrize(("text", "message"), MISTAKES.items(), ids=MISTAKES.values())
def test_a_mistake_is_reported_with_its_place(path: Path, text: str, message: str) -> None:
    with pytest.raises(CredentialsRefused, match=f"^{path}: .*{message}") as caught:
        Credentials(write(path, text))
    assert "hush" not in str(caught.value)


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(CredentialsRefused, match=r"none.toml: no such file; create it with"):
        Credentials(tmp_path / "none.toml")


@pytest.mark.parametrize(
    ("key", "message"),
    [
        (prints(issued(1), exit_code=3), "exit code 3; run the command yourself"),
        (prints("hush {"), "did not print JSON like"),
        (prints("[]"), "did not print JSON like"),
        (prints({"AccessKeyId": "hush"}), "SecretAccessKey is missing"),
        (prints(issued(1, "later")), "did not print JSON like"),
    ],
)
def test_a_command_that_fails_is_reported_without_its_output(
    path: Path, monkeypatch: pytest.MonkeyPatch, key: str, message: str
) -> None:
    monkeypatch.chdir(path.parent)
    with pytest.raises(CredentialsRefused, match=f"user carol, key 1: command .*{message}") as e:
        Credentials(write(path, key))
    assert "hush" not in str(e.value)
    assert "carols-secret" not in str(e.value)


# --- reading again ---------------------------------------------------------------------------


def test_a_changed_file_is_read_again(path: Path, clock: Clock) -> None:
    credentials = Credentials(path, clock=clock)
    write(path, BOB)
    assert credentials.find("TWAKALICE")  # looked at once a second only
    assert find_later(credentials, clock, "TWAKBOB")
    assert credentials.find("TWAKALICE") is None


def test_a_changed_policy_is_read_again(path: Path, clock: Clock) -> None:
    policy = path.parent / "read.json"
    policy.write_text(json.dumps(READ_ONLY).replace("Allow", "Deny"))
    write(path, ALICE.replace("\n\n", '\npolicies = ["read.json"]\n\n', 1))
    credentials = Credentials(path, clock=clock)
    policy.write_text(json.dumps(READ_ONLY))
    user = find_later(credentials, clock, "TWAKALICE")
    assert user is not None
    assert may(user, "dynamodb:GetItem")


@pytest.mark.parametrize("damage", ["[users", None, "mode"])
def test_a_broken_version_changes_nothing_and_is_logged_once(
    path: Path, clock: Clock, damage: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    credentials = Credentials(path, clock=clock)
    if damage is None:
        path.unlink()
    elif damage == "mode":
        path.chmod(0o644)
    else:
        write(path, damage)
    with caplog.at_level(logging.ERROR):
        for _ in range(3):
            assert find_later(credentials, clock, "TWAKALICE")
    assert len(caplog.messages) == 1
    assert caplog.messages[0].startswith(f"{path}: ")
    assert caplog.messages[0].endswith("; the previous credentials stay in use")
    write(path, BOB)
    assert find_later(credentials, clock, "TWAKBOB")


def test_a_file_is_read_again_when_the_clock_was_set_back(path: Path, clock: Clock) -> None:
    credentials = Credentials(path, clock=clock)
    write(path, BOB)
    clock.now -= 3600
    assert find_later(credentials, clock, "TWAKBOB")


def test_a_command_runs_again_before_its_credentials_expire(
    path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(path.parent)
    write(path, prints(issued(1), issued(2, "2026-01-15T14:00:00Z")))
    credentials = Credentials(path, clock=clock)
    assert find_later(credentials, clock, "TWAKCAROL2") is None
    clock.now += 60
    assert find_later(credentials, clock, "TWAKCAROL2")
    assert credentials.find("TWAKCAROL1")  # clients may use it until it expires
    clock.now += 3600
    assert find_later(credentials, clock, "TWAKCAROL1") is None


def test_credentials_of_a_command_that_was_removed_are_refused(
    path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(path.parent)
    credentials = Credentials(write(path, prints(issued(1))), clock=clock)
    assert credentials.find("TWAKCAROL1")
    write(path, ALICE)
    assert find_later(credentials, clock, "TWAKCAROL1") is None


def test_a_command_whose_credentials_do_not_expire_runs_once(
    path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(path.parent)
    credentials = Credentials(write(path, prints(issued(1, None), "{")), clock=clock)
    clock.now += 86_400
    assert find_later(credentials, clock, "TWAKCAROL1")
    assert Path("runs").read_text() == "1"


# --- changing --------------------------------------------------------------------------------


def test_adding_a_user_makes_a_private_file(tmp_path: Path) -> None:
    path = tmp_path / "users.toml"
    previous = os.umask(0)
    try:
        credentials_edit.add_key(path, "a.b@c", "TWAK1", 'se"c\\ret', tags={"cost center": "ü"})
    finally:
        os.umask(previous)
    assert path.stat().st_mode & 0o777 == 0o600
    assert Credentials(path).find("TWAK1") == Caller("a.b@c", "TWAK1", 'se"c\\ret')
    (entry,) = read_file(path, lambda _: None)
    assert entry.tags == {"cost center": "ü"}
    assert [file.name for file in tmp_path.iterdir()] == ["users.toml"]


def test_adding_keeps_what_is_written(path: Path) -> None:
    credentials_edit.add_key(path, "bob", "TWAKBOB", "x")
    assert path.read_text().startswith(ALICE)


def test_adding_a_known_access_key_id_changes_nothing(path: Path) -> None:
    with pytest.raises(CredentialsRefused, match="also a key of user alice"):
        credentials_edit.add_key(path, "bob", "TWAKALICE", "x")
    assert path.read_text() == ALICE


def test_policies_and_tags_of_a_known_user_are_not_changed(path: Path) -> None:
    with pytest.raises(CredentialsRefused, match="user alice exists"):
        credentials_edit.add_key(path, "alice", "TWAK2", "x", tags={"a": "b"})
    assert path.read_text() == ALICE


def test_removing_a_user_leaves_the_rest_as_it_is(path: Path) -> None:
    write(path, "# All users.\n\n" + ALICE + BOB)
    assert credentials_edit.remove_user_or_key(path, "alice") == ["TWAKALICE"]
    assert path.read_text() == "# All users.\n\n" + BOB.lstrip()
    assert path.stat().st_mode & 0o777 == 0o600


def test_removing_a_key_leaves_the_others_of_the_user(path: Path) -> None:
    credentials_edit.add_key(path, "alice", "TWAK2", "x")
    assert credentials_edit.remove_user_or_key(path, "TWAKALICE") == ["TWAKALICE"]
    credentials = Credentials(path)
    assert credentials.find("TWAKALICE") is None
    assert credentials.find("TWAK2") == Caller("alice", "TWAK2", "x")


def test_a_user_is_removed_beside_one_with_policies(path: Path) -> None:
    statement = '{ Effect = "Allow", Action = "dynamodb:*", Resource = "*" }'
    bob = f"\n[users.bob]\npolicies = [{{ Statement = {statement} }}]\n\n[[users.bob.keys]]\n"
    bob += 'access_key_id = "TWAKBOB"\nsecret_access_key = "x"\n'
    write(path, ALICE + bob)
    assert credentials_edit.remove_user_or_key(path, "alice") == ["TWAKALICE"]
    assert path.read_text() == bob.lstrip()


def test_removing_what_is_not_there_is_an_error(path: Path) -> None:
    with pytest.raises(CredentialsRefused, match="no user or access key id 'bob'"):
        credentials_edit.remove_user_or_key(path, "bob")


def test_a_way_of_writing_that_cannot_be_edited_is_left_alone(path: Path) -> None:
    text = 'users.alice.keys = [{ access_key_id = "TWAK1", secret_access_key = "x" }]\n'
    write(path, text)
    with pytest.raises(CredentialsRefused, match="remove it with an editor"):
        credentials_edit.remove_user_or_key(path, "alice")
    assert path.read_text() == text


def test_concurrent_changes_all_take_effect(tmp_path: Path) -> None:
    path = tmp_path / "users.toml"
    keys = [f"TWAK{number}" for number in range(20)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda key: credentials_edit.add_key(path, "alice", key, "secret"), keys))
        list(pool.map(lambda key: credentials_edit.remove_user_or_key(path, key), keys[::2]))
    credentials = Credentials(path)
    assert [key for key in keys if credentials.find(key)] == keys[1::2]

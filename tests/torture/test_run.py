from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from torture.processes import ROOT
from torture.run import Part, Round, run


def part(play: object) -> Part:
    return Part("part", "promise", "method", 10, play)  # type: ignore[arg-type]


def test_a_round_uses_the_first_seed_plus_its_number(tmp_path: Path) -> None:
    seeds: list[int] = []
    run(part(lambda attack: seeds.append(attack.seed)), seed=5, folder=tmp_path, rounds=3)
    assert seeds == [5, 6, 7]


def test_kept_seeds_are_played_first(tmp_path: Path) -> None:
    seeds: list[int] = []
    run(
        part(lambda attack: seeds.append(attack.seed)),
        seed=5,
        folder=tmp_path,
        rounds=3,
        first=(80, 81),
    )
    assert seeds == [80, 81, 5]


def test_a_broken_promise_keeps_the_seed_of_its_first_round(tmp_path: Path) -> None:
    def play(attack: Round) -> None:
        attack.require(attack.seed < 6, "too high")

    result = run(part(play), seed=5, folder=tmp_path, rounds=3)
    (failure,) = result.failures
    assert result.outcome == "broken"
    assert (failure.seed, failure.what, failure.rounds) == (6, "too high", 2)


def test_an_unexpected_exception_breaks_the_promise(tmp_path: Path) -> None:
    def play(attack: Round) -> None:
        raise KeyError("lost")

    (failure,) = run(part(play), seed=5, folder=tmp_path, rounds=1).failures
    assert failure.what.startswith("KeyError: 'lost'")


def test_the_same_failure_with_another_detail_is_kept_once(tmp_path: Path) -> None:
    def play(attack: Round) -> None:
        attack.expect(False, "wrong", f"seed {attack.seed}")

    (failure,) = run(part(play), seed=5, folder=tmp_path, rounds=2).failures
    assert (failure.what, failure.rounds) == ("wrong (seed 5)", 2)


@pytest.mark.slow
def test_the_command_runs_a_part_and_writes_its_results(tmp_path: Path) -> None:
    output = tmp_path / "torture.json"
    command = [sys.executable, "-m", "torture", "io-errors", "--rounds", "1", "--seconds", "1"]
    done = subprocess.run(
        [*command, "--output", str(output)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
    (result,) = json.loads(output.read_text())["parts"]
    assert (result["part"], result["outcome"], result["rounds"]) == ("io-errors", "kept", 1)

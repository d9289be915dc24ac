"""Revisions: run this program on another revision of the working tree, or load a design of it.

The revision is extracted into a temporary folder, and the program runs there in a process of its
own, with the same working directory relative to the repository. A command that takes one design
imports it from there, `load_at`. Nothing is checked out.

`python -m tablewright.cli.revision DESIGN published` prints what `publish cloudformation --since`
compares, `… DESIGN lock` what a lock file of the design contains, and `… DESIGN policies WANTED`
its policies.
"""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
import tarfile
import tempfile
from contextlib import chdir, redirect_stdout
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from tablewright.cli.report import fail, failing_on
from tablewright.design_description import DesignDescription, read_lock, write_lock
from tablewright.errors import InvalidValue, TablewrightError

if TYPE_CHECKING:
    from tablewright.publish.iam import AwsAccount, PolicySet
    from tablewright.verify import Design


class Published(Struct, frozen=True):
    """A version of a design, as it was published: its template, and its description."""

    template: dict[str, Any]
    #: As in a lock file; None if only the template is known.
    lock: str | None = None


class WantedPolicies(Struct, frozen=True):
    """Which policies of a design are wanted: those of its roles, or that of its tenants."""

    region: str
    account: str
    partition: str
    of_tenants: bool
    #: The policy variable with the id of the tenant.
    variable: str | None

    def of_design(self, design: Design) -> PolicySet:
        """Return the policies; raise InvalidValue for what cannot be in a policy."""
        from tablewright.publish.iam import role_policies, tenant_policies

        if self.of_tenants:
            return tenant_policies(design, self._in, self.variable)
        return role_policies(design, self._in)

    def while_moved(self, found: PolicySet, design: Design) -> PolicySet:
        """Return policies that also allow what is needed while the tables are moved."""
        from tablewright.publish.iam import while_moved

        return while_moved(found, (each.__table__ for each in design.tables), self._in)

    @property
    def _in(self) -> AwsAccount:
        from tablewright.publish.iam import AwsAccount

        return AwsAccount(self.region, self.account, self.partition)


def policies_at(revision: str, design: str, wanted: WantedPolicies) -> PolicySet:
    """Return the policies of a design at a revision; exit if it cannot be imported there."""
    from tablewright.publish.iam import PolicySet

    arguments = msgspec.json.encode(wanted).decode()
    text = run_at(revision, name_inside(revision, design), "policies", arguments, module=__name__)
    return msgspec.json.decode(text, type=PolicySet)


def published_at(revision: str, design: str) -> Published:
    """Return what a design yields at a revision; exit if it fails."""
    text = run_at(revision, name_inside(revision, design), "published", module=__name__)
    return msgspec.json.decode(text, type=Published)


def description_at(revision: str, design: str) -> DesignDescription:
    """Return the description of a design at a revision; exit if it cannot be imported there."""
    text = run_at(revision, name_inside(revision, design), "lock", module=__name__)
    return read_lock(text.encode(), f"{design} at {revision}")


def load_at(revision: str, name: str) -> Design:
    """Return a design as it is at a revision; exit if it cannot be imported there.

    It must be the only design of this process.
    """
    from tablewright.designs.catalog import load

    name = name_inside(revision, name)
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)  # a design may import more when it is used
    inner = _extract(revision, folder.name)
    sys.path.insert(0, str(inner))
    with chdir(inner):
        try:
            return load(name)
        except TablewrightError as error:
            fail(f"at {revision}: {error}")


def name_inside(revision: str, name: str) -> str:
    """Return the name of a design as seen from the working directory of a revision."""
    if not name.endswith(".py") or not Path(name).is_absolute():
        return name
    root, path = _repository(revision), Path(name).resolve()
    if not path.is_relative_to(root):
        fail(f"{name} is outside of the repository {root}")
    return os.path.relpath(path, Path.cwd().resolve())


def file_at(revision: str, file: str) -> bytes:
    """Return the content of a file at a revision; exit if it does not exist there."""
    root = _repository(revision)
    path = Path(file).resolve()
    if not path.is_relative_to(root):
        fail(f"{file} is outside of the repository {root}")
    inner = path.relative_to(root).as_posix()
    return _git("show", f"{revision}:{inner}", problem=f"at {revision}: {file} does not exist")


def run_at(revision: str, *arguments: str, module: str = "tablewright") -> str:
    """Return what the program, or a module of it, prints at a revision; exit if it fails."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-m", module, *arguments],
            check=False,
            capture_output=True,
            text=True,
            cwd=_extract(revision, folder),
        )
    if done.returncode:
        fail(f"at {revision}: {done.stderr.strip().removeprefix('tablewright: ')}")
    return done.stdout


def _extract(revision: str, folder: str) -> Path:
    """Extract a revision into a folder; return the working directory there."""
    root = _repository(revision)
    archive = _git("-C", str(root), "archive", "--format=tar", revision)
    with tarfile.open(fileobj=BytesIO(archive)) as files:
        files.extractall(folder, filter="data")
    inner = Path.cwd().resolve().relative_to(root)
    if not (Path(folder) / inner).is_dir():
        fail(f"at {revision}: the folder {inner} does not exist")
    return Path(folder) / inner


def _repository(revision: str) -> Path:
    """Return the folder of the repository; exit if there is none, or no such revision."""
    root = _git("rev-parse", "--show-toplevel").decode().strip()
    commit = f"{revision}^{{commit}}"
    _git("rev-parse", "--verify", "--quiet", commit, problem=f"{revision} is no revision")
    return Path(root).resolve()


def _git(*arguments: str, problem: str = "") -> bytes:
    try:
        done = subprocess.run(["git", *arguments], check=False, capture_output=True)
    except OSError as error:
        fail(f"git cannot be run: {error.strerror}")
    if done.returncode:
        reason = done.stderr.decode(errors="replace").strip().removeprefix("fatal: ")
        fail(problem or f"git: {reason}")
    return done.stdout


def published(design: Design) -> Published:
    """Return what a design yields."""
    from tablewright.model.description import describe_design
    from tablewright.publish.infrastructure import cloudformation

    return Published(cloudformation(design), write_lock(describe_design(*design.tables)))


def _print(name: str, what: str, wanted: str = "") -> None:
    """Print what `publish --since` or `diff` needs of a design; `wanted` says which policies."""
    from tablewright.cli.grammar import load_design

    with redirect_stdout(sys.stderr):  # a module may print when it is imported
        design = load_design(name)
    if what == "lock":
        from tablewright.model.description import describe_design

        text = write_lock(describe_design(*design.tables)).encode()
    elif what == "policies":
        with failing_on(InvalidValue):
            text = msgspec.json.encode(
                msgspec.json.decode(wanted, type=WantedPolicies).of_design(design)
            )
    else:
        text = msgspec.json.encode(published(design))
    sys.stdout.buffer.write(text)


if __name__ == "__main__":
    _print(*sys.argv[1:])

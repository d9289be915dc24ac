"""The AWS Cloud Development Kit synthesises the published applications into our templates."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tablewright.designs.catalog import bundled
from tablewright.publish.infrastructure import cdk, cloudformation
from tests.publish.test_infrastructure import PROVISIONED

#: The virtual environment with aws-cdk-lib, which `make test-slow` creates.
PYTHON = Path(__file__).parents[2] / ".cdk" / "bin" / "python"

#: Synthesises all stacks at once: starting the kit takes most of the time.
SYNTHESIS = """
import runpy, sys
import aws_cdk as cdk

app = cdk.App(outdir=sys.argv[1])
for path in sys.argv[2:]:
    names = runpy.run_path(path)
    (stack,) = (n for n, v in names.items() if isinstance(v, type) and issubclass(v, cdk.Stack))
    names[stack](app, stack)
app.synth()
"""


@pytest.mark.slow
@pytest.mark.skipif(not PYTHON.exists(), reason="aws-cdk-lib is not installed; run make test-slow")
def test_synthesised_applications_equal_the_templates_of_global_tables(tmp_path: Path) -> None:
    designs = [*bundled(), PROVISIONED]
    for design in designs:
        (tmp_path / f"{design.name}.py").write_text(cdk(design))
    files = sorted(tmp_path.glob("*.py"))
    subprocess.run(
        [str(PYTHON), "-c", SYNTHESIS, str(tmp_path / "out"), *map(str, files)],
        check=True,
        capture_output=True,
        env={**os.environ, "JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION": "1"},
    )
    synthesised = tables(*map(read, (tmp_path / "out").glob("*.template.json")))
    ours = tables(*(cloudformation(design, global_table=True) for design in designs))
    assert synthesised == ours


def read(path: Path) -> dict[str, Any]:
    template: dict[str, Any] = json.loads(path.read_text())
    return template


def tables(*templates: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the global tables of templates by name.

    The kit adds a hash to logical ids, and has another order of attributes.
    """
    found = [
        resource
        for template in templates
        for resource in template["Resources"].values()
        if resource["Type"] == "AWS::DynamoDB::GlobalTable"
    ]
    for resource in found:
        resource["Properties"]["AttributeDefinitions"].sort(key=str)
    return {resource["Properties"]["TableName"]: resource for resource in found}

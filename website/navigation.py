"""The navigation of the site: every page has its place."""

from __future__ import annotations

from website.api import MODULES

#: The sections and their pages.
SECTIONS: dict[str, list[str]] = {
    "Start": [
        "index.md",
        "tutorial.md",
        "faq.md",
    ],
    "Modelling": [
        "modelling.md",
        "modelling/entities.md",
        "modelling/types.md",
        "modelling/keys.md",
        "formats.md",
        "modelling/indexes.md",
        "modelling/databases.md",
        "modelling/reads.md",
        "modelling/aggregates.md",
        "modelling/writes.md",
        "modelling/transactions.md",
        "modelling/integrity.md",
        "modelling/rules.md",
        "modelling/patterns.md",
        "modelling/verifying.md",
        "modelling/tenancy.md",
        "modelling/existing-tables.md",
    ],
    "Guides": [
        "your-second-version.md",
        "kinds-of-change.md",
        "tables-without-a-version.md",
        "testing.md",
        "http-api.md",
        "deploying-an-api.md",
        "mcp.md",
        "fastapi.md",
        "stream-events.md",
        "observability.md",
        "studio.md",
        "command-line.md",
        "serving.md",
        "credentials.md",
        "policies.md",
        "deployment.md",
        "scaling.md",
    ],
    "What a design yields": ["publishing.md", "cost.md", "advice.md"],
    "Come from another library": [
        "migration/boto3.md",
        "migration/pynamodb.md",
        "migration/electrodb.md",
        "migration/dynamodb-toolbox.md",
    ],
    "Designs": [f"designs/{name}.md" for name in ("shop", "market", "recipes", "menu", "commerce")],
    "Engine": [
        "engine.md",
        "operations.md",
        "partiql.md",
        "streams.md",
        "backups.md",
        "compatibility.md",
        "reliability.md",
        "performance.md",
    ],
    "Reference": [
        "plans.md",
        "errors.md",
        "commands.md",
        "api/index.md",
        *(f"api/{module.replace('.', '-')}.md" for module in MODULES),
    ],
    "Project": [
        "architecture.md",
        "changelog.md",
        "versions.md",
        "contributing.md",
        "releasing.md",
        "security.md",
    ],
}


def navigation() -> str:
    """Return the navigation as a part of mkdocs.yml."""
    lines = ["", "nav:"]
    for section, pages in SECTIONS.items():
        lines.append(f"  - {section}:")
        lines += [f"      - {page}" for page in pages]
    return "\n".join(lines) + "\n"

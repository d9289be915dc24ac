"""Evolve: the version that each table is prepared for, and what leads from it to the design.

    GET  /evolve    the changes, the steps of a migration, and how far it is

The page writes nothing, and has no forms: it names the commands to run. While a migration is under
way, it is loaded again every two seconds.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from msgspec.structs import replace

from tablewright.evolve import (
    AssessedChange,
    AssessedPlan,
    AssessedStep,
    ChangeCost,
    Coexistence,
    assess_plan,
)
from tablewright.plan.migration.inspecting import MigrationInspection
from tablewright.plan.migration.migrate import MigrationPlan
from tablewright.plan.migration.revision import MigrationState, Revision
from tablewright.presentation.element import Markup, element, join
from tablewright.presentation.values import plural
from tablewright.publish import changes_text, migration_text
from tablewright.studio.markup import parts
from tablewright.studio.markup.parts import NOTHING, note, panel
from tablewright.studio.target.inventory import VersionedTable, inspect_tables
from tablewright.studio.views.design import shown_design
from tablewright.studio.web.frame import WebPage
from tablewright.studio.web.http import WebRequest, url
from tablewright.studio.workspace import Workspace

#: How often the page of a migration that is under way is loaded again.
REFRESH = "every 2s"
ABOUT = "The version that each table is prepared for, and what leads from it to the design."
SAMPLE = (
    "There is nothing to compare: the data is a sample in memory, which was made with this design. "
    "Name a target to see which version its tables are prepared for: tablewright studio DESIGN "
    "TARGET."
)


def show(workspace: Workspace, _: WebRequest) -> WebPage:
    """Show the version of each table, the changes to the design, and the steps."""
    shown_design(workspace)
    title = parts.heading("Evolve", ABOUT)
    if not workspace.has_own_data:
        return WebPage("Evolve", [title, note(SAMPLE)], "Evolve")
    tables = inspect_tables(workspace)
    is_running = any(each.is_migrating for each in tables)
    again = parts.swap("#evolve", push=False, hx_get="", hx_trigger=REFRESH) if is_running else {}
    content = element("div", [_table(workspace, each) for each in tables], id="evolve", **again)
    return WebPage("Evolve", [title, content], "Evolve")


def _table(workspace: Workspace, table: VersionedTable) -> Markup:
    found, name = table.found, table.name
    if table.problem:
        return _panel(name, parts.tag("unknown", "bad"), _problem(table.problem))
    if found is None:
        link = element("a", f"the target does not have {name}", href=url("/tables/{}", name))
        return _panel(name, parts.tag("missing", "bad"), note(["There is no version: ", link, "."]))
    commands = _commands(workspace, found, name)
    if found.revision is None or found.plan is None:
        text = (
            f"{name} {migration_text.NOT_RECORDED}. Run it with the version that the running "
            "programs have."
        )
        return _panel(name, parts.tag("not recorded", "warn"), note(text, "warn"), commands)
    fields = migration_text.revision_fields(found.revision, found.plan.changes)
    status = [parts.definitions(fields), _progress(found.revision, found.plan)]
    problem = _problem(found.problem) if found.problem else NOTHING
    assessed = assess_plan(found.plan)
    shown = [
        _panel(name, _tag(found.revision, found.plan), *status, problem, commands),
        _changes(found.plan, found.revision.state, assessed),
        _steps(name, found.revision.state, found.plan, assessed),
    ]
    return join(shown)


def _panel(name: str, tag: Markup, *content: Markup) -> Markup:
    body = element("div.body.stack", *content)
    return panel(name, body, about=tag, label=f"The version of {name}")


def _tag(revision: Revision, plan: MigrationPlan) -> Markup:
    if revision.state is not None:
        return parts.tag(f"migrate {revision.state.command} is under way", "warn")
    if plan.changes:
        return parts.tag(plural(len(plan.changes), "change"), "warn")
    if revision.previous is not None:
        return parts.tag("not completed", "warn")
    return parts.tag("matches", "good")


def _problem(text: str) -> Markup:
    """Return an error; the lines after the first one are a list."""
    first, *rest = text.splitlines()
    listed = parts.listed(line.strip() for line in rest) if rest else NOTHING
    return element("div.note.bad.block", element("p", first), listed)


def _progress(revision: Revision, plan: MigrationPlan) -> Markup:
    """Return how far a migration that is under way is, as bars."""
    state = revision.state
    if state is None:
        return NOTHING
    share = state.done / len(state.steps) if state.steps else 1
    bars = [parts.bar(share), f"{state.done} of {plural(len(state.steps), 'step')}"]
    position = state.position
    if position is not None and plan.items:
        read = f"{position.items:,} of about {plural(plan.items, 'item')}"
        bars += [parts.bar(min(1, position.items / plan.items)), read]
    waits = NOTHING
    if revision.lease is None:
        waits = parts.tag("interrupted: run the command again to continue", "warn")
    return element("div.row", bars, waits)


def _commands(workspace: Workspace, found: MigrationInspection, name: str) -> Markup:
    """Return the commands that come next; the page runs none of them."""
    option = f" --table {name}" if len(workspace.tables) > 1 else ""
    words = _next(found)
    if not words:
        return NOTHING
    lines = "\n".join(f"{workspace.command(f'migrate {each}')}{option}" for each in words)
    return element("pre", lines, tabindex="0", aria_label=f"Commands for {name}")


def _next(found: MigrationInspection) -> list[str]:
    revision, plan = found.revision, found.plan
    if revision is None or plan is None:
        return ["baseline"]
    if revision.state is not None:
        return ["status", revision.state.command]
    if found.problem:
        return []
    if plan.changes:
        return ["plan", "apply"]
    return ["complete"] if revision.previous is not None else []


# --- changes ------------------------------------------------------------------------------------


def _changes(plan: MigrationPlan, state: MigrationState | None, assessed: AssessedPlan) -> Markup:
    """Return the changes by entity, and when programs of both versions can run."""
    if not assessed.changes:
        return NOTHING
    shown: list[Markup] = []
    for entity, group in groupby(assessed.changes, key=lambda each: each.change.entity):
        shown.append(element("h3", f"entity {entity}" if entity else f"table {plan.table}"))
        lines = (_change(each, assessed.currency) for each in group)
        shown.append(parts.listed(lines, "find-l"))
    count = element("p", plural(len(assessed.changes), "change"))
    foot = NOTHING
    if assessed.steps and (state is None or state.command == "apply"):
        foot = element("p.pager", migration_text.deployment(plan))
    return panel(f"Changes of {plan.table}", element("div.body", shown), foot, about=count)


def _change(assessed: AssessedChange, currency: str) -> Markup:
    change = assessed.change
    kind = "del" if assessed.together is Coexistence.NO else "add" if assessed.is_free else "mod"
    sign = "+" if not change.before else "\u2212" if not change.after else "~"
    texts = [
        element("p", element(tag, parts.spoken(f"{word}: "), element("code", text)))
        for tag, word, text in (("del", "before", change.before), ("ins", "after", change.after))
        if text
    ]
    fields = parts.definitions(changes_text.fields(assessed, currency))
    title = element("b", changes_text.title(change))
    return join([parts.sign(sign, kind), element("div", title, texts, fields)])


# --- steps --------------------------------------------------------------------------------------


def _steps(
    name: str, state: MigrationState | None, plan: MigrationPlan, assessed: AssessedPlan
) -> Markup:
    """Return the steps of the plan; of a migration that cannot be planned, those it records."""
    steps, done = assessed.steps, plan.done
    if not steps and state is not None:
        steps = tuple(AssessedStep(each, ChangeCost()) for each in state.steps)
        assessed = replace(assessed, steps=steps)
        done = state.done
    if not steps:
        return NOTHING
    lines = [
        _step(each, number, done, assessed.currency, is_begun=state is not None)
        for number, each in enumerate(steps, 1)
    ]
    about = element("p", migration_text.steps_text(assessed))
    has_costs, warnings = bool(assessed.total), migration_text.warnings(plan)
    notes = [*([migration_text.assumptions(plan, assessed)] if has_costs else []), *warnings]
    foot = [element("p.pager", each) for each in notes]
    return panel(f"Steps for {name}", parts.listed(lines, "find-l body"), *foot, about=about)


def _step(
    assessed: AssessedStep, number: int, done: int, currency: str, *, is_begun: bool
) -> Markup:
    state: Iterable[Markup] = ()
    sign = parts.sign("○")
    if number <= done:
        sign, state = parts.sign("✓", "add"), [parts.tag("done", "good")]
    elif is_begun and number == done + 1:
        sign, state = parts.sign("●", "mov"), [parts.tag("under way", "warn")]
    title = [element("b", f"{number}. {assessed.step}"), " ", *state]
    fields = parts.definitions(migration_text.step_fields(assessed, currency))
    return join([sign, element("div", title, fields)])


ROUTES = {("GET", "/evolve"): show}

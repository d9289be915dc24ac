"""Skips: tests that a target is not asked, and why.

EMBEDDED is about the engine in this process: no server is asked. DIFFERENT is where another
implementation is not as DynamoDB is, or where DynamoDB promises nothing and the test looks at what
the embedded engine does. docs/compatibility.md tells the same in a table.
"""

from __future__ import annotations

PROCESSES = "processes open the file themselves"
LOCKED = "the test locks the file"
HOOKS = "the test expires items, or rotates or trims the shards of a stream"
FILE = "the command needs the file itself"
ENDPOINT = "the test starts an endpoint of its own"
STEPS = "the test builds an index step by step"
POLICY = "the test restricts the engine with a policy"
DOCUMENT = "the documents show attributes in the embedded engine's order; DynamoDB has none"
TIES = "items with equal index keys come in its own order; DynamoDB promises none"
SETS = "members of a set come in its own order; DynamoDB promises none"
UNITS_OF_ONE = "a transaction of several items is charged about as one of them"
UNITS_OF_INDEXES = "a transaction is not charged for indexes"
UNITS = "units are rough: none for indexes and transactions, a whole one for half of one"
NAMES = "ListTables gives names in the order they were made in"
NO_INDEXES = "a table without indexes is described with an empty list of them"
LOST_UPDATES = "updates of one item by several threads overwrite each other"
NO_EXPRESSION = "UpdateItem without an expression is an internal error"
WHOLE_BATCHES = "BatchGetItem answers with more than 16 MB"
START_KEYS = "a query may start at a key of another partition"

LONG_KEYS = "an index key may be longer than 2048 bytes"
INDEX_TWICE = "creating an index twice is an internal error"

ESTIMATE = (
    "model/patterns/test_estimates.py"
    "::test_the_estimate_is_within_a_factor_of_two_of_what_is_charged"
)
SAME_KEY = (
    "plan/writes/move/test_one_item.py::test_an_attribute_that_is_the_key_may_be_set_to_what_it_is"
)

EVENTS = "plan/streams/test_events.py::test_"
HOOKED = (
    "an_expired_item_is_no_deleted_one",
    "parents_are_read_before_children",
    "shards_that_appear_while_reading_are_read",
    "trimmed_records_are_an_error_that_says_so",
    "a_lambda_event_is_parsed",
    "a_handler_reports_the_event_at_which_it_failed",
    "a_handler_that_succeeds_reports_no_failures",
    "entities_of_two_tables_are_refused",
)

EMBEDDED: dict[str, str] = {
    **{f"{EVENTS}{name}": HOOKS for name in HOOKED},
    "model/database/test_concurrency.py"
    "::test_two_processes_write_one_file_and_lose_no_update": PROCESSES,
    "model/database/test_async.py::test_a_write_does_not_block_the_event_loop": LOCKED,
    "model/database/test_updates.py::test_missing_indexes_and_ttl_are_added[endpoint]": ENDPOINT,
    "model/database/test_updates.py"
    "::test_missing_indexes_and_ttl_are_added[slow endpoint]": ENDPOINT,
    "model/database/test_updates.py"
    "::test_an_index_that_another_process_is_adding_is_waited_for": STEPS,
    "model/database/test_existing_tables.py"
    "::test_an_index_that_is_being_built_is_waited_for": STEPS,
    "model/database/test_existing_tables.py"
    "::test_an_index_that_does_not_become_ready_is_named": STEPS,
    "model/database/test_unready_indexes.py"
    "::test_a_new_index_is_refused_until_the_backfill[endpoint]": ENDPOINT,
    "model/database/test_unready_indexes.py"
    "::test_an_index_that_is_being_built_does_not_delay_a_program": STEPS,
    "model/database/test_unready_indexes.py::test_the_record_is_no_sample_of_a_design": FILE,
    "model/database/test_unready_indexes.py::test_a_table_with_nothing_but_a_record_is_empty": FILE,
    "model/database/test_unready_indexes.py"
    "::test_a_role_that_may_not_read_the_record_connects": POLICY,
    "plan/writes/test_backfill.py::test_a_run_that_was_killed_is_continued": PROCESSES,
    "verify/test_targets.py::test_verify_leaves_the_tables_of_a_target_alone": FILE,
    "verify/test_stored.py::test_the_command_recognizes_every_item": FILE,
    "verify/test_stored.py::test_the_command_lists_differences_and_exits_with_1": FILE,
    "verify/test_stored.py::test_a_mistake_is_one_line": FILE,
}

DIFFERENT: dict[str, dict[str, str]] = {
    "serve": {},
    "local": {
        "verify/test_verify.py::test_the_document_of_a_design_is_up_to_date": DOCUMENT,
        "designs/menu/test_compare.py::test_the_comparison_supports_its_description": UNITS_OF_ONE,
        "model/patterns/test_estimates.py"
        "::test_a_change_of_a_unique_value_is_charged_for_every_item_it_writes": UNITS_OF_ONE,
        "model/patterns/test_calling.py::test_a_pattern_runs_as_it_is_written": TIES,
    },
    "moto": {
        "plan/writes/test_backfill.py::test_a_key_that_is_too_long_is_named": LONG_KEYS,
        "model/database/test_updates.py"
        "::test_processes_that_add_the_same_indexes_at_once_all_get_them": INDEX_TWICE,
        "designs/commerce/test_writes.py::test_atomic_order_root_and_items_write": UNITS,
        "designs/commerce/test_writes.py::test_create_order_root": UNITS,
        "designs/commerce/test_items.py"
        "::test_the_table_has_the_keys_and_indexes_of_the_document": NO_INDEXES,
        "designs/menu/test_compare.py::test_the_comparison_supports_its_description": UNITS,
        "designs/menu/test_compare.py"
        "::test_reads_have_read_units_and_writes_have_write_units": UNITS,
        "verify/test_verify.py::test_the_document_of_a_design_is_up_to_date[menu]": UNITS,
        "model/database/test_tables.py::test_a_table_may_have_another_name_there": NAMES,
        "model/database/test_async.py"
        "::test_an_asynchronous_database_makes_its_tables_and_closes": NAMES,
        "model/database/test_tables.py::test_several_tables_are_made_and_used_together": NAMES,
        "model/database/test_tables.py"
        "::test_a_table_without_a_sort_key_or_indexes_is_made_so": NO_INDEXES,
        "model/database/test_concurrency.py"
        "::test_threads_share_one_database_and_lose_no_update": LOST_UPDATES,
        **{f"{SAME_KEY}[alone-{by}]": NO_EXPRESSION for by in ("key", "instance")},
        "model/test_observing.py::test_each_request_is_told": UNITS,
        "model/test_observing.py::test_every_request_of_a_plan_is_told": UNITS,
        "model/test_observing.py::test_requests_are_logged": UNITS,
        "model/test_observing.py::test_requests_are_spans_of_opentelemetry": UNITS,
        "model/test_observing.py::test_usage_adds_up_by_pattern": UNITS,
        "model/patterns/test_estimates.py"
        "::test_a_change_of_a_unique_value_is_charged_for_every_item_it_writes": UNITS,
        **{
            f"{ESTIMATE}[{case}]": UNITS for case in ("add_user", "reward", "move_city", "visit_as")
        },
        "model/tenancy/test_custom_plans.py"
        "::test_a_query_from_anothers_place_gives_nothing_of_others": START_KEYS,
        "properties/test_updates_match_rewrites.py"
        "::test_updates_of_a_versioned_entity_leave_what_a_rewrite_would": SETS,
        "properties/test_updates_match_rewrites.py"
        "::test_updates_of_an_entity_leave_what_a_rewrite_would": SETS,
    },
    "extenddb": {
        "verify/test_verify.py::test_the_document_of_a_design_is_up_to_date": DOCUMENT,
        "designs/commerce/test_writes.py::test_atomic_order_root_and_items_write": UNITS_OF_INDEXES,
        f"{ESTIMATE}[add_user]": UNITS_OF_INDEXES,
        "model/entities/test_round_trip.py"
        "::test_a_value_is_stored_in_this_form_and_comes_back_equal[counts-value18-stored18]": SETS,
        "plan/reads/test_get.py::test_what_does_not_fit_into_one_answer_is_asked_for_again": (
            WHOLE_BATCHES
        ),
        "model/tenancy/test_custom_plans.py"
        "::test_a_query_from_anothers_place_gives_nothing_of_others": (START_KEYS),
    },
}


def reason(target: str, test: str) -> str | None:
    """Why a target is not asked a test, given by its node id; None if it is."""
    name = test.removeprefix("tests/")
    skips = EMBEDDED | DIFFERENT[target]
    return skips.get(name) or skips.get(name.partition("[")[0])

"""Model: tables, entities, keys, indexes, aggregates and patterns, declared in typed Python.

What users declare:

    table, tenancy                   tables with their indexes; which partitions belong to a tenant
    entity, attribute, key           the kinds of items, their attributes and keys
    counters                         attributes that count or sum other items
    aggregate, projection, inputs    types of results, and models of what a client may send
    pattern                          access patterns: functions that return plans

How a declaration is checked and compiled when its class is defined:

    annotations, body                what the class statement contains
    declaration, compile             from that to an `EntityMap`
    exclusion, validation            a proof that two places exclude each other; pydantic models

What runs later:

    bound_keys, where                keys of a finished class, and `where(…)`: they return plans
    shards                           the partitions of one tenant, which its requests must not leave
    databases                        open a target, run plans, create and compare tables
"""

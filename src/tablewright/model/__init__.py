"""Model: tables, entities, keys, indexes, aggregates and patterns, declared in typed Python.

table, entity, attribute, key      what users declare
declared, compile, annotations     from the body of a class to an `EntityMap`
exclusion, validation              proofs and checks of a declaration
bound, find                        keys and conditions of a finished class: they return plans
aggregate, projection, pattern     types of results; functions that return plans
tenancy, shards, partitions, touched    which requests a tenant may send
database, provision                run plans; create and compare tables
"""

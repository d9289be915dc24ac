"""Databases: open a target, check its tables, run plans and read streams.

connecting       `connect` and `connect_async`: open a target, create or check its tables
database         `Database` and `AsyncDatabase`: run plans against an open target
provision        create a table, or compare it with its declaration
stream_events    the changes of entities, from the streams of their tables
"""

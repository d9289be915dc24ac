"""Tables: what the catalog stores, what requests define, and what descriptions show.

table        a table with its keys and indexes, as operations use it
catalog      the tables, change logs, jobs and records of a file
definition   checks the tables of requests and builds schemas
describe     the descriptions of tables in responses, and ARNs
"""

"""Mapping between Python classes and items: converters, keys, entities, tables.

What a key is made of, from the smallest part to the whole:

    language         the texts that are possible, and whether two of them can be equal
    notation         how the values of a type are written
    formats          other notations: `day`, `iso`, `descending`; paths: a place in a document
    key_parts        one value in a key: an attribute in a notation, between delimiters
    template         one key attribute: literals and parts, composed and parsed
    keys             a whole key, filled in by calls and by entities; key_condition: a query's
    key_writer       the generated function that composes all keys of an entity
    stored_key       what the key of a stored item says about its entity

What an item is:

    converters       how values of each type are stored
    pydantic_bridge  constraints of values; entities and pages as pydantic types
    attributes       an entity's attributes, unique values and histories
    counters         attributes that count or sum the items of another entity
    entity           an entity's values <-> its item; variants: several kinds at one key
    reader           the generated functions that decode an entity's usual items
    stored_form      the types into which msgspec decodes stored values, and code that reads them
    tracking         what an entity was when it was read
    table            the entities of a table, and which of them can share a partition
    item_kind        what a stored item is: of an entity, a sentinel, the index record, or unknown
    table_settings   what a table declares besides keys and indexes
"""

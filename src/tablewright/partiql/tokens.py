"""The lexer: split the text of a statement into tokens.

    kind        text
    name        price, _a1, $x         a bare name; its text is kept as written
    name        "order", "my table"    a quoted name; `text` is the content, `quoted` is true
    string      'it''s'                `text` is the content
    number      5, 1.5, .5, 1e3        without a sign
    SELECT ...  select, Select         reserved words, in any case; the kind is in upper case
    = << ( ?    itself
    end         nothing

Comments (`/* ... */`, `-- ...`) separate tokens. A text that cannot be split is refused here, with
the empty detail that DynamoDB gives: unknown characters (`#`, a backtick), an open comment or
quote, a number that runs into a name, an exponent or a scale beyond 32 bits. The lexer knows
nothing about the grammar.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from tablewright.encoding.numbers import exceeds_32_bits
from tablewright.errors import ValidationException

#: Words that cannot be names without quotes. VALUE, ALL, OLD, NEW and MODIFIED are recognised by
#: their position, so they can be names, too. (AWS reserves more words of SQL.)
_RESERVED: Final = (
    "SELECT FROM WHERE INSERT INTO UPDATE SET REMOVE DELETE RETURNING ORDER BY ASC DESC AND OR NOT "
    "BETWEEN IN IS MISSING NULL TRUE FALSE EXISTS LIKE AS GROUP HAVING LIMIT JOIN UNION"
)
RESERVED: Final = frozenset(_RESERVED.split())
#: The reserved words of SQL-92, which an unquoted name behind a dot must not be either. (One of
#: them, INNER, is known to be refused there; that the others are is not known for certain.)
_SQL_92: Final = """
    ABSOLUTE ACTION ADD ALL ALLOCATE ALTER ANY ARE ASSERTION AT AUTHORIZATION AVG BEGIN BIT
    BIT_LENGTH BOTH CASCADE CASCADED CASE CAST CATALOG CHAR CHARACTER CHARACTER_LENGTH CHAR_LENGTH
    CHECK CLOSE COALESCE COLLATE COLLATION COLUMN COMMIT CONNECT CONNECTION CONSTRAINT CONSTRAINTS
    CONTINUE CONVERT CORRESPONDING COUNT CREATE CROSS CURRENT CURRENT_DATE CURRENT_TIME
    CURRENT_TIMESTAMP CURRENT_USER CURSOR DATE DEALLOCATE DEC DECIMAL DECLARE DEFAULT DEFERRABLE
    DEFERRED DESCRIBE DESCRIPTOR DIAGNOSTICS DISCONNECT DISTINCT DOMAIN DOUBLE DROP ELSE END ESCAPE
    EXCEPT EXCEPTION EXEC EXECUTE EXTERNAL EXTRACT FETCH FIRST FLOAT FOR FOREIGN FOUND FULL GET
    GLOBAL GO GOTO GRANT IDENTITY IMMEDIATE INDICATOR INITIALLY INNER INPUT INSENSITIVE INT INTEGER
    INTERSECT INTERVAL ISOLATION KEY LANGUAGE LAST LEFT LEVEL LOCAL LOWER MATCH MAX MIN MODULE NAMES
    NATIONAL NATURAL NCHAR NEXT NO NULLIF NUMERIC OCTET_LENGTH OF ON ONLY OPEN OPTION OUTER OUTPUT
    OVERLAPS PAD PARTIAL POSITION PRECISION PREPARE PRESERVE PRIMARY PRIOR PRIVILEGES PROCEDURE
    PUBLIC READ REAL REFERENCES RELATIVE RESTRICT REVOKE RIGHT ROLLBACK ROWS SCHEMA SCROLL SECTION
    SESSION SESSION_USER SIZE SMALLINT SOME SPACE SQL SQLCODE SQLERROR SQLSTATE SUBSTRING SUM
    SYSTEM_USER TABLE TEMPORARY THEN TIME TIMESTAMP TO TRANSACTION TRANSLATE TRANSLATION TRIM UNIQUE
    UNKNOWN UPPER USAGE USER USING VALUE VALUES VARCHAR VARYING VIEW WHEN WHENEVER WITH WORK WRITE
    ZONE
"""
RESERVED_IN_PATHS: Final = RESERVED | frozenset(_SQL_92.split())
_TOKEN = re.compile(
    r"""(?P<space>\s+|--[^\n]*|/\*.*?\*/)
    |(?P<name>[A-Za-z_$][A-Za-z0-9_$]*)
    |(?P<quoted>"(?:[^"]|"")*+")
    |(?P<string>'(?:[^']|'')*+')
    |(?P<number>(?:[0-9]++\.?[0-9]*+|\.[0-9]++)(?:[eE](?P<power>[+-]?[0-9]++))?)(?![A-Za-z0-9_$.])
    |(?P<symbol><<|>>|<>|!=|<=|>=|[=<>()\[\]{}.,:;?*+-])""",
    re.VERBOSE | re.DOTALL,
)


class StatementToken(NamedTuple):
    kind: str
    text: str
    start: int
    length: int  # in the statement, with quotes
    quoted: bool = False


def tokenize(text: str) -> list[StatementToken]:
    """Split a statement into tokens; the last one is `end`.

    >>> [token.kind for token in tokenize('select * from "my-table" where n >= 1.5')]
    ['SELECT', '*', 'FROM', 'name', 'WHERE', 'name', '>=', 'number', 'end']
    """
    tokens: list[StatementToken] = []
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise malformed("")
        kind, word = match.lastgroup or "", match.group()
        place = (position, len(word))
        if kind == "power":
            kind = "number"
        if kind == "name":
            upper = word.upper()
            tokens.append(StatementToken(upper if upper in RESERVED else kind, word, *place))
        elif kind == "quoted":
            tokens.append(
                StatementToken("name", word[1:-1].replace('""', '"'), *place, quoted=True)
            )
        elif kind == "string":
            tokens.append(StatementToken(kind, word[1:-1].replace("''", "'"), *place))
        elif kind == "number":
            places = len(word.lower().partition("e")[0].partition(".")[2])
            if exceeds_32_bits(places, match["power"]):
                raise malformed("")
            tokens.append(StatementToken(kind, word, *place))
        elif kind == "symbol":
            tokens.append(StatementToken("<>" if word == "!=" else word, word, *place))
        position = match.end()
    tokens.append(StatementToken("end", "", len(text), 0))
    return tokens


def split_statements(text: str) -> tuple[list[str], str]:
    """Split a text at its semicolons; return the complete statements, and the rest.

    >>> split_statements("SELECT * FROM t WHERE a = ';'; SELECT")
    (["SELECT * FROM t WHERE a = ';'"], ' SELECT')
    """
    complete: list[str] = []
    start = position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            if text.startswith(("'", '"', "/*"), position):  # it is still open
                break
            position += 1  # the parser reports it
            continue
        if match.group() == ";":
            complete.append(text[start:position].strip())
            start = match.end()
        position = match.end()
    return [statement for statement in complete if statement], text[start:]


def malformed(detail: str) -> ValidationException:
    """Return DynamoDB's fault for a statement that cannot be parsed."""
    return ValidationException(f"Statement wasn't well formed, can't be processed: {detail}")

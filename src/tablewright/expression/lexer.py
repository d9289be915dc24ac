"""The lexer: split the text of an expression into tokens.

Owns the tokens of all expressions, and the syntax error, the only message that shows the text. All
kinds of expression have the same tokens, so `SET` is a keyword in a condition too.

    kind      text
    name      price, a_b1                  a letter, then letters, digits, underscores
    alias     #p                           a name defined in ExpressionAttributeNames
    value     :p                           a value defined in ExpressionAttributeValues
    index     0, 17                        no leading zeros: 01 is two tokens
    AND ...   and, And                     keywords, in any case; the kind is in upper case
    = <> ( .  itself
    unknown   any other single character   the parser raises a syntax error
    end       nothing                      shown as <EOF>

Invariant: the tokens and the whitespace between them are the whole text. The lexer refuses only
empty and oversized texts, and knows nothing about the grammar.

Also owns the reserved words, which an attribute may have as its name only with an alias.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from tablewright.errors import ValidationException
from tablewright.limits import MAX_EXPRESSION_SIZE

#: Kinds of expression whose message about the size does not contain the size.
_SIZE_OMITTED = ("UpdateExpression", "ProjectionExpression")

_KEYWORDS = frozenset(
    ("AND", "OR", "NOT", "IN", "BETWEEN", "SET", "REMOVE", "ADD", "DELETE"),
)
_TOKEN = re.compile(
    r"(?P<name>[A-Za-z][A-Za-z0-9_]*)|(?P<alias>#[A-Za-z0-9_]+)|(?P<value>:[A-Za-z0-9_]+)"
    r"|(?P<index>0|[1-9][0-9]*)|(?P<symbol><>|<=|>=|[=<>()\[\].,+-])|(?P<unknown>[^ \t\r\n])"
)


class Token(NamedTuple):
    kind: str
    text: str
    start: int


def tokenize(kind: str, text: str) -> list[Token]:
    """Split an expression (`kind` is "UpdateExpression" etc.) into tokens; the last one is `end`.

    >>> [token.kind for token in tokenize("ConditionExpression", "a and #b = :c")]
    ['name', 'AND', 'alias', '=', 'value', 'end']
    """
    if not text:
        raise invalid(kind, "The expression can not be empty;")
    if len(text) > MAX_EXPRESSION_SIZE:
        # DynamoDB counts characters here, not bytes.
        raise invalid(
            kind,
            "Expression size has exceeded the maximum allowed size;"
            + ("" if kind in _SIZE_OMITTED else f" expression size: {len(text)}"),
        )
    tokens = []
    for match in _TOKEN.finditer(text):
        group = match.lastgroup or ""
        word = match.group()
        if group == "symbol":
            group = word
        elif group == "name" and (upper := word.upper()) in _KEYWORDS:
            group = upper
        tokens.append(Token(group, word, match.start()))
    tokens.append(Token("end", "<EOF>", len(text)))
    return tokens


def invalid(kind: str, message: str) -> ValidationException:
    """Return DynamoDB's fault for an invalid expression; a PartiQL statement has no `kind`."""
    return ValidationException(f"Invalid {kind}: {message}" if kind else message)


def syntax_error(kind: str, text: str, tokens: list[Token], at: int) -> ValidationException:
    """Return the fault for an unexpected token, which shows the token and its neighbours."""
    token = tokens[at]
    start = tokens[at - 1].start if at else 0
    after = tokens[at + 1] if at + 1 < len(tokens) else token
    end = len(text) if after.kind == "end" else after.start + len(after.text)
    return invalid(kind, f'Syntax error; token: "{token.text}", near: "{text[start:end]}"')


#: DynamoDB's list of 573 words, as in its developer guide (with its misspellings: FLATTERN,
#: INNTER, LOGED). The comparison ignores case; the message shows the word as written. Nine of them
#: (AND, SET, ...) are keywords of the lexer and cause a syntax error earlier.
RESERVED = frozenset(
    """
    ABORT ABSOLUTE ACTION ADD AFTER AGENT AGGREGATE ALL ALLOCATE ALTER ANALYZE AND ANY ARCHIVE
    ARE ARRAY AS ASC ASCII ASENSITIVE ASSERTION ASYMMETRIC AT ATOMIC ATTACH ATTRIBUTE AUTH
    AUTHORIZATION AUTHORIZE AUTO AVG BACK BACKUP BASE BATCH BEFORE BEGIN BETWEEN BIGINT BINARY
    BIT BLOB BLOCK BOOLEAN BOTH BREADTH BUCKET BULK BY BYTE CALL CALLED CALLING CAPACITY CASCADE
    CASCADED CASE CAST CATALOG CHAR CHARACTER CHECK CLASS CLOB CLOSE CLUSTER CLUSTERED
    CLUSTERING CLUSTERS COALESCE COLLATE COLLATION COLLECTION COLUMN COLUMNS COMBINE COMMENT
    COMMIT COMPACT COMPILE COMPRESS CONDITION CONFLICT CONNECT CONNECTION CONSISTENCY CONSISTENT
    CONSTRAINT CONSTRAINTS CONSTRUCTOR CONSUMED CONTINUE CONVERT COPY CORRESPONDING COUNT
    COUNTER CREATE CROSS CUBE CURRENT CURSOR CYCLE DATA DATABASE DATE DATETIME DAY DEALLOCATE
    DEC DECIMAL DECLARE DEFAULT DEFERRABLE DEFERRED DEFINE DEFINED DEFINITION DELETE DELIMITED
    DEPTH DEREF DESC DESCRIBE DESCRIPTOR DETACH DETERMINISTIC DIAGNOSTICS DIRECTORIES DISABLE
    DISCONNECT DISTINCT DISTRIBUTE DO DOMAIN DOUBLE DROP DUMP DURATION DYNAMIC EACH ELEMENT ELSE
    ELSEIF EMPTY ENABLE END EQUAL EQUALS ERROR ESCAPE ESCAPED EVAL EVALUATE EXCEEDED EXCEPT
    EXCEPTION EXCEPTIONS EXCLUSIVE EXEC EXECUTE EXISTS EXIT EXPLAIN EXPLODE EXPORT EXPRESSION
    EXTENDED EXTERNAL EXTRACT FAIL FALSE FAMILY FETCH FIELDS FILE FILTER FILTERING FINAL FINISH
    FIRST FIXED FLATTERN FLOAT FOR FORCE FOREIGN FORMAT FORWARD FOUND FREE FROM FULL FUNCTION
    FUNCTIONS GENERAL GENERATE GET GLOB GLOBAL GO GOTO GRANT GREATER GROUP GROUPING HANDLER HASH
    HAVE HAVING HEAP HIDDEN HOLD HOUR IDENTIFIED IDENTITY IF IGNORE IMMEDIATE IMPORT IN
    INCLUDING INCLUSIVE INCREMENT INCREMENTAL INDEX INDEXED INDEXES INDICATOR INFINITE INITIALLY
    INLINE INNER INNTER INOUT INPUT INSENSITIVE INSERT INSTEAD INT INTEGER INTERSECT INTERVAL
    INTO INVALIDATE IS ISOLATION ITEM ITEMS ITERATE JOIN KEY KEYS LAG LANGUAGE LARGE LAST
    LATERAL LEAD LEADING LEAVE LEFT LENGTH LESS LEVEL LIKE LIMIT LIMITED LINES LIST LOAD LOCAL
    LOCALTIME LOCALTIMESTAMP LOCATION LOCATOR LOCK LOCKS LOG LOGED LONG LOOP LOWER MAP MATCH
    MATERIALIZED MAX MAXLEN MEMBER MERGE METHOD METRICS MIN MINUS MINUTE MISSING MOD MODE
    MODIFIES MODIFY MODULE MONTH MULTI MULTISET NAME NAMES NATIONAL NATURAL NCHAR NCLOB NEW NEXT
    NO NONE NOT NULL NULLIF NUMBER NUMERIC OBJECT OF OFFLINE OFFSET OLD ON ONLINE ONLY OPAQUE
    OPEN OPERATOR OPTION OR ORDER ORDINALITY OTHER OTHERS OUT OUTER OUTPUT OVER OVERLAPS
    OVERRIDE OWNER PAD PARALLEL PARAMETER PARAMETERS PARTIAL PARTITION PARTITIONED PARTITIONS
    PATH PERCENT PERCENTILE PERMISSION PERMISSIONS PIPE PIPELINED PLAN POOL POSITION PRECISION
    PREPARE PRESERVE PRIMARY PRIOR PRIVATE PRIVILEGES PROCEDURE PROCESSED PROJECT PROJECTION
    PROPERTY PROVISIONING PUBLIC PUT QUERY QUIT QUORUM RAISE RANDOM RANGE RANK RAW READ READS
    REAL REBUILD RECORD RECURSIVE REDUCE REF REFERENCE REFERENCES REFERENCING REGEXP REGION
    REINDEX RELATIVE RELEASE REMAINDER RENAME REPEAT REPLACE REQUEST RESET RESIGNAL RESOURCE
    RESPONSE RESTORE RESTRICT RESULT RETURN RETURNING RETURNS REVERSE REVOKE RIGHT ROLE ROLES
    ROLLBACK ROLLUP ROUTINE ROW ROWS RULE RULES SAMPLE SATISFIES SAVE SAVEPOINT SCAN SCHEMA
    SCOPE SCROLL SEARCH SECOND SECTION SEGMENT SEGMENTS SELECT SELF SEMI SENSITIVE SEPARATE
    SEQUENCE SERIALIZABLE SESSION SET SETS SHARD SHARE SHARED SHORT SHOW SIGNAL SIMILAR SIZE
    SKEWED SMALLINT SNAPSHOT SOME SOURCE SPACE SPACES SPARSE SPECIFIC SPECIFICTYPE SPLIT SQL
    SQLCODE SQLERROR SQLEXCEPTION SQLSTATE SQLWARNING START STATE STATIC STATUS STORAGE STORE
    STORED STREAM STRING STRUCT STYLE SUB SUBMULTISET SUBPARTITION SUBSTRING SUBTYPE SUM SUPER
    SYMMETRIC SYNONYM SYSTEM TABLE TABLESAMPLE TEMP TEMPORARY TERMINATED TEXT THAN THEN
    THROUGHPUT TIME TIMESTAMP TIMEZONE TINYINT TO TOKEN TOTAL TOUCH TRAILING TRANSACTION
    TRANSFORM TRANSLATE TRANSLATION TREAT TRIGGER TRIM TRUE TRUNCATE TTL TUPLE TYPE UNDER UNDO
    UNION UNIQUE UNIT UNKNOWN UNLOGGED UNNEST UNPROCESSED UNSIGNED UNTIL UPDATE UPPER URL USAGE
    USE USER USERS USING UUID VACUUM VALUE VALUED VALUES VARCHAR VARIABLE VARIANCE VARINT
    VARYING VIEW VIEWS VIRTUAL VOID WAIT WHEN WHENEVER WHERE WHILE WINDOW WITH WITHIN WITHOUT
    WORK WRAPPED WRITE YEAR ZONE
    """.split()  # noqa: SIM905 # 573 quoted words would hide the list
)


def is_reserved(name: str) -> bool:
    return name.upper() in RESERVED

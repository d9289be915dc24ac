"""The statement parser.

    SELECT (* | path, ...) FROM source [WHERE condition] [ORDER BY name [ASC|DESC], ...]
    INSERT INTO source VALUE constant
    UPDATE source (SET path = operand, ... | REMOVE path)+ [WHERE condition] [RETURNING returned]
    FROM source [WHERE condition] (SET ... | REMOVE ...)+ [RETURNING returned]
    DELETE FROM source [WHERE condition] [RETURNING returned]
    EXISTS ( SELECT ... )

    source   ::= name (.name)*
    returned ::= (ALL | MODIFIED) (OLD | NEW) *

A closing semicolon is the end. The messages are DynamoDB's; where those of the service are not
known, they are those of DynamoDB Local. What depends on a table, such as the number of components
of a source, is checked later.
"""

from __future__ import annotations

from tablewright.encoding.items import normalise
from tablewright.errors import ValidationException
from tablewright.expression import tree
from tablewright.expression.rules import not_in_update
from tablewright.partiql.conditions import ConditionParser
from tablewright.partiql.operands import (
    CONSTANTS,
    SET_FUNCTIONS,
    StatementOperandParser,
    empty_component,
    require_operand,
    unsupported,
)
from tablewright.partiql.tokens import malformed
from tablewright.partiql.tree import (
    DeleteStatement,
    ExistsStatement,
    InsertStatement,
    MapOf,
    OrderTerm,
    ParsedStatement,
    SelectStatement,
    SetChange,
    Source,
    Statement,
    UpdateStatement,
    build,
    has_parameters,
)
from tablewright.values import Value

TRAILING = "Unexpected token after expression"


def parse(text: str) -> ParsedStatement:
    """Parse one statement; raise `ValidationException` as DynamoDB does."""
    parser = _StatementParser(text)
    statement = parser.parse_statement()
    parser.accept(";")
    if parser.token.kind != "end":
        raise malformed(TRAILING)
    return ParsedStatement(
        statement,
        parser.constants,
        parser.parameter_count,
        frozenset(parser.hash_names),
        tuple(parser.set_changes),
    )


def parse_value(text: str) -> Value:
    """Parse one literal; raise `ValidationException` if the text is anything else.

    >>> parse_value("[1, 'a']")
    {'L': [{'N': '1'}, {'S': 'a'}]}
    """
    parser = StatementOperandParser(text)
    constant = parser.parse_constant()
    if parser.token.kind != "end" or has_parameters(constant):
        raise malformed(TRAILING)
    return normalise(build(constant, ()))


class _StatementParser(ConditionParser):
    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.set_changes: list[SetChange] = []
        self.unexpected_path = ""

    def parse_statement(self) -> Statement:
        match self.token.kind:
            case "SELECT":
                return self.parse_select()
            case "INSERT":
                return self.parse_insert()
            case "UPDATE":
                return self.parse_update()
            case "FROM":
                return self.parse_from_update()
            case "DELETE":
                return self.parse_delete()
            case "EXISTS":
                return self.parse_exists()
        raise self.not_a_statement()

    def not_a_statement(self) -> ValidationException:
        """Return the fault for a text that does not begin as a statement does.

        DynamoDB parses it as an expression, and names the node if that succeeds.
        """
        self.knows_all_types = True
        try:
            expression = self.parse_expression()
        except ValidationException:
            return malformed("Expected data manipulation")
        if self.token.kind != "end" or isinstance(expression, tree.Path):
            return malformed("Expected data manipulation")
        inner = expression.condition if isinstance(expression, tree.Not) else expression
        is_type = isinstance(inner, tree.Call) and inner.function.startswith("attribute_")
        return unsupported("IsType" if is_type else type(expression).__name__)

    # -- statements

    def parse_select(self) -> SelectStatement:
        self.advance()
        paths: tuple[tree.Path, ...] = ()
        if self.accept_word("DISTINCT"):
            raise ValidationException("Unsupported token in expression: DISTINCT")
        if not self.accept("*"):
            paths = self.parse_list(self.parse_selected)
        self.expect("FROM")
        if self.token.kind in CONSTANTS:
            raise ValidationException("Unexpected from source")
        source = self.parse_source()
        is_join = any(token.kind in (",", "JOIN") for token in self.tokens[self.at : self.at + 2])
        if is_join:  # also LEFT JOIN
            # As users report it.
            raise ValidationException("Only select from a single table or index is supported.")
        self.refuse_alias()
        where = self.parse_where()
        order: tuple[OrderTerm, ...] = ()
        if self.accept("ORDER"):
            self.expect("BY")
            order = self.parse_list(self.parse_order_term)
        if self.token.kind == "GROUP":
            raise ValidationException("Unsupported clause: GROUP BY")
        if self.accept("LIMIT"):
            raise ValidationException(f"Unsupported clause: LIMIT at {self.locate(self.token)}")
        return SelectStatement(source, paths, where, order, self.unexpected_path)

    def parse_selected(self) -> tree.Path:
        token = self.token
        unexpected = f"Unexpected path component at {self.locate(token)}"
        if [each.kind for each in self.tokens[self.at : self.at + 4]] == ["name", "(", "*", ")"]:
            self.at += 4  # COUNT(*): DynamoDB looks at the index first
            self.unexpected_path = unexpected
            return tree.Path((token.text,))
        is_call = token.kind == "name" and self.tokens[self.at + 1].kind == "("
        if is_call or token.kind in CONSTANTS:
            raise ValidationException(unexpected)
        path = self.parse_path()
        self.refuse_alias()
        return path

    def parse_order_term(self) -> OrderTerm:
        name = self.parse_name()
        descending = self.accept("DESC")
        if not descending:
            self.accept("ASC")
        return OrderTerm(name, descending)

    def parse_insert(self) -> InsertStatement:
        self.advance()
        self.expect("INTO")
        source = self.parse_target()
        if self.token.kind == "AS" or (
            self.token.kind == "name" and self.tokens[self.at + 1].text.upper() == "VALUE"
        ):  # an alias
            raise malformed(TRAILING)
        if not self.accept_word("VALUE"):
            raise self.unexpected()
        start = self.token
        item = self.parse_map("root", is_item=True) if self.accept("{") else self.parse_constant()
        if not isinstance(item, MapOf):
            raise ValidationException(
                "Unsupported format in item expression. Please use struct format {...} to express "
                f"item values for insert statement. at {self.locate(start)}"
            )
        if self.token.kind == "RETURNING":
            raise ValidationException("RETURNING is not supported in INSERT")
        return InsertStatement(source, self.add_constant(item))

    def parse_update(self) -> UpdateStatement:
        self.advance()
        source = self.parse_target()
        if any(token.kind in ("SET", "REMOVE") for token in self.tokens[self.at + 1 : self.at + 3]):
            self.refuse_alias()
        actions = self.parse_actions()
        where = self.parse_where()
        return UpdateStatement(source, actions, where, self.parse_returning())

    def parse_from_update(self) -> UpdateStatement:
        self.advance()
        source = self.parse_target()
        self.refuse_alias()
        where = self.parse_where()
        return UpdateStatement(source, self.parse_actions(), where, self.parse_returning())

    def parse_delete(self) -> DeleteStatement:
        self.advance()
        self.expect("FROM")
        source = self.parse_target()
        self.refuse_alias()
        where = self.parse_where()
        return DeleteStatement(source, where, self.parse_returning())

    def parse_exists(self) -> ExistsStatement:
        self.advance()
        self.expect("(")
        if self.token.kind != "SELECT":
            raise self.unexpected()
        select = self.parse_select()
        self.expect(")")
        return ExistsStatement(select)

    # -- parts

    def parse_source(self) -> Source:
        """Parse the path after FROM."""
        components = [self.expect("name").text]
        while self.accept("."):
            components.append(self.expect("name").text)
        if "" in components:
            raise empty_component()
        return Source(tuple(components))

    def parse_target(self) -> Source:
        """Parse the path of a statement that writes."""
        if self.token.kind != "name":
            raise malformed("Expected identifier for simple path")
        return self.parse_source()

    def refuse_alias(self) -> None:
        if self.token.kind in ("AS", "name"):
            raise ValidationException("Aliasing is not supported")

    def parse_where(self) -> tree.Condition | None:
        return self.parse_condition() if self.accept("WHERE") else None

    def parse_returning(self) -> str | None:
        if not self.accept("RETURNING"):
            return None
        for scope in ("ALL", "MODIFIED"):
            if self.accept_word(scope):
                break
        else:
            raise self.unexpected()
        for state in ("OLD", "NEW"):
            if self.accept_word(state):
                self.expect("*")
                return f"{scope} {state}"
        raise self.unexpected()

    def parse_actions(self) -> tuple[tree.Action, ...]:
        actions: list[tree.Action] = []
        while True:
            if self.accept("SET"):
                actions += self.parse_list(self.parse_assignment)
            elif self.accept("REMOVE"):
                actions.append(tree.RemoveAction(self.parse_path()))  # one path, unlike SET
            elif actions:
                return tuple(actions)
            else:
                raise malformed("Expected data manipulation")

    def parse_assignment(self) -> tree.Action:
        path = self.parse_path()
        self.expect("=")
        start = self.token
        self.in_assignment = True
        operand = self.parse_right(self.parse_operand)
        self.in_assignment = False
        if not isinstance(operand, tree.Call):
            return tree.SetAction(path, require_operand(operand))
        name = operand.function
        if name in ("if_not_exists", "list_append"):
            return tree.SetAction(path, operand)
        if name not in SET_FUNCTIONS:
            raise ValidationException(not_in_update(name))
        function = name.upper()
        if len(operand.arguments) != 2:
            raise ValidationException(
                f"{function} must have exactly two arguments at {self.locate(start)}"
            )
        changed, value = operand.arguments
        call, arguments = self.set_calls[-1]
        if changed != path:
            raise ValidationException(
                f"The first argument to {function} must equal the assignment value "
                f"at {self.locate(call)}"
            )
        no_set = (
            f"The second argument to {function} must be a value with type SET "
            f"at {self.locate(arguments[0])}"
        )
        if not isinstance(value, tree.Value):
            raise ValidationException(no_set)
        self.set_changes.append(SetChange(value.name, no_set))
        return (
            tree.AddAction(path, value) if function == "SET_ADD" else tree.DeleteAction(path, value)
        )

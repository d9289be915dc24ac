"""A store: entities that share partitions and indexes, so that reads must tell them apart."""

from __future__ import annotations

from datetime import date

from tablewright import GSI, Attr, Entity, Table, Tenancy, attr, index, key


class Store(Table, name="store"):
    by_date = GSI("GSI1PK", "GSI1SK")
    other = GSI("GSI2PK", "GSI2SK")
    open_only = GSI("GSI3PK", "GSI3SK")
    thin = GSI("GSI4PK", project="KEYS_ONLY")
    by_status = GSI("GSI5PK", "GSI5SK")
    tenancy = Tenancy("customer", write=("CUST#{customer}",), filtered=(by_date, by_status))


class Customer(Entity, table=Store):
    customer: Attr[str] = attr()
    name: Attr[str] = attr(default="")
    primary = key("CUST" / customer, "PROFILE")


# -- what a customer has by date: three entities in one range of `by_date`, two in `other`


class Item(Entity, table=Store):
    customer: Attr[str] = attr()
    item_id: Attr[str] = attr()
    day: Attr[date] = attr()
    primary = key("CUST" / customer, "ITEM" / item_id)
    by_date = index(Store.by_date, "CUST" / customer, "DATE" / day / "ITEM" / item_id)
    other = index(Store.other, "CUST" / customer, "DATE" / day)


class Invoice(Entity, table=Store):
    customer: Attr[str] = attr()
    number: Attr[int] = attr(pad=4)
    day: Attr[date] = attr()
    primary = key("CUST" / customer, "INVOICE" / number)
    by_date = index(Store.by_date, "CUST" / customer, "DATE" / day / "INVOICE" / number)
    other = index(Store.other, "CUST" / customer, "DUE" / day)


class Call(Entity, table=Store):
    customer: Attr[str] = attr()
    number: Attr[int] = attr(pad=4)
    day: Attr[date] = attr()
    primary = key("CUST" / customer, "CALL" / number)
    by_date = index(Store.by_date, "CUST" / customer, "DATE" / day / "CALL" / number)


# -- an order with a label: the labels lie between the orders, and are filtered out


class Order(Entity, table=Store):
    customer: Attr[str] = attr()
    number: Attr[int] = attr(pad=3)
    status: Attr[str] = attr(default="OPEN")
    primary = key("CUST" / customer, "ORDER" / number)
    by_status = index(Store.by_status, "STATUS" / status, "ORDER" / number)
    open_only = index(Store.open_only, "OPEN", "N" / number, when=status == "OPEN")
    thin = index(Store.thin, "N" / number)


class Label(Entity, table=Store):
    customer: Attr[str] = attr()
    number: Attr[int] = attr(pad=3)
    status: Attr[str] = attr(default="OPEN")
    primary = key("CUST" / customer, "ORDER" / number / "LABEL")
    by_status = index(Store.by_status, "STATUS" / status, "ORDER" / number / "LABEL")
    open_only = index(Store.open_only, "LABELS", "N" / number)

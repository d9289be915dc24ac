"""Encryption: values that only programs with a key can read.

    stored      1 | length of the key id | key id | nonce (12 bytes) | AES-256-GCM of the value
    associated  the stored name of the attribute and the key of its item, as JSON

So a value that is copied to another item, or to another attribute, cannot be read there. Each
write draws a new nonce; a value that is equal to the stored one is encrypted again.

A converter does not know the item of a value. So it encodes an `Unsealed` value, which only the
request seals, with the key of the item; and `EntityMap.opened` opens the values of a stored item
before they are decoded.

Invariant: no encoder of requests accepts an `Unsealed` value, so it cannot be sent as it is.
"""

from __future__ import annotations

import base64
import binascii
import os
from collections.abc import Mapping
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol

import msgspec
from msgspec import Struct

from tablewright.encoding.numbers import format_number
from tablewright.errors import DeclarationError, DecryptionFailed, InvalidValue
from tablewright.values import Item, Value

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

_VERSION = 1
_NONCE = 12
_TAG = 16
_SECRET = 32
_MOST_OF_AN_ID = 255


class KeyProvider(Protocol):
    """Where the secrets of `encrypted(…)` come from: `KeyRing`, or an object of your own."""

    def current(self) -> str:
        """Return the id of the secret that encrypts what is written now."""
        ...

    def secret(self, key_id: str, /) -> bytes:
        """Return a secret of 32 bytes; raise KeyError if there is none with this id."""
        ...


class KeyRing:
    """Secrets by their ids. What is written is encrypted by the current one, or else the last."""

    def __init__(self, secrets: Mapping[str, bytes], *, current: str | None = None) -> None:
        if not secrets:
            raise DeclarationError('KeyRing({}): it has no secret; write KeyRing({"2026": …})')
        for key_id, secret in secrets.items():
            _check_id(key_id)
            _check_secret(key_id, secret)
        self._secrets = dict(secrets)
        self._current = next(reversed(self._secrets)) if current is None else current
        if self._current not in self._secrets:
            raise DeclarationError(
                f"KeyRing(…, current={current!r}): it has only {', '.join(self._secrets)}"
            )

    def current(self) -> str:
        """Return the id of the secret that encrypts what is written now."""
        return self._current

    def secret(self, key_id: str, /) -> bytes:
        """Return a secret; raise KeyError if there is none with this id."""
        return self._secrets[key_id]

    def __repr__(self) -> str:
        return f"KeyRing of {', '.join(self._secrets)}"


class EnvironmentKeys:
    """The secrets in an environment variable: `2026:<64 hexadecimal digits>,2025:<…>`.

    The first one encrypts what is written. The variable is read when a value is, so a design can be
    imported without it.
    """

    def __init__(self, variable: str) -> None:
        self.variable = variable

    def _ring(self) -> KeyRing:
        return _parsed(self.variable, os.environ.get(self.variable, ""))

    def current(self) -> str:
        """Return the id of the secret that encrypts what is written now."""
        return self._ring().current()

    def secret(self, key_id: str, /) -> bytes:
        """Return a secret; raise KeyError if there is none with this id."""
        return self._ring().secret(key_id)

    def __repr__(self) -> str:
        return f"EnvironmentKeys({self.variable!r})"


@lru_cache(maxsize=16)
def _parsed(variable: str, text: str) -> KeyRing:
    fix = f"set {variable}=2026:<64 hexadecimal digits>, several separated by commas"
    pairs = [each.strip().partition(":") for each in text.split(",") if each.strip()]
    if not pairs:
        raise InvalidValue(f"the environment variable {variable} has no secrets; {fix}")
    try:
        secrets = {key_id: bytes.fromhex(digits) for key_id, _, digits in pairs}
        return KeyRing(secrets, current=pairs[0][0])
    except (ValueError, DeclarationError):  # without the text, which has secrets in it
        raise InvalidValue(f"the environment variable {variable} cannot be read; {fix}") from None


def _check_id(key_id: Any) -> None:
    if not isinstance(key_id, str) or not 1 <= len(key_id.encode()) <= _MOST_OF_AN_ID:
        raise DeclarationError(f"the key id {key_id!r} is not a text of 1 to 255 bytes")


def _check_secret(key_id: str, secret: Any) -> None:
    if not isinstance(secret, bytes) or len(secret) != _SECRET:
        raise DeclarationError(
            f"the secret {key_id!r} must be {_SECRET} bytes, for example secrets.token_bytes(32)"
        )


class Unsealed:
    """The content of a value that is encrypted when its item is written."""

    __slots__ = ("cipher", "content")

    def __init__(self, content: bytes, cipher: Cipher | None = None) -> None:
        self.content = content
        #: None if it is only read again.
        self.cipher = cipher

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Unsealed) and self.content == other.content

    def __hash__(self) -> int:
        return hash(self.content)

    def __repr__(self) -> str:
        return "<a value that is encrypted when it is written>"


class Cipher(Struct, frozen=True):
    """Encrypts and decrypts the values of one attribute."""

    keys: KeyProvider
    #: Names the attribute in messages.
    where: str
    #: Its stored name.
    stored: str

    def seal(self, content: bytes, key: Item) -> Value:
        """Return the stored value of an item with this key."""
        key_id = self.keys.current()
        try:
            _check_id(key_id)
            cipher = self._cipher(key_id)
        except KeyError:
            raise InvalidValue(
                f"{self.where}: {self.keys!r} has no secret {key_id!r}, which is the current one"
            ) from None
        nonce = os.urandom(_NONCE)
        head = bytes((_VERSION, len(key_id.encode()))) + key_id.encode()
        sealed = cipher.encrypt(nonce, content, _associated(self.stored, key))
        return {"B": base64.b64encode(head + nonce + sealed).decode()}

    def open(self, stored: Value, key: Item) -> Value:
        """Return the value of an item with this key; raise DecryptionFailed."""
        content = stored.get("B")
        if not isinstance(content, str):  # already open, or of another type: `decode` says so
            return stored
        key_id, nonce, sealed = self._parts(content)
        try:
            cipher = self._cipher(key_id)
        except KeyError:
            raise self._failed(key_id, f"{self.keys!r} has no secret {key_id!r}") from None
        from cryptography.exceptions import InvalidTag

        try:
            found = cipher.decrypt(nonce, sealed, _associated(self.stored, key))
        except InvalidTag:
            raise self._failed(
                key_id,
                f"the secret {key_id!r} does not decrypt it: it is not the one that encrypted the "
                "value, or the value was changed, or copied from another item or attribute",
            ) from None
        return {"B": Unsealed(found, self)}

    def _parts(self, content: Any) -> tuple[str, bytes, bytes]:
        """Return the key id, the nonce and the encrypted content; raise DecryptionFailed."""
        try:
            data = base64.b64decode(content, validate=True)
            start = 2 + data[1]
            key_id = data[2:start].decode()
        except (binascii.Error, IndexError, TypeError, UnicodeDecodeError):
            raise self._failed("", "it is not an encrypted value") from None
        if data[0] != _VERSION or len(data) < start + _NONCE + _TAG:
            raise self._failed("", "it is not an encrypted value")
        return key_id, data[start : start + _NONCE], data[start + _NONCE :]

    def _cipher(self, key_id: str) -> AESGCM:
        secret = self.keys.secret(key_id)
        _check_secret(key_id, secret)
        return _aes(secret)

    def _failed(self, key_id: str, reason: str) -> DecryptionFailed:
        return DecryptionFailed(
            f"{self.where} cannot be decrypted: {reason}", where=self.where, key_id=key_id
        )


@lru_cache(maxsize=64)
def _aes(secret: bytes) -> AESGCM:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    return AESGCM(secret)


def _associated(name: str, key: Item) -> bytes:
    """Return what authenticates the place of a value: the same bytes for equal keys."""
    parts = [
        [each, tag, format_number(Decimal(content)) if tag == "N" else content]
        for each, value in sorted(key.items())
        for tag, content in value.items()
    ]
    return msgspec.json.encode([name, parts])


def seal_values(values: Mapping[str, Value], key: Item) -> dict[str, Value]:
    """Return values, or an item, with everything encrypted that has to be."""
    return {name: sealed(value, key) for name, value in values.items()}


def sealed(value: Value, key: Item) -> Value:
    """Return a value as it is stored in the item with a key."""
    content = value.get("B")
    if isinstance(content, Unsealed) and content.cipher is not None:
        return content.cipher.seal(content.content, key)
    return value

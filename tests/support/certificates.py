"""Certificates for tests with TLS, made with nothing but Python: an authority and what it signs (ECDSA over P-256).

Neither a library nor a tool for it may be assumed. The arithmetic is the textbook's and leaks its keys by its timing,
which is why it stands here and nowhere else.
"""

from __future__ import annotations

import base64
import hashlib
import secrets
from dataclasses import dataclass
from pathlib import Path

P = 2**256 - 2**224 + 2**192 + 2**96 - 1
N = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
G = (
    0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
    0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5,
)
"""The field, the order and the base point of the curve P-256 (FIPS 186-4); its a is -3."""

EC_KEY, P256, ECDSA_SHA256 = (
    b"\x2a\x86\x48\xce\x3d\x02\x01",
    b"\x2a\x86\x48\xce\x3d\x03\x01\x07",
    b"\x2a\x86\x48\xce\x3d\x04\x03\x02",
)
COMMON_NAME, BASIC, ALTERNATIVE = b"\x55\x04\x03", b"\x55\x1d\x13", b"\x55\x1d\x11"
INTEGER, BITS, OCTETS, OID, UTF8, SEQUENCE, SET, UTC_TIME = 0x02, 0x03, 0x04, 0x06, 0x0C, 0x30, 0x31, 0x17

Point = tuple[int, int] | None


@dataclass(frozen=True)
class Signed:
    """A certificate and its key, as files in PEM."""

    certificate: Path
    private: Path
    name: str
    secret: int


def authority(folder: Path, name: str) -> Signed:
    """One that signs itself and others."""
    secret = secrets.randbelow(N - 1) + 1
    return _written(folder, name, secret, name, secret, _extensions(is_authority=True))


def signed_by(issuer: Signed, folder: Path, name: str) -> Signed:
    """A certificate for 127.0.0.1 and localhost, good for a server and for a client."""
    secret = secrets.randbelow(N - 1) + 1
    return _written(folder, name, secret, issuer.name, issuer.secret, _extensions(is_authority=False))


def _written(folder: Path, name: str, secret: int, issuer: str, issuer_secret: int, extensions: bytes) -> Signed:
    public = _public(secret)
    algorithm = _der(SEQUENCE, _der(OID, ECDSA_SHA256))
    body = _der(
        SEQUENCE,
        _der(0xA0, _integer(2)),
        _integer(secrets.randbits(64)),
        algorithm,
        _name(issuer),
        _der(SEQUENCE, _der(UTC_TIME, b"200101000000Z"), _der(UTC_TIME, b"491231235959Z")),
        _name(name),
        _der(SEQUENCE, _der(SEQUENCE, _der(OID, EC_KEY), _der(OID, P256)), _bits(public)),
        _der(0xA3, extensions),
    )
    certificate = _der(SEQUENCE, body, algorithm, _bits(_signature(issuer_secret, body)))
    key = _der(
        SEQUENCE, _integer(1), _der(OCTETS, secret.to_bytes(32)), _der(0xA0, _der(OID, P256)), _der(0xA1, _bits(public))
    )
    made = Signed(folder / f"{name}.pem", folder / f"{name}.key", name, secret)
    made.certificate.write_text(_pem("CERTIFICATE", certificate))
    made.private.write_text(_pem("EC PRIVATE KEY", key))
    return made


def _extensions(is_authority: bool) -> bytes:
    basic = _der(SEQUENCE, b"\x01\x01\xff") if is_authority else _der(SEQUENCE)
    found = [_der(SEQUENCE, _der(OID, BASIC), b"\x01\x01\xff", _der(OCTETS, basic))]
    if not is_authority:
        names = _der(SEQUENCE, _der(0x82, b"localhost"), _der(0x87, bytes((127, 0, 0, 1))))
        found.append(_der(SEQUENCE, _der(OID, ALTERNATIVE), _der(OCTETS, names)))
    return _der(SEQUENCE, *found)


def _signature(secret: int, message: bytes) -> bytes:
    digest = int.from_bytes(hashlib.sha256(message).digest())
    while True:
        once = secrets.randbelow(N - 1) + 1
        point = _times(once, G)
        assert point is not None
        r = point[0] % N
        s = pow(once, -1, N) * (digest + r * secret) % N
        if r and s:
            return _der(SEQUENCE, _integer(r), _integer(s))


def _public(secret: int) -> bytes:
    point = _times(secret, G)
    assert point is not None
    return b"\x04" + point[0].to_bytes(32) + point[1].to_bytes(32)


def _times(factor: int, point: Point) -> Point:
    total: Point = None
    while factor:
        total = _plus(total, point) if factor & 1 else total
        point = _plus(point, point)
        factor >>= 1
    return total


def _plus(one: Point, other: Point) -> Point:
    if one is None or other is None:
        return one or other
    if one[0] == other[0] and (one[1] + other[1]) % P == 0:
        return None
    if one == other:
        slope = (3 * one[0] * one[0] - 3) * pow(2 * one[1], -1, P) % P
    else:
        slope = (other[1] - one[1]) * pow(other[0] - one[0], -1, P) % P
    x = (slope * slope - one[0] - other[0]) % P
    return x, (slope * (one[0] - x) - one[1]) % P


def _name(name: str) -> bytes:
    return _der(SEQUENCE, _der(SET, _der(SEQUENCE, _der(OID, COMMON_NAME), _der(UTF8, name.encode()))))


def _integer(value: int) -> bytes:
    return _der(INTEGER, value.to_bytes(value.bit_length() // 8 + 1))


def _bits(content: bytes) -> bytes:
    return _der(BITS, b"\0" + content)


def _der(tag: int, *parts: bytes) -> bytes:
    content = b"".join(parts)
    size = len(content)
    if size < 0x80:
        return bytes((tag, size)) + content
    length = size.to_bytes((size.bit_length() + 7) // 8)
    return bytes((tag, 0x80 | len(length))) + length + content


def _pem(kind: str, content: bytes) -> str:
    text = base64.b64encode(content).decode()
    lines = "\n".join(text[at : at + 64] for at in range(0, len(text), 64))
    return f"-----BEGIN {kind}-----\n{lines}\n-----END {kind}-----\n"

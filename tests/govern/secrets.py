"""Planted secrets of many kinds, none of them real, and the ways in which they may stand in a text."""

from __future__ import annotations

import base64
import re
import unicodedata
from collections.abc import Callable
from typing import cast
from urllib.parse import quote, unquote

PLANTED = {
    "private key": "-----BEGIN PRIVATE KEY-----\nMIIEvQ1bADANBgkqhkiG9w0BAQEFAASC\n-----END PRIVATE KEY-----",
    "aws": "AKIA" + "Q7ZX2M4T8WPLK1NB",
    "openai": "sk-" + "proj4abcDEF7ghiJKL0mnoPQR",
    "stripe": "sk_live_" + "4eC39HqLyjWDarjtT1zdp7dc",
    "google": "AIza" + "SyD9x1Q7w2E3r4T5y6U7i8O9p0A1s2D3f4G",
    "oauth secret": "GOCSPX-" + "a1B2c3D4e5F6g7H8i9J0k1L2",
    "oauth access": "ya29." + "a0AfH6SMBx1y2z3A4b5C6d7E8f9",
    "github": "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a",
    "gitlab": "glpat-" + "x7Yz1234AbCd5678EfGh",
    "slack": "xoxb-" + "123456789012-abcdefABCDEF1234",
    "hugging face": "hf_" + "aB1cD2eF3gH4iJ5kL6mN7oP8",
    "npm": "npm_" + "a1b2c3d4e5f6g7h8i9j0k1l2m3n4o5p6q7r8",
    "pypi": "pypi-" + "AgEIcHlwaS5vcmcCJDEyMzQ1Njc4LTkwYWItY2RlZi0xMjM0LTU2Nzg5MGFiY2RlZg",
    "sendgrid": "SG." + "ngeVfQFYQlKU0ufo8x5d1A.TwL2iGABf9DHoTf09kqeF8tAmbihYzrnopKc1s5cr4",
    "telegram": "110201543:" + "AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw1",
    "groq": "gsk_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4",
    "langsmith": "lsv2_pt_" + "0a1b2c3d4e5f67890a1b2c3d",
    "shopify": "shpat_" + "0a1b2c3d4e5f67890a1b2c3d4e5f6789",
    "jwt": "eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N",
    "digital ocean": "dop_v1_" + "0a1b2c3d4e5f67890a1b2c3d4e5f67890a1b2c3d4e5f67890a1b2c3d4e5f6789",
}
"""Twenty kinds of secrets that are known by how they look."""
_ARABIC = str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩")
_WIDE = {code: code + 0xFEE0 for code in range(0x21, 0x7F)}


def basic(secret: str) -> str:
    """Write a header of HTTP's basic scheme."""
    return "Authorization: Basic " + base64.b64encode(f"app:{secret}".encode()).decode()


def broken(secret: str) -> str:
    """Break a secret over two lines."""
    middle = len(secret) // 2
    return f"it is {secret[:middle]}\n  {secret[middle:]}"


DISGUISES: dict[str, Callable[[str], object]] = {
    "alone": lambda secret: secret,
    "in a sentence": lambda secret: f"the key is {secret}, keep it",
    "nested": lambda secret: {"a": [{"b": (secret, 1)}]},
    "as a key": lambda secret: {secret: "value"},
    "in a URL": lambda secret: f"https://shop.example/hook?key={secret}&page=2",
    "escaped in a URL": lambda secret: f"https://shop.example/?q=a%20{quote(secret, safe='')}",
    "in a header": lambda secret: f"Authorization: Bearer {secret}",
    "in a basic header": basic,
    "in base64": lambda secret: {"data": base64.b64encode(f"key={secret}".encode()).decode()},
    "over two lines": broken,
    "with letters nobody sees": lambda secret: "\u200b".join(secret),
    "with a soft hyphen": lambda secret: secret[:9] + "\u00ad" + secret[9:],
    "in digits of another alphabet": lambda secret: secret.translate(_ARABIC),
    "in wide letters": lambda secret: secret.translate(_WIDE),
    "in JSON in a text": lambda secret: '{"note": "' + secret.replace("\n", "\\n") + '"}',
    "under a name": lambda secret: {"dbPassword": secret},
    "after a name": lambda secret: f'client_secret="{secret}"',
    "after a lone surrogate": lambda secret: f"\udcff {secret}",
}
"""How a secret may stand in data."""


def left_of(secret: str, text: str) -> list[str]:
    """Return what is left of a secret in a text that `bare` has read: of its beginning and of its end."""
    core = secret.removeprefix("-----BEGIN PRIVATE KEY-----").removesuffix("-----END PRIVATE KEY-----").strip()
    return [part for part in (core[5:15], core[-8:]) if part in text]


def bare(value: object) -> str:
    """Read data as somebody would who looks for a secret in it."""
    text = "".join(_texts(value))
    decoded = [_decoded(run) for run in re.findall(r"[A-Za-z0-9+/_-]{16,}={0,2}", text)]
    seen = "".join(one for one in "".join((text, *decoded)) if unicodedata.category(one) != "Cf")
    return "".join(_digit(one) for one in unicodedata.normalize("NFKC", unquote(seen)).split())


def _digit(letter: str) -> str:
    return str(unicodedata.decimal(letter)) if letter.isdecimal() else letter


def _texts(value: object) -> list[str]:
    if isinstance(value, dict):
        return [text for pair in cast("dict[object, object]", value).items() for text in _texts(pair)]
    if isinstance(value, list | tuple):
        return [text for each in cast("list[object]", value) for text in _texts(each)]
    return [str(value)]


def _decoded(run: str) -> str:
    try:
        return base64.b64decode(run + "=" * (-len(run) % 4)).decode()
    except ValueError:
        return ""

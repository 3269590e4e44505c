"""Text as a person can judge it: control, bidirectional and invisible characters shown as escapes."""

import unicodedata

_KEPT = "\n\t\u200c\u200d"  # line ends, tabs, and the joiners that scripts and emoji need
_CONTROLS = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")


def visible(text: str) -> str:
    """The text with control, bidirectional and invisible characters as escapes."""
    return "".join(c if c in _KEPT or unicodedata.category(c) not in _CONTROLS else _escape(c) for c in text)


def _escape(character: str) -> str:
    code = ord(character)
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"

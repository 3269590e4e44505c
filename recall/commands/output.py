"""What is printed without tables: JSON, lines, and the escapes that keep a memory's text from driving the terminal."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from recall.review.visible import visible

if TYPE_CHECKING:
    from google.protobuf.message import Message


def one_line(text: str) -> str:
    """As `visible`, on one line."""
    return " ".join(visible(text).split())


def line(text: str) -> None:
    """Writes one line to stdout."""
    sys.stdout.write(text + "\n")


def note(text: str) -> None:
    """Writes one line to stderr."""
    sys.stderr.write(visible(text) + "\n")


def json_document(message: Message) -> None:
    """Writes the message as one indented JSON document."""
    line(_json(message, indent=2))


def json_line(message: Message) -> None:
    """Writes the message as one line of JSON, at once."""
    line(_json(message, indent=None))
    sys.stdout.flush()


def _json(message: Message, indent: int | None) -> str:
    from google.protobuf.json_format import MessageToJson

    return MessageToJson(
        message, preserving_proto_field_name=True, always_print_fields_with_no_presence=True, indent=indent
    )

"""What numbers of an event may be: checked where a line is decoded, so that no log brings a value nobody can carry.

The bounds are those of the contract's types: a Timestamp, a uint32, a share.
"""

from typing import Annotated

from msgspec import Meta

EARLIEST = -62_135_596_800_000_000
"""0001-01-01T00:00:00Z in microseconds."""
LATEST = 253_402_300_799_999_999
"""9999-12-31T23:59:59.999999Z in microseconds."""
MOST = 2**32 - 1
"""The largest count."""
MOST_SEQ = 2**62
"""The largest seq, revision or ordinal; none is ever reached by counting."""

Moment = Annotated[int, Meta(ge=EARLIEST, le=LATEST)]
Count = Annotated[int, Meta(ge=0, le=MOST)]
Share = Annotated[float, Meta(ge=0.0, le=1.0)]
Revision = Annotated[int, Meta(ge=1, le=MOST_SEQ)]
Ordinal = Annotated[int, Meta(ge=-1, le=MOST_SEQ)]
HalfLife = Annotated[float, Meta(ge=0.0, le=36_500.0)]
Limit = Annotated[int, Meta(ge=0, le=100)]
Seq = Annotated[int, Meta(ge=0, le=MOST_SEQ)]

"""The text of a memory, for a reader whose record may be older than the log.

A record names the event that holds its text. A log that was edited by hand and read again may hold another one there,
and so does the log of a bank that was deleted and made anew under the same name while somebody was still reading.
"""

from recall.memory.errors import MemoryNotFound
from recall.memory.opening import Opened
from recall.memory.record import BankName, Record


def text_of(record: Record, opened: Opened, bank: BankName) -> str:
    """The text as the record has it; where the log is another by now, the one the memory has there.

    Raises MemoryNotFound when the log holds no such memory, Damaged, StorageFailure, LogClosed.
    """
    text = opened.log.text_of(record.id, record.text_seq)
    if text is not None:
        return text
    now = opened.state.find(record.id)
    if now is None:
        raise MemoryNotFound(bank, record.id)
    return opened.log.text(now.text_seq)

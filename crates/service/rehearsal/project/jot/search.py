"""Finding notes by words and tags."""

from __future__ import annotations

from collections.abc import Iterable

from .note import Note


def find(notes: Iterable[Note], query: str) -> list[Note]:
    """The notes that have every word of the query; `#word` asks for a tag.

    Notes that are done come last, the latest change first in each half.
    """
    words = query.lower().split()
    found = [note for note in notes if all(_has(note, word) for word in words)]
    found.sort(key=lambda note: note.changed, reverse=True)
    found.sort(key=lambda note: note.done)
    return found


def _has(note: Note, word: str) -> bool:
    if word.startswith("#"):
        return word[1:] in note.tags
    return word in note.text.lower()

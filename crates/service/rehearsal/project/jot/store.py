"""Where notes are kept: one JSON file that is read and written as a whole."""

from __future__ import annotations

import json
from pathlib import Path

from .note import Note, now


class UnknownNote(LookupError):
    """There is no note with this number."""


class Store:
    """All notes of one file, in the order of their numbers."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._notes: dict[int, Note] = {}
        if path.exists():
            for data in json.loads(path.read_text(encoding="utf-8")):
                note = Note.from_json(data)
                self._notes[note.number] = note

    def all(self) -> list[Note]:
        return [self._notes[number] for number in sorted(self._notes)]

    def get(self, number: int) -> Note:
        try:
            return self._notes[number]
        except KeyError:
            raise UnknownNote(number) from None

    def add(self, text: str) -> Note:
        number = max(self._notes, default=0) + 1
        time = now()
        note = Note(number, text, created=time, changed=time)
        self._notes[number] = note
        self._save()
        return note

    def change(self, number: int, text: str) -> Note:
        note = self.get(number)
        if text != note.text:
            note.text = text
            note.changed = now()
            self._save()
        return note

    def finish(self, number: int) -> Note:
        note = self.get(number)
        note.done = True
        note.changed = now()
        self._save()
        return note

    def remove(self, number: int) -> None:
        self.get(number)
        del self._notes[number]
        self._save()

    def _save(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        data = [note.to_json() for note in self.all()]
        text = json.dumps(data, indent=2, ensure_ascii=False)
        self.path.write_text(text + "\n", encoding="utf-8")

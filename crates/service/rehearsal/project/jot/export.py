"""All notes as one Markdown text."""

from __future__ import annotations

import json

from . import config


def markdown() -> str:
    """Open notes first, then those that are done, each with a box to tick."""
    path = config.notes_file()
    if not path.exists():
        return ""
    notes = json.loads(path.read_text(encoding="utf-8"))
    lines = ["# Notes", ""]
    for done in (False, True):
        for note in notes:
            if bool(note.get("done")) == done:
                lines.extend(_entry(note["text"], done))
    return "\n".join(lines) + "\n"


def _entry(text: str, done: bool) -> list[str]:
    first, *rest = text.strip().split("\n")
    box = "[x]" if done else "[ ]"
    return [f"- {box} {first}"] + [f"  {line}" for line in rest]

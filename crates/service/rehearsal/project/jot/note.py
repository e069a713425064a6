"""A note, and how it is written as JSON."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timezone

_TAG = re.compile(r"(?<!\S)#(\w[\w-]*)")


def now() -> str:
    """The time as notes carry it: UTC, to the second."""
    return datetime.now(timezone.utc).isoformat(timespec="seconds")


@dataclass
class Note:
    """One note. Its number is what people type."""

    number: int
    text: str
    created: str
    changed: str
    done: bool = False

    @property
    def title(self) -> str:
        """The first line, which stands for the whole in lists."""
        return self.text.strip().partition("\n")[0]

    @property
    def tags(self) -> set[str]:
        """The words that begin with `#`, in lower case and without it."""
        return {tag.lower() for tag in _TAG.findall(self.text)}

    def to_json(self) -> dict:
        return {
            "number": self.number,
            "text": self.text,
            "created": self.created,
            "changed": self.changed,
            "done": self.done,
        }

    @classmethod
    def from_json(cls, data: dict) -> Note:
        return cls(
            number=int(data["number"]),
            text=data["text"],
            created=data["created"],
            changed=data.get("changed", data["created"]),
            done=bool(data.get("done", False)),
        )

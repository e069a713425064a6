"""Where this computer keeps its notes."""

from __future__ import annotations

import os
from pathlib import Path

FILE = "notes.json"


def directory() -> Path:
    """The directory of the notes: `JOT_DIR`, or the usual place for data."""
    chosen = os.environ.get("JOT_DIR")
    if chosen:
        return Path(chosen)
    data = os.environ.get("XDG_DATA_HOME")
    base = Path(data) if data else Path.home() / ".local" / "share"
    return base / "jot"


def notes_file() -> Path:
    return directory() / FILE

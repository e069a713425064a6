"""The command line."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from . import config, export, search
from .note import Note
from .store import Store, UnknownNote


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    store = Store(config.notes_file())
    try:
        return options.run(store, options)
    except UnknownNote as error:
        print(f"jot: there is no note {error}", file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="jot", description="Notes from the command line.")
    commands = parser.add_subparsers(required=True, metavar="command")

    def command(name: str, run, about: str) -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=about, description=about)
        added.set_defaults(run=run)
        return added

    command("add", _add, "Add a note.").add_argument("text")
    command("list", _list, "List all notes.")
    command("edit", _edit, "Change a note in an editor.").add_argument("number", type=int)
    command("done", _done, "Tick a note off.").add_argument("number", type=int)
    command("remove", _remove, "Remove a note.").add_argument("number", type=int)
    command("find", _find, "Find notes by words and #tags.").add_argument("query")
    command("export", _export, "Print all notes as Markdown.")
    return parser


def _add(store: Store, options: argparse.Namespace) -> int:
    print(_line(store.add(options.text)))
    return 0


def _list(store: Store, options: argparse.Namespace) -> int:
    for note in store.all():
        print(_line(note))
    return 0


def _edit(store: Store, options: argparse.Namespace) -> int:
    note = store.get(options.number)
    print(_line(store.change(note.number, _edited(note.text))))
    return 0


def _done(store: Store, options: argparse.Namespace) -> int:
    print(_line(store.finish(options.number)))
    return 0


def _remove(store: Store, options: argparse.Namespace) -> int:
    store.remove(options.number)
    return 0


def _find(store: Store, options: argparse.Namespace) -> int:
    found = search.find(store.all(), options.query)
    for note in found:
        print(_line(note))
    return 0 if found else 1


def _export(store: Store, options: argparse.Namespace) -> int:
    sys.stdout.write(export.markdown())
    return 0


def _line(note: Note) -> str:
    return f"{note.number:>4} {'x' if note.done else ' '} {note.title}"


def _edited(text: str) -> str:
    """Gives a text to the editor of the user's choice and takes back what was saved."""
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "note.txt"
        path.write_text(text, encoding="utf-8")
        subprocess.run([os.environ.get("EDITOR", "vi"), str(path)], check=True)
        return path.read_text(encoding="utf-8").rstrip("\n")


if __name__ == "__main__":
    sys.exit(main())

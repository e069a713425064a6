"""What a store promises to those who use it."""

import tempfile
import unittest
from pathlib import Path

from jot.search import find
from jot.store import Store, UnknownNote


class StoreTest(unittest.TestCase):
    def setUp(self) -> None:
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.path = Path(place.name) / "jot" / "notes.json"

    def test_notes_are_there_after_reopening(self) -> None:
        Store(self.path).add("Call the plumber")
        self.assertEqual([note.text for note in Store(self.path).all()], ["Call the plumber"])

    def test_numbers_count_up(self) -> None:
        store = Store(self.path)
        self.assertEqual([store.add(text).number for text in ("a", "b", "c")], [1, 2, 3])

    def test_the_number_of_the_last_note_is_given_again(self) -> None:
        store = Store(self.path)
        store.add("a")
        store.remove(store.add("b").number)
        self.assertEqual(store.add("c").number, 2)

    def test_an_edit_without_a_change_leaves_the_time(self) -> None:
        store = Store(self.path)
        note = store.add("a")
        old = note.changed = "2020-01-01T00:00:00+00:00"
        self.assertEqual(store.change(note.number, "a").changed, old)

    def test_an_unknown_number_is_an_error(self) -> None:
        with self.assertRaises(UnknownNote):
            Store(self.path).get(7)

    def test_words_and_tags_must_all_be_there(self) -> None:
        store = Store(self.path)
        store.add("Call the plumber #home")
        store.add("Call the bank #money")
        self.assertEqual([note.number for note in find(store.all(), "call #home")], [1])


if __name__ == "__main__":
    unittest.main()

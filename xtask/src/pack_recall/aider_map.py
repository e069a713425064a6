"""Aider's repository map for one request in each line of stdin, one JSON line out for each.

A request has `root`, `files`, `feature` and `budgets`. Mentions are found as aider's own chat does it.
"""

import json
import os
import re
import sys
from collections import defaultdict
from pathlib import Path

import tiktoken
from aider.repomap import RepoMap

ENCODING = tiktoken.get_encoding("cl100k_base")


class Model:
    def token_count(self, text):
        return len(ENCODING.encode(text, disallowed_special=()))


class Quiet:
    def __getattr__(self, name):
        return lambda *args, **kwargs: None

    def read_text(self, path, silent=False):
        try:
            return Path(path).read_text(encoding="utf-8")
        except (OSError, UnicodeError):
            return None


def mentions(feature, files):
    words = {word.rstrip(",.!;:?").strip("\"'`*_") for word in feature.split()}
    named = {name for name in files if name in words}
    by_base = defaultdict(set)
    for name in files:
        by_base[os.path.basename(name)].add(name)
    for base, names in by_base.items():
        if len(names) == 1 and base in words and re.search(r"[/\\._-]", base):
            named |= names
    identifiers = set(re.split(r"\W+", feature))
    stems = defaultdict(set)
    for name in files:
        stem = Path(name).stem.lower()
        if len(stem) >= 5:
            stems[stem].add(name)
    for identifier in identifiers:
        if len(identifier) >= 5:
            named |= stems[identifier.lower()]
    return named, identifiers


def main():
    for line in sys.stdin:
        request = json.loads(line)
        root, files = request["root"], request["files"]
        named, identifiers = mentions(request["feature"], files)
        paths = [os.path.join(root, name) for name in files]
        maps = []
        for budget in request["budgets"]:
            repo_map = RepoMap(map_tokens=budget, root=root, main_model=Model(), io=Quiet(), refresh="always")
            text = repo_map.get_repo_map([], paths, mentioned_fnames=named, mentioned_idents=identifiers)
            maps.append(text or "")
        print(json.dumps(maps), flush=True)


main()

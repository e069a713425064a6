"""Packs a folder as a wheel: every file in order, with one time, and a list of their hashes."""

import base64
import hashlib
import pathlib
import sys
import time
import zipfile


def main(folder: pathlib.Path, wheel: pathlib.Path, seconds: int) -> None:
    # A zip file knows no time before 1980.
    when = time.gmtime(max(seconds, 315532800))[:6]
    info = next(folder.glob("*.dist-info"))
    record = f"{info.name}/RECORD"
    lines = []
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:

        def add(name: str, data: bytes, mode: int) -> None:
            entry = zipfile.ZipInfo(name, when)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3
            entry.external_attr = (0o100000 | mode) << 16
            packed.writestr(entry, data)

        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            name, data = path.relative_to(folder).as_posix(), path.read_bytes()
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            lines.append(f"{name},sha256={digest},{len(data)}\n")
            add(name, data, 0o755 if "/scripts/" in name else 0o644)
        lines.append(f"{record},,\n")
        add(record, "".join(lines).encode(), 0o644)


main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), int(sys.argv[3]))

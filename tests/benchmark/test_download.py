"""Downloads: whole or not at all, continued where they stopped, whatever the server does."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from local_mirror import LocalMirror, local_mirror, sha256

from benchmark import download as module
from benchmark.download import CHUNK, DownloadError, download

CONTENT = random.Random(0).randbytes(40 * CHUNK + 123)
NAME = "folder/data.bin"
HALF = 20 * CHUNK


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalMirror]:
    """A mirror with one file."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(module.time, "sleep", lambda seconds: None)
    with local_mirror() as mirror:
        mirror.files[NAME] = CONTENT
        yield mirror


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "downloads" / "data.bin"


def fetch(server: LocalMirror, target: Path, digest: str | None = sha256(CONTENT)) -> None:
    target.parent.mkdir(exist_ok=True)
    download(f"{server.url}/{NAME}", target, digest)


def stop_early(server: LocalMirror, target: Path, digest: str | None = sha256(CONTENT)) -> None:
    """A download of which only the first half arrives, however often it is tried."""
    server.cuts = [HALF, 0, 0]
    with pytest.raises(DownloadError, match=r"data\.bin: "):
        fetch(server, target, digest)
    assert not target.exists()
    assert target.with_name("data.bin.partial").read_bytes() == CONTENT[:HALF]
    server.asked.clear()
    server.cuts = []
    server.sent = 0


def only_the_target(target: Path) -> bool:
    return target.read_bytes() == CONTENT and list(target.parent.iterdir()) == [target]


@pytest.mark.parametrize("digest", [sha256(CONTENT), None])
def test_one_request_brings_the_file(digest: str | None, server: LocalMirror, target: Path) -> None:
    fetch(server, target, digest)
    assert only_the_target(target)
    assert server.asked == [(NAME, None)]


def test_progress_is_told(server: LocalMirror, target: Path) -> None:
    told: list[tuple[str, int, int | None]] = []
    target.parent.mkdir()
    download(f"{server.url}/{NAME}", target, None, lambda *said: told.append(said))
    amounts = [done for _, done, _ in told]
    assert amounts == sorted(amounts)
    assert told[-1] == ("data.bin", len(CONTENT), len(CONTENT))


@pytest.mark.parametrize("digest", [sha256(CONTENT), None])
def test_a_truncated_answer_is_continued(
    digest: str | None, server: LocalMirror, target: Path
) -> None:
    server.cuts = [HALF, CHUNK + 100]
    fetch(server, target, digest)
    assert only_the_target(target)
    asked = [wanted for _, wanted in server.asked]
    assert asked == [None, f"bytes={HALF}-", f"bytes={HALF + CHUNK}-"]
    assert server.sent == len(CONTENT) + 100  # less than a chunk is lost when an answer breaks off


@pytest.mark.parametrize("digest", [sha256(CONTENT), None])
def test_an_interrupted_download_goes_on_later(
    digest: str | None, server: LocalMirror, target: Path
) -> None:
    stop_early(server, target, digest)
    fetch(server, target, digest)
    assert only_the_target(target)
    assert server.asked == [(NAME, f"bytes={HALF}-")]
    assert server.sent == len(CONTENT) - HALF


def test_without_ranges_it_begins_again(server: LocalMirror, target: Path) -> None:
    stop_early(server, target)
    server.ranges = False
    fetch(server, target)
    assert only_the_target(target)
    assert server.sent == len(CONTENT)


def test_without_checksum_and_validator_it_begins_again(server: LocalMirror, target: Path) -> None:
    server.validators = False
    server.cuts = [0, 0, HALF]
    with pytest.raises(DownloadError):
        fetch(server, target, None)
    server.files[NAME] = other = bytes(reversed(CONTENT))
    fetch(server, target, None)
    assert target.read_bytes() == other
    assert {wanted for _, wanted in server.asked} == {None}


def test_a_file_that_changed_meanwhile_is_not_mixed(server: LocalMirror, target: Path) -> None:
    stop_early(server, target, None)
    other = bytes(reversed(CONTENT))
    server.files[NAME] = other
    fetch(server, target, None)
    assert target.read_bytes() == other


def test_an_unmarked_change_is_noticed_by_the_checksum(server: LocalMirror, target: Path) -> None:
    server.validators = False
    server.files[NAME] = bytes(len(CONTENT))
    server.cuts = [HALF, 0, 0]
    with pytest.raises(DownloadError):
        fetch(server, target)
    server.files[NAME], server.cuts = CONTENT, []
    fetch(server, target)  # the continued one is wrong, so it is fetched anew
    assert only_the_target(target)
    assert [wanted for _, wanted in server.asked[-2:]] == [f"bytes={HALF}-", None]


@pytest.mark.parametrize("extra", [0, 7])
def test_a_partial_file_that_is_too_long_is_dropped(
    extra: int, server: LocalMirror, target: Path
) -> None:
    target.parent.mkdir()
    target.with_name("data.bin.partial").write_bytes(CONTENT + bytes(extra))
    fetch(server, target)
    assert only_the_target(target)


def test_another_range_than_asked_for_is_not_appended(server: LocalMirror, target: Path) -> None:
    stop_early(server, target)
    server.shift = 5
    with pytest.raises(DownloadError, match="another range"):
        fetch(server, target)
    assert not target.exists()
    server.shift = 0
    fetch(server, target)
    assert only_the_target(target)


def test_a_short_answer_of_unknown_length_fails_by_its_checksum(
    server: LocalMirror, target: Path
) -> None:
    server.lengths = False
    server.cuts = [HALF]
    with pytest.raises(DownloadError, match="wrong sha256"):
        fetch(server, target)
    assert list(target.parent.iterdir()) == []
    fetch(server, target)
    assert only_the_target(target)


def test_wrong_content_is_refused_and_removed(server: LocalMirror, target: Path) -> None:
    server.files[NAME] = b"something else"
    with pytest.raises(DownloadError, match=r"data\.bin: wrong sha256"):
        fetch(server, target)
    assert list(target.parent.iterdir()) == []


@pytest.mark.parametrize("status", [403, 404, 500, 503])
def test_an_error_is_one_line_with_the_address(
    status: int, server: LocalMirror, target: Path
) -> None:
    server.status[NAME] = status
    with pytest.raises(DownloadError) as caught:
        fetch(server, target)
    message = str(caught.value)
    assert str(status) in message
    assert server.url in message
    assert "\n" not in message


def test_a_dead_server_is_one_line_with_the_address(target: Path) -> None:
    with local_mirror() as mirror:
        url = mirror.url
    target.parent.mkdir()
    with pytest.raises(DownloadError) as caught:
        download(f"{url}/{NAME}", target, None)
    assert str(caught.value).startswith(f"{url}/{NAME}: ")
    assert "\n" not in str(caught.value)
    assert not target.exists()


def test_what_the_disk_says_is_passed_on(server: LocalMirror, tmp_path: Path) -> None:
    target = tmp_path / "file" / "data.bin"
    target.parent.write_text("in the way")
    with pytest.raises(OSError, match=r"exists|[Nn]ot a directory"):
        download(f"{server.url}/{NAME}", target, None)

"""Archives are the same bytes everywhere, and a hostile one writes nothing outside its folder."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import tarfile
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from method import archive
from method.archive import ArchiveProblem, unpack, write_archive

MEMBERS: dict[str, bytes | Path] = {"b.json": b"{}", "a/x.txt": b"hello" * 1000, "a/empty": b""}
SUFFIXES = [".tar.gz", ".tar.zst"]


def declared(**members: bytes) -> bytes:
    told = {
        n: {"size": len(c), "sha256": hashlib.sha256(c).hexdigest()} for n, c in members.items()
    }
    return json.dumps({"members": told}).encode()


def tar_file(path: Path, members: Sequence[tuple[tarfile.TarInfo, bytes]]) -> Path:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for header, content in members:
            header.size = len(content)
            tar.addfile(header, io.BytesIO(content))
    path.write_bytes(gzip.compress(buffer.getvalue()))
    return path


def plain(name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    header = tarfile.TarInfo(name)
    header.type, header.linkname = kind, link
    return header


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_what_goes_in_comes_out_and_is_always_the_same_bytes(tmp_path: Path, suffix: str) -> None:
    file = tmp_path / "member"
    file.write_bytes(b"from a file")
    first, second = tmp_path / f"one{suffix}", tmp_path / "there" / f"two{suffix}"
    second.parent.mkdir()
    digest = write_archive(first, {**MEMBERS, "f": file}, {"format": "t"})
    os.utime(file, (1, 1))
    assert write_archive(second, {"f": file, **dict(reversed(MEMBERS.items()))}, {"format": "t"})
    assert first.read_bytes() == second.read_bytes()
    assert hashlib.sha256(first.read_bytes()).hexdigest() == digest
    out = tmp_path / "out"
    out.mkdir()
    assert unpack(first, out)["format"] == "t"
    assert (out / "a" / "x.txt").read_bytes() == b"hello" * 1000
    assert (out / "f").read_bytes() == b"from a file"
    assert sorted(p.name for p in out.rglob("*") if p.is_file()) == [
        "b.json",
        "empty",
        "f",
        "x.txt",
    ]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_any_changed_byte_is_noticed(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a{suffix}"
    write_archive(path, MEMBERS, {})
    content = path.read_bytes()
    for number, place in enumerate(range(0, len(content), 7)):
        damaged = bytearray(content)
        damaged[place] ^= 0x55
        path.write_bytes(damaged)
        out = tmp_path / f"out{number}"
        out.mkdir()
        refused = False
        try:
            unpack(path, out)
        except ArchiveProblem:
            refused = True
        if not refused:  # a byte of a header that carries nothing (a time, an extra flag)
            assert (out / "a" / "x.txt").read_bytes() == b"hello" * 1000


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_torn_copy_is_refused(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a{suffix}"
    write_archive(path, {"x": os.urandom(3000)}, {})
    content = path.read_bytes()
    for number, size in enumerate(range(0, len(content) - 100, 97)):
        path.write_bytes(content[:size])
        out = tmp_path / f"out{number}"
        out.mkdir()
        with pytest.raises(ArchiveProblem):
            unpack(path, out)


HOSTILE = ["../escape", "/escape", "a/../../escape", "a/./x", "a//x", ".hidden", "x\\..\\y", "a\nb",
           "é", "a/b/c/d/e", "n" * 101]  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_names_that_lead_elsewhere_are_refused(tmp_path: Path, name: str) -> None:
    members = [(plain("manifest.json"), declared(**{name: b"x"})), (plain(name), b"x")]
    path = tar_file(tmp_path / "a.tar.gz", members)
    out = tmp_path / "inside" / "out"
    out.mkdir(parents=True)
    with pytest.raises(ArchiveProblem, match=r"unsafe member name|no plain file|damaged"):
        unpack(path, out)
    assert not list(tmp_path.rglob("escape"))
    with pytest.raises(ArchiveProblem, match="unsafe member name"):
        write_archive(tmp_path / "b.tar.gz", {name: b""}, {})
    assert not (tmp_path / "b.tar.gz").exists()


@pytest.mark.parametrize(
    "kind",
    [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE,
     tarfile.BLKTYPE, tarfile.GNUTYPE_SPARSE, tarfile.GNUTYPE_LONGNAME, tarfile.XHDTYPE,
     tarfile.XGLTYPE],
)  # fmt: skip
def test_only_plain_files_are_unpacked(tmp_path: Path, kind: bytes) -> None:
    members = [
        (plain("manifest.json"), declared(link=b"", x=b"x")),
        (plain("link", kind, "/etc/passwd"), b""),
        (plain("x"), b"x"),
    ]
    out = tmp_path / "out"
    out.mkdir()
    with pytest.raises(ArchiveProblem):
        unpack(tar_file(tmp_path / "a.tar.gz", members), out)
    assert list(out.iterdir()) == []


def test_a_link_cannot_redirect_a_later_member(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.mkdir()
    members = [
        (plain("manifest.json"), declared(**{"d": b"", "d/x": b"x"})),
        (plain("d", tarfile.SYMTYPE, str(target)), b""),
        (plain("d/x"), b"x"),
    ]
    out = tmp_path / "out"
    out.mkdir()
    with pytest.raises(ArchiveProblem):
        unpack(tar_file(tmp_path / "a.tar.gz", members), out)
    assert list(target.iterdir()) == []


@pytest.mark.parametrize(
    ("members", "words"),
    [
        ([], "does not begin with a manifest"),
        ([("x", b"x")], "does not begin with a manifest"),
        ([("manifest.json", b"[]")], "not one of ours"),
        ([("manifest.json", b"{")], "not one of ours"),
        (
            [("manifest.json", b'{"members": {"x": {"size": "1", "sha256": ""}}}')],
            "not one of ours",
        ),
        ([("manifest.json", declared(x=b"x"))], "lacks x"),
        ([("manifest.json", declared()), ("x", b"x")], "not in the manifest"),
        ([("manifest.json", declared(x=b"x")), ("x", b"x"), ("x", b"x")], "there twice"),
        ([("manifest.json", declared(x=b"x")), ("x", b"xx")], "another size"),
        ([("manifest.json", declared(x=b"x")), ("x", b"y")], "sha256"),
    ],
)
def test_the_manifest_is_compared_with_everything(
    tmp_path: Path, members: list[tuple[str, bytes]], words: str
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    path = tar_file(tmp_path / "a.tar.gz", [(plain(name), content) for name, content in members])
    with pytest.raises(ArchiveProblem, match=words):
        unpack(path, out)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_bombs_are_not_unpacked(
    tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / f"bomb{suffix}"
    write_archive(path, {"zeros": bytes(80 << 20)}, {})
    out = tmp_path / "out"
    out.mkdir()
    monkeypatch.setattr(archive, "MAX_GROWTH", 10)
    with pytest.raises(ArchiveProblem, match="too many bytes"):
        unpack(path, out)
    assert sum(p.stat().st_size for p in out.rglob("*") if p.is_file()) == 0


def test_a_header_that_lies_about_its_size(tmp_path: Path) -> None:
    header = plain("manifest.json")
    header.size = 1 << 40
    path = tmp_path / "a.tar.gz"
    path.write_bytes(gzip.compress(header.tobuf(tarfile.GNU_FORMAT) + bytes(1024)))
    out = tmp_path / "out"
    out.mkdir()
    with pytest.raises(ArchiveProblem):
        unpack(path, out)


def test_a_failed_write_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "a.tar.gz"
    out.write_bytes(b"the one before")

    def full(*arguments: object, **options: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tarfile.TarFile, "addfile", full)
    with pytest.raises(OSError, match="No space"):
        write_archive(out, MEMBERS, {})
    assert out.read_bytes() == b"the one before"
    assert os.listdir(tmp_path) == ["a.tar.gz"]


@pytest.mark.parametrize("name", ["a.zip", "a.tar", "a.gz", "a"])
def test_other_names_are_refused(tmp_path: Path, name: str) -> None:
    make: Callable[..., object]
    for make, given in ((write_archive, (MEMBERS, {})), (unpack, (tmp_path,))):
        (tmp_path / name).touch()
        with pytest.raises(ArchiveProblem, match=r"name it FILE\.tar\.zst or FILE\.tar\.gz"):
            make(tmp_path / name, *given)

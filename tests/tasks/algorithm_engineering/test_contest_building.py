"""Candidate files, and their compilation: blind to the host, limited, cached."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmark import provenance
from benchmark.evaluator import BuildFailed, Unavailable
from benchmark.harness import Harness
from benchmark.sandbox.jail import SandboxBroken
from benchmark.sandbox.limits import Limits
from benchmark.sandbox.session import Session
from tasks.algorithm_engineering import building
from tasks.algorithm_engineering.building import build_candidate, readable
from tasks.algorithm_engineering.caching import cache_folder
from tasks.algorithm_engineering.source import MAX_SOURCE_BYTES, cpp_source

HELLO = b'#include <cstdio>\nint main() { std::puts("hello"); }\n'
REPOSITORY = Path(__file__).resolve().parents[3]


def candidate(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize("name", ["a.cpp", "a.cc", "a"])
def test_plain_source(tmp_path: Path, name: str) -> None:
    assert cpp_source(candidate(tmp_path, name, b"\xef\xbb\xbf" + HELLO)) == HELLO


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("CPP_CODE = '''int main() {}\n'''\n", "int main() {}\n"),
        ("# EVOLVE-BLOCK-START\nCPP_CODE = r'''\"\\n\"'''\n# EVOLVE-BLOCK-END\n", '"\\n"'),
        ("CPP_CODE = '''\"\\\\n\"'''", '"\\n"'),  # two characters in Python are one in C++
        ("CPP_CODE = '''\\n'''", "\n"),
        ("CPP_CODE = ('int main()'\n ' {}')", "int main() {}"),
        ("\ufeffCPP_CODE = '// \u00e4'", "// \u00e4"),
    ],
)
def test_source_in_a_literal(tmp_path: Path, text: str, source: str) -> None:
    assert cpp_source(candidate(tmp_path, "a.py", text)).decode() == source


@pytest.mark.parametrize(
    "text",
    [
        "",
        "CODE = 'int main() {}'",
        "CPP_CODE = b'int main() {}'",
        "CPP_CODE = f'int main() {{}}'",
        "CPP_CODE = 'int ' + 'main() {}'",
        "CPP_CODE = 'a'.upper()",
        "CPP_CODE = OTHER = 'int main() {}'",
        "CPP_CODE: str = 'int main() {}'",
        "CPP_CODE, = ['int main() {}']",
        "import os\nCPP_CODE = 'int main() {}'",
        "CPP_CODE = 'int main() {}'\nCPP_CODE = 'int main() {}'",
        "CPP_CODE = 'int main() {}'\nopen('evil', 'w')",
        "def f():\n    CPP_CODE = 'int main() {}'",
        "CPP_CODE = '''int main() {}",
        "CPP_CODE = " + "(" * 5000 + "'x'" + ")" * 5000,
        "CPP_CODE = 'a\0b'",
    ],
)
def test_other_python_files_are_refused(
    tmp_path: Path, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BuildFailed, match=r"exactly one assignment|not a Python module"):
        cpp_source(candidate(tmp_path, "a.py", text))
    assert os.listdir(tmp_path) == ["a.py"]  # nothing was executed


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("a.cpp", b"int x; // \xff", "not UTF-8"),
        ("a.py", "CPP_CODE = '\\udc80'", "not UTF-8"),
        ("a.cpp", b" " * (MAX_SOURCE_BYTES + 1), "the contest allows 524288"),
        ("a.py", b"CPP_CODE = '" + b"\\x20" * (MAX_SOURCE_BYTES + 1) + b"'", "allows 524288"),
        ("a.py", b"#" * (8 * MAX_SOURCE_BYTES + 1), "larger than 4 MiB"),
        ("a.py", b"CPP_CODE = '" + b" " * (MAX_SOURCE_BYTES + 1) + b"'", "allows 524288"),
    ],
)
def test_unusable_sources(tmp_path: Path, name: str, content: str | bytes, reason: str) -> None:
    with pytest.raises(BuildFailed, match=reason):
        cpp_source(candidate(tmp_path, name, content))


def test_longest_source(tmp_path: Path) -> None:
    longest = b" " * MAX_SOURCE_BYTES
    assert cpp_source(candidate(tmp_path, "a.cpp", longest)) == longest


pytestmark = pytest.mark.usefixtures("need_compiler")


@pytest.fixture(params=["bubblewrap", "process"])
def jail(request: pytest.FixtureRequest) -> Iterator[Session]:
    """A sandbox of each isolation level, as a build gets it."""
    try:
        with Harness(request.param) as harness:
            yield harness.session(Limits(wall_s=60, memory_mb=2048, idle_s=5))
    except SandboxBroken as error:
        pytest.skip(str(error))


@pytest.fixture
def no_builds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return cache_folder("builds")


def test_building_once(jail: Session, no_builds: Path) -> None:
    program = build_candidate(HELLO, jail)
    assert subprocess.run([program], capture_output=True, check=True).stdout == b"hello\n"
    spent = jail.account.cpu_s
    assert build_candidate(HELLO, jail) == program
    assert jail.account.cpu_s == spent
    assert list(no_builds.iterdir()) == [program]
    other = build_candidate(HELLO.replace(b"hello", b"other"), jail)
    assert other != program


def test_builds_depend_on_compiler_and_processor(
    sandbox: Session, no_builds: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = {build_candidate(HELLO, sandbox)}
    path, version = building.compiler()
    monkeypatch.setattr(building, "compiler", lambda: (path, version + "?"))
    programs.add(build_candidate(HELLO, sandbox))
    monkeypatch.setattr(provenance, "machine", lambda: {"cpu": "another"})
    programs.add(build_candidate(HELLO, sandbox))
    assert len(programs) == 3


def test_contest_flags(sandbox: Session) -> None:
    source = b"""
    #if !defined(ONLINE_JUDGE) || !defined(ATCODER) || __cplusplus < 202002L || !__OPTIMIZE__
    #error flags
    #endif
    #include <bits/stdc++.h>
    constexpr long sum() { long s = 0; for (long i = 0; i < 300000; i++) s += i; return s; }
    static_assert(sum() > 0);
    int main() {}
    """
    assert build_candidate(source, sandbox).is_file()


def test_the_message_of_the_compiler(jail: Session) -> None:
    with pytest.raises(BuildFailed, match=r"does not compile: main\.cpp:2:17: error: ") as caught:
        build_candidate(b"int\nmain() { return nothing; }\n", jail)
    message = caught.value.attachments["compiler"]
    assert "return nothing;" in message
    with pytest.raises(BuildFailed, match="undefined reference to `missing") as caught:
        build_candidate(b"void missing();\nint main() { missing(); }\n", jail)
    assert "main.o" in caught.value.attachments["compiler"]
    for text in (str(caught.value), caught.value.attachments["compiler"]):
        assert "/tmp" not in text
        assert "/work" not in text
    with pytest.raises(BuildFailed) as again:
        build_candidate(b"void missing();\nint main() { missing(); }\n", jail)
    assert again.value.attachments == caught.value.attachments


def test_paths_of_the_host_are_not_shown() -> None:
    said = b"/home/me/x y/main.cpp:1: error: \x1b[1m/usr/bin/ld: /tmp/sandbox-9/ccAb12Cd.o: no\n"
    assert readable(said) == "x main.cpp:1: error: [1m/usr/bin/ld: main.o: no\n".replace(
        "x main", "x y/main"
    )


@pytest.fixture
def secrets(tmp_path: Path) -> list[Path]:
    """Files of the host that a compiler could read if it saw them."""
    secret = tmp_path / "secret.h"
    secret.write_text("int secret = 1;\n")
    harness = REPOSITORY / "tasks/algorithm_engineering/native/clock.c"
    assert harness.is_file()
    return [secret, harness, Path("/etc/hostname")]


def test_include_of_a_file_of_the_host(jail: Session, secrets: list[Path]) -> None:
    for path in secrets:
        with pytest.raises(BuildFailed, match=r"fatal error: .*(No such file|denied)"):
            build_candidate(f'#include "{path}"\nint main() {{}}\n'.encode(), jail)


def test_looking_for_a_file_of_the_host(secrets: list[Path], sandbox: Session) -> None:
    """In the default sandbox not even its existence can be learnt."""
    if not sandbox.launcher.isolation.startswith("bubblewrap"):
        pytest.skip("without namespaces a path can be looked up, but not opened")
    for path in secrets:
        probe = f'#if __has_include("{path}")\n#error seen\n#endif\nint main() {{}}\n'
        build_candidate(probe.encode(), sandbox)


def test_incbin_of_a_file_of_the_host(jail: Session, secrets: list[Path]) -> None:
    for path in secrets:
        source = f'asm(".incbin \\"{path}\\"");\nint main() {{}}\n'
        with pytest.raises(BuildFailed, match=r"file not found|No such file|denied"):
            build_candidate(source.encode(), jail)


BOMBS = {
    "templates": b"""
        template <int A, int B> struct Bomb { Bomb<A - 1, 2 * B> a; Bomb<A - 1, 2 * B + 1> b; };
        template <int B> struct Bomb<0, B> { int x; };
        int main() { Bomb<26, 0> bomb; (void)bomb; }""",
    "constexpr": b"""
        constexpr long sum() { long s = 0; for (long i = 0; i < 1L << 50; i++) s ^= i; return s; }
        static_assert(sum() != 1);
        int main() {}""",
    "preprocessor": b"#include __FILE__\n#include __FILE__\n",
    "memory": b"""
        constexpr int n = 1 << 28;
        struct Big { char bytes[n]; constexpr Big() : bytes() { for (auto& b : bytes) b = 1; } };
        constexpr Big big;
        int main() { return big.bytes[n - 1]; }""",
    "disk": b"char big[3000u << 20] = {1};\nint main() { return big[7]; }",
    "output": b"#define A _Pragma(\"GCC warning \\\"" + b"x" * 4000 + b"\\\"\")\n"
    b"#define B A A A A A A A A A A\n#define C B B B B B B B B B B\n#define D C C C C C C C C C C\n"
    b"D D D D D D\n#error end\nint main() {}",
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", BOMBS)
def test_bombs(name: str, jail: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(building, "BUILD_S", 4.0)
    with pytest.raises(BuildFailed):
        build_candidate(BOMBS[name], jail)
    assert jail.account.peak_mb < 2100


def test_no_compiler(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    building.compiler.cache_clear()
    monkeypatch.setenv("PATH", str(tmp_path))
    try:
        with pytest.raises(Unavailable, match=r"apt-get install g\+\+"):
            building.compiler()
    finally:
        building.compiler.cache_clear()


def test_compiler_that_the_sandbox_does_not_show(
    sandbox: Session, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    hidden = tmp_path / "g++"
    hidden.write_text(f"#!{sys.executable}\n")
    hidden.chmod(0o755)
    monkeypatch.setattr(building, "compiler", lambda: (str(hidden), "1"))
    with pytest.raises(Unavailable, match="cannot be run in the sandbox"):
        build_candidate(HELLO, sandbox)


def test_our_own_files_must_compile(sandbox: Session, tmp_path: Path) -> None:
    broken = candidate(tmp_path, "broken.c", "int main(")
    with pytest.raises(RuntimeError, match=r"broken\.c does not compile here"):
        building.build_native(broken, (), sandbox)

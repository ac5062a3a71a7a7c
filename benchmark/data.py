"""Third-party data files: where they are on this machine and how they come here.

A task declares its files in ``task.toml`` (:class:`benchmark.task.DataFile`). They are looked for
in the mirror (``EVODUET_DATA_MIRROR``, a folder or a URL) and in the cache (``EVODUET_DATA``, else
the platform's cache folder). Scoring never touches the network: it takes a file from a mirror
folder or the cache, or makes it from what the task ships. :meth:`DataStore.fetch` brings files
into the cache. No file is handed out before its checksum was right; see :mod:`benchmark.checksums`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

from benchmark.checksums import Marks, content_problem
from benchmark.download import DownloadError, Progress
from benchmark.evaluator import Setup, Unavailable
from benchmark.obtaining import ConversionError, Way, rebuilding, ways
from benchmark.provenance import sha256_file
from benchmark.task import DataFile, Task

CACHE_VARIABLE = "EVODUET_DATA"
MIRROR_VARIABLE = "EVODUET_DATA_MIRROR"

Place = Literal["mirror", "cache", "rebuild", "missing", "wrong"]
"""Where a file is; ``rebuild``: not there yet, but made here on demand; ``wrong``: refused."""


@dataclass(frozen=True)
class FileState:
    """One declared file on this machine; ``path`` and ``sha256`` only where it is there and right.

    ``problem`` tells of copies that were refused, and why the file could not be had.
    """

    file: DataFile
    place: Place
    path: Path | None = None
    sha256: str = ""
    problem: str = ""

    @property
    def available(self) -> bool:
        """Whether an evaluator can have it now, without the network."""
        return self.place in ("mirror", "cache", "rebuild")


@dataclass(frozen=True)
class TaskData:
    """The files of one task, and the data variant that runs by default (``None``: none can)."""

    task: Task
    files: tuple[FileState, ...]

    @property
    def variant(self) -> str | None:
        """The first variant whose files are all there."""
        for variant in self.task.declared.variants:
            if all(state.available for state in self.files if variant in state.file.variants):
                return variant
        return None

    @property
    def missing(self) -> tuple[FileState, ...]:
        """Files that the preferred variant lacks."""
        preferred = self.task.declared.variants[0]
        return tuple(
            state
            for state in self.files
            if preferred in state.file.variants and not state.available
        )


class DataStore:
    """Data files of all tasks below one cache folder, with a mirror.

    ``cache``: a folder (``""``: the platform's cache folder); ``mirror``: a folder or a URL
    (``""``: none). Paths may begin with ``~``.
    """

    def __init__(self, cache: str | Path = "", mirror: str | Path = "") -> None:
        self._cache, self._mirror = str(cache), str(mirror)

    @cached_property
    def cache(self) -> Path:
        """The cache folder."""
        import platformdirs

        folder = self._cache or platformdirs.user_cache_path("evoduet") / "data"
        return Path(folder).expanduser().absolute()

    @cached_property
    def mirror(self) -> str | Path | None:
        """The mirror's address without a slash at its end, its folder, or ``None``."""
        if self._mirror.startswith(("http://", "https://")):
            return self._mirror.rstrip("/")
        folder = self._mirror.removeprefix("file://")
        return Path(folder).expanduser().absolute() if folder else None

    @cached_property
    def _marks(self) -> Marks:
        return Marks(self.cache)

    def path(self, task: Task, name: str) -> Path:
        """The verified file ``name`` of ``task``. No network.

        Raises :class:`Unavailable` with the command that helps, ``KeyError`` for a name that the
        task does not declare.
        """
        state = self._ready(task, name)
        assert state.path is not None
        return state.path

    def digests(self, task: Task, variant: str) -> dict[str, str]:
        """Sha256 of each file that ``variant`` uses, by name; raises :class:`Unavailable`."""
        names = [file.name for file in task.declared.data if variant in file.variants]
        return {name: self._ready(task, name).sha256 for name in names}

    def status(self, task: Task, *, again: bool = False) -> TaskData:
        """All files of a task. No network; ``again``: every file that is there is read again."""
        states = (self._find(task, file, again=again) for file in task.declared.data)
        return TaskData(task, tuple(states))

    def fetch(
        self, task: Task, wanted: Iterable[DataFile], progress: Progress | None = None
    ) -> TaskData:
        """Bring the ``wanted`` files of a task into the cache; what is there and right stays.

        Files that cannot be had keep the reasons in ``problem``. Raises :class:`Unavailable` when
        the cache cannot be written.
        """
        chosen = list(wanted)
        states = []
        for file in task.declared.data:
            state = self._find(task, file)
            if file in chosen and state.place != "cache":
                downloads = _beside(self.cached(task, file), "downloads")
                state = self._obtain(task, file, ways(file, self.mirror, downloads, progress))
                _remove_if_empty(downloads)
            states.append(state)
        return TaskData(task, tuple(states))

    def first_available(self, task: Task) -> str:
        """The variant to run by default: the first whose files are all to be had here.

        The preferred one where none is; its evaluator then says what is missing.
        """
        for variant in task.declared.variants:
            try:
                self.digests(task, variant)
            except Unavailable:
                continue
            return variant
        return task.declared.variants[0]

    def cached(self, task: Task, file: DataFile) -> Path:
        """Where the cache keeps a file, whether it is there or not.

        Mirrored files lie as in the mirror: tasks share them, and the cache can serve as a mirror.
        """
        return self.cache / (file.mirror.path if file.mirror else f"{task.id}/{file.name}")

    def _ready(self, task: Task, name: str) -> FileState:
        """A file that is there and right, made on demand; raises :class:`Unavailable`."""
        file = next((file for file in task.declared.data if file.name == name), None)
        if file is None:
            raise KeyError(f"{task.folder / 'task.toml'} declares no data file {name}")
        state = self._find(task, file)
        if state.place == "rebuild":
            state = self._obtain(task, file, rebuilding(file))
        if state.path is None:
            trouble = [state.problem or "not on this machine", self.mirror_trouble()]
            reason = "; ".join(filter(None, trouble))
            raise Unavailable(f"{task.id} needs {name} ({reason}): {remedy(state, task)}")
        return state

    def mirror_trouble(self) -> str:
        """What is wrong with the mirror's folder; empty: nothing."""
        if isinstance(self.mirror, Path) and not self.mirror.is_dir():
            return f"{MIRROR_VARIABLE} names no folder: {self.mirror}"
        return ""

    def _find(
        self, task: Task, file: DataFile, *, again: bool = False, elsewhere: bool = True
    ) -> FileState:
        """Look for a file in the mirror's folder (if ``elsewhere``) and in the cache."""
        places: list[tuple[Place, Path]] = [("cache", self.cached(task, file))]
        if elsewhere and file.mirror is not None and isinstance(self.mirror, Path):
            places.insert(0, ("mirror", self.mirror / file.mirror.path))
        problems: list[str] = []
        for place, path in places:
            try:
                if not path.is_file():
                    continue
                verdict = self._marks.examine(path, file, again=again)
            except OSError as error:
                problems.append(f"the copy in the {place} cannot be read ({error.strerror})")
                continue
            if not verdict.problem:
                return FileState(file, place, path, verdict.sha256, "; ".join(problems))
            problems.append(f"the copy in the {place} {verdict.problem}")
        place = "rebuild" if file.rebuild is not None else "wrong" if problems else "missing"
        return FileState(file, place, problem="; ".join(problems))

    def _obtain(self, task: Task, file: DataFile, possible: Iterable[Way]) -> FileState:
        """Make a file in the cache, in the first way that works.

        While it waits for its turn, another process may have made it.
        """
        target = self.cached(task, file)
        with _locked(target):
            before = self._find(task, file, elsewhere=False)
            if before.path is not None:
                return before
            problems = [before.problem] if before.problem else []
            tried = False
            for label, make in possible:
                tried = True
                try:
                    self._install(target, file, make)
                    return self._find(task, file, elsewhere=False)
                except (DownloadError, ConversionError) as error:
                    problems.append(f"{label}: {error}")
                except OSError as error:
                    problems.append(f"{label}: {error.strerror or error}")
        if not tried:
            problems.append(f"it has no public source, and {MIRROR_VARIABLE} is not set")
        place: Place = "wrong" if before.problem else "missing"
        return FileState(file, place, problem="; ".join(problems))

    def _install(self, target: Path, file: DataFile, make: Callable[[Path], None]) -> None:
        """Make the file beside its place, check it there, and only then move it."""
        new = _beside(target, "new")
        try:
            make(new)
            sha256 = sha256_file(new)
            problem = content_problem(new, file, sha256, accepted=sha256)
            if problem is not None:
                raise ConversionError(f"the result {problem}")
            new.replace(target)
            self._marks.accept(target, file, sha256)
        finally:
            new.unlink(missing_ok=True)


@contextmanager
def _locked(target: Path) -> Iterator[None]:
    """One process at a time makes a file; raises :class:`Unavailable` in a read-only cache."""
    from filelock import FileLock

    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(_beside(target, "lock"))
        lock.acquire()
    except OSError as error:
        raise Unavailable(
            f"{target.parent}: {error.strerror or error}; set {CACHE_VARIABLE} to a folder for "
            "data files"
        ) from None
    try:
        yield
    finally:
        lock.release()


def _beside(target: Path, purpose: str) -> Path:
    return target.with_name(f".{target.name}.{purpose}")


def _remove_if_empty(folder: Path) -> None:
    try:
        folder.rmdir()
    except OSError:  # not there, or it holds a partial download
        pass


def data_store() -> DataStore:
    """The store that the environment names."""
    return DataStore(os.environ.get(CACHE_VARIABLE, ""), os.environ.get(MIRROR_VARIABLE, ""))


def data_file(setup: Setup, name: str) -> Path:
    """For evaluators: the verified file ``name`` of their task; raises :class:`Unavailable`."""
    return data_store().path(setup.task, name)


def wanted_files(task: Task, variant: str | None = None, *, optional: bool) -> list[DataFile]:
    """The files of a variant (default: the preferred one), and those of options if ``optional``."""
    chosen = variant or task.declared.variants[0]
    return [
        file
        for file in task.declared.data
        if chosen in file.variants or (optional and not file.variants)
    ]


def remedy(state: FileState, task: Task) -> str:
    """What to do about a file that is not there."""
    command = f"`evoduet data fetch {task.id}`"
    if state.file.source is None and state.file.rebuild is None:
        return f"set {MIRROR_VARIABLE} to a folder or URL that has it, and run {command}"
    return f"run {command}, or set {MIRROR_VARIABLE} to a folder that has it"

"""Third-party data files: where they are on this machine and how they come here.

A task declares its files in ``task.toml`` (:class:`benchmark.task.DataFile`). They are looked for
in the mirror (``EVODUET_DATA_MIRROR``, a folder or a URL) and in the cache (``EVODUET_DATA``, else
the platform's cache folder). Scoring never touches the network: it takes a file from a mirror
folder or the cache, or makes it from what the task ships. :meth:`DataStore.fetch` downloads.
No file is handed out before its checksum was right; see :mod:`benchmark.checksums`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import platformdirs

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
    """One declared file on this machine; ``path`` only where it is there and right.

    ``problem`` tells of copies that were refused, and why the file could not be had.
    """

    file: DataFile
    place: Place
    path: Path | None = None
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
    variant: str | None

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
    """Data files of all tasks below one cache folder, with a mirror (folder, URL or none)."""

    def __init__(self, cache: Path, mirror: str = "") -> None:
        self.cache = cache.expanduser().absolute()
        self.mirror_url = mirror.rstrip("/") if mirror.startswith(("http://", "https://")) else ""
        folder = mirror.removeprefix("file://")
        self.mirror_folder = (
            Path(folder).expanduser().absolute() if folder and not self.mirror_url else None
        )
        self._marks = Marks(self.cache)

    def where(self) -> dict[str, str | None]:
        """The cache folder and the mirror in use."""
        mirror = self.mirror_url or (str(self.mirror_folder) if self.mirror_folder else None)
        return {"cache": str(self.cache), "mirror": mirror}

    def path(self, task: Task, name: str) -> Path:
        """The verified file ``name`` of ``task``. No network.

        Raises :class:`Unavailable` with the command that helps, ``KeyError`` for a name that the
        task does not declare.
        """
        file = _declared(task, name)
        state = self._find(task, file)
        if state.place == "rebuild":
            state = self._obtain(task, file, rebuilding(file))
        if state.path is None:
            trouble = state.problem or "not on this machine"
            if self.mirror_folder is not None and not self.mirror_folder.is_dir():
                trouble += f"; {MIRROR_VARIABLE} names no folder"
            raise Unavailable(f"{task.id} needs {name} ({trouble}): {remedy(state, task)}")
        return state.path

    def status(self, task: Task) -> TaskData:
        """All files of a task and which variant runs. No network, nothing is written but marks."""
        states = tuple(self._find(task, file) for file in task.declared.data)
        return TaskData(task, states, _variant(task, states))

    def verify(self, task: Task) -> TaskData:
        """Like :meth:`status`, but every file that is there is read and checked again."""
        states = tuple(self._find(task, file, again=True) for file in task.declared.data)
        return TaskData(task, states, _variant(task, states))

    def fetch(
        self, task: Task, progress: Progress | None = None, *, variant: str | None = None
    ) -> TaskData:
        """Bring the files of one variant (default: the preferred one), and optional ones, here.

        What is there and right stays. Files that cannot be had keep the reasons in ``problem``.
        Raises :class:`Unavailable` when the cache cannot be written.
        """
        wanted = variant or task.declared.variants[0]
        states = []
        for file in task.declared.data:
            state = self._find(task, file)
            if state.path is None and (wanted in file.variants or not file.variants):
                folder = _beside(self.cached(task, file), "downloads")
                state = self._obtain(task, file, ways(file, self.mirror_url, folder, progress))
                _remove_if_empty(folder)
            states.append(state)
        return TaskData(task, tuple(states), _variant(task, tuple(states)))

    def first_available(self, task: Task) -> str:
        """The variant to run by default: the first whose files are all to be had here.

        The preferred one where none is; its evaluator then says what is missing.
        """
        for variant in task.declared.variants:
            try:
                for file in task.declared.data:
                    if variant in file.variants:
                        self.path(task, file.name)
            except Unavailable:
                continue
            return variant
        return task.declared.variants[0]

    def digests(self, task: Task, variant: str) -> dict[str, str]:
        """Sha256 of each file that ``variant`` uses, by name; raises :class:`Unavailable`."""
        names = [file.name for file in task.declared.data if variant in file.variants]
        found = {}
        for name in names:
            path = self.path(task, name)
            mark = self._marks.get(path, _declared(task, name))
            found[name] = mark.sha256 if mark else sha256_file(path)
        return found

    def cached(self, task: Task, file: DataFile) -> Path:
        """Where the cache keeps a file, whether it is there or not.

        Mirrored files lie as in the mirror: tasks share them, and the cache can serve as a mirror.
        """
        return self.cache / (file.mirror.path if file.mirror else f"{task.id}/{file.name}")

    def _find(self, task: Task, file: DataFile, *, again: bool = False) -> FileState:
        places: list[tuple[Place, Path]] = [("cache", self.cached(task, file))]
        if self.mirror_folder is not None and file.mirror is not None:
            places.insert(0, ("mirror", self.mirror_folder / file.mirror.path))
        problems: list[str] = []
        for place, path in places:
            if not path.is_file():
                continue
            problem = self._marks.problem(path, file, again=again)
            if problem is None:
                return FileState(file, place, path, "; ".join(problems))
            problems.append(f"the copy in the {place} {problem}")
        if file.rebuild is not None:
            return FileState(file, "rebuild", None, "; ".join(problems))
        return FileState(file, "wrong" if problems else "missing", None, "; ".join(problems))

    def _obtain(self, task: Task, file: DataFile, possible: Iterable[Way]) -> FileState:
        """Try the ways one after the other; another process may have been faster."""
        problems: list[str] = []
        target = self.cached(task, file)
        with _locked(target):
            before = self._find(task, file)
            if before.path is not None:
                return before
            for label, make in possible:
                try:
                    self._install(target, file, make)
                    return self._find(task, file)
                except (DownloadError, ConversionError) as error:
                    problems.append(f"{label}: {error}")
                except OSError as error:
                    problems.append(f"{label}: {error.strerror or error}")
        place: Place = "wrong" if before.problem else "missing"
        return FileState(file, place, None, "; ".join(filter(None, (before.problem, *problems))))

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
            f"{target.parent}: {error.strerror}; set {CACHE_VARIABLE} to a folder for data files"
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
    cache = os.environ.get(CACHE_VARIABLE) or platformdirs.user_cache_path("evoduet") / "data"
    return DataStore(Path(cache), os.environ.get(MIRROR_VARIABLE, ""))


def data_file(setup: Setup, name: str) -> Path:
    """For evaluators: the verified file ``name`` of their task; raises :class:`Unavailable`."""
    return data_store().path(setup.task, name)


def remedy(state: FileState, task: Task) -> str:
    """What to do about a file that is not there."""
    if state.file.source is None:
        return f"set {MIRROR_VARIABLE} to a folder or URL that has it (there is no public source)"
    return f"run `evoduet data fetch {task.id}` or set {MIRROR_VARIABLE} to a folder that has it"


def _declared(task: Task, name: str) -> DataFile:
    for file in task.declared.data:
        if file.name == name:
            return file
    raise KeyError(f"{task.folder / 'task.toml'} declares no data file {name}")


def _variant(task: Task, states: tuple[FileState, ...]) -> str | None:
    for variant in task.declared.variants:
        if all(state.available for state in states if variant in state.file.variants):
            return variant
    return None

"""The report as its readers use it: in a real browser, by mouse and keyboard, on any screen."""

from __future__ import annotations

import http.server
import json
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from report_study import HOSTILE, HOSTILE_URLS, METHODS, TASKS, RunFolder

from analysis.report.build import write_report

playwright = pytest.importorskip(
    "playwright.sync_api", reason="tests of the report need playwright (pip install playwright)"
)
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))),
                None)  # fmt: skip
pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="no chromium on this machine (apt-get install chromium)"
)
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
DESKTOP, PHONE = {"width": 1280, "height": 900}, {"width": 360, "height": 740}


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """One Chromium for this file."""
    with playwright.sync_playwright() as api:
        running = api.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield running
        running.close()


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three methods; cp26 is common to all, cp32 is not; some runs are special."""
    folder = tmp_path_factory.mktemp("report") / "runs"
    for seed in (1, 2):
        for method in METHODS:
            name = f"cp26-{method.partition('+')[2]}-{seed}"
            RunFolder(folder / name, method=method, seed=seed, iterations=20).write()
    RunFolder(folder / "cp32-evoduet", task=TASKS[1], seed=3, unpriced=True).write()
    RunFolder(folder / "paused", seed=4, status="paused", iterations=20, done=7).write()
    RunFolder(folder / "other-data", method=METHODS[0], seed=5, variant="embedded").write()
    RunFolder(folder / "held-out", task="ai_foundations/lr_bsz", held_out=True, seed=6,
              model="other-model", iterations=10).write()  # fmt: skip
    return folder


@pytest.fixture(scope="module")
def report(study: Path) -> Path:
    """Its report with all details."""
    out = study.parent / "report.html"
    write_report([study], out, "all")
    return out


class Reader:
    """A page in the browser that remembers what went wrong and what was asked of the network."""

    def __init__(self, context: Any, path: Path) -> None:
        self.page = context.new_page()
        self.page.set_default_timeout(10_000)
        self.wrong: list[str] = []
        self.requests: list[str] = []
        self.address = path.as_uri()
        self.page.on("console", lambda m: self.wrong.append(f"{m.type}: {m.text}"))
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("request", lambda r: self.requests.append(r.url.partition("#")[0]))

    def open(self, place: str = "") -> Any:
        """Go to an address of the report and wait until it is drawn."""
        self.page.goto("about:blank")
        self.page.goto(self.address + place)
        self.page.wait_for_selector("main h1")
        return self.page


@pytest.fixture
def reader(browser: Any, report: Path) -> Iterator[Reader]:
    """A desktop reader; afterwards nothing may have gone wrong and nothing been fetched."""
    context = browser.new_context(viewport=DESKTOP)
    found = Reader(context, report)
    yield found
    context.close()
    assert found.wrong == []
    assert set(found.requests) <= {"about:blank", found.address}


def names(page: Any) -> list[str]:
    """Runs in the list, in the order shown."""
    found: list[str] = page.locator("table[data-name=runs] tbody th a").all_text_contents()
    return found


def column(page: Any, table: str, title: str) -> list[str]:
    """Texts of a column."""
    found: list[str] = page.evaluate(
        """([table, title]) => {
          const head = [...document.querySelectorAll(`table[data-name=${table}] thead th`)];
          const at = head.findIndex((th) => th.innerText.replace(/[▲▼]/, '').trim() === title);
          return [...document.querySelectorAll(`table[data-name=${table}] tbody tr`)]
            .map((tr) => tr.children[at].innerText.trim());
        }""",
        [table, title],
    )
    return found


def focused(page: Any) -> dict[str, Any]:
    """The element that has the focus, as one sees it."""
    found: dict[str, Any] = page.evaluate(
        """() => { const e = document.activeElement; const s = getComputedStyle(e);
          return {tag: e.tagName, text: e.textContent, t: e.dataset.t, label: e.ariaLabel,
                  class: e.className, outline: s.outlineStyle, width: s.outlineWidth,
                  modal: e.closest('dialog') !== null}; }"""
    )
    return found


# --- list ----------------------------------------------------------------------------------------


def test_all_runs_are_listed(reader: Reader, study: Path) -> None:
    page = reader.open()
    assert page.locator("main h1").inner_text() == "10 runs"
    assert sorted(names(page)) == sorted(path.name for path in study.iterdir())


def test_means_are_over_common_tasks(reader: Reader, study: Path) -> None:
    page = reader.open("#/?task=mathematics/cp26&model=some-model")
    ndgs: dict[str, list[float]] = {}
    for method in METHODS:
        for seed in (1, 2):
            name = f"cp26-{method.partition('+')[2]}-{seed}"
            summary = json.loads((study / name / "summary.json").read_text())
            ndgs.setdefault(method, []).append(summary["ndg"])
    assert "variant=embedded" in column(page, "methods", "Method")[-1]  # no NDG: last, on its own
    shown = {
        row.splitlines()[0]: (mean, best)
        for row, mean, best in zip(
            column(page, "methods", "Method"), column(page, "methods", "Mean NDG"),
            column(page, "methods", "Best NDG"), strict=True,
        )
        if "variant" not in row
    }  # fmt: skip
    assert shown == {m: (f"{fmean(v):.1f}", f"{max(v):.1f}") for m, v in ndgs.items()}
    text = page.locator("main").inner_text()
    assert "the 1 task on which every method shown has a finished run with NDG" in text
    runs = dict(zip([*shown, "embedded"], column(page, "methods", "Runs n"), strict=True))
    assert runs == {METHODS[0]: "2", METHODS[1]: "2 of 3", METHODS[2]: "2", "embedded": "0 of 1"}


def test_incomparable_means_are_labelled(reader: Reader) -> None:
    page = reader.open()
    assert "No task is common to all methods shown" in page.locator("main").inner_text()
    assert column(page, "methods", "Mean NDG (own tasks)")
    page.select_option("select[name=model]", "some-model")
    assert column(page, "methods", "Mean NDG")
    page.select_option("select[name=means]", "own")
    assert "must not be compared" in page.locator("main").inner_text()


@pytest.mark.parametrize(
    ("name", "value", "left"),
    [
        ("task", TASKS[1], 1),
        ("domain", "AI foundations", 1),
        ("model", "other-model", 1),
        ("method", METHODS[2], 2),
        ("status", "paused", 1),
    ],
)
def test_filters(name: str, value: str, left: int, reader: Reader) -> None:
    page = reader.open()
    page.select_option(f"select[name={name}]", value)
    assert len(names(page)) == left
    assert page.locator("#status").inner_text() == f"{left} run{'s' * (left != 1)} shown"
    address = page.evaluate("location.hash")
    page.get_by_role("button", name="Reset").click()
    assert len(names(page)) == 10
    again = reader.open(address)
    assert len(names(again)) == left
    assert again.locator(f"select[name={name}]").input_value() == value


def test_filters_that_nothing_fits(reader: Reader) -> None:
    page = reader.open(f"#/?task={TASKS[1]}&status=paused")
    assert "No run fits" in page.locator("main").inner_text()


def test_sorting(reader: Reader) -> None:
    page = reader.open()
    header = page.locator("table[data-name=runs] thead").get_by_role("button", name="NDG")
    for direction, sign in (("descending", -1), ("ascending", 1)):
        header.click()
        cell = page.locator("table[data-name=runs] thead th[aria-sort]")
        assert cell.get_attribute("aria-sort") == direction
        assert focused(page)["tag"] == "BUTTON"
        texts = [text.split()[0] for text in column(page, "runs", "NDG")]
        numbers = [float(text) for text in texts if text[0].isdigit()]
        assert numbers == sorted(numbers, key=lambda v: sign * v)
        assert texts[len(numbers) :] == ["none"]  # unknown comes last, whatever the direction


def test_what_is_not_known_is_said(reader: Reader) -> None:
    page = reader.open()
    costs = dict(zip(names(page), column(page, "runs", "Cost"), strict=True))
    assert costs["cp32-evoduet"] == "unknown"
    assert costs["paused"].startswith("$")
    ndgs = dict(zip(names(page), column(page, "runs", "NDG"), strict=True))
    assert ndgs["other-data"] == "none"
    assert "not in means" in ndgs["paused"]
    values = dict(zip(names(page), column(page, "runs", "Reporting metric"), strict=True))
    assert "held out" in values["held-out"]
    reader.open("#/run/other-data")
    assert "not comparable" in page.locator("main").inner_text()
    reader.open("#/run/held-out")
    assert "no method saw it" in page.locator("main").inner_text()


# --- run and iteration ---------------------------------------------------------------------------


def test_a_run_shows_how_it_went(reader: Reader) -> None:
    page = reader.open()
    page.get_by_role("link", name="cp26-evoduet-1").click()
    page.wait_for_selector("#timeline")
    assert page.locator("#timeline .cell").count() == 20
    titles = page.locator("main h2").all_inner_texts()
    assert titles == ["Best so far", "Iterations", "Evolution", "Predicted and measured",
                      "All iterations", "Costs by purpose", "Audit"]  # fmt: skip
    assert page.locator(".edge.main").count() >= 1
    assert page.locator("table[data-name=iterations] tbody tr").count() == 20
    page.locator("label", has_text="new best").first.click()
    assert 0 < page.locator("table[data-name=iterations] tbody tr").count() < 20
    for axis in ("evaluations", "USD", "calls", "tokens", "time"):
        page.locator(".choice label", has_text=axis).first.click()
        assert page.locator("main .chart svg").first.get_attribute("aria-label")


def test_slots_without_a_record_stay_empty(browser: Any, study: Path, tmp_path: Path) -> None:
    folder = tmp_path / "gaps"
    shutil.copytree(study / "cp26-evoduet-1", folder)
    lines = (folder / "trace.jsonl").read_text().splitlines(keepends=True)
    (folder / "trace.jsonl").write_text("".join([lines[0], *lines[3:18]]))  # not 2, 3, 19, 20
    write_report([folder], tmp_path / "report.html")
    context = browser.new_context(viewport=DESKTOP)
    page = Reader(context, tmp_path / "report.html").open("#/run/cp26-evoduet-1")
    assert page.locator("#timeline .cell").count() == 20
    assert page.locator("#timeline .cell.absent").count() == 4
    assert "4 slots without a record" in page.locator("main").inner_text()
    page.locator("#timeline .cell").first.focus()
    page.keyboard.press("ArrowRight")
    assert focused(page)["t"] == "4"
    page.keyboard.press("End")
    assert focused(page)["t"] == "18"
    context.close()


def test_an_opened_iteration_shows_all_of_it(reader: Reader, study: Path) -> None:
    records = map(json.loads, (study / "cp26-evoduet-1" / "trace.jsonl").read_text().splitlines())
    record = next(r for r in records if r["rounds"] and r["child"])
    page = reader.open(f"#/run/cp26-evoduet-1/{record['t']}")
    page.wait_for_selector("dialog[open]")
    titles = page.locator("dialog h2").all_inner_texts()
    wanted = ["Gate", "Analysis of the population", "Round 1", "Round 2",
              "Documents given to the generator", "Parent → child", "Candidates",
              "Costs by purpose"]  # fmt: skip
    assert [title for title in titles if title != "Audit"] == wanted
    assert page.locator("dialog .diff .added").count() > 0
    assert page.locator("dialog .document").count() == 3
    assert page.locator("dialog table[data-name=candidates] tbody tr").count() == 4
    page.locator("dialog summary", has_text="Text of the page").first.click()
    assert "A paragraph about packings" in page.locator("dialog .document").first.inner_text()
    page.locator("dialog summary", has_text="The record as it is").click()
    assert json.loads(page.locator("dialog details pre").last.inner_text()) == record


def test_deep_links(reader: Reader) -> None:
    page = reader.open("#/run/cp26-none-1/7")
    page.wait_for_selector("dialog[open]")
    assert page.locator("#iteration-title").inner_text().startswith("Iteration 7")
    assert page.title().startswith("Iteration 7 · cp26-none-1")
    page.go_back()
    reader.open("#/run/nothing%2Flike%20it")
    assert "no run “nothing/like it”" in page.locator("main").inner_text()
    reader.open("#/run/cp26-none-1/999")
    page.wait_for_selector("#timeline")
    assert page.locator("dialog[open]").count() == 0


def test_back_leads_back(reader: Reader) -> None:
    page = reader.open("#/?method=" + METHODS[2].replace("+", "%2B"))
    page.get_by_role("link", name="cp26-joint-1").click()
    page.wait_for_selector("#timeline")
    page.locator("#timeline .cell").nth(3).click()
    page.wait_for_selector("dialog[open]")
    page.go_back()
    page.wait_for_selector("dialog", state="hidden")
    page.go_back()
    page.wait_for_selector("table[data-name=runs]")
    assert len(names(page)) == 2


def test_runs_of_the_same_name_are_two_runs(browser: Any, study: Path, tmp_path: Path) -> None:
    for place in ("a", "b"):
        shutil.copytree(study / "cp26-none-1", tmp_path / place / "run")
    write_report([tmp_path / "a", tmp_path / "b"], tmp_path / "report.html")
    context = browser.new_context(viewport=DESKTOP)
    page = Reader(context, tmp_path / "report.html").open()
    links = page.locator("table[data-name=runs] tbody a")
    assert len({links.nth(i).get_attribute("href") for i in range(links.count())}) == 2
    links.nth(1).click()
    page.wait_for_selector("#timeline")
    context.close()


def test_without_details_an_iteration_says_so(browser: Any, study: Path, tmp_path: Path) -> None:
    write_report([study / "cp26-evoduet-1"], tmp_path / "report.html", "none")
    context = browser.new_context(viewport=DESKTOP)
    reader = Reader(context, tmp_path / "report.html")
    page = reader.open()
    page.wait_for_selector("#timeline")  # a report of one run begins with that run
    page.get_by_role("link", name="All runs").click()
    page.wait_for_selector("table[data-name=runs]")
    reader.open("#/run/cp26-evoduet-1/5")
    page.wait_for_selector("dialog[open]")
    assert "evoduet report RUN --details all" in page.locator("dialog").inner_text()
    context.close()


# --- keyboard ------------------------------------------------------------------------------------


def test_keyboard_alone_is_enough(reader: Reader) -> None:
    page = reader.open("#/run/cp26-evoduet-1")
    page.keyboard.press("Tab")
    assert focused(page)["text"] == "Skip to content"
    page.keyboard.press("Enter")
    assert focused(page)["tag"] == "MAIN"
    assert page.evaluate("location.hash") == "#/run/cp26-evoduet-1"
    for _ in range(12):
        page.keyboard.press("Tab")
        here = focused(page)
        assert (here["outline"], here["width"]) != ("none", "0px") or "INPUT" in here["tag"]
        if "cell" in here["class"]:
            break
    assert focused(page)["t"] == "1"
    assert focused(page)["label"].startswith("Iteration 1, ")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert focused(page)["t"] == "3"
    page.keyboard.press("End")
    assert focused(page)["t"] == "20"
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    page.wait_for_selector("dialog[open][data-t='2']")
    assert focused(page)["modal"]
    page.keyboard.press("ArrowRight")
    page.wait_for_selector("dialog[open][data-t='3']")
    page.keyboard.press("ArrowLeft")
    page.wait_for_selector("dialog[open][data-t='2']")
    page.keyboard.press("ArrowRight")
    page.wait_for_selector("dialog[open][data-t='3']")
    for _ in range(60):  # the focus stays in the dialog (or the browser's own bar)
        page.keyboard.press("Tab")
        assert focused(page)["modal"] or focused(page)["tag"] == "BODY"
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog", state="hidden")
    page.wait_for_selector("[data-t='3']:focus")
    assert page.evaluate("location.hash") == "#/run/cp26-evoduet-1"
    page.keyboard.press("Enter")
    page.wait_for_selector("dialog[open][data-t='3']")


def test_arrows_move_through_the_list_of_runs(reader: Reader) -> None:
    page = reader.open()
    shown = names(page)
    page.locator("table[data-name=runs] tbody a").first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    assert focused(page)["text"] == shown[1]
    page.keyboard.press("Enter")
    page.wait_for_selector("#timeline")
    assert shown[1] in page.title()


@pytest.mark.parametrize("place", ["", "#/run/cp26-evoduet-1", "#/run/cp26-evoduet-1/5"])
def test_everything_to_operate_has_a_name(place: str, reader: Reader) -> None:
    page = reader.open(place)
    page.wait_for_timeout(200)
    nameless = page.evaluate(
        """() => [...document.querySelectorAll('a, button, select, input, svg[role=img], [role=region]')]
          .filter((e) => !(e.ariaLabel || e.textContent.trim() || e.closest('label')))
          .map((e) => e.outerHTML)"""  # noqa: E501
    )
    assert nameless == []
    assert page.locator("html").get_attribute("lang") == "en"
    assert page.evaluate("document.querySelectorAll('main').length") == 1


# --- screens, colours, paper ---------------------------------------------------------------------


@pytest.mark.parametrize("place", ["", "#/run/cp26-evoduet-1", "#/run/cp26-evoduet-1/5"])
def test_small_screens_need_no_sideways_scrolling(place: str, browser: Any, report: Path) -> None:
    context = browser.new_context(viewport=PHONE)
    page = Reader(context, report).open(place)
    page.wait_for_timeout(300)
    widths = page.evaluate(
        """() => [document.documentElement, ...document.querySelectorAll('dialog[open]')]
          .map((e) => [e.scrollWidth, e.clientWidth])"""
    )
    assert all(inner <= outer <= 360 for inner, outer in widths)
    context.close()


def test_light_and_dark(browser: Any, report: Path) -> None:
    background = "getComputedStyle(document.body).backgroundColor"
    found = {}
    for scheme in ("light", "dark"):
        context = browser.new_context(viewport=DESKTOP, color_scheme=scheme)
        page = Reader(context, report).open()
        found[scheme] = page.evaluate(background)
        page.locator("#theme").click()  # light
        assert page.evaluate(background) == found["light"]
        page.locator("#theme").click()  # dark
        assert page.evaluate(background) == found.get("dark", page.evaluate(background))
        context.close()
    assert found["light"] != found["dark"]


def test_paper_shows_all_and_no_controls(reader: Reader) -> None:
    page = reader.open("#/run/cp26-evoduet-1/5")
    page.wait_for_selector("dialog[open]")
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not page.locator(".top").is_visible()
    assert not page.locator("main").is_visible()  # the opened iteration is what is printed
    assert page.locator("dialog h2").first.is_visible()
    assert (
        page.evaluate("getComputedStyle(document.querySelector('dialog pre')).maxHeight") == "none"
    )
    assert page.pdf()[:5] == b"%PDF-"


# --- hostile runs --------------------------------------------------------------------------------


def test_text_of_runs_stays_text(browser: Any, tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "hostile"
    model = "<img src=x onerror='window.pwned=7'>"
    RunFolder(folder, strings=HOSTILE, urls=HOSTILE_URLS, iterations=8, model=model).write()
    RunFolder(tmp_path / "runs" / "other", seed=2).write()
    write_report([tmp_path / "runs"], tmp_path / "report.html", "all")
    context = browser.new_context(viewport=DESKTOP)
    reader = Reader(context, tmp_path / "report.html")
    shown = ""
    for place in ("", "#/run/hostile", *(f"#/run/hostile/{t}" for t in range(1, 9))):
        page = reader.open(place)
        page.wait_for_timeout(150)
        page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
        shown += page.evaluate("document.querySelector('main').innerText")
        shown += page.evaluate("document.querySelector('dialog').innerText")
        assert page.evaluate("window.pwned") is None
        assert page.locator(":is(main, dialog) :is(img, script, iframe, object)").count() == 0
        handlers = page.evaluate(
            """() => [...document.querySelectorAll('*')].flatMap((e) => [...e.attributes])
              .filter((a) => a.name.startsWith('on')).map((a) => a.name)"""
        )
        assert handlers == []
        links = page.evaluate(
            "[...document.querySelectorAll('a[href]')].map((a) => [a.getAttribute('href'), a.rel])"
        )
        for target, rel in links:
            leads_out = target.startswith(("http://", "https://"))
            assert target.startswith("#") or (leads_out and "noreferrer" in rel), target
    for text in (model, *HOSTILE[:4], HOSTILE[5], *HOSTILE_URLS[:2]):
        assert text in shown
    assert "\u202e" not in shown
    assert "⟨U+202E⟩gnp.elifmoc⟨U+202C⟩ ⟨U+0000⟩⟨U+001B⟩[31m" in shown
    assert reader.wrong == []
    assert set(reader.requests) <= {"about:blank", reader.address}
    context.close()


def test_nothing_can_be_fetched(reader: Reader) -> None:
    asked: list[str] = []

    class Answer(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        page = reader.open()
        page.evaluate(
            """async (base) => {
              new Image().src = `${base}/image`;
              document.body.append(Object.assign(document.createElement('script'),
                {src: `${base}/script`}));
              document.body.append(Object.assign(document.createElement('iframe'),
                {src: `${base}/frame`}));
              await fetch(`${base}/fetch`, {mode: 'no-cors'}).catch(() => null);
            }""",
            f"http://127.0.0.1:{server.server_port}",
        )
        page.wait_for_timeout(300)
        assert asked == []
        refused = [message for message in reader.wrong if "Content Security Policy" in message]
        assert len(refused) >= 3
    finally:
        server.shutdown()
        server.server_close()
        reader.wrong.clear()
        reader.requests.clear()

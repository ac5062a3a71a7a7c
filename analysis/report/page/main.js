// Where one is: addresses behind "#", the open iteration, keys, and colours.

const main = document.getElementById("main");
const dialog = document.getElementById("iteration");
let shownView = null;

function parseAddress() {
  if (location.hash === "" && RUNS.length === 1) return { run: RUNS[0], t: null };
  const text = location.hash.replace(/^#\/?/, "");
  const [path, query] = [text.split("?")[0], text.split("?").slice(1).join("?")];
  const parts = path.split("/").map((part) => {
    try {
      return decodeURIComponent(part);
    } catch {
      return part;
    }
  });
  if (parts[0] !== "run") return { query };
  return {
    run: RUNS.find((run) => run.key === parts[1]) ?? null,
    wanted: parts[1],
    t: parts[2] ? Number(parts[2]) : null,
  };
}

let turn = 0;

async function show() {
  turn += 1;
  const mine = turn;
  const { run, wanted, t, query } = parseAddress();
  try {
    if (run === undefined) showOverview(query);
    else if (run === null) showMissing(`There is no run “${wanted}” in this report.`);
    else await showRun(run, t, () => mine === turn);
  } catch (error) {
    if (mine === turn) showMissing(`This part of the report cannot be read: ${error.message}`);
  }
}

function showOverview(query) {
  closeIteration();
  if (shownView === `overview ${query}`) return;
  crumbs([]);
  document.title = "EvoDuet report";
  put(`overview ${query}`, overview(query));
}

function showMissing(text) {
  closeIteration();
  crumbs([]);
  put("missing", [
    h("h1", {}, "Not found"),
    h("p", {}, text),
    h("p", {}, h("a", { href: "#/" }, "All runs")),
  ]);
}

async function showRun(run, t, current) {
  if (shownView !== `run ${run.number}`) {
    if (t === null) closeIteration();
    const content = await runPage(run);
    if (!current()) return;
    crumbs([
      h("a", { href: "#/" }, "All runs"),
      h("span", { "aria-current": t === null ? "page" : null, class: "untrusted" }, run.name),
    ]);
    put(`run ${run.number}`, content);
  }
  document.title = `${run.name} · EvoDuet report`;
  if (t === null) closeIteration();
  else await openIteration(run, t, current);
}

function put(view, content) {
  const first = shownView === null;
  shownView = view;
  main.replaceChildren(...[content].flat(2).filter((node) => node instanceof Node));
  if (!first) {
    scrollTo(0, 0);
    main.focus({ preventScroll: true });
  }
}

function crumbs(items) {
  document.getElementById("crumbs").replaceChildren(
    h(
      "ol",
      {},
      items.map((item) => h("li", {}, item)),
    ),
  );
}

// --- the open iteration --------------------------------------------------------------------------

async function openIteration(run, t, current) {
  const found = await iterationPage(run, t);
  if (!current()) return;
  if (found === null) {
    closeIteration();
    say(`There is no iteration ${t} in this run.`);
    return;
  }
  const { row, before, after, content } = found;
  const turnTo = (to, sign, name) =>
    h(
      "a",
      {
        class: "button",
        href: to === null ? null : runAddress(run, to),
        "aria-disabled": to === null,
        "aria-label": name,
        rel: name === "Next iteration" ? "next" : "prev",
      },
      sign,
    );
  dialog.replaceChildren(
    h(
      "header",
      {},
      h(
        "div",
        {},
        h(
          "h1",
          { id: "iteration-title", tabindex: -1 },
          `Iteration ${t}`,
          h("small", {}, ` of ${run.iterations ?? "?"}`),
        ),
        h(
          "p",
          {},
          row.decision && badge(row.decision, `d ${row.decision}`),
          " ",
          row.new_best && badge("★ new best", "good"),
          " ",
          badge(OUTCOMES[row.outcome], row.outcome === "improved" ? "good" : row.score === null ? "bad" : ""),
        ),
      ),
      h(
        "nav",
        { "aria-label": "Iterations" },
        turnTo(before, "←", "Previous iteration"),
        turnTo(after, "→", "Next iteration"),
        h("a", { class: "button", href: runAddress(run), "aria-label": "Close" }, "✕"),
      ),
    ),
    h("div", { class: "body" }, content.filter(Boolean)),
  );
  if (!dialog.open) dialog.showModal();
  dialog.scrollTop = 0;
  document.getElementById("iteration-title").focus({ preventScroll: true });
  document.title = `Iteration ${t} · ${run.name} · EvoDuet report`;
  dialog.dataset.t = t;
}

function closeIteration() {
  if (dialog.open) dialog.close();
}

// However it was closed: the address follows, and the focus goes to its place in the timeline.
dialog.addEventListener("close", () => {
  if (dialog.open) return;
  const { run, t } = parseAddress();
  if (run && t !== null && t !== undefined) location.hash = runAddress(run);
  const cells = [...document.querySelectorAll("#timeline .cell")];
  const cell = cells.find((one) => one.dataset.t === dialog.dataset.t);
  dialog.replaceChildren();
  if (cell) focusCell(cells, cell);
});
dialog.addEventListener("click", (event) => {
  if (event.target === dialog) dialog.close(); // beside the sheet
});
dialog.addEventListener("keydown", (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const rel = { ArrowLeft: "prev", ArrowRight: "next" }[event.key];
  const to =
    rel &&
    !event.target.matches("pre, input, select, .scroll") &&
    dialog.querySelector(`a[rel=${rel}][href]`);
  if (to) {
    event.preventDefault();
    location.hash = to.getAttribute("href");
  }
});

// --- page ----------------------------------------------------------------------------------------

const THEMES = ["auto", "light", "dark"];
const themeButton = document.getElementById("theme");
themeButton.addEventListener("click", () => {
  const now = document.documentElement.dataset.theme ?? "auto";
  const next = THEMES[(THEMES.indexOf(now) + 1) % THEMES.length];
  if (next === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = next;
  themeButton.textContent = `Theme: ${next}`;
});

document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault(); // addresses behind "#" are views here
  main.focus();
});

addEventListener("hashchange", show);
show();

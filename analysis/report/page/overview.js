// First page: methods over tasks, and the list of runs, both under the same filters.

const FILTERS = [
  { name: "domain", title: "Domain", of: (run) => run.task.domain },
  { name: "task", title: "Task", of: (run) => run.task.id, text: (id) => TASKS.get(id).title },
  { name: "model", title: "Model", of: (run) => run.model },
  { name: "method", title: "Method", of: (run) => run.method },
  { name: "n", title: "Candidates N", of: (run) => (run.n === null ? "?" : String(run.n)) },
  { name: "settings", title: "Settings", of: (run) => run.settings || "(none told)" },
  { name: "status", title: "Status", of: (run) => run.status },
];

function overview(query) {
  const chosen = new URLSearchParams(query);
  const results = h("div", { id: "results" });
  const draw = () => {
    const runs = RUNS.filter((run) =>
      FILTERS.every(({ name, of }) => !chosen.get(name) || of(run) === chosen.get(name)),
    );
    const own = chosen.get("means") === "own";
    results.replaceChildren(
      ...(runs.length === 0
        ? [h("p", { class: "empty" }, "No run fits these filters.")]
        : [methods(runs, own), matrix(runs), runList(runs)]),
    );
    say(`${plural(runs.length, "run")} shown`);
  };
  const choose = (name, value) => {
    if (value) chosen.set(name, value);
    else chosen.delete(name);
    history.replaceState(null, "", `#/${chosen.size ? `?${chosen}` : ""}`);
    draw();
  };
  draw();
  return [
    h(
      "div",
      { class: "title" },
      h("h1", {}, RUNS.length === 1 ? "One run" : `${RUNS.length} runs`),
      h(
        "p",
        { class: "lead" },
        `${plural(CONFIGS.size, "configuration")} on ${plural(TASKS.size, "task")}, ` +
          `${plural(INDEX.iterations, "iteration")}; ${INDEX.detailed.toLocaleString("en")} of them with documents and differences.`,
      ),
    ),
    noteList(INDEX.notes),
    filterBar(chosen, choose),
    results,
  ];
}

function noteList(notes) {
  if (notes.length === 0) return null;
  return h(
    "details",
    { class: "card notes" },
    h("summary", {}, `${plural(notes.length, "note")} on the data`),
    h(
      "ul",
      {},
      notes.map((note) => h("li", { class: "untrusted" }, note)),
    ),
  );
}

function filterBar(chosen, choose) {
  const selects = FILTERS.map(({ name, title, of, text }) => {
    const values = [...new Set(RUNS.map(of))];
    if (name !== "domain" && name !== "task")
      values.sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
    if (values.length < 2) return null;
    return h(
      "label",
      {},
      title,
      h(
        "select",
        { name, change: (event) => choose(name, event.target.value) },
        h("option", { value: "" }, "all"),
        values.map((value) =>
          h("option", { value, selected: chosen.get(name) === value }, text ? text(value) : value),
        ),
      ),
    );
  });
  const means = h(
    "label",
    {},
    "Means over",
    h(
      "select",
      { name: "means", change: (event) => choose("means", event.target.value) },
      h("option", { value: "" }, "common tasks"),
      h("option", { value: "own", selected: chosen.get("means") === "own" }, "each method's own tasks"),
    ),
  );
  const reset = h(
    "button",
    {
      type: "button",
      click: () => {
        for (const { name } of FILTERS) chosen.delete(name);
        choose("means", "");
        bar.querySelectorAll("select").forEach((select) => {
          select.value = "";
        });
      },
    },
    "Reset",
  );
  const bar = h(
    "form",
    { class: "filters", "aria-label": "Filters", submit: (event) => event.preventDefault() },
    selects,
    means,
    reset,
  );
  return bar;
}

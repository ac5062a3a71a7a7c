// Every iteration at a glance: what the gate decided and what became of it. Arrow keys move.

function describe(row) {
  return [
    `Iteration ${row.t}`,
    row.decision,
    OUTCOMES[row.outcome],
    row.new_best && "new best",
    row.score !== null && `score ${number(row.score)}`,
    row.excluded && "excluded (outage)",
    row.flagged && "flagged",
    row.chunk !== null && "with full details",
  ]
    .filter(Boolean)
    .join(", ");
}

function mark(row) {
  return row.new_best
    ? "★"
    : { improved: "▲", equal: "=", lower: "▽", evaluation_failed: "×", no_program: "×", unknown: "•" }[
        row.outcome
      ];
}

function timeline(run, page) {
  const lineage = new Set(page.lineage);
  const flagged = new Set(page.audit.flags.map((flag) => flag.t));
  for (const row of page.rows) row.flagged = flagged.has(row.t);
  const gated = page.rows.some((row) => row.decision !== null);
  const cell = (row, first) =>
    h(
      "a",
      {
        href: runAddress(run, row.t),
        class: `cell ${row.decision ?? "ungated"} ${row.outcome} ${lineage.has(row.t) ? "lineage" : ""} ${row.flagged ? "flagged" : ""}`,
        tabindex: first ? 0 : -1,
        "data-t": row.t,
        "aria-label": describe(row),
        title: describe(row),
      },
      h("span", { class: "glyph", "aria-hidden": "true" }, gated ? (GLYPHS[row.decision] ?? "") : row.t),
      h("span", { class: "mark", "aria-hidden": "true" }, mark(row)),
    );
  const byT = new Map(page.rows.map((row) => [row.t, row]));
  const last = Math.max(page.rows.at(-1).t, run.complete ? (run.iterations ?? 0) : 0);
  const cells = Array.from({ length: last }, (_, i) =>
    byT.has(i + 1)
      ? cell(byT.get(i + 1), i + 1 === page.rows[0].t)
      : h("span", { class: "cell absent", title: `Iteration ${i + 1}: no record` }),
  );
  const strip = h(
    "div",
    {
      class: "timeline",
      id: "timeline",
      role: "group",
      "aria-label": "Iterations; arrow keys move, Enter opens",
      keydown: moveCells,
    },
    cells,
  );
  const key = [
    ...(gated
      ? DECISIONS.map((name) =>
          h("li", {}, h("span", { class: `cell key ${name}`, "aria-hidden": "true" }, GLYPHS[name]), name),
        )
      : []),
    ...[
      ["★", "new best"],
      ["▲", "better than parent"],
      ["=", "equal"],
      ["▽", "worse"],
      ["×", "no child"],
    ].map(([sign, text]) => h("li", {}, h("b", { "aria-hidden": "true" }, sign), text)),
    h("li", {}, h("span", { class: "cell key lineage", "aria-hidden": "true" }), "on the way to the best"),
  ];
  return [
    h(
      "p",
      { class: "hint" },
      gated ? "What the gate decided, and what became of it. " : "This method has no gate. ",
      "Arrow keys move, Enter opens an iteration.",
    ),
    strip,
    h("ul", { class: "legend" }, key),
  ];
}

function moveCells(event) {
  const cells = [...event.currentTarget.children];
  const here = cells.indexOf(event.target);
  if (here < 0) return;
  const wide = cells.findIndex((cell) => cell.offsetTop > cells[0].offsetTop);
  const line = wide < 0 ? cells.length : wide;
  const [from, step] =
    {
      ArrowRight: [here + 1, 1],
      ArrowLeft: [here - 1, -1],
      ArrowDown: [here + line, 1],
      ArrowUp: [here - line, -1],
      Home: [0, 1],
      End: [cells.length - 1, -1],
    }[event.key] ?? [];
  if (from === undefined) return;
  event.preventDefault();
  let to = from;
  while (cells[to] && !cells[to].dataset.t) to += step; // over slots without a record
  if (cells[to]) focusCell(cells, cells[to]);
}

function focusCell(cells, chosen) {
  for (const cell of cells.filter((one) => one.dataset.t)) cell.tabIndex = cell === chosen ? 0 : -1;
  chosen.focus();
}

// One run: what it found, how it got there, and every iteration at a glance.

const OUTCOMES = {
  improved: "better than its parent",
  equal: "equal to its parent",
  lower: "worse than its parent",
  evaluation_failed: "no child: evaluation failed",
  no_program: "no child: no program",
  unknown: "not compared with its parent",
};
const SHORT = {
  improved: "better",
  equal: "equal",
  lower: "worse",
  evaluation_failed: "evaluation failed",
  no_program: "no program",
  unknown: "not compared",
};
const GLYPHS = { "no-op": "·", "look-up": "L", retrieve: "R", missing: "?" };

async function runPage(run) {
  const page = await unpack(`run-${run.number}`);
  const config = CONFIGS.get(run.config);
  const flags = page.audit.flags;
  return [
    h(
      "div",
      { class: "title" },
      h("h1", {}, run.task.title),
      h(
        "p",
        { class: "lead" },
        h("span", { class: `swatch c${config.colour}`, "aria-hidden": "true" }),
        " ",
        [
          run.method,
          run.model,
          run.n && `N = ${run.n}`,
          run.seed !== null && `seed ${run.seed}`,
          run.settings,
        ]
          .filter(Boolean)
          .join(" · "),
      ),
      h(
        "p",
        {},
        badge(run.status, run.complete ? "good" : "bad"),
        " ",
        run.held_out && badge("held-out metric", "held"),
        " ",
        run.variant !== "official" && badge(`variant ${run.variant}`, "bad"),
        " ",
        flags.length > 0 && badge(plural(flags.length, "audit flag"), "flag"),
        " ",
        h("span", { class: "untrusted muted" }, run.name),
      ),
    ),
    why(run) && h("p", { class: "hint warning" }, `${why(run)}.`),
    run.held_out &&
      h(
        "p",
        { class: "hint" },
        "The reporting metric of this task is held out: it was evaluated on the best program, after the search, and no method saw it.",
      ),
    h(
      "div",
      { class: "tiles" },
      tiles(run, page).map(([name, value, more]) =>
        h(
          "div",
          { class: "tile" },
          h("span", { class: "muted" }, name),
          h("strong", {}, value),
          more ? h("small", {}, more) : null,
        ),
      ),
    ),
    section("Best so far", anytime(run, page)),
    section("Iterations", timeline(run, page)),
    section("Evolution", evolution(run, page)),
    predictions(run, page),
    section("All iterations", iterationTable(run, page)),
    section("Costs by purpose", costTable(page)),
    flagList(run, page.audit),
    bestProgram(page.best_program),
    h(
      "details",
      { class: "card" },
      h("summary", {}, "Configuration"),
      h("pre", { class: "untrusted" }, JSON.stringify(page.config, null, 1)),
    ),
    noteList(page.notes),
  ];
}

function tiles(run, page) {
  const best = page.lineage.at(-1);
  const retrieves = DECISIONS.map((name) => run.decisions[name] ?? 0);
  return [
    [
      run.held_out ? "NDG (held out)" : "NDG",
      run.ndg === null ? (run.variant === "official" ? "not known" : "none") : percent(run.ndg),
      run.ndg_raw !== null && run.ndg_raw < 0
        ? `${percent(run.ndg_raw)} before the floor`
        : run.ndg === null
          ? why(run)
          : "0 initial, 100 best known",
    ],
    [
      `${run.task.metric}${run.held_out ? " (held out)" : ""}`,
      run.objective === null ? "not evaluated" : number(run.objective, 7),
      `${run.task.direction === "min" ? "lower" : "higher"} is better; best known ${number(run.task.sota, 7)}`,
    ],
    ["Search score", number(run.score, 7), `initial ${number(run.x0_score, 7)}`],
    [
      "Best at",
      best === 0 ? "initial program" : `iteration ${best}`,
      best === 0
        ? "nothing better was found"
        : `${plural(page.lineage.length - 1, "step")} from the initial program`,
    ],
    [
      "Iterations",
      `${run.done} of ${run.iterations ?? "?"}`,
      run.slots_missing
        ? `${plural(run.slots_missing, "slot")} without a record`
        : run.recorded
          ? "imported record"
          : plural(run.evaluations, "evaluation"),
    ],
    [
      "Cost",
      dollars(run.usd),
      run.recorded
        ? "the record does not tell"
        : run.usd === null
          ? "a call has no known price"
          : "model calls and searches",
    ],
    ["Time", duration(run.seconds), "pauses included"],
    retrieves.some(Boolean) ? ["Gate", retrieves.join(" / "), "no-op / look-up / retrieve / missing"] : null,
  ].filter(Boolean);
}

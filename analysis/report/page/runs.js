// The list of runs.

const runAddress = (run, t) => `#/run/${encodeURIComponent(run.key)}${t === undefined ? "" : `/${t}`}`;

function runList(runs) {
  const flags = (run) => Object.values(run.flags).reduce((sum, count) => sum + count, 0);
  const columns = [
    {
      title: "Run",
      value: (r) => r.name,
      cell: (r) => h("a", { href: runAddress(r), class: "untrusted" }, r.name),
    },
    { title: "Task", value: (r) => r.task.title, cell: (r) => r.task.title },
    {
      title: "Method",
      value: (r) => shortName(CONFIGS.get(r.config), [...CONFIGS.values()]),
      cell: (r) =>
        h(
          "span",
          { class: "config" },
          h("span", { class: `swatch c${CONFIGS.get(r.config).colour}`, "aria-hidden": "true" }),
          h(
            "span",
            {},
            r.method,
            h(
              "small",
              { class: "settings" },
              [r.model, r.n && `N=${r.n}`, r.seed !== null && `seed ${r.seed}`].filter(Boolean).join(" · "),
            ),
          ),
        ),
    },
    {
      title: "Status",
      value: (r) => r.status,
      cell: (r) => [
        badge(r.status, r.complete ? "good" : "bad"),
        h("small", {}, ` ${r.done}/${r.iterations ?? "?"}`),
      ],
    },
    { title: "NDG", right: true, value: (r) => r.ndg, cell: (r) => runNdg(r) },
    { title: "Best so far", cell: (r) => sparkline(r) ?? "–" },
    {
      title: "Search score",
      right: true,
      hint: "of the best program; higher is better",
      value: (r) => r.score,
      cell: (r) => number(r.score),
    },
    {
      title: "Reporting metric",
      right: true,
      hint: "of the best program, in the task's direction",
      value: (r) => r.objective,
      cell: (r) => [number(r.objective), r.held_out ? [" ", badge("held out", "held")] : null],
    },
    { title: "Cost", right: true, value: (r) => r.usd, cell: (r) => dollars(r.usd) },
    {
      title: "Decisions",
      value: (r) => r.decisions.retrieve ?? null,
      hint: "no-op, look-up, retrieve, missing; sorts by retrieves",
      cell: (r) => decisionBar(r),
    },
    { title: "Flags", right: true, value: flags, cell: (r) => (flags(r) ? badge(flags(r), "flag") : "0") },
  ];
  return section("Runs", table("runs", "Runs", columns, runs, { cards: true }));
}

function runNdg(run) {
  if (run.ndg === null)
    return h("span", { class: "none", title: why(run) }, run.variant === "official" ? "not known" : "none");
  const raw =
    run.ndg === 0 && run.ndg_raw !== null && run.ndg_raw < 0
      ? h("small", {}, ` (${percent(run.ndg_raw)} before the floor)`)
      : null;
  const held = run.held_out ? h("small", {}, " held out") : null;
  return [
    h("strong", {}, percent(run.ndg)),
    raw,
    held,
    run.complete ? null : h("small", {}, " not in means"),
  ];
}

const DECISIONS = ["no-op", "look-up", "retrieve", "missing"];

function decisionBar(run) {
  const total = DECISIONS.reduce((sum, name) => sum + (run.decisions[name] ?? 0), 0);
  if (total === 0) return h("span", { class: "none" }, "no gate");
  const text = DECISIONS.map((name) => `${name} ${run.decisions[name] ?? 0}`).join(", ");
  return h(
    "span",
    { class: "decisions", role: "img", "aria-label": text, title: text },
    DECISIONS.map((name) => {
      const part = run.decisions[name] ?? 0;
      return part > 0 && h("span", { class: name, vars: { "--part": String(part / total) } }, part);
    }),
  );
}

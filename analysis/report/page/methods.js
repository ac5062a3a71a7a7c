// Methods: means over tasks that may be compared, every run as a dot, progress.

function methods(runs, wantsOwn) {
  const cells = cellsOf(runs);
  const common = commonTasks(cells);
  const own = wantsOwn || common.length === 0;
  const rows = [...cells].map(([key, mine]) => {
    const tasks = own ? [...mine.keys()] : common.filter((task) => mine.has(task));
    const used = tasks.flatMap((task) => mine.get(task));
    const all = runs.filter((run) => run.config === key);
    const ndgs = tasks.map((task) => mine.get(task).map((run) => run.ndg));
    return {
      config: CONFIGS.get(key),
      tasks,
      own: mine.size,
      used,
      all,
      mean: ndgs.length ? mean(ndgs.map(mean)) : null,
      best: ndgs.length ? mean(ndgs.map((values) => Math.max(...values))) : null,
      usd: used.length && used.every((run) => run.usd !== null) ? mean(used.map((run) => run.usd)) : null,
    };
  });
  const max = Math.max(100, ...rows.flatMap((row) => row.used.map((run) => run.ndg))) * 1.02;
  const configs = rows.map((row) => row.config);
  const several = rows.length > 1;
  const scope =
    own && !wantsOwn && several
      ? "No task is common to all methods shown, so these are means over each method's own tasks: they must not be compared. Choose a task, or fewer methods."
      : own
        ? "Means over each method's own tasks: methods with different tasks must not be compared by them."
        : several
          ? `Means over the ${plural(common.length, "task")} on which every method shown has a finished run with NDG.`
          : `Means over ${plural(common.length, "task")}.`;
  const columns = [
    { title: "Method", value: (r) => shortName(r.config, configs), cell: (r) => configName(r.config) },
    { title: "Model", value: (r) => r.config.model, cell: (r) => r.config.model },
    {
      title: "N",
      right: true,
      hint: "candidates of an iteration",
      value: (r) => r.config.n,
      cell: (r) => number(r.config.n),
    },
    {
      title: "Tasks",
      right: true,
      value: (r) => r.tasks.length,
      cell: (r) => (r.tasks.length === r.own ? r.own : `${r.tasks.length} of ${r.own}`),
    },
    {
      title: "Runs n",
      right: true,
      value: (r) => r.used.length,
      cell: (r) => [
        r.used.length,
        r.all.length > r.used.length ? h("small", {}, ` of ${r.all.length}`) : null,
      ],
    },
    {
      title: own && several ? "Mean NDG (own tasks)" : "Mean NDG",
      right: true,
      hint: "mean over tasks of the mean of runs",
      value: (r) => r.mean,
      cell: (r) => bar(r.mean, max, r.config.colour),
    },
    {
      title: own && several ? "Best NDG (own tasks)" : "Best NDG",
      right: true,
      hint: "mean over tasks of the best of n runs; the best of more runs is better for that reason alone",
      value: (r) => r.best,
      cell: (r) => h("strong", {}, percent(r.best)),
    },
    {
      title: "NDG of runs",
      cell: (r) =>
        r.used.length
          ? strip(
              r.used.map((run) => run.ndg),
              r.mean,
              max,
              r.config.colour,
            )
          : "–",
    },
    {
      title: "USD per run",
      right: true,
      hint: "model calls and searches; unknown when a price is not known",
      value: (r) => r.usd,
      cell: (r) => (r.used.length ? dollars(r.usd) : "–"),
    },
  ];
  return section(
    "Methods",
    h(
      "p",
      { class: `hint ${own && several ? "warning" : ""}` },
      scope,
      " NDG 0 is the initial program, 100 the best known result. Left out of means: unfinished runs and runs without NDG.",
    ),
    table("methods", "Methods", columns, rows, {
      cards: true,
      first: own && several ? { column: 0, down: false } : { column: 5, down: true },
    }),
    own && several ? null : progress(rows, common),
  );
}

function configName(config) {
  return h(
    "span",
    { class: "config" },
    h("span", { class: `swatch c${config.colour}`, "aria-hidden": "true" }),
    h("span", {}, config.method, config.settings ? h("small", { class: "settings" }, config.settings) : null),
  );
}

function bar(value, max, colour) {
  if (value === null) return "–";
  return h(
    "span",
    { class: `bar c${colour}`, vars: { "--part": String(Math.max(0, value) / max) } },
    h("strong", {}, percent(value)),
  );
}

// Mean NDG of the best so far, over the same tasks and runs as the table.
function progress(rows, common) {
  const series = [];
  const among = rows.map((row) => row.config);
  for (const { config, used } of rows) {
    const byTask = new Map();
    for (const run of used) {
      if (run.held_out || !common.includes(run.task.id)) continue;
      if (!byTask.has(run.task.id)) byTask.set(run.task.id, []);
      byTask.get(run.task.id).push(run);
    }
    if (byTask.size === 0) continue;
    const end = Math.min(...[...byTask.values()].flat().map((run) => run.done));
    const at = (run, t) => run.steps.reduce((now, [when, value]) => (when <= t ? value : now), 0);
    const points = [];
    for (let t = 0; t <= end; t += 1) {
      const value = mean([...byTask.values()].map((runs) => mean(runs.map((run) => at(run, t)))));
      if (t === 0 || t === end || value !== points.at(-1)[1]) points.push([t, value]);
    }
    series.push({
      name: shortName(config, among),
      colour: config.colour,
      dash: config.colour % 2 ? "6 3" : null,
      points,
      tasks: byTask.size,
    });
  }
  if (series.length === 0) return null;
  const high = Math.max(1, ...series.flatMap((one) => one.points.map(([, v]) => v)));
  const end = Math.max(...series.map((one) => one.points.at(-1)[0]));
  return h(
    "figure",
    {},
    h(
      "figcaption",
      {},
      h("strong", {}, "Mean NDG of the best so far"),
      " against iterations; held-out tasks are not in it",
    ),
    stepChart({
      series: series.map((one) => ({ ...one, points: one.points })),
      x: { min: 0, max: end, label: "iterations" },
      y: { min: 0, max: high * 1.06 },
      label: `Mean NDG by method at the end: ${series.map((one) => `${one.name} ${percent(one.points.at(-1)[1])}`).join("; ")}`,
    }),
    legend(series),
  );
}

// Tasks x methods.

function matrix(runs) {
  const cells = cellsOf(runs);
  const configs = [...cells.keys()].map((key) => CONFIGS.get(key));
  const tasks = [...TASKS.values()].filter((task) => runs.some((run) => run.task === task));
  const value = (task, config) => {
    const mine = cells.get(config.key).get(task.id);
    return mine ? mean(mine.map((run) => run.ndg)) : null;
  };
  const top = (task) => Math.max(...configs.map((config) => value(task, config) ?? -1));
  const columns = [
    {
      title: "Task",
      value: (task) => `${DOMAINS.indexOf(task.domain)} ${task.name}`,
      cell: (task) =>
        h(
          "span",
          {},
          task.title,
          task.held_out ? [" ", badge("held out", "held")] : null,
          h("small", { class: "settings" }, task.domain),
        ),
    },
    ...configs.map((config) => ({
      title: h(
        "span",
        { class: "config" },
        h("span", { class: `swatch c${config.colour}`, "aria-hidden": "true" }),
        shortName(config, configs),
      ),
      label: shortName(config, configs),
      right: true,
      value: (task) => value(task, config),
      cell: (task) =>
        heat(
          cells.get(config.key).get(task.id),
          runs.filter((r) => r.config === config.key && r.task === task),
          top(task),
        ),
    })),
  ];
  return section(
    "Tasks",
    h(
      "p",
      { class: "hint" },
      "Mean NDG of n finished runs, and the best of them. Held out: the metric is evaluated after the search, on the best program.",
    ),
    table("tasks", "Mean NDG by task and method", columns, tasks, {
      pinned: true,
      first: { column: 0, down: false },
    }),
  );
}

function heat(counted, all, top) {
  if (all.length === 0) return h("span", { class: "none" }, "no run");
  if (!counted)
    return h(
      "span",
      { class: "none" },
      h("span", { title: why(all[0]) }, "no NDG"),
      h("small", {}, `n = 0 of ${all.length}`),
    );
  const values = counted.map((run) => run.ndg);
  const middle = mean(values);
  return h(
    "span",
    { class: "heat", vars: { "--part": String(Math.min(1, Math.max(0, middle / 100))) } },
    h(middle === top ? "strong" : "span", {}, percent(middle)),
    h(
      "small",
      {},
      `best ${percent(Math.max(...values))} · n = ${values.length}${all.length > values.length ? ` of ${all.length}` : ""}`,
    ),
  );
}

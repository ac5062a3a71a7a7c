// Best so far against what it took.

const AXES = [
  { name: "iterations", label: "iterations" },
  { name: "evaluations", of: (row) => row.evaluations, label: "evaluations" },
  { name: "USD", of: (row) => row.usd, label: "USD" },
  { name: "calls", of: (row) => row.calls, label: "model calls" },
  { name: "tokens", of: (row) => row.tokens, label: "tokens (prompt and completion)" },
  { name: "time", label: "minutes" },
];

// Cost after each iteration on an axis, from 0 on; null when one is not known.
function along(rows, axis) {
  if (axis.name === "iterations") return [0, ...rows.map((row) => row.t)]; // some slots have no record
  if (axis.name === "time")
    return rows.some((row) => row.seconds === null) ? null : [0, ...rows.map((row) => row.seconds / 60)];
  const costs = [0];
  for (const row of rows) {
    const spent = axis.of(row);
    if (spent === null) return null;
    costs.push(costs.at(-1) + spent);
  }
  return costs;
}

function anytime(run, page) {
  const known = run.steps.length > 0 && run.variant === "official";
  const measures = [...(known ? [run.held_out ? "NDG (held out)" : "NDG"] : []), "search score"];
  const state = { axis: AXES[0], measure: run.held_out ? "search score" : measures[0] };
  const place = h("div", {});
  const draw = () => {
    const costs = along(page.rows, state.axis);
    if (costs === null) {
      place.replaceChildren(h("p", { class: "empty" }, `${state.axis.name}: not known for every iteration.`));
      return;
    }
    const gain = state.measure !== "search score";
    const values = [
      gain ? run.steps[0][1] : run.x0_score,
      ...page.rows.map((row) => (gain ? row.ndg : row.best)),
    ];
    const points = values.map((value, i) => [costs[i], value]).filter(([, value]) => value !== null);
    if (run.held_out && gain) points.shift();
    const found = points.map(([, value]) => value);
    const [low, high] = gain ? [Math.min(0, ...found), Math.max(...found, 1) * 1.06] : robust(found);
    place.replaceChildren(
      stepChart({
        series: [
          { name: state.measure, colour: CONFIGS.get(run.config).colour, points, dots: run.held_out && gain },
        ],
        x: { min: 0, max: costs.at(-1) || 1, label: state.axis.label },
        y: { min: low, max: high },
        label: `${state.measure} of the best so far, from ${number(found[0])} to ${number(found.at(-1))} after ${number(costs.at(-1))} ${state.axis.label}`,
      }),
      h(
        "p",
        { class: "hint" },
        gain && run.held_out
          ? "Held-out values at the iterations where they were evaluated."
          : gain
            ? "NDG of the best so far; it holds until the next one."
            : "Search score of the best so far (what steers the search), not NDG.",
      ),
    );
  };
  draw();
  return [
    h(
      "div",
      { class: "choices" },
      measures.length > 1 &&
        choices("Measure", measures, state.measure, (value) => {
          state.measure = value;
          draw();
        }),
      choices(
        "Against",
        AXES.map((axis) => axis.name),
        state.axis.name,
        (value) => {
          state.axis = AXES.find((axis) => axis.name === value);
          draw();
        },
      ),
    ),
    place,
  ];
}

let groups = 0;

// One of a few: radio buttons, so that the arrow keys work as everywhere.
function choices(title, values, chosen, choose) {
  groups += 1;
  return h(
    "fieldset",
    { class: "choice" },
    h("legend", {}, title),
    values.map((value) =>
      h(
        "label",
        {},
        h("input", {
          type: "radio",
          name: `choice-${groups}`,
          value,
          checked: value === chosen,
          change: () => choose(value),
        }),
        h("span", {}, value),
      ),
    ),
  );
}

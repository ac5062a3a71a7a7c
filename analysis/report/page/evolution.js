// Which program came from which, and what was predicted of it.

function evolution(run, page) {
  const place = h("div", {});
  const draw = (measure) => place.replaceChildren(chart((width) => tree(run, page, measure, width)));
  draw("search score");
  return [
    h("div", { class: "choices" }, choices("Height", ["search score", "generation"], "search score", draw)),
    place,
    h(
      "p",
      { class: "hint" },
      "Lines lead from parent to child; the thick one leads from the initial program to the best. Scores far below the others are drawn at the bottom edge.",
    ),
    h(
      "p",
      {},
      "Way to the best: ",
      page.lineage.map((t, i) => [
        i ? " → " : "",
        t === 0 ? "initial" : h("a", { href: runAddress(run, t) }, t),
      ]),
    ),
  ];
}

function tree(run, page, measure, width) {
  const byT = new Map(page.rows.map((row) => [row.t, row]));
  const depth = new Map([[0, 0]]);
  for (const row of page.rows) depth.set(row.t, row.from === null ? 1 : (depth.get(row.from) ?? 0) + 1);
  const start = page.rows.find((row) => row.from === 0 && row.parent !== null)?.parent ?? run.x0_score;
  const value = (t) =>
    measure === "generation" ? (depth.get(t) ?? 0) : t === 0 ? start : (byT.get(t)?.score ?? null);
  const born = page.rows.filter((row) => row.score !== null);
  const values = [value(0), ...born.map((row) => value(row.t))];
  const [low, high] = measure === "generation" ? [-0.5, Math.max(...values) + 0.5] : robust(values);
  const height = 320;
  const { root, px, py, bottom } = frame(width, height, {
    x: { min: 0, max: Math.max(1, ...page.rows.map((row) => row.t)), label: "iterations" },
    y: { min: low, max: high },
    label: `Parents and children of ${plural(born.length, "program")}; the best is ${page.lineage.length - 1} steps from the initial program`,
  });
  const at = (t) => [px(t), Math.min(py(Math.max(low, value(t) ?? low)), bottom)];
  const lineage = new Set(page.lineage);
  const edges = svg("g", {});
  const nodes = svg("g", {});
  for (const row of born) {
    if (row.from === null) {
      nodes.append(node(run, row, ...at(row.t), lineage.has(row.t)));
      continue;
    }
    const [[x1, y1], [x2, y2]] = [at(row.from), at(row.t)];
    const main = lineage.has(row.t);
    const bend = (x1 + x2) / 2;
    const path = svg("path", {
      class: main ? "edge main" : "edge",
      d: `M${x1.toFixed(1)},${y1.toFixed(1)}C${bend.toFixed(1)},${y1.toFixed(1)} ${bend.toFixed(1)},${y2.toFixed(1)} ${x2.toFixed(1)},${y2.toFixed(1)}`,
    });
    if (main) edges.append(path);
    else edges.prepend(path);
    nodes.append(node(run, row, x2, y2, main));
  }
  for (const row of page.rows) {
    if (row.score === null) nodes.append(node(run, row, px(row.t), bottom, false));
  }
  const [x0, y0] = at(0);
  nodes.append(
    svg(
      "rect",
      { class: "node initial", x: x0 - 4, y: y0 - 4, width: 8, height: 8 },
      svg("title", {}, "initial program"),
    ),
  );
  root.append(edges, nodes);
  return root;
}

function node(run, row, x, y, main) {
  const look = { class: `node ${row.decision ?? "ungated"} ${main ? "main" : ""}` };
  const shape =
    row.score === null
      ? svg("path", { class: "node failed", d: `M${x - 3},${y - 3}l6,6m0,-6l-6,6` })
      : svg("circle", { ...look, cx: x.toFixed(1), cy: y.toFixed(1), r: main ? 5.5 : 4 });
  return svg(
    "g",
    {
      class: "opens",
      click: () => {
        location.hash = runAddress(run, row.t);
      },
    },
    svg("title", {}, describe(row)),
    shape,
  );
}

function predictions(run, page) {
  const points = page.rows
    .map((row) => {
      const told = row.documents.map((d) => d.predicted).filter((p) => p !== null);
      return { row, predicted: told.length ? Math.max(...told) : null, measured: row.score };
    })
    .filter((point) => point.predicted !== null && point.measured !== null);
  if (points.length === 0) return null;
  const better = points.filter(({ row }) => row.documents.some((d) => d.promising));
  const kept = better.filter(({ row }) => row.outcome === "improved").length;
  return section(
    "Predicted and measured",
    h(
      "p",
      { class: "hint" },
      `One point for each of ${plural(points.length, "iteration")} with a prediction: the highest that a given document had, and what the child then scored. ` +
        (better.length
          ? `A better score than the parent's was predicted in ${better.length} of them, and found in ${kept}.`
          : "No prediction was higher than the parent's score."),
    ),
    chart((width) => {
      const [low, high] = robust(points.flatMap((p) => [p.predicted, p.measured]));
      const { root, px, py } = frame(width, 280, {
        x: { min: low, max: high, label: "predicted search score" },
        y: { min: low, max: high },
        label: `Predicted against measured search score of ${points.length} iterations`,
      });
      const inside = (v) => Math.min(high, Math.max(low, v));
      root.append(
        svg(
          "line",
          { class: "equal", x1: px(low), y1: py(low), x2: px(high), y2: py(high) },
          svg("title", {}, "as predicted"),
        ),
      );
      for (const { row, predicted, measured } of points) {
        root.append(
          svg(
            "g",
            {
              class: "opens",
              click: () => {
                location.hash = runAddress(run, row.t);
              },
            },
            svg(
              "title",
              {},
              `Iteration ${row.t}: predicted ${number(predicted)}, measured ${number(measured)}, parent ${number(row.parent)}`,
            ),
            svg("circle", {
              class: `node ${row.decision ?? "ungated"}`,
              cx: px(inside(predicted)),
              cy: py(inside(measured)),
              r: 4.5,
            }),
          ),
        );
      }
      return root;
    }),
  );
}

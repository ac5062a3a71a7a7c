// Charts: small SVG drawings that follow the width of their place. What they show also stands in
// tables, so that nobody depends on seeing them.

// `draw(width)` gives an svg; it is called again when the place gets another width.
function chart(draw) {
  const place = h("div", { class: "chart" });
  let width = 0;
  new ResizeObserver(() => {
    const now = Math.floor(place.clientWidth);
    if (now > 0 && now !== width) {
      width = now;
      place.replaceChildren(draw(width));
    }
  }).observe(place);
  return place;
}

function ticks(low, high, count) {
  if (!(high > low)) return [low];
  const rough = (high - low) / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((f) => f * power).find((s) => s >= rough);
  const found = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; i += 1) {
    found.push(Number((i * step).toPrecision(12)));
  }
  return found;
}

// Bounds of most values: a few scores are so far away that nothing else could be seen.
function robust(values, margin = 0.06) {
  const sorted = values.filter((v) => v !== null && v !== undefined).sort((a, b) => a - b);
  if (sorted.length === 0) return [0, 1];
  const at = (q) => sorted[Math.round(q * (sorted.length - 1))];
  const [q1, q3] = [at(0.25), at(0.75)];
  const reach = 3 * (q3 - q1);
  let low = reach > 0 ? Math.max(sorted[0], q1 - reach) : sorted[0];
  const high = sorted.at(-1);
  if (reach === 0 && sorted.length > 4 && at(0.1) !== low) low = at(0.1);
  const pad = (high - low || Math.abs(high) || 1) * margin;
  return [low - pad, high + pad];
}

// Axes with ticks and labels; gives scales and the group to draw in.
function frame(width, height, { x, y, label }) {
  const xFormat = x.format ?? ((v) => number(v, 4));
  const yFormat = y.format ?? ((v) => number(v, 5));
  const yTicks = ticks(y.min, y.max, Math.max(2, height / 55));
  const left = 14 + 6.4 * Math.max(...yTicks.map((v) => yFormat(v).length), 3);
  const [top, right, bottom] = [12, 14, 40];
  const px = (v) => left + ((v - x.min) / (x.max - x.min || 1)) * (width - left - right);
  const py = (v) => height - bottom - ((v - y.min) / (y.max - y.min || 1)) * (height - top - bottom);
  const root = svg("svg", {
    width,
    height,
    viewBox: `0 0 ${width} ${height}`,
    role: "img",
    "aria-label": label,
  });
  for (const v of yTicks) {
    root.append(
      svg("line", { class: "grid", x1: left, x2: width - right, y1: py(v), y2: py(v) }),
      svg("text", { x: left - 6, y: py(v) + 4, "text-anchor": "end" }, yFormat(v)),
    );
  }
  for (const v of ticks(x.min, x.max, Math.max(2, (width - left) / 90))) {
    root.append(
      svg("line", { class: "tick", x1: px(v), x2: px(v), y1: height - bottom, y2: height - bottom + 4 }),
      svg("text", { x: px(v), y: height - bottom + 17, "text-anchor": "middle" }, xFormat(v)),
    );
  }
  root.append(
    svg("line", { class: "axis", x1: left, x2: width - right, y1: height - bottom, y2: height - bottom }),
    svg(
      "text",
      { class: "name", x: (left + width - right) / 2, y: height - 5, "text-anchor": "middle" },
      x.label,
    ),
  );
  return { root, px, py, left, right: width - right, top, bottom: height - bottom };
}

// Lines that hold their value until the next point. A series is {name, colour, points, dash, dots}.
function stepChart({ series, x, y, label, height = 260 }) {
  return chart((width) => {
    const { root, px, py } = frame(width, height, { x, y, label });
    for (const { colour, points, dash, dots, name } of series) {
      const group = svg("g", { class: `c${colour}` }, svg("title", {}, name));
      let path = "";
      points.forEach(([a, b], i) => {
        path +=
          i === 0 ? `M${px(a).toFixed(1)},${py(b).toFixed(1)}` : `H${px(a).toFixed(1)}V${py(b).toFixed(1)}`;
      });
      if (points.length > 0) path += `H${px(x.max).toFixed(1)}`;
      if (!dots) group.append(svg("path", { class: "line", d: path, "stroke-dasharray": dash }));
      for (const [a, b] of dots ? points : [])
        group.append(svg("circle", { class: "dot", cx: px(a), cy: py(b), r: 4 }));
      root.append(group);
    }
    return root;
  });
}

function legend(items) {
  return h(
    "ul",
    { class: "legend" },
    items.map(({ colour, name, dash }) =>
      h(
        "li",
        {},
        h("span", { class: `swatch c${colour} ${dash ? "dashed" : ""}`, "aria-hidden": "true" }),
        name,
      ),
    ),
  );
}

// Runs as dots on a line from 0 to `max`, with a mark at the mean.
function strip(values, middle, max, colour) {
  const [width, height] = [150, 20];
  const px = (v) => 5 + (Math.max(0, v) / max) * (width - 10);
  return svg(
    "svg",
    {
      class: `strip c${colour}`,
      width,
      height,
      viewBox: `0 0 ${width} ${height}`,
      role: "img",
      "aria-label": `NDG of runs: ${values.map(percent).join(", ")}`,
    },
    svg("line", { class: "grid", x1: 5, x2: width - 5, y1: 10, y2: 10 }),
    svg("line", { class: "grid", x1: px(100), x2: px(100), y1: 3, y2: 17 }),
    values.map((v) => svg("circle", { class: "dot", cx: px(v).toFixed(1), cy: 10, r: 3.5 })),
    middle === null ? null : svg("line", { class: "middle", x1: px(middle), x2: px(middle), y1: 2, y2: 18 }),
  );
}

function sparkline(run) {
  const [width, height] = [90, 22];
  if (run.steps.length === 0) return null;
  const values = run.steps.map(([, v]) => v);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const px = (t) => 2 + (t / Math.max(1, run.done)) * (width - 4);
  const py = (v) => height - 3 - (high > low ? (v - low) / (high - low) : 0) * (height - 6);
  const path = run.steps
    .map(([t, v], i) => (i ? `H${px(t).toFixed(1)}V${py(v).toFixed(1)}` : `M${px(t)},${py(v)}`))
    .join("");
  return svg(
    "svg",
    { class: `spark c${CONFIGS.get(run.config).colour}`, width, height, "aria-hidden": "true" },
    svg("path", { class: "line", d: `${path}H${width - 2}` }),
  );
}

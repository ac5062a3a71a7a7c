// An opened iteration: everything that the file holds of it.

async function iterationPage(run, t) {
  const page = await unpack(`run-${run.number}`);
  const here = page.rows.findIndex((row) => row.t === t);
  if (here < 0) return null;
  const row = page.rows[here];
  const chunk = row.chunk === null ? null : await unpack(`run-${run.number}-${row.chunk}`);
  const detail = chunk && chunk.iterations[t];
  return {
    row,
    before: page.rows[here - 1]?.t ?? null,
    after: page.rows[here + 1]?.t ?? null,
    content: [
      outline(run, row),
      flagsHere(page.audit, t),
      ...(detail ? opened(run, row, detail, chunk.bodies) : glance(run, row)),
    ],
  };
}

function outline(run, row) {
  return facts([
    [
      "Parent",
      row.from === null
        ? null
        : [
            row.from === 0
              ? "initial program"
              : h("a", { href: runAddress(run, row.from) }, `iteration ${row.from}`),
            h("small", {}, ` score ${number(row.parent, 8)}`),
          ],
    ],
    [
      "Child's search score",
      row.score === null
        ? OUTCOMES[row.outcome]
        : [
            number(row.score, 8),
            gained(row) !== null && h("small", {}, ` ${signed(gained(row), 3)} to its parent`),
          ],
    ],
    [run.task.metric, row.objective === null ? null : number(row.objective, 8)],
    [
      "Held-out value of the run's best",
      row.report === null ? null : [number(row.report, 8), " ", badge("held out", "held")],
    ],
    [
      "Best so far",
      [
        number(row.best, 8),
        row.ndg === null
          ? null
          : h("small", {}, ` NDG ${percent(row.ndg)}${run.held_out ? " (held out)" : ""}`),
      ],
    ],
    [
      "Candidates",
      run.recorded
        ? null
        : `${row.candidates} in ${plural(row.attempts, "attempt")}; ${row.evaluations} evaluated, ${row.failed} failed`,
    ],
    [
      "Cost",
      run.recorded
        ? "unknown"
        : `${dollars(row.usd)}; ${plural(row.calls, "call")}, ${number(row.tokens)} tokens`,
    ],
    ["Label", row.label || null],
    ["Outages", row.errors ? plural(row.errors, "message") : null],
    ["Excluded", row.excluded ? "yes: an outage, not in rates" : null],
  ]);
}

function flagsHere(audit, t) {
  const flags = audit.flags.filter((flag) => flag.t === t);
  if (flags.length === 0) return null;
  return section(
    "Audit",
    h(
      "ul",
      { class: "plain" },
      flags.map((flag) => h("li", {}, badge(words(flag.flag), "flag"), evidence(flag.evidence))),
    ),
  );
}

// Iterations whose details were left out still tell queries and documents.
function glance(run, row) {
  return [
    h(
      "p",
      { class: "hint warning" },
      INDEX.details === "none"
        ? "This file was written without details. "
        : "This file has full details of improving and flagged iterations only. ",
      "Texts, differences and candidates of this one: ",
      h("code", {}, "evoduet report RUN --details all"),
      ".",
    ),
    row.queries.length > 0 &&
      section(
        "Queries",
        h(
          "ol",
          { class: "plain" },
          row.queries.map((query) =>
            h(
              "li",
              {},
              h("span", { class: "untrusted" }, query.text),
              " ",
              queryBadges(query),
              h(
                "small",
                {},
                ` round ${query.r}; ${plural(query.results, "result")}, ${query.new} new in the run`,
              ),
            ),
          ),
        ),
      ),
    row.documents.length > 0 &&
      section(
        "Documents given",
        row.documents.map((document) => givenDocument(run, row, document)),
      ),
  ];
}

function queryBadges(query) {
  return [
    query.valid === false && badge("not valid", "bad"),
    query.repeat && badge("repeat", ""),
    !query.executed && badge("not executed", ""),
  ];
}

function givenDocument(run, row, document, body) {
  const first = document.first_retrieved_t ?? document.first_t ?? null;
  return h(
    "article",
    { class: "document" },
    h("h3", {}, link(document.url, document.title)),
    h(
      "p",
      {},
      document.promising && badge("predicted to beat the parent", "good"),
      " ",
      h(
        "small",
        {},
        [
          document.db_id,
          first !== null && `first found in iteration ${first}`,
          document.in_prompt === false && "not in the prompt",
          document.chars_in_prompt !== undefined &&
            `${number(document.chars_in_prompt)} characters in the prompt`,
        ]
          .filter(Boolean)
          .join(" · "),
      ),
    ),
    document.predicted === null
      ? h("p", { class: "muted" }, "No prediction.")
      : gauge(document.predicted, row),
    body === undefined
      ? null
      : body === null
        ? h("p", { class: "muted" }, "Its text is not in the run folder.")
        : h(
            "details",
            {},
            h("summary", {}, "Text of the page"),
            prose(body.text),
            body.chars > body.text.length &&
              h(
                "p",
                { class: "hint" },
                `The first ${number(body.text.length)} of ${number(body.chars)} characters.`,
              ),
          ),
  );
}

// Parent, prediction and outcome on one line.
function gauge(predicted, row) {
  const marks = [
    ["parent", row.parent],
    ["predicted", predicted],
    ["measured", row.score],
  ].filter(([, v]) => v !== null);
  return h(
    "div",
    { class: "gauge" },
    chart((width) => {
      const values = marks.map(([, v]) => v);
      const [low, high] = [Math.min(...values), Math.max(...values)];
      const px = (v) => 10 + ((v - low) / (high - low || 1)) * (width - 20);
      return svg(
        "svg",
        {
          width,
          height: 18,
          role: "img",
          "aria-label": marks.map(([name, v]) => `${name} ${number(v)}`).join(", "),
        },
        svg("line", { class: "axis", x1: 10, x2: width - 10, y1: 9, y2: 9 }),
        marks.map(([name, v]) =>
          svg(
            "circle",
            { class: `gauge-${name}`, cx: px(v), cy: 9, r: 5.5 },
            svg("title", {}, `${name} ${number(v)}`),
          ),
        ),
      );
    }),
    h(
      "ul",
      { class: "legend" },
      marks.map(([name, v]) =>
        h(
          "li",
          {},
          h("span", { class: `dot-key gauge-${name}`, "aria-hidden": "true" }),
          `${name} ${number(v)}`,
        ),
      ),
    ),
  );
}

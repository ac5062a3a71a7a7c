// Tables and lists of a run: iterations, costs, audit, best program.

const gained = (row) => (row.score === null || row.parent === null ? null : row.score - row.parent);

function iterationTable(run, page) {
  const show = {
    all: () => true,
    improving: (r) => r.outcome === "improved" || r.new_best,
    "new best": (r) => r.new_best,
    "with documents": (r) => r.documents.length > 0,
    "no child": (r) => r.score === null,
    flagged: (r) => r.flagged,
  };
  const predicted = (r) =>
    r.documents.reduce(
      (max, d) => (d.predicted !== null && (max === null || d.predicted > max) ? d.predicted : max),
      null,
    );
  const columns = [
    { title: "Iteration", value: (r) => r.t, cell: (r) => h("a", { href: runAddress(run, r.t) }, r.t) },
    {
      title: "Decision",
      value: (r) => r.decision,
      cell: (r) => (r.decision ? badge(r.decision, `d ${r.decision}`) : "–"),
    },
    {
      title: "Outcome",
      value: (r) => r.outcome,
      cell: (r) => [mark(r), " ", r.new_best ? "new best" : SHORT[r.outcome]],
    },
    {
      title: "Parent",
      right: true,
      value: (r) => r.parent,
      cell: (r) => [
        number(r.parent),
        r.from === null ? null : h("small", {}, r.from === 0 ? " initial" : ` it. ${r.from}`),
      ],
    },
    { title: "Child", right: true, value: (r) => r.score, cell: (r) => number(r.score) },
    {
      title: "Change",
      right: true,
      value: (r) => gained(r),
      cell: (r) => (gained(r) === null ? "–" : signed(r.score - r.parent, 3)),
    },
    {
      title: "Predicted",
      right: true,
      hint: "highest of the documents given",
      value: predicted,
      cell: (r) => number(predicted(r)),
    },
    { title: "Queries", right: true, value: (r) => r.queries.length, cell: (r) => r.queries.length },
    { title: "Documents", right: true, value: (r) => r.documents.length, cell: (r) => r.documents.length },
    {
      title: "Evaluated",
      right: true,
      hint: "candidates evaluated, and how many of them failed",
      value: (r) => r.evaluations,
      cell: (r) => [number(r.evaluations), r.failed ? h("small", {}, ` ${r.failed} failed`) : null],
    },
    { title: "Cost", right: true, value: (r) => r.usd, cell: (r) => dollars(r.usd) },
  ];
  const place = h("div", {});
  const draw = (name) => {
    const rows = page.rows.filter(show[name]);
    place.replaceChildren(
      rows.length
        ? table("iterations", "Iterations", columns, rows, { cards: true })
        : h("p", { class: "empty" }, "No iteration is like that."),
    );
    say(plural(rows.length, "iteration"));
  };
  draw("all");
  return [h("div", { class: "choices" }, choices("Show", Object.keys(show), "all", draw)), place];
}

function costTable(page) {
  const rows = Object.entries(page.usage).map(([purpose, spent]) => ({ purpose, ...spent }));
  const cost = (r) => (r.unpriced_calls ? null : (r.cost_usd ?? 0));
  const columns = [
    { title: "Purpose", value: (r) => r.purpose, cell: (r) => r.purpose },
    { title: "Calls", right: true, value: (r) => r.calls, cell: (r) => number(r.calls) },
    ...["prompt", "completion", "reasoning", "cached"].map((name) => ({
      title: `${name} tokens`,
      right: true,
      value: (r) => r[name],
      cell: (r) => number(r[name]),
    })),
    {
      title: "Cost",
      right: true,
      value: cost,
      cell: (r) => [
        dollars(cost(r)),
        r.unpriced_calls ? h("small", {}, ` ${plural(r.unpriced_calls, "call")} without a price`) : null,
      ],
    },
  ];
  const { requests, credits, cost_usd, unpriced } = page.search_usage;
  const usd = unpriced ? null : cost_usd;
  return [
    rows.length
      ? table("costs", "Costs by purpose", columns, rows, { cards: true })
      : h("p", { class: "empty" }, "No model calls."),
    h(
      "p",
      {},
      requests
        ? `${plural(requests, "search", "searches")}${credits === null ? "" : `, ${number(credits)} credits`}: ${dollars(usd)}.`
        : "No searches.",
      " Evaluations are not priced.",
    ),
  ];
}

function flagList(run, audit) {
  const { flags, undecidable, source } = audit;
  const kinds = new Map();
  for (const flag of flags) kinds.set(flag.flag, [...(kinds.get(flag.flag) ?? []), flag]);
  return section(
    "Audit",
    h("p", { class: "hint" }, `Found by rules, for a person to confirm (${source}).`),
    flags.length === 0 && h("p", { class: "empty" }, "No flag."),
    [...kinds].map(([kind, found]) =>
      h(
        "details",
        { open: found.length < 4 },
        h("summary", {}, badge(words(kind), "flag"), ` ${plural(found.length, "time")}`),
        h(
          "ul",
          { class: "plain" },
          found.map((flag) =>
            h(
              "li",
              {},
              flag.t === null
                ? "the run as a whole"
                : h("a", { href: runAddress(run, flag.t) }, `iteration ${flag.t}`),
              evidence(flag.evidence),
            ),
          ),
        ),
      ),
    ),
    undecidable.length > 0 &&
      h(
        "details",
        {},
        h("summary", {}, `${plural(undecidable.length, "finding")} not decidable`),
        h(
          "ul",
          {},
          undecidable.map((one) =>
            h(
              "li",
              { class: "untrusted" },
              `${one.t === null ? "the run" : `iteration ${one.t}`}: ${one.reason}`,
            ),
          ),
        ),
      ),
  );
}

const words = (name) => name.replaceAll("_", " ");

function evidence(found) {
  if (found === null || found === undefined || found === "") return null;
  const plain = typeof found === "string";
  return h(
    plain ? "blockquote" : "pre",
    { class: "evidence untrusted" },
    plain ? found : JSON.stringify(found, null, 1),
  );
}

function bestProgram(best) {
  if (best === null) return null;
  const title = best.t === 0 ? "Best program: the initial one" : `Best program (iteration ${best.t})`;
  if (best.program === null)
    return section(title, h("p", { class: "empty" }, "Its text is not in the run folder."));
  return h("details", { class: "card" }, h("summary", {}, title), ...code(best.program));
}

function code({ text, chars }) {
  return [
    h("pre", { class: "code untrusted", tabindex: 0 }, text),
    chars > text.length &&
      h("p", { class: "hint" }, `The first ${number(text.length)} of ${number(chars)} characters.`),
  ];
}

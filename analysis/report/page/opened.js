// What only iterations with full details have: gate, rounds, differences, candidates.

function opened(run, row, { record, titles, change }, bodies) {
  return [
    gateSection(run, record.gate),
    record.population_analysis &&
      section("Analysis of the population", prose(record.population_analysis.text)),
    ...record.rounds.map((round) => roundSection(round, titles)),
    record.documents.length > 0 &&
      section(
        "Documents given to the generator",
        h(
          "p",
          { class: "hint" },
          `${record.prompt_docs.length} of ${record.documents.length} were found in the final prompt.`,
        ),
        record.documents.map((document) =>
          givenDocument(
            run,
            row,
            { ...document, in_prompt: record.prompt_docs.includes(document.doc_id ?? document.db_id) },
            bodies[document.body_sha256],
          ),
        ),
      ),
    change && section("Parent → child", ...difference(change)),
    record.candidates.length > 0 && section("Candidates", candidateTable(record)),
    !run.recorded && section("Costs by purpose", costTable(record)),
    record.external_errors.length > 0 &&
      section(
        "Outages and errors",
        h(
          "ul",
          {},
          record.external_errors.map((error) => h("li", { class: "untrusted" }, error)),
        ),
      ),
    h(
      "details",
      { class: "card" },
      h("summary", {}, "The record as it is in the trace"),
      h("pre", { class: "untrusted", tabindex: 0 }, JSON.stringify(record, null, 1)),
    ),
  ];
}

function gateSection(run, gate) {
  if (gate === null) return null;
  const list = (ids) => (ids && ids.length ? ids.join(", ") : null);
  return section(
    "Gate",
    facts([
      ["Decision", badge(gate.decision, `d ${gate.decision}`)],
      ["Executed", gate.executed ?? "nothing"],
      ["Answer", gate.raw_decision === gate.decision ? null : (gate.raw_decision ?? "none that can be read")],
      ["Kind", gate.kind],
      ["Malformed", gate.malformed ? "yes" : null],
      ["Asked for", list(gate.requested_ids)],
      ["Found", list(gate.resolved_ids)],
      ["Not found", list(gate.unresolved_ids)],
      ["Remarks", list(gate.flags)],
    ]),
    gate.reasoning && [h("h3", {}, "Reasoning"), prose(gate.reasoning)],
    gate.knowledge && [h("h3", {}, "State of knowledge"), prose(gate.knowledge)],
  );
}

function roundSection(round, titles) {
  const kept = new Set((round.retained ?? []).map((one) => one.doc_id));
  const predicted = round.predictions ?? {};
  const results = round.searches.flatMap((search) => search.results);
  const columns = [
    {
      title: "Document",
      value: (r) => titles[r.doc_id] ?? r.url,
      cell: (r) => link(r.url, titles[r.doc_id]),
    },
    { title: "Rank", right: true, value: (r) => r.rank, cell: (r) => r.rank },
    {
      title: "Predicted",
      right: true,
      value: (r) => predicted[r.doc_id],
      cell: (r) => number(predicted[r.doc_id]),
    },
    {
      title: "Seen",
      value: (r) => (r.is_new_in_run ? 1 : 0),
      cell: (r) =>
        r.is_new_in_run ? "new" : r.is_new_in_iteration ? "seen in the run" : "seen in this iteration",
    },
    {
      title: "Kept",
      value: (r) => (kept.has(r.doc_id) ? 1 : 0),
      cell: (r) => (kept.has(r.doc_id) ? badge("kept", "good") : ""),
    },
  ];
  const where = [
    round.attempt !== null && `attempt ${round.attempt}`,
    round.candidate_slot !== null && `candidate ${round.candidate_slot + 1}`,
  ]
    .filter(Boolean)
    .join(", ");
  return section(
    `Round ${round.r}${where ? ` (${where})` : ""}`,
    round.queries.map((query) =>
      h(
        "div",
        { class: "query" },
        h(
          "p",
          {},
          h("strong", { class: "untrusted" }, query.text),
          " ",
          queryBadges({ ...query, repeat: query.duplicate_of !== null && query.duplicate_of !== undefined }),
        ),
        facts([
          ["Why", query.rationale || null],
          ["Intent", query.intent || null],
          ["Keywords", query.keywords?.length ? query.keywords.join(", ") : null],
          ["Sent as", query.wire_text && query.wire_text !== query.text ? query.wire_text : null],
          ["Error", query.error || null],
        ]),
      ),
    ),
    round.searches
      .filter((search) => search.status !== "ok" || search.error)
      .map((search) =>
        h(
          "p",
          { class: "hint warning untrusted" },
          `Search: ${search.status}${search.error ? `, ${search.error}` : ""}`,
        ),
      ),
    results.length > 0
      ? table("results", `Results of round ${round.r}`, columns, results, { cards: true })
      : h("p", { class: "empty" }, "No results."),
    round.scoring_status &&
      h("p", { class: "muted" }, `Predictions: ${round.scoring_status.replaceAll("_", " ")}.`),
    round.knowledge_after &&
      h("details", {}, h("summary", {}, "State of knowledge afterwards"), prose(round.knowledge_after)),
  );
}

function difference(change) {
  if (!change.diff)
    return [
      h("p", { class: "muted" }, `No difference to show: ${change.why}.`),
      ...(change.text ? code(change.text) : []),
    ];
  const kinds = { "+": "added", "-": "removed", "@": "place" };
  const count = (sign) => change.diff.filter((line) => line.startsWith(sign)).length;
  return [
    h("p", { class: "hint" }, `${plural(count("+"), "line")} added, ${count("-")} removed.`),
    h(
      "pre",
      { class: "code diff untrusted", tabindex: 0 },
      change.diff.map((line) => h("span", { class: kinds[line[0]] }, `${line}\n`)),
    ),
  ];
}

function candidateTable(record) {
  const chosen = (c) =>
    record.child !== null && c.slot === record.selected_slot && c.attempt === record.attempts;
  const columns = [
    {
      title: "Slot",
      value: (c) => c.attempt * 1000 + c.slot,
      cell: (c) => [
        `${c.slot + 1}`,
        record.attempts > 1 ? h("small", {}, ` attempt ${c.attempt}`) : null,
        chosen(c) ? [" ", badge("child", "good")] : null,
      ],
    },
    { title: "Answer", value: (c) => c.parse, cell: (c) => c.parse.replaceAll("_", " ") },
    {
      title: "Evaluation",
      value: (c) => c.eval?.status,
      cell: (c) => (c.eval ? badge(c.eval.status, c.eval.status === "ok" ? "good" : "bad") : "–"),
    },
    {
      title: "Search score",
      right: true,
      value: (c) => c.eval?.search_score,
      cell: (c) => number(c.eval?.search_score, 8),
    },
    {
      title: record.child?.objective === null ? "Metric (held out)" : "Metric",
      right: true,
      value: (c) => c.eval?.objective,
      cell: (c) => number(c.eval?.objective, 8),
    },
    { title: "Lines added", right: true, value: (c) => c.lines_added, cell: (c) => number(c.lines_added) },
    {
      title: "Time",
      right: true,
      value: (c) => c.eval?.wall_s,
      cell: (c) => (c.eval ? duration(c.eval.wall_s) : "–"),
    },
    {
      title: "Memory",
      right: true,
      value: (c) => c.eval?.max_rss,
      cell: (c) => (c.eval ? `${number(c.eval.max_rss, 3)} MB` : "–"),
    },
    { title: "More", cell: (c) => more(c) },
  ];
  return table("candidates", "Candidates", columns, record.candidates, { cards: true });
}

function more(candidate) {
  const verdict = candidate.eval ?? {};
  const metrics = Object.entries(verdict.metrics ?? {})
    .map(([name, value]) => `${name} = ${number(value, 8)}`)
    .join("\n");
  const rows = [
    ["Error", candidate.error || verdict.reason],
    ["Feedback", verdict.feedback],
    ["Metrics", metrics],
    ["Changes", candidate.diff_summary],
    ["Remarks", (candidate.flags ?? []).join(", ")],
  ].filter(([, text]) => text);
  if (rows.length === 0) return "";
  return h(
    "details",
    {},
    h("summary", {}, candidate.error ? "error" : "feedback"),
    rows.map(([name, text]) => [h("h3", {}, name), prose(text)]),
  );
}

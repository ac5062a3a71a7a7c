// The index, and blocks of data that are unpacked when they are opened.

const INDEX = JSON.parse(document.getElementById("index").textContent);
const TASKS = new Map(INDEX.tasks.map((task) => [task.id, task]));
const DOMAINS = [...new Set(INDEX.tasks.map((task) => task.domain))];
const RUNS = INDEX.runs.map((run, number) => ({
  ...run,
  number,
  task: TASKS.get(run.task),
  config: JSON.stringify([run.model, run.n, run.method, run.settings]),
  counts: run.complete && run.ndg !== null,
}));
nameRuns();

// Runs are known by their id in addresses; where two share one, by their folder, else by number.
function nameRuns() {
  const shared = (of) => {
    const seen = new Map();
    for (const run of RUNS) seen.set(of(run), (seen.get(of(run)) ?? 0) + 1);
    return (run) => seen.get(of(run)) > 1;
  };
  const [sharesId, sharesName] = [shared((run) => run.run_id), shared((run) => run.name)];
  for (const run of RUNS) {
    run.key = (
      !sharesId(run) ? run.run_id : !sharesName(run) ? run.name : `run ${run.number + 1}`
    ).toWellFormed();
  }
}

const COLOURS = 8;
const CONFIGS = new Map();
for (const run of RUNS) {
  if (!CONFIGS.has(run.config)) {
    const { model, n, method, settings } = run;
    CONFIGS.set(run.config, { key: run.config, model, n, method, settings, colour: CONFIGS.size % COLOURS });
  }
}
const MODELS = [...new Set(RUNS.map((run) => run.model))].sort();

// What to call a configuration where there is little room: no more than tells it from the others.
function shortName(config, among) {
  const differs = (name) => new Set(among.map((other) => other[name])).size > 1;
  const same = among.filter(
    (other) => other.method === config.method && other.model === config.model && other.n === config.n,
  );
  return [
    config.method,
    differs("model") ? config.model : null,
    differs("n") && config.n !== null ? `N=${config.n}` : null,
    same.length > 1 ? config.settings : null,
  ]
    .filter(Boolean)
    .join(" · ");
}

function why(run) {
  if (run.ndg !== null && run.complete) return null;
  if (run.variant !== "official") return `data variant ${run.variant}: not comparable, no NDG`;
  if (!run.complete) return `${run.status} after ${run.done} of ${run.iterations ?? "?"}: not in means`;
  if (run.held_out) return "held-out metric was not evaluated: no NDG";
  return "NDG is not known";
}

const loaded = new Promise((resolve) => {
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", resolve);
  else resolve();
});
const KEPT = 24;
const unpacked = new Map();

function unpack(name) {
  let found = unpacked.get(name);
  if (found === undefined) {
    found = unpackNow(name);
    unpacked.set(name, found);
    if (unpacked.size > KEPT) unpacked.delete(unpacked.keys().next().value);
  }
  return found;
}

async function unpackNow(name) {
  await loaded; // the blocks come last in the file and may still be on their way
  const bytes = Uint8Array.from(atob(document.getElementById(name).textContent), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

// --- means that may be compared ------------------------------------------------------------------

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

// Cells of configuration x task, from runs that count (whole budget, NDG known).
function cellsOf(runs) {
  const cells = new Map();
  for (const run of runs) {
    if (!cells.has(run.config)) cells.set(run.config, new Map());
    const mine = cells.get(run.config);
    if (!run.counts) continue;
    if (!mine.has(run.task.id)) mine.set(run.task.id, []);
    mine.get(run.task.id).push(run);
  }
  return cells;
}

// Tasks on which every configuration that has any NDG has one.
function commonTasks(cells) {
  const sets = [...cells.values()].filter((mine) => mine.size > 0).map((mine) => new Set(mine.keys()));
  return sets.length === 0 ? [] : [...sets[0]].filter((task) => sets.every((set) => set.has(task)));
}

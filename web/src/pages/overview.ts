// The server at a glance.
import type uPlot from "uplot";
import { get, type Finding, type KeptView, type Overview, type Table } from "../api";
import { chart, fit } from "../chart";
import { empty, h, problem, show } from "../dom";
import { findingCards } from "../findings";
import { bytes, duration, micros, number } from "../format";
import { callersCard } from "../overview/callers";
import { cardinalityCard } from "../overview/cardinality";
import { firstSteps } from "../overview/first_steps";
import { growthCard } from "../overview/growth";
import { latencyCard } from "../overview/latency";
import { errorsCard, runningCard, slowestCard } from "../overview/requests";
import { diskBars, storedTile, tableBars, tile } from "../overview/storage";
import { address, every, type Page } from "../page";
import { clock } from "../time";

// The last seconds without gaps: a quiet second has zeros.
function dense(overview: Overview, seconds: number): { times: number[]; rows: number[][] } {
  const known = new Map(overview.seconds.map((row) => [row[0], row]));
  const end = Math.max(overview.now_seconds - 1, overview.seconds.at(-1)?.[0] ?? 0);
  const times: number[] = [], rows: number[][] = [];
  for (let second = end - seconds + 1; second <= end; ++second) {
    times.push(second);
    rows.push(known.get(second) ?? [second, 0, 0, 0, 0, 0, 0, 0]);
  }
  return { times, rows };
}

// What the server tells of one of its parts; nothing where this server has no such figure.
function figure(overview: Overview, name: string, labels: Record<string, string> = {}): number | undefined {
  const samples = overview.figures[name]?.samples.filter((sample) =>
    Object.entries(labels).every(([label, value]) => sample.labels[label] === value));
  return samples?.length ? samples.reduce((sum, sample) => sum + sample.value, 0) : undefined;
}

const users: Record<string, string> = {
  blocks: "Blocks of files", write_buffers: "Write buffers", opened_pages: "Opened pages",
  reads: "Reads under way", writes: "Writes under way", series_writes: "Series writes under way", large: "Large rows and values",
};

function memoryBars(overview: Overview): HTMLElement {
  const limits = new Map(overview.figures["sonde_memory_limit_bytes"]?.samples.map((one) => [one.labels.user, one.value]));
  return h("ul", { class: "bars" }, (overview.figures["sonde_memory_used_bytes"]?.samples ?? []).map(({ labels, value }) => {
    const most = limits.get(labels.user) ?? 0;
    return h("li", { title: most > 0 ? `at most ${bytes(most)}` : undefined },
      h("span", {}, users[labels.user] ?? labels.user),
      h("span", { class: "bar" }, value > 0 && h("i", { style: `width:${most > 0 ? Math.min((100 * value) / most, 100) : 0}%` })),
      h("span", { class: "number" }, bytes(value)));
  }));
}

// The engine's work in the background: a line is left out where there is nothing to be said.
function engineFacts(overview: Overview): [string, string][] {
  const of = (name: string, labels: Record<string, string> = {}) => figure(overview, name, labels);
  const lines: [string, string][] = [];
  const add = (label: string, value: number | undefined, text: (value: number) => string) => {
    if (value !== undefined) lines.push([label, text(value)]);
  };
  const stopped = of("sonde_writes_stopped") === 1 ? "refused: a file could not be written or is damaged"
    : of("sonde_disk_full") === 1 ? "refused: the disk is nearly full"
    : of("sonde_rocksdb_write_stopped") === 1 ? "wait for the disk"
    : (of("sonde_rocksdb_delayed_write_bytes_per_second") ?? 0) > 0 ? "are slowed down" : "go through";
  if (of("sonde_writes_stopped") !== undefined) lines.push(["Writes", stopped]);
  add("Held up so far", of("sonde_rocksdb_stall_seconds_total"), (value) => duration(value));
  const hits = of("sonde_rocksdb_block_cache_hits_total"), misses = of("sonde_rocksdb_block_cache_misses_total");
  if (hits !== undefined && misses !== undefined && hits + misses > 0) lines.push(["Blocks found in the cache", `${((100 * hits) / (hits + misses)).toFixed(1)}%`]);
  add("Waits to settle", of("sonde_settling_waiting_bytes"), bytes);
  add("Cells that have settled", of("sonde_settling_cells_total", { from: "head" }), number);
  add("Compactions to do", of("sonde_rocksdb_pending_compaction_bytes"), bytes);
  add("Expired cells dropped", of("sonde_gc_cells_dropped_total"), number);
  add("Furthest behind of the change streams", overview.figures["sonde_change_stream_lag_seconds"]?.samples
    .reduce<number | undefined>((most, one) => Math.max(most ?? 0, one.value), undefined), duration);
  add("Free on the disk", of("sonde_disk_free_bytes"), bytes);
  return lines;
}

// The slowest queries in SQL of the last day.
function slowQueries(overview: Overview): HTMLElement {
  if (overview.slow_queries.length === 0) return empty("None", "No query in SQL took 100 ms or more within the last day.");
  return h("div", { class: "scroll" }, h("table", { class: "data" },
    h("thead", {}, h("tr", {}, ["Query", "Took", "Rows", "Scanned", "Memory", "Status", "Ended"].map((name) => h("th", {}, name)))),
    h("tbody", {}, overview.slow_queries.map((one) => h("tr", {},
      h("th", { scope: "row", title: one.query }, h("a", { href: address("/sql", { query: one.query }) }, one.query)),
      h("td", { class: "number" }, micros(one.took_ms * 1000)), h("td", { class: "number" }, number(one.rows)), h("td", { class: "number" }, number(one.rows_scanned)),
      h("td", { class: "number" }, bytes(one.memory_bytes)), h("td", { class: one.status !== "OK" && "bad" }, one.status),
      h("td", { class: "time" }, clock(one.ended_seconds)))))));
}

// The points that came over HTTP, by the way that they came, and why points were refused.
function pointCounts(overview: Overview): HTMLElement | undefined {
  const samples = (name: string) => overview.figures[name]?.samples ?? [];
  const senders = new Map<string, number>();
  for (const { labels, value } of samples("sonde_points_total")) senders.set(labels.sender, (senders.get(labels.sender) ?? 0) + value);
  const refused = samples("sonde_points_refused_total").filter((one) => one.value > 0);
  if (senders.size === 0 && refused.length === 0) return undefined;
  return h("table", { "data-part": "points" }, h("thead", {}, h("tr", {}, h("th", {}, "Points of series"), h("th", { class: "number" }, "Points"))),
    h("tbody", {}, [...senders].map(([sender, count]) => h("tr", {}, h("td", {}, `Written by ${sender}`), h("td", { class: "number" }, number(count)))),
      refused.map(({ labels, value }) => h("tr", {}, h("td", {}, `Refused: ${labels.reason.replaceAll("_", " ")}`), h("td", { class: "number bad" }, number(value))))));
}

// The materialized views, and how far each is behind its table.
function keptViews(views: KeptView[]): HTMLElement {
  const state = (view: KeptView) => view.error ? "fails" : view.finding ? "cannot keep up" : view.is_populating ? "is populated" : "follows";
  return h("div", { class: "scroll" }, h("table", {},
    h("thead", {}, h("tr", {}, ["View", "State", "Behind", "Rows computed", "Left out"].map((name, index) => h("th", { class: index > 1 && "number" }, name)))),
    h("tbody", {}, views.map((view) => h("tr", { "data-view": view.id },
      h("th", { scope: "row", title: view.name }, view.id), h("td", { class: (view.error || view.finding) && "bad" }, state(view)),
      h("td", { class: "number" }, duration(view.lag_seconds)), h("td", { class: "number" }, number(view.rows)),
      h("td", { class: view.left_out > 0 ? "number bad" : "number", title: "rows of the table and of the view that could not be computed" }, number(view.left_out)))))));
}

function viewFindings(views: KeptView[]): Finding[] {
  const common = { table: "", metric: null, start_key: "", end_key: "", cure: null, declaration: null };
  return views.flatMap((view): Finding[] => [
    ...view.error ? [{ ...common, pattern: "view_failing", severity: "critical" as const, title: `View ${view.id} is not kept`, text: view.error,
      remedy: "It is tried again every second. Cure what the text names; reads give the view as it was." }] : [],
    ...view.finding ? [{ ...common, pattern: "view_behind", severity: "warning" as const, title: `View ${view.id} cannot keep up`, text: view.finding,
      remedy: "Delete views of the table that nobody reads: each computes by itself what has changed. Or write less to the table." }] : [],
  ]);
}

// The processor's time of a moment. Of two moments of one process it is known what was used between them.
interface Sample { started: number; cpu_seconds: number; at_ms: number }
function usedSince(before: Sample | undefined, now: Sample): number | undefined {
  if (!before || before.started !== now.started || now.cpu_seconds < before.cpu_seconds) return undefined;
  return (now.cpu_seconds - before.cpu_seconds) / Math.max((now.at_ms - before.at_ms) / 1000, 0.1);
}

const isOfThisMachine = (address: string): boolean => /^(127\.\d+\.\d+\.\d+|localhost|\[?::1\]?):\d+$/.test(address);
const windowSeconds = 300, findingSeconds = 600;

// One line: how the server is, and which one it is.
function healthLine(overview: Overview): (HTMLElement | string)[] {
  const { level, reasons } = overview.health;
  const words = level === "well" ? "Writes and reads go through" : reasons[0];
  return [
    h("strong", { class: level }, h("i", { "aria-hidden": "true" }), words),
    ...(reasons.length > 1 ? [h("details", {}, h("summary", {}, `${reasons.length - 1} more`), h("ul", {}, reasons.slice(1).map((one) => h("li", {}, one))))] : []),
    h("span", { class: "muted" }, [`version ${overview.version}`, `gRPC ${overview.grpc_address}`, `data in ${overview.data_dir}`,
      isOfThisMachine(overview.grpc_address) ? "only this machine reaches it" : "other machines reach it", `memory ${bytes(overview.memory_bytes)}`,
      overview.durability === "os" ? "durability os: a power cut may lose the last seconds" : "every write is on disk before it is acknowledged"].join(" · ")),
  ];
}

// The address keeps the page's place; a link into the page only moves there.
function toErrors(event: Event): void {
  event.preventDefault();
  document.getElementById("errors")?.scrollIntoView({ behavior: "smooth" });
}

export function overviewPage(): Page {
  const tiles = h("section", { class: "tiles", "aria-label": "Now" });
  const health = h("section", { class: "health", role: "status", "aria-label": "Health", "data-part": "health" });
  const begin = h("div");
  const throughput = h("div", { class: "chart", "data-chart": "throughput" });
  const latency = latencyCard(), running = runningCard(), errors = errorsCard(), slowest = slowestCard(), callers = callersCard(), growth = growthCard(), cardinality = cardinalityCard();
  const findings = h("section", { class: "card" });
  const methods = h("section", { class: "card" });
  const slow = h("section", { class: "card", "data-part": "slow" });
  const storage = h("div"), disk = h("div");
  const stored = h("section", { class: "card", "data-part": "storage" }, h("h2", {}, "Storage", h("small", {}, "on disk, by part")), disk,
    h("p", { class: "muted" }, "Tables, on disk and in memory, about"), storage);
  const memory = h("section", { class: "card", "data-part": "memory" });
  const engine = h("section", { class: "card", "data-part": "engine" });
  const views = h("section", { class: "card", "data-part": "views", hidden: true });
  const message = h("div");
  let charts: uPlot[] = [];
  let healthShown = "", beginShown = "";
  let slowShown = "";
  let ofViews: Finding[] = [];
  let sample: Sample | undefined;

  const draw = (overview: Overview) => {
    const told = JSON.stringify([overview.health, overview.version, overview.durability]);
    if (told !== healthShown) show(health, ...healthLine(overview));
    healthShown = told;
    const beginning = overview.tables === 0 ? overview.grpc_address : "";
    if (beginning !== beginShown) show(begin, overview.tables === 0 && firstSteps(overview));
    beginShown = beginning;
    const { times, rows } = dense(overview, windowSeconds);
    const column = (index: number) => rows.map((row) => row[index]);
    const recent = rows.slice(-10);
    const mean = (index: number) => recent.reduce((sum, row) => sum + row[index], 0) / recent.length;
    const requests = mean(5);
    const now: Sample = { started: overview.started_seconds, cpu_seconds: overview.cpu_seconds, at_ms: performance.now() };
    const used = usedSince(sample, now);
    sample = now;
    show(tiles,
      tile("Rows read", `${number(mean(1))}/s`, `${bytes(mean(3))}/s`),
      tile("Rows written", `${number(mean(2))}/s`, `${bytes(mean(4))}/s`),
      tile("Mean latency", requests > 0 ? micros(mean(6) / requests) : "—", "of a request, in the server"),
      storedTile(overview),
      tile("Memory", bytes(overview.resident_bytes), `budget ${bytes(overview.memory_bytes)}`),
      tile("Processor", used === undefined ? "—" : `${Math.round(used * 100)}%`, `up for ${duration(overview.now_seconds - overview.started_seconds)}`));
    if (charts.length === 0) {
      charts = [
        chart(throughput, times, [
          { label: "rows read a second", values: column(1), fill: true },
          { label: "rows written a second", values: column(2), fill: true }], { height: 264, text: number, zero: true }),
      ];
    } else {
      charts[0].setData([times, column(1), column(2)]);
    }
    show(disk, diskBars(overview));
    show(memory, h("h2", {}, "Memory", h("small", {}, `by user, of ${bytes(overview.memory_bytes)}`)), memoryBars(overview));
    show(engine, h("h2", {}, "In the background", h("small", {}, h("a", { href: "/metrics" }, "all figures"))),
      h("dl", { class: "facts" }, engineFacts(overview).map(([label, text]) => [h("dt", {}, label), h("dd", {}, text)])));
    ofViews = viewFindings(overview.views);
    views.hidden = overview.views.length === 0;
    show(views, h("h2", {}, "Materialized views", h("small", {}, "how far each is behind its table")), keptViews(overview.views));
    const slowest = JSON.stringify(overview.slow_queries);
    if (slowest !== slowShown) show(slow, h("h2", {}, "Slow queries", h("small", {}, "in SQL, of the last day")), slowQueries(overview));
    slowShown = slowest;
    show(methods, h("h2", {}, "Requests"), overview.methods.length === 0
      ? h("p", { class: "muted" }, `None yet. Clients connect to ${overview.grpc_address}.`)
      : h("table", {}, h("thead", {}, h("tr", {}, ["Method", "Requests", "Errors", "Median", "99%"].map((text, index) =>
          h("th", { class: index > 0 && "number" }, text)))),
        h("tbody", {}, overview.methods.map((method) => h("tr", {},
          h("td", { class: "name" }, method.name), h("td", { class: "number" }, number(method.requests)),
          h("td", { class: "number", title: Object.entries(method.by_code).map(([code, count]) => `${code}: ${number(count)}`).join("\n") || undefined },
            method.errors > 0 ? h("a", { class: "bad", href: "#errors", onclick: toErrors }, number(method.errors)) : "0"),
          h("td", { class: "number" }, micros(method.p50_ms * 1000)), h("td", { class: "number" }, micros(method.p99_ms * 1000)))))),
      pointCounts(overview));
  };

  const stopFast = every(2000, async () => {
    try {
      draw(await get<Overview>("/api/v1/overview"));
      show(message);
    } catch (error) {
      show(message, problem(error));
    }
  });
  const stopSlow = every(5000, async () => {
    try {
      const [found, tables] = await Promise.all([
        get<{ findings: Finding[] }>("/api/v1/findings"), get<{ tables: Table[] }>("/api/v1/tables")]);
      show(findings, h("h2", {}, "Findings", h("small", {}, "of the last ten minutes")), findingCards([...ofViews, ...found.findings], { from: Math.floor(Date.now() / 1000) - findingSeconds, to: Math.floor(Date.now() / 1000) }));
      show(storage, tableBars(tables.tables));
    } catch {
      // The faster of the two says so.
    }
  });
  const observers = [fit(throughput, () => charts[0])];
  return {
    element: h("div", { class: "page" }, h("h1", {}, "Overview"), message, health, begin, tiles,
      h("div", { class: "two" },
        h("section", { class: "card" }, h("h2", {}, "Throughput", h("small", {}, "of the last five minutes")), throughput), latency.element),
      findings, h("div", { class: "two" }, methods, stored), errors.element, running.element, callers.element, growth.element, views, slowest.element, slow, cardinality.element, h("div", { class: "two" }, memory, engine)),
    leave: () => {
      stopFast();
      stopSlow();
      for (const card of [latency, running, errors, slowest, callers, growth, cardinality]) card.leave();
      observers.forEach((observer) => observer.disconnect());
      charts.forEach((one) => one.destroy());
    },
  };
}

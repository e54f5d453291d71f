// Declared series: what they are, and charts of what is in them.
import type uPlot from "uplot";
import { fetchHere, get, seriesPath, url, type Checked, type QueryAnswer, type Series } from "../api";
import { chart, fit, lineColour, type Line } from "../chart";
import { empty, field, h, problem, save, select, show } from "../dom";
import { bytes, clock, number } from "../format";
import { address, remember, route, type Page } from "../page";

const linesMax = 24;
const csvRowsMax = 1_000_000;
// Buckets to choose from, in seconds, by the names that queries take.
const steps: [seconds: number, name: string][] = [
  [1, "1s"], [5, "5s"], [10, "10s"], [30, "30s"], [60, "1m"], [300, "5m"], [900, "15m"], [3600, "1h"], [10_800, "3h"],
  [21_600, "6h"], [43_200, "12h"], [86_400, "day"], [604_800, "week"], [2_629_800, "month"], [7_889_400, "quarter"], [31_557_600, "year"]];

interface View { from: number; to: number }
type Parameters = Record<string, string | string[] | undefined>;
type Ask = (parameters: Parameters) => Promise<QueryAnswer>;

// What a first look may read, whatever there is: so many series, and about so many points of them.
const firstSeriesMax = 8, firstPoints = 20_000, newestPoints = 100;

// The ends of a series, the part of them to begin with, and of which series: found by seeks, without reading it all.
interface Found { extent: View; view: View; where: string[]; series: number; shown: number }

async function findEnds(series: Series, field: string, ask: Ask): Promise<Found | undefined> {
  const timeOf = (answer: QueryAnswer) => answer.columns.findIndex((column) => column.kind === "time");
  const seconds = (answer: QueryAnswer, row: QueryAnswer["rows"][number]) => Date.parse(String(row[timeOf(answer)])) / 1000;
  const times = (answer: QueryAnswer) => answer.rows.map((row) => seconds(answer, row));
  if (series.key_tags.length < series.tags.length) {
    // Keys begin with the time, or have it before a tag: a stretch of time is a range of keys.
    for (const [last, span] of [["1h", 3600], ["1d", 86_400], ["31d", 2_678_400], ["366d", 31_622_400], ["3660d", 316_224_000], ["", 316_224_000]] as const) {
      const newest = Math.max(...times(await ask({ field, latest: "1", last, limit: "1000" })));
      if (!Number.isFinite(newest)) continue;
      const first = Math.min(...times(await ask({ field, limit: "1" })), newest);
      const from = first < newest ? first : newest - span;
      return { extent: { from, to: newest + 1 }, view: { from: Math.max(from, newest - span), to: newest + 1 }, where: [], series: 0, shown: 0 };
    }
    return undefined;
  }
  const newest = await ask({ field, latest: "1", limit: "1000" });
  if (newest.rows.length === 0) return undefined;
  const rows = [...newest.rows].sort((a, b) => seconds(newest, b) - seconds(newest, a)).slice(0, firstSeriesMax);
  const condition = (row: QueryAnswer["rows"][number]) => newest.columns.flatMap((column, index) => (column.kind === "tag" ? [`${column.name}=${row[index]}`] : []));
  const end = Math.max(...times(newest));
  const firsts = await Promise.all(rows.map(async (row) => {
    const [first] = times(await ask({ field, where: condition(row), limit: "1" }));
    return first !== undefined && first < seconds(newest, row) ? first : undefined; // else the newest comes first, or there is one point
  }));
  const some = times(await ask({ field, where: condition(rows[0]), latest: String(newestPoints) }));
  const each = some.length > 1 ? (Math.max(...some) - Math.min(...some)) / (some.length - 1) : 3600;
  const span = Math.max((each * firstPoints) / rows.length, 60);
  const known = firsts.filter((first) => first !== undefined);
  const from = known.length > 0 ? Math.min(...known) : end - span;
  const exact = rows.every((row) => condition(row).every((one) => !one.endsWith("*") && !one.includes("=~")));
  return { extent: { from, to: end + 1 }, view: { from: Math.max(from, end - span), to: end + 1 },
    where: exact ? [...new Set(rows.flatMap(condition))] : [], series: newest.rows.length, shown: rows.length };
}

export function seriesPage(): Page {
  const { parameters } = route();
  const list = h("nav", { class: "list", "aria-label": "Series" });
  const detail = h("div", { class: "detail" });
  const abort = new AbortController();
  const leaving: (() => void)[] = [() => abort.abort()];
  get<{ series: Series[]; next: string | null }>("/api/v1/series", {}, abort.signal).then(async ({ series, next }) => {
    if (series.length === 0) {
      show(detail, empty("No series yet", "Declare one and load points: sonde series load DECLARATION FILE.csv — or send InfluxDB lines or Prometheus remote write to this port."));
      return;
    }
    const name = parameters.get("name") || series[0].name;
    show(list, series.map((one) => h("a", { href: address("/series", { name: one.name }), "aria-current": one.name === name && "true" },
      h("span", {}, one.name), h("small", {}, one.is_declared ? "declared" : "open"))),
      next !== null && h("small", { class: "muted" }, "and more: name one in the address, ?name=NAME"));
    const one = await get<Series>(seriesPath(name), {}, abort.signal);
    show(detail, explorer(one, parameters, abort.signal, leaving), declaration(one));
  }).catch((error) => { if (!abort.signal.aborted) show(detail, problem(error)); });
  return {
    element: h("div", { class: "page" }, h("h1", {}, "Series"), h("div", { class: "split" }, list, detail)),
    leave: () => leaving.forEach((leave) => leave()),
  };
}

function declaration(series: Series): HTMLElement {
  return h("section", { class: "card" }, h("h2", {}, "Declaration", h("small", {}, `table ${series.table}`)),
    h("dl", { class: "facts" },
      h("dt", {}, "Tags"), h("dd", {}, series.tags.map((tag) => `${tag.name} (${tag.type})`).join(", ") || "none"),
      h("dt", {}, "Fields"), h("dd", {}, series.fields.map((one) => `${one.name} (${one.type})`).join(", ")),
      (series.derived?.length ?? 0) > 0 && [h("dt", {}, "Derived tables"), h("dd", {}, series.derived!.map((one) =>
        h("span", { class: "chip" }, h("a", { href: address("/series", { name: one.name }) }, one.table), ` ${one.kind} `)))]),
    series.declaration === undefined
      ? h("p", { class: "muted" }, "Nobody declared this series: it came with its points, and stands in the table of all such series.")
      : h("div", { class: "declared" }, numbered(series.declaration, series.check ?? []), checked(series.check ?? [])));
}

// With the numbers of lines, which the check names; those that it speaks of are marked.
function numbered(declaration: string, check: Checked[]): HTMLElement {
  const spoken = new Set(check.map((one) => one.line));
  return h("pre", { class: "numbered" }, declaration.trimEnd().split("\n").map((line, index) =>
    h("span", { class: spoken.has(index + 1) && "spoken", "data-line": index + 1 }, `${line}\n`)));
}

const severities = { note: "info", warning: "warning", error: "critical" };

function checked(check: Checked[]): HTMLElement {
  return h("div", { "data-part": "check" }, h("h3", {}, "Check"),
    check.length === 0 ? h("p", { class: "muted" }, "Nothing found: no hot spots, no lost points, no rows that grow too large.")
      : h("ul", { class: "findings" }, check.map((one) => h("li", { class: `finding ${severities[one.severity]}` },
        h("span", { class: "mark", "aria-label": one.severity }, one.severity === "note" ? "i" : "!"),
        h("div", {}, h("p", {}, one.line > 0 && h("span", { class: "chip" }, `line ${one.line}`), ` ${one.reason}`), h("p", { class: "remedy" }, one.remedy))))));
}

function explorer(series: Series, parameters: URLSearchParams, signal: AbortSignal, leaving: (() => void)[]): HTMLElement {
  const numeric = series.fields.filter((one) => one.type !== "string").map((one) => one.name);
  const fields = new Set((parameters.get("field") ?? numeric.slice(0, 2).join(",")).split(",").filter((one) => numeric.includes(one)));
  let aggregate = parameters.get("agg") ?? "avg", group = parameters.get("group") ?? series.tags[0]?.name ?? "", bucket = parameters.get("every") ?? "";
  const where = h("input", { type: "text", name: "where", value: parameters.get("where") ?? "", placeholder: "TAG=VALUE, TAG=PREFIX*, TAG=~REGEX", spellcheck: "false" });
  let extent: View | undefined, view: View | undefined, found: Found | undefined, all = false;
  const asked = [Number(parameters.get("from")), Number(parameters.get("to"))];
  if (asked[1] > asked[0]) view = { from: asked[0], to: asked[1] };
  const place = h("div", { class: "chart tall", "data-chart": "series" });
  const status = h("p", { class: "muted", "aria-live": "polite" });
  const cut = h("span", { class: "muted" });
  const past: View[] = [];
  let plot: uPlot | undefined;
  let running = new AbortController();
  signal.addEventListener("abort", () => running.abort());

  const conditions = () => where.value.split(/,\s*(?=[A-Za-z_]\w*\s*(?:=|!))/).map((one) => one.trim()).filter((one) => one);
  const iso = (seconds: number) => new Date(Math.round(seconds) * 1000).toISOString();
  // As many buckets as there are pairs of pixels.
  const step = (): [number, string] => {
    if (bucket) return steps.find(([, name]) => name === bucket) ?? steps[0];
    const width = Math.max(place.clientWidth, 300) / 2;
    const span = (view ?? extent)!.to - (view ?? extent)!.from;
    return steps.find(([seconds]) => span / seconds <= width) ?? steps.at(-1)!;
  };
  // Until somebody asks for others, the series that were found first.
  const first = () => (conditions().length === 0 && !all && found ? found : undefined);
  const query = (): Parameters => {
    const { from, to } = (view ?? extent)!;
    return { where: first()?.where ?? conditions(), field: [...fields].join(","), agg: aggregate, group_by: group || "-", every: step()[1],
      from: iso(Math.floor(from)), to: iso(Math.ceil(to)) };
  };

  const draw = (answer: QueryAnswer) => {
    const tags = answer.columns.flatMap((column, index) => (column.kind === "tag" ? [index] : []));
    const time = answer.columns.findIndex((column) => column.kind === "time");
    const values = answer.columns.flatMap((column, index) => (column.kind === "number" ? [index] : []));
    const byLine = new Map<string, Map<number, number>>();
    const times = new Set<number>();
    for (const row of answer.rows) {
      const at = Date.parse(String(row[time])) / 1000;
      times.add(at);
      for (const index of values) {
        const label = [...tags.map((tag) => String(row[tag])), answer.columns[index].name].join(" · ");
        let line = byLine.get(label);
        if (!line) byLine.set(label, (line = new Map()));
        if (typeof row[index] === "number") line.set(at, row[index]);
      }
    }
    const sorted = [...times].sort((a, b) => a - b);
    const shown = [...byLine].slice(0, linesMax);
    place.dataset.points = String(sorted.length);
    place.dataset.lines = String(shown.length);
    plot?.destroy();
    plot = undefined;
    if (sorted.length === 0) {
      show(place, empty("No points here", "Nothing was measured in this time, or the conditions let nothing through."));
    } else {
      const lines = shown.map(([label, points], index): Line => ({ label, colour: lineColour(index), values: sorted.map((at) => points.get(at) ?? null) }));
      plot = chart(place, sorted, lines, { height: 380, text: number, zoom, reset, shown: view });
    }
    const left_out = byLine.size > linesMax ? `, the first ${linesMax} of ${byLine.size} lines` : "";
    show(status, `${number(sorted.length)} points by ${step()[1]} from ${clock(sorted[0] ?? view?.from ?? 0)}${left_out} — read ${number(answer.stats.rows_read)} rows, ${number(answer.stats.cells_read)} cells, ${bytes(answer.stats.value_bytes_read)}`,
      first() && first()!.series > first()!.shown && [` — ${first()!.shown} of ${first()!.series === 1000 ? "1,000 series or more" : `${first()!.series} series`}: name others in Where, or `,
        h("button", { type: "button", onclick: () => { all = true; void run(); } }, "ask for all")],
      answer.is_truncated && h("strong", {}, " — there is more: the answer was cut off"),
      answer.stats.is_full_scan && " — read the whole table");
  };

  const run = async () => {
    running.abort();
    running = new AbortController();
    const mine = running;
    place.setAttribute("aria-busy", "true");
    try {
      if (fields.size === 0) throw new Error("Choose at least one field that is a number");
      if (!found) {
        found = await findEnds(series, numeric[0] ?? "", (parameters) => get<QueryAnswer>(seriesPath(series.name, "/query"), parameters, mine.signal));
        extent = found?.extent;
        if (!view && found && found.view.from > found.extent.from) view = found.view;
      }
      if (!extent) return show(place, empty("No points yet", "This series has no points."));
      remember("/series", { name: series.name, field: [...fields].join(","), agg: aggregate, group, every: bucket, where: where.value,
        from: view && Math.round(view.from), to: view && Math.round(view.to) });
      draw(await get<QueryAnswer>(seriesPath(series.name, "/query"), query(), mine.signal));
    } catch (error) {
      if (!mine.signal.aborted) show(place, problem(error));
    } finally {
      if (mine === running) place.removeAttribute("aria-busy");
    }
  };
  const look = (next: View | undefined) => {
    if (view || extent) past.push((view ?? extent)!);
    view = next;
    void run();
  };
  const zoom = (from: number, to: number) => look({ from, to: Math.max(to, from + 2) });
  const reset = () => { view = past.pop(); if (view === extent) view = undefined; void run(); };
  const move = (part: number) => {
    const now = view ?? extent;
    if (now) look({ from: now.from + part * (now.to - now.from), to: now.to + part * (now.to - now.from) });
  };
  const scale = (by: number) => {
    const now = view ?? extent;
    if (!now) return;
    const middle = (now.from + now.to) / 2, half = ((now.to - now.from) * by) / 2;
    look({ from: middle - half, to: middle + half });
  };
  place.tabIndex = 0;
  place.setAttribute("role", "img");
  place.setAttribute("aria-label", `Chart of ${series.name}: arrows move, plus and minus zoom, 0 shows everything`);
  place.addEventListener("keydown", (event) => {
    const keys: Record<string, () => void> = {
      ArrowLeft: () => move(-0.25), ArrowRight: () => move(0.25), "+": () => scale(0.5), "=": () => scale(0.5), "-": () => scale(2), "0": () => look(undefined) };
    const act = keys[event.key];
    if (act) { event.preventDefault(); act(); }
  });
  const observer = fit(place, () => plot);
  leaving.push(() => observer.disconnect(), () => plot?.destroy());

  const image = () => {
    const canvas = plot?.root.querySelector("canvas");
    if (!canvas) return;
    const copy = h("canvas", { width: canvas.width, height: canvas.height });
    const context = copy.getContext("2d")!;
    context.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--card");
    context.fillRect(0, 0, copy.width, copy.height);
    context.drawImage(canvas, 0, 0);
    copy.toBlob((blob) => blob && save(`${series.name}.png`, blob));
  };
  // The server gives no more rows than that; whoever saves them is told when there are more.
  const csv = async () => {
    const note = h("span", { role: "status" }, "CSV …");
    cut.replaceChildren(note);
    try {
      if (!view && !extent) throw new Error("There are no points to save");
      const response = await fetchHere(url(seriesPath(series.name, "/query"), { ...query(), limit: String(csvRowsMax), format: "csv" }), { signal });
      const text = await response.text();
      if (!response.ok) throw new Error((JSON.parse(text) as { error?: { message?: string } }).error?.message ?? `The server answered ${response.status}`);
      const rows = text.split("\r\n").length - 2;
      save(`${series.name}.csv`, new Blob([text], { type: "text/csv" }));
      show(note, rows >= csvRowsMax ? h("strong", {}, `The CSV was cut off after ${number(csvRowsMax)} rows: choose less time or longer buckets`) : `${number(rows)} rows saved`);
    } catch (error) {
      if (!signal.aborted) show(cut, problem(error));
    }
  };
  queueMicrotask(() => void run());
  return h("section", { class: "card" },
    h("h2", {}, series.name),
    h("form", { class: "controls", onsubmit: (event: Event) => { event.preventDefault(); void run(); } },
      h("fieldset", { class: "checks" }, h("legend", {}, "Fields"), numeric.map((name) => h("label", {},
        h("input", { type: "checkbox", checked: fields.has(name), onchange: (event: Event) => {
          (event.target as HTMLInputElement).checked ? fields.add(name) : fields.delete(name); void run(); } }), name))),
      field("Value", select(["avg", "min", "max", "sum", "count", "first", "last", "median", "p95", "p99", "stddev"].map((one) => [one, one]), aggregate, (value) => { aggregate = value; void run(); })),
      field("One line for each", select([["", "all together"], ...series.tags.map((tag): [string, string] => [tag.name, tag.name])], group, (value) => { group = value; void run(); })),
      field("By", select([["", "the width"], ...steps.map(([, name]): [string, string] => [name, name])], bucket, (value) => { bucket = value; void run(); })),
      field("Where", where), h("button", { class: "primary", type: "submit" }, "Ask")),
    place,
    h("div", { class: "controls below" },
      h("div", { class: "group" },
        h("button", { title: "Earlier", "aria-label": "Earlier", onclick: () => move(-0.5) }, "←"), h("button", { title: "Zoom in", "aria-label": "Zoom in", onclick: () => scale(0.5) }, "+"),
        h("button", { title: "Zoom out", "aria-label": "Zoom out", onclick: () => scale(2) }, "−"), h("button", { title: "Later", "aria-label": "Later", onclick: () => move(0.5) }, "→"),
        h("button", { onclick: () => { past.length = 0; look(undefined); } }, "Everything")),
      h("div", { class: "group" },
        h("button", { title: `These points, at most ${number(csvRowsMax)} rows`, onclick: () => void csv() }, "CSV"),
        h("button", { onclick: image }, "PNG"), cut)),
    status);
}

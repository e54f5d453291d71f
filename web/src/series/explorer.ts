// The questions that are asked of a series by hand, and their answers as a chart.
import type uPlot from "uplot";
import { fetchHere, get, questionMs, seriesPath, url, type QueryAnswer, type QueryStats, type Series } from "../api";
import { chart, lineColour, withGaps } from "../chart";
import { caution, empty, h, problem, save, show } from "../dom";
import { bytes, micros, number, unitText } from "../format";
import { grid, type Grid } from "../grid";
import { every, remember } from "../page";
import { clock, zoneName } from "../time";
import { copyText } from "../value_panel";
import { drawnLines, earlierThan, placesOf, shiftOf, timesNote } from "./before";
import { controls } from "./controls";
import { findEnds, firstSeriesMax, type Found, type View } from "./ends";
import { legend } from "./legend";
import { linesOf, type Earlier, type PointsLine } from "./lines";
import { addressOf, commandOf, curlOf, parametersOf, readQuestion, steps } from "./question";

const csvRowsMax = 1_000_000;
type How = "step" | "replace";
interface Panel { plot: uPlot; lines: PointsLine[] }

export function explorer(series: Series, parameters: URLSearchParams, signal: AbortSignal, leaving: (() => void)[]): HTMLElement {
  const numeric = series.fields.filter((one) => one.type !== "string").map((one) => one.name);
  const question = readQuestion(parameters, numeric, series.tags.map((tag) => tag.name));
  let found: Found | undefined, all = false;
  const place = h("div", { class: "chart tall", "data-chart": "series" }), lines_place = h("div");
  const times_place = h("div"), status = h("p", { class: "muted", "aria-live": "polite" }), notes = h("div", { "data-part": "notes" }), cut = h("span", { class: "muted", role: "status" });
  const past: (View | undefined)[] = [];
  let panels: Panel[] = [], table: Grid | undefined, answered: QueryAnswer | undefined;
  const table_place = h("div", { "data-part": "table", hidden: true });
  let running = new AbortController();
  signal.addEventListener("abort", () => running.abort());

  // As many buckets as there are pairs of pixels.
  const step = (): [number, string] => {
    if (question.every) return steps.find(([, name]) => name === question.every) ?? steps[0];
    const width = Math.max(place.clientWidth || table_place.clientWidth, 300) / 2;
    const { from, to } = (question.view ?? found?.extent)!, span = to - from;
    return steps.find(([seconds]) => span / seconds <= width) ?? steps.at(-1)!;
  };
  // Where each line is one series, a first look shows some of them. A line over several series needs every one.
  const isLinePerSeries = () => series.tags.every((tag) => question.group.has(tag.name));
  const isUnfiltered = () => question.where.length === 0 && isLinePerSeries();
  const first = () => (isUnfiltered() && !all && !question.top && found?.first && found.series > firstSeriesMax ? found.first : undefined);
  // Few series are all named, so that the whole table need not be read; who asks again has them counted again.
  const few = () => (isUnfiltered() && found && found.series <= firstSeriesMax ? found.first : undefined);
  // Everything has no ends: those that were found are of some series.
  const query = (view = question.view) => parametersOf({ ...question, view }, first() ?? few() ?? question.where, step()[1]);
  const shown = () => question.view ?? found?.extent;
  const shift = () => shiftOf(question.before, step()[0]);
  // The question, and where it is compared the same of the earlier time.
  const queries = () => [query(), ...(question.before > 0 && shown() ? [query(earlierThan(shown()!, shift()))] : [])];

  const drawNotes = (answer: QueryAnswer, drawn: number, lines: number, earlier: Earlier | Error | undefined) => {
    const count = found?.has_more ? `more than ${number(found.series)}` : number(found?.series ?? 0);
    show(notes,
      first() && caution(h("strong", {}, `The chart shows ${firstSeriesMax} of ${count} series, `), "those with the newest points. Name others in the filter, or ",
        h("button", { type: "button", onclick: () => { all = true; void run("step"); } }, "ask for all")),
      lines > drawn && caution(h("strong", {}, `The chart shows ${drawn} of ${number(lines)} lines, `), "those with the largest values. Name others in the filter, or ask for the top lines."),
      answer.is_truncated && caution(h("strong", {}, `The answer was cut off after ${answer.rows.length.toLocaleString("en")} rows. `), "Choose less time, a longer bucket or fewer lines."),
      earlier instanceof Error && caution(h("strong", {}, "The earlier time could not be read: "), earlier.message),
      earlier && !(earlier instanceof Error) && (earlier.answer.rows.length === 0
        ? caution(h("strong", {}, "There are no points of the earlier time: "), "nothing was measured then, or the filter lets nothing through.")
        : earlier.answer.is_truncated && caution(h("strong", {}, `The answer for the earlier time was cut off after ${earlier.answer.rows.length.toLocaleString("en")} rows. `), "Choose less time, a longer bucket or fewer lines.")));
  };

  // The answer's rows as they are, where somebody wants to read them.
  const drawTable = () => {
    const is_table = question.as === "table";
    for (const one of [place, lines_place, times_place]) one.hidden = is_table;
    table_place.hidden = !is_table;
    chart_tab.setAttribute("aria-pressed", String(!is_table));
    table_tab.setAttribute("aria-pressed", String(is_table));
    table?.leave();
    table = undefined;
    if (!is_table || !answered) return show(table_place);
    const { columns, rows } = answered, time = columns.findIndex((column) => column.kind === "time");
    table = grid(columns.map((column) => ({ name: column.kind === "time" ? `${column.name} (${zoneName()})` : column.name, type: column.kind === "number" ? "FLOAT64" : column.kind.toUpperCase(), unit: column.unit })),
      rows.map((row) => row.map((value, at) => (at === time ? clock(Date.parse(String(value)) / 1000) : value))), () => undefined);
    show(table_place, rows.length === 0 ? empty("No points here", "Nothing was measured in this time, or the filter lets nothing through.") : table.element);
  };
  const showAs = (as: "chart" | "table") => { question.as = as; remember("/series", addressOf(series.name, question), "step"); drawTable(); };
  const chart_tab = h("button", { type: "button", "aria-pressed": "true", onclick: () => showAs("chart") }, "Chart");
  const table_tab = h("button", { type: "button", "aria-pressed": "false", title: "The rows of the time that is shown", onclick: () => showAs("table") }, "Table");

  const draw = (answer: QueryAnswer, told: Earlier | Error | undefined, took_ms: number) => {
    answered = answer;
    drawTable();
    const earlier = told instanceof Error ? undefined : told;
    const { times, before, lines, all: count } = linesOf(answer, earlier);
    place.dataset.points = String(times.length);
    place.dataset.lines = String(lines.length);
    place.dataset.before = String(before.length);
    panels.forEach((panel) => panel.plot.destroy());
    panels = [];
    drawNotes(answer, lines.length, count, told);
    show(times_place, earlier && timesNote(shown()!, earlier.shift));
    const cost = costText([answer.stats, ...(earlier ? [earlier.answer.stats] : [])], took_ms);
    if (times.length === 0 && before.length === 0) {
      show(place, empty("No points here", "Nothing was measured in this time, or the filter lets nothing through."));
      show(lines_place);
      show(status, `No points. ${cost}`);
      return;
    }
    const now_times = withGaps(times, step()[0]), before_times = withGaps(before, step()[0]);
    const has_now = new Set(now_times), has_before = new Set(before_times), dense = [...new Set([...now_times, ...before_times])].sort((a, b) => a - b);
    place.dataset.gaps = String(now_times.length - times.length);
    // A panel for each unit; a field without one has a panel of its own, as nobody knows whether it can be compared with another.
    const panelOf = (line: PointsLine) => (question.panels === "one" ? "" : question.panels === "" && line.unit ? `[${line.unit}]` : line.column);
    const keys = [...new Set(lines.map(panelOf))];
    const columnsOf = (key: string) => [...new Set(lines.filter((line) => panelOf(line) === key).map((line) => line.column))];
    // What belongs together has one colour: a line, or in panels of one field each the lines of the same tags.
    const is_by_field = keys.length > 1 && keys.every((key) => columnsOf(key).length === 1);
    const names = is_by_field ? [...new Set(lines.map((line) => line.tags))] : [];
    const colours = lines.map((line, index) => lineColour(is_by_field ? names.indexOf(line.tags) : index));
    const titleOf = (key: string, unit: string) => `${columnsOf(key).join(", ")}${unit ? ` [${unit}]` : ""}`;
    const unitOf = (key: string) => { const units = [...new Set(lines.filter((line) => panelOf(line) === key).map((line) => line.unit))]; return units.length === 1 ? units[0] : ""; };
    const places = keys.map((key) => h("div", { class: "panel", "data-panel": question.panels === "one" ? "" : columnsOf(key).join(", "), "data-unit": unitOf(key) || undefined }));
    show(place, keys.map((key, at) => [(keys.length > 1 || unitOf(key)) && h("h3", {}, titleOf(key, unitOf(key))), places[at]]));
    panels = keys.map((key, at) => {
      const own = lines.filter((line) => panelOf(line) === key);
      return { lines: own, plot: chart(places[at], dense, drawnLines(own, own.map((line) => colours[lines.indexOf(line)]), dense, has_now, has_before),
        { height: keys.length > 1 ? 200 : 340, text: unitText(unitOf(key)), zoom, reset, shown: question.view ?? around(dense, step()[0]), legend: false, tip: true, sync: `series ${series.name}`, shift: earlier?.shift }) };
    });
    show(lines_place, legend(lines, colours, (line, value) => unitText(line.unit)(value), (index, is_shown) => {
      const panel = panels.find((one) => one.lines.includes(lines[index]));
      if (panel) for (const at of placesOf(lines[index], panel.lines.indexOf(lines[index]))) panel.plot.setSeries(at, { show: is_shown });
    }));
    const bucketsOf = (some: number[]) => (some.length === 1 ? "1 bucket" : `${number(some.length)} buckets`);
    show(status, `${times.length === 0 ? "No points now" : `${bucketsOf(times)} of ${step()[1]} from ${clock(times[0])} to ${clock(times.at(-1)!)}`}${before.length > 0 ? `, ${bucketsOf(before)} before` : ""}. ${cost}`);
  };

  const run = async (how: How = "replace") => {
    running.abort();
    running = new AbortController();
    const mine = running;
    place.setAttribute("aria-busy", "true");
    try {
      if (question.fields.size === 0) throw new Error("Choose at least one field");
      if (!found) {
        found = await findEnds(series, numeric[0] ?? "", (one) => get<QueryAnswer>(seriesPath(series.name, "/query"), one, mine.signal, questionMs));
        if (!found) return show(place, empty("No points yet", "This series has no points."));
        const newest = found.viewOf(isLinePerSeries() ? Math.min(found.series, firstSeriesMax) : found.series);
        if (!question.view && !question.last && newest.from > found.extent.from) question.view = newest;
      }
      if (question.last) question.view = { from: Date.now() / 1000 - question.last, to: Date.now() / 1000 };
      remember("/series", addressOf(series.name, question), how);
      form.tellTime();
      const began = performance.now(), [now, before] = queries(), moved = shift(), ask = (one: typeof now) => get<QueryAnswer>(seriesPath(series.name, "/query"), one, mine.signal, questionMs);
      // Without the earlier time, the one that is shown is drawn all the same.
      const [answer, earlier] = await Promise.all([ask(now), before && ask(before).then((one): Earlier => ({ answer: one, shift: moved }), (error: unknown) => (error instanceof Error ? error : new Error(String(error))))]);
      if (!mine.signal.aborted) draw(answer, earlier, performance.now() - began);
    } catch (error) {
      if (mine.signal.aborted) return;
      answered = undefined;
      drawTable();
      place.hidden = false;
      show(place, problem(error));
    } finally {
      if (mine === running) place.removeAttribute("aria-busy");
    }
  };
  const look = (next: View | undefined, last?: number) => {
    past.push(question.view);
    question.view = next;
    question.last = last;
    void run("step");
  };
  const zoom = (from: number, to: number) => look({ from, to: Math.max(to, from + 2) });
  const reset = () => { question.view = past.pop(); question.last = undefined; void run("step"); };
  const move = (part: number) => {
    const view = shown();
    if (view) look({ from: view.from + part * (view.to - view.from), to: view.to + part * (view.to - view.from) });
  };
  const scale = (by: number) => {
    const view = shown();
    if (!view) return;
    const middle = (view.from + view.to) / 2, half = ((view.to - view.from) * by) / 2;
    look({ from: middle - half, to: middle + half });
  };
  let stopRefresh = () => {};
  const refresh = (seconds: number) => {
    stopRefresh();
    stopRefresh = seconds > 0 ? every(seconds * 1000, () => run("replace")) : () => {};
  };
  const form = controls(series, numeric, question, { changed: () => void run("step"), asked: () => { found = undefined; void run("step"); }, look, refresh, shown });

  place.tabIndex = 0;
  place.setAttribute("role", "img");
  place.setAttribute("aria-label", `Chart of ${series.name}: arrows move, plus and minus zoom, 0 shows everything`);
  place.addEventListener("keydown", (event) => {
    const keys: Record<string, () => void> = {
      ArrowLeft: () => move(-0.25), ArrowRight: () => move(0.25), "+": () => scale(0.5), "=": () => scale(0.5), "-": () => scale(2), "0": () => look(undefined) };
    const act = keys[event.key];
    if (act) { event.preventDefault(); act(); }
  });
  const observer = new ResizeObserver(() => panels.forEach(({ plot }) => {
    const width = plot.root.parentElement?.clientWidth ?? 0;
    if (width > 0 && plot.width !== width) plot.setSize({ width, height: plot.height });
  }));
  observer.observe(place);
  leaving.push(() => observer.disconnect(), () => panels.forEach(({ plot }) => plot.destroy()), () => table?.leave(), () => stopRefresh());

  // The server gives no more rows than that; whoever saves them is told when there are more.
  const csv = async () => {
    show(cut, "CSV …");
    try {
      if (!found) throw new Error("There are no points to save");
      const response = await fetchHere(url(seriesPath(series.name, "/query"), { ...query(), limit: String(csvRowsMax), format: "csv" }), { signal });
      const text = await response.text();
      if (!response.ok) throw new Error((JSON.parse(text) as { error?: { message?: string } }).error?.message ?? `The server answered ${response.status}`);
      const rows = text.split("\r\n").length - 2;
      save(`${series.name}.csv`, new Blob([text], { type: "text/csv" }));
      show(cut, rows >= csvRowsMax ? h("strong", {}, `The CSV was cut off after ${number(csvRowsMax)} rows: choose less time or longer buckets`) : `${number(rows)} rows saved`);
    } catch (error) {
      if (!signal.aborted) show(cut, problem(error));
    }
  };
  const copyAs = (name: string, text: () => string) => h("button", { type: "button", title: `Copies this question as ${name}`,
    onclick: () => void copyText(text()).then(() => show(cut, `Copied as ${name}`), () => show(cut, "The browser gave no clipboard")) }, name);
  queueMicrotask(() => void run());
  return h("section", { class: "card" },
    h("h2", {}, series.name), form.element, notes, place, table_place,
    h("div", { class: "controls below" },
      h("div", { class: "group", role: "group", "aria-label": "Shown as" }, chart_tab, table_tab),
      h("div", { class: "group" },
        h("button", { title: "Earlier", "aria-label": "Earlier", onclick: () => move(-0.5) }, "←"), h("button", { title: "Zoom in", "aria-label": "Zoom in", onclick: () => scale(0.5) }, "+"),
        h("button", { title: "Zoom out", "aria-label": "Zoom out", onclick: () => scale(2) }, "−"), h("button", { title: "Later", "aria-label": "Later", onclick: () => move(0.5) }, "→"),
        h("button", { onclick: () => { past.length = 0; look(undefined); } }, "Everything")),
      h("div", { class: "group wraps" }, cut, h("span", { class: "muted" }, "Copy as"),
        copyAs("link", () => location.href), copyAs("curl", () => queries().map((one) => curlOf(series.name, one)).join("\n")), copyAs("command", () => queries().map((one) => commandOf(series.name, one)).join("\n")),
        h("button", { title: `These points without those of an earlier time, at most ${number(csvRowsMax)} rows`, onclick: () => void csv() }, "CSV"),
        h("button", { onclick: () => savePicture(panels, series.name) }, "PNG"))),
    times_place, lines_place, status);
}

function costText(stats: QueryStats[], took_ms: number): string {
  const sum = (of: "rows_read" | "cells_read" | "value_bytes_read" | "ranges_count") => stats.reduce((all, one) => all + one[of], 0), ranges = sum("ranges_count");
  const where = stats.some((one) => one.is_full_scan) ? ", the whole table" : ranges > 0 ? `, from ${ranges === 1 ? "1 range" : `${number(ranges)} ranges`} of keys` : "";
  return `In ${micros(took_ms * 1000)}, ${number(sum("rows_read"))} rows, ${number(sum("cells_read"))} cells and ${bytes(sum("value_bytes_read"))} were read${where}.`;
}

// The stretch around a single point, which has none by itself.
const around = (times: number[], step: number): View | undefined => (times.length === 1 ? { from: times[0] - 10 * step, to: times[0] + 10 * step } : undefined);

function savePicture(panels: Panel[], name: string): void {
  const canvases = panels.flatMap(({ plot }) => plot.root.querySelector("canvas") ?? []);
  if (canvases.length === 0) return;
  const copy = h("canvas", { width: Math.max(...canvases.map((one) => one.width)), height: canvases.reduce((sum, one) => sum + one.height, 0) });
  const context = copy.getContext("2d")!;
  context.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--card");
  context.fillRect(0, 0, copy.width, copy.height);
  let top = 0;
  for (const canvas of canvases) {
    context.drawImage(canvas, 0, top);
    top += canvas.height;
  }
  copy.toBlob((blob) => blob && save(`${name}.png`, blob));
}

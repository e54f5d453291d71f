// A question in PromQL over all series: an editor with completion, and the answer as a chart.
import type uPlot from "uplot";
import { chart, fit, lineColour } from "../chart";
import { caution, empty, field, h, problem, select, show } from "../dom";
import { number } from "../format";
import { address, remember } from "../page";
import { editor, type Editor } from "../sql_editor";
import { clock } from "../time";
import { copyText } from "../value_panel";
import { beforeControl, drawnLines, placesOf, readBefore, timesNote } from "./before";
import { legend } from "./legend";
import { linesMax } from "./lines";
import { askPrometheus, linesOfMatrix, type Matrix } from "./promql_answer";
import { keywords, placeOfError, suggest } from "./promql_words";
import { lasts, steps } from "./question";

const lastUsual = 3600, namesMax = 40_000, pixelsAPoint = 2;

export const promqlAddress = (query = ""): string => address("/series", { view: "promql", query });

export function promqlBox(parameters: URLSearchParams, signal: AbortSignal, leaving: (() => void)[]): HTMLElement {
  const place = h("div", { class: "chart tall", "data-chart": "promql" }), lines_place = h("div"), notes = h("div", { "data-part": "notes" });
  const status = h("p", { class: "muted", "aria-live": "polite" }), told = h("span", { class: "muted", role: "status" });
  const times_place = h("div");
  let last = Number(parameters.get("last")) || lastUsual, before = readBefore(parameters);
  let view = ((from, to) => (to > from ? { from, to } : undefined))(Number(parameters.get("from")), Number(parameters.get("to")));
  let metrics: string[] = [], labels: string[] = [], plot: uPlot | undefined, running = new AbortController();
  signal.addEventListener("abort", () => running.abort());
  const code: Editor = editor(parameters.get("query") ?? "", () => keywords, (before) => suggest(before, metrics, labels), () => {},
    { placeholder: "sum by (job) (rate(requests_total[5m]))", rows: 3 });
  void askPrometheus<string[]>("label/__name__/values", { limit: namesMax }, signal).then(({ data }) => { metrics = data; }, () => {});
  void askPrometheus<string[]>("labels", { limit: namesMax }, signal).then(({ data }) => { labels = data; }, () => {});

  const range = () => view ?? { from: Date.now() / 1000 - last, to: Date.now() / 1000 };
  const keep = (how: "step" | "replace") => remember("/series", { view: "promql", query: code.text(), last: view ? undefined : last,
    from: view && Math.round(view.from), to: view && Math.round(view.to), before: before || undefined }, how);
  const earlierTime = beforeControl(() => before, range, (seconds) => { before = seconds; void run(); });

  const draw = (matrix: Matrix, from: number, to: number, step: number, earlier: { matrix: Matrix; shift: number } | undefined) => {
    plot?.destroy();
    plot = undefined;
    const { lines, all } = linesOfMatrix(matrix, linesMax, earlier);
    place.dataset.lines = String(lines.length);
    show(times_place, earlier && timesNote({ from, to }, earlier.shift));
    const points = lines.reduce((sum, line) => sum + line.points.size + (line.before?.size ?? 0), 0);
    if (points === 0) {
      show(lines_place);
      return show(place, empty("No samples here", "The query selects no series with samples in this time."));
    }
    if (all > lines.length) notes.append(caution(h("strong", {}, `The chart shows ${lines.length} of ${number(all)} lines, `), "those with the largest values. Ask for fewer with topk, or sum by a label."));
    const times = Array.from({ length: Math.floor((to - from) / step + 1e-9) + 1 }, (_, index) => from + index * step);
    const colours = lines.map((_, index) => lineColour(index)), all_times = new Set(times);
    plot = chart(place, times, drawnLines(lines, colours, times, all_times, all_times),
      { height: 340, text: number, legend: false, tip: true, shift: earlier?.shift, zoom: (begin, end) => { view = { from: begin, to: Math.max(end, begin + 2) }; void run("step"); },
        reset: () => { view = undefined; void run("step"); }, shown: { from, to } });
    show(lines_place, legend(lines, colours, (_, value) => number(value), (index, is_shown) => placesOf(lines[index], index).forEach((at) => plot?.setSeries(at, { show: is_shown }))));
  };

  const run = async (how: "step" | "replace" = "step") => {
    const query = code.text().trim();
    if (query === "") return code.focus();
    running.abort();
    running = new AbortController();
    const mine = running;
    keep(how);
    earlierTime.tell();
    place.setAttribute("aria-busy", "true");
    show(notes);
    const { from, to } = range(), least = (to - from) / (Math.max(place.clientWidth, 300) / pixelsAPoint);
    const step = steps.find(([seconds]) => seconds >= least)?.[0] ?? Math.ceil(least);
    // Steps lie on the clock, so that a chart that is asked again has the same ones.
    const start = Math.ceil(from / step) * step, end = Math.max(Math.floor(to / step) * step, start);
    try {
      const began = performance.now();
      // Every step is one of the clock, also a month: the earlier time is whole steps before.
      const shift = before > 0 ? Math.max(Math.round(before / step) * step, step) : 0;
      const ask = (by: number) => askPrometheus<Matrix>("query_range", { query, start: start - by, end: end - by, step }, mine.signal);
      const [{ data, notices }, earlier] = await Promise.all([ask(0), shift > 0 ? ask(shift) : undefined]);
      code.mark(undefined);
      show(notes, notices.map((notice) => caution(notice)));
      draw(data, start, end, step, earlier && { matrix: earlier.data, shift });
      show(status, `${number(data.result.length)} series, a value every ${steps.find(([seconds]) => seconds === step)?.[1] ?? `${step} s`} from ${clock(start)} to ${clock(end)}, in ${number(Math.round(performance.now() - began))} ms.`);
    } catch (error) {
      if (mine.signal.aborted) return;
      plot?.destroy();
      plot = undefined;
      show(lines_place);
      show(times_place);
      show(status);
      show(place, problem(error));
      code.mark(placeOfError(error instanceof Error ? error.message : "", code.text()));
    } finally {
      if (mine === running) place.removeAttribute("aria-busy");
    }
  };

  const observer = fit(place, () => plot);
  leaving.push(() => observer.disconnect(), () => plot?.destroy());
  if (parameters.get("query")) queueMicrotask(() => void run("replace"));
  const times = [...lasts, ...(lasts.some(([seconds]) => seconds === last) ? [] : [[last, `last ${last} s`] as [number, string]])];
  return h("section", { class: "card", "data-part": "promql" }, h("h2", {}, "PromQL", h("small", {}, "over all series, as Prometheus answers it")),
    h("form", { onsubmit: (event: Event) => { event.preventDefault(); void run(); },
      onkeydown: (event: Event) => { const key = event as KeyboardEvent; if (key.key === "Enter" && (key.ctrlKey || key.metaKey)) { key.preventDefault(); void run(); } } },
      code.element,
      h("div", { class: "controls" },
        field("Time", select(times.map(([seconds, name]): [string, string] => [String(seconds), name]), String(last), (value) => { last = Number(value); view = undefined; void run(); })), earlierTime.element,
        h("button", { class: "primary", type: "submit" }, "Run"),
        h("div", { class: "group wraps" }, told, h("button", { type: "button", title: "Copies this question as curl", onclick: () => {
          const { from, to } = range();
          const words = new URLSearchParams({ query: code.text(), start: String(Math.floor(from)), end: String(Math.ceil(to)), step: "60" });
          void copyText(`curl '${location.origin}/api/v1/query_range?${words.toString().replaceAll("'", "%27")}'`).then(() => show(told, "Copied as curl"), () => show(told, "The browser gave no clipboard"));
        } }, "curl"))),
      h("p", { class: "muted", id: "sql-keys" }, "Ctrl+Enter runs it, Ctrl+Space completes a name. Drag on the chart to zoom, double click to go back.")),
    notes, place, times_place, lines_place, status);
}

// The key visualizer: time across, keys down.
import { get, instanceOfSeries, tablePath, type Finding, type HeatMap, type Overview, type Table } from "../api";
import { colour } from "../chart";
import { empty, field, h, problem, save, select, show } from "../dom";
import { findingCards } from "../findings";
import { duration, metricText, number } from "../format";
import { palette, render, scaleOf } from "../heat";
import { findTables, noTable } from "../named_table";
import { askCallers, callerText, isWrite } from "../overview/callers";
import { address, every, remember, route, type Page } from "../page";
import { beforeName, befores, readBefore } from "../series/before";
import { theme } from "../theme";
import { clock, zoneName } from "../time";

const metrics: [string, string][] = [
  ["ops", "reads and writes"], ["reads", "rows read"], ["writes", "rows written"], ["bytes", "bytes"], ["read_bytes", "bytes read"],
  ["write_bytes", "bytes written"], ["latency", "mean latency"], ["latency_max", "largest latency"], ["errors", "errors"], ["size", "bytes stored"]];
const windows: [string, string][] = [
  ["120", "2 minutes"], ["600", "10 minutes"], ["3600", "1 hour"], ["21600", "6 hours"], ["86400", "1 day"], ["604800", "7 days"], ["1209600", "14 days"]];

const narrowPixels = 300, writersShown = 8, keptSeconds = 14 * 86_400; // a map of an earlier time reaches no further back

// What is looked at: a stretch of time (none: the last `window` seconds, live) and of keys.
interface View { from?: number; to?: number; start: string; end: string }

export function keysPage(): Page {
  const { parameters } = route();
  const body = h("div");
  const leaving: (() => void)[] = [];
  const abort = new AbortController();
  leaving.push(() => abort.abort());
  Promise.all([findTables(parameters.get("table") ?? "", abort.signal), get<Overview>("/api/v1/overview", {}, abort.signal)]).then(([{ tables, next, asked, missing }, overview]) => {
    if (!overview.watches_keys) return show(body, empty("No key visualizer", "The server was started with --no-keyviz."));
    if (missing !== undefined) return show(body, noTable("/keys", missing, tables));
    if (tables.length === 0) return show(body, empty("No tables yet", "Keys are shown here as soon as a row is written."));
    const busiest = [...tables].sort((a, b) => b.keys_in_use - a.keys_in_use)[0];
    show(body, visualizer(tables, asked ?? busiest, parameters, leaving),
      next !== null && h("p", { class: "muted" }, "There are more tables than these: name one in the address, ?table=projects/P/instances/I/tables/T"));
  }).catch((error) => { if (!abort.signal.aborted) show(body, problem(error)); });
  return { element: h("div", { class: "page wide" }, h("h1", {}, "Key visualizer"), body), leave: () => leaving.forEach((leave) => leave()) };
}

// Only whole words of a key are left out, and only where that makes room.
function commonStart(texts: string[]): string {
  let length = texts[0].length;
  for (const text of texts) while (!text.startsWith(texts[0].slice(0, length))) --length;
  const end = Math.max(...["#", "/", ":", "=", ",", "|"].map((sign) => texts[0].lastIndexOf(sign, length - 1))) + 1;
  return end >= 4 ? texts[0].slice(0, end) : "";
}

function visualizer(tables: Table[], chosen: Table, parameters: URLSearchParams, leaving: (() => void)[]): HTMLElement {
  let table = chosen.name, metric = parameters.get("metric") ?? "ops", seconds = parameters.get("window") ?? "600";
  let brightness = 0.5, live = true;
  // Tables of one id in two instances look alike otherwise.
  const has_instances = new Set(tables.map((one) => one.instance)).size > 1;
  let view: View = { start: parameters.get("start") ?? "", end: parameters.get("end") ?? "" };
  if (Number(parameters.get("to")) > 0) view = { ...view, from: Number(parameters.get("from")), to: Number(parameters.get("to")) };
  const past: View[] = [];
  let map: HeatMap | undefined, scale = 1, cursor: [column: number, row: number] | undefined;
  // Beside the map: the same keys so many seconds earlier; 0: nothing.
  let before = Math.min(readBefore(parameters), keptSeconds), earlier: HeatMap | undefined;

  const canvas = h("canvas", { class: "heat", tabindex: 0, role: "img", "data-heat": "", "aria-label": "The map of keys and times" });
  const overlay = h("div", { class: "selection", hidden: true });
  const tip = h("div", { class: "tip", role: "status", hidden: true });
  const keyAxis = h("div", { class: "key-axis", "aria-hidden": "true" }), timeAxis = h("div", { class: "time-axis", "aria-hidden": "true" });
  const metricBox = select(metrics, metric, (value) => { metric = value; refresh(); });
  const legend = h("div", { class: "ramp" }), message = h("div"), findings = h("div"), writers = h("div"), crumbs = h("div", { class: "crumbs" });
  // Sums along the edges: of each time above, of each range of keys at the right.
  const beforeCanvas = h("canvas", { class: "heat-before", role: "img", hidden: true }), beforeAxis = h("div", { class: "time-axis", "aria-hidden": "true", hidden: true });
  const beforeSums = h("canvas", { class: "sums", "aria-hidden": "true", hidden: true }), times = h("p", { class: "times", "data-part": "times", hidden: true });
  const timeSums = h("canvas", { class: "sums", "aria-hidden": "true" }), keySums = h("canvas", { class: "sums", "aria-hidden": "true" });
  let pinned = false;
  const frame = h("div", { class: "heat-frame" }, h("span"), beforeSums, timeSums, h("span"), keyAxis, beforeCanvas, h("div", { class: "heat-place" }, canvas, overlay, tip), keySums, h("span"), beforeAxis, timeAxis);

  const paintMap = (on: HTMLCanvasElement, shown: HeatMap, scale_of_it: number, column: number | undefined) => {
    const box = on.getBoundingClientRect();
    const ratio = devicePixelRatio || 1;
    on.width = Math.max(Math.round(box.width * ratio), 1);
    on.height = Math.max(Math.round(box.height * ratio), 1);
    const image = render(shown, scale_of_it, brightness, theme());
    const small = h("canvas", { width: image.width, height: image.height });
    small.getContext("2d")!.putImageData(image, 0, 0);
    const context = on.getContext("2d")!;
    context.imageSmoothingEnabled = false;
    context.drawImage(small, 0, 0, on.width, on.height);
    if (!cursor || column === undefined) return;
    const width = on.width / shown.columns, height = on.height / shown.row_starts.length;
    context.strokeStyle = theme() === "dark" ? "#fff" : "#000";
    context.lineWidth = Math.max(ratio, 1);
    context.strokeRect(column * width, cursor[1] * height, Math.max(width, 3), Math.max(height, 3));
  };
  // What is kept for long has longer columns, which count more: both maps are as bright for as much a second.
  const perColumn = () => (earlier && map && !metric.startsWith("latency") ? earlier.column_seconds / map.column_seconds : 1);
  const columnBefore = (column: number): number | undefined => {
    if (!map || !earlier) return undefined;
    const at = Math.floor((map.start_seconds + (column + 0.5) * map.column_seconds - before - earlier.start_seconds) / earlier.column_seconds);
    return at >= 0 && at < earlier.columns ? at : undefined;
  };
  const paint = () => {
    if (!map) return;
    paintMap(canvas, map, scale, cursor?.[0]);
    if (earlier) paintMap(beforeCanvas, earlier, scale * perColumn(), cursor && columnBefore(cursor[0]));
    paintSums();
    const colours = palette(theme());
    const css = Array.from({ length: 9 }, (_, i) => { const c = colours[Math.round((i * 255) / 8)]; return `rgb(${c & 255},${(c >> 8) & 255},${(c >> 16) & 255})`; });
    show(legend, h("small", {}, "0"), h("i", { style: `background:linear-gradient(90deg,${css.join(",")})` }), h("small", {}, metric.includes("latency") || metric === "size" ? metricText(metric, scale) : `${metricText(metric, scale / map.column_seconds)} a second`));
  };

  const paintSums = () => {
    const rows = map!.row_starts.length;
    const ofTimes = ({ columns, values }: HeatMap) => { const sums = new Array<number>(columns).fill(0); values.forEach((value, i) => { sums[Math.floor(i / rows)] += value; }); return sums; };
    const ofTime = ofTimes(map!), ofBefore = earlier ? ofTimes(earlier).map((sum) => sum / perColumn()) : [], ofKeys = new Array<number>(rows).fill(0);
    map!.values.forEach((value, i) => { ofKeys[i % rows] += value; });
    const bars = (sums: HTMLCanvasElement, values: number[], across: boolean, most = Math.max(...values, 1e-9)) => {
      const ratio = devicePixelRatio || 1, box = sums.getBoundingClientRect();
      sums.width = Math.max(Math.round(box.width * ratio), 1);
      sums.height = Math.max(Math.round(box.height * ratio), 1);
      const context = sums.getContext("2d")!;
      context.fillStyle = colour("--line-1");
      values.forEach((value, i) => {
        const begin = i / values.length, size = 1 / values.length;
        if (across) context.fillRect(begin * sums.width, sums.height * (1 - value / most), Math.max(size * sums.width, 1), sums.height);
        else context.fillRect(0, begin * sums.height, (sums.width * value) / most, Math.max(size * sums.height, 1));
      });
    };
    // Latencies do not add up.
    const has_sums = !metric.startsWith("latency");
    for (const sums of [timeSums, keySums, beforeSums]) sums.style.visibility = has_sums ? "" : "hidden";
    if (!has_sums) return;
    const most = Math.max(...ofTime, ...ofBefore, 1e-9);
    bars(timeSums, ofTime, true, most);
    if (earlier) bars(beforeSums, ofBefore, true, most);
    bars(keySums, ofKeys, false);
  };

  const axes = () => {
    if (!map) return;
    const rows = map.row_starts.length;
    const labels = Math.min(14, rows);
    // What all labels begin with is said once.
    const starts = Array.from({ length: labels }, (_, i) => Math.floor((i * rows) / labels)), texts = starts.map((row) => map!.row_starts[row]).filter((text) => text);
    const common = texts.length > 1 ? commonStart(texts) : "";
    show(keyAxis, common && h("span", { class: "common", title: `All of these keys begin with ${common}` }, `${common}…`), starts.map((row) => {
      const text = map!.row_starts[row];
      return h("span", { style: `top:${(100 * row) / rows}%`, title: text }, text ? (common && `…${text.slice(common.length)}`) || text : row === 0 ? "first key" : "");
    }));
    keyAxis.classList.toggle("has-common", common !== "");
    const parts = Math.min(Math.max(Math.floor(canvas.clientWidth / 130), 1), 6);
    const ticks = ({ start_seconds, columns, column_seconds }: HeatMap) => Array.from({ length: earlier && parts === 1 ? 1 : parts + 1 }, (_, i) => h("span", { style: `left:${(100 * i) / parts}%` },
      `${clock(start_seconds + (columns * column_seconds * i) / parts, columns * column_seconds)}${i === parts ? ` ${zoneName(start_seconds)}` : ""}`));
    show(timeAxis, ticks(map));
    if (earlier) show(beforeAxis, ticks(earlier));
    const stretch = (shown: HeatMap) => `${clock(shown.start_seconds)} to ${clock(shown.start_seconds + shown.columns * shown.column_seconds)}`;
    if (earlier) show(times, h("span", {}, h("strong", {}, "Left: "), `${beforeName(before)}, ${stretch(earlier)}`), h("span", {}, h("strong", {}, "Right: "), stretch(map)));
    beforeCanvas.setAttribute("aria-label", `${metric} of the same keys ${beforeName(before)}; the box at the cursor of the other map tells both.`);
    canvas.setAttribute("aria-label", `${metric} of ${table.split("/").pop()}: ${rows} ranges of keys by ${map.columns} times. Arrows move from cell to cell, the blank offers its rows, Enter zooms in, Escape zooms out.`);
  };

  const trail = () => {
    const keys = view.start || view.end;
    show(crumbs, (view.to !== undefined || keys) ? [
      h("span", {}, view.to !== undefined ? `${clock(view.from ?? 0)} to ${clock(view.to)}` : "the last minutes",
        keys && [", keys from ", h("code", {}, view.start || "the first"), " to ", h("code", {}, view.end || "the last")]),
      h("button", { onclick: back }, "Zoom out"), h("button", { onclick: () => { past.length = 0; look({ start: "", end: "" }); } }, "Everything, live")] : null);
  };

  let running = new AbortController();
  const abortWriters = new AbortController();
  leaving.push(() => running.abort(), () => abortWriters.abort());
  const load = async () => {
    running.abort();
    running = new AbortController();
    const signal = running.signal;
    const now = Math.floor(Date.now() / 1000);
    const to = view.to ?? now, from = view.from ?? to - Number(seconds);
    try {
      const box = canvas.getBoundingClientRect();
      const is_compared = before > 0 && metric !== "size";
      const answer = await get<HeatMap>(tablePath(table, "/heatmap"), { metric, from, to, start_key: view.start, end_key: view.end, before: is_compared ? before : undefined,
        columns: Math.min(Math.max(Math.floor(box.width), 100), 1000), rows: Math.min(Math.max(Math.floor(box.height), 100), 1000) }, signal);
      map = answer;
      earlier = answer.before && { ...answer, ...answer.before };
      for (const one of [beforeCanvas, beforeAxis, beforeSums, times]) one.hidden = !earlier;
      frame.classList.toggle("compared", earlier !== undefined);
      scale = earlier ? Math.max(scaleOf(answer), scaleOf(earlier) / perColumn()) : scaleOf(answer);
      if (earlier) beforeCanvas.dataset.total = String(earlier.values.reduce((sum, value) => sum + value, 0));
      canvas.dataset.columns = String(answer.columns);
      canvas.dataset.rows = String(answer.row_starts.length);
      canvas.dataset.total = String(answer.values.reduce((sum, value) => sum + value, 0));
      if (cursor && (cursor[0] >= answer.columns || cursor[1] >= answer.row_starts.length)) cursor = undefined;
      show(message, answer.values.every((value) => value === 0) && empty("Quiet", metric === "size" ? "Nothing is stored here." : "Nothing was read or written here in this time."));
      paint();
      axes();
    } catch (error) {
      if (!signal.aborted) show(message, problem(error));
    }
  };
  const loadFindings = async () => {
    const to = view.to ?? Math.floor(Date.now() / 1000);
    try {
      const answer = await get<{ findings: Finding[] }>(tablePath(table, "/findings"), { from: view.from ?? to - Math.max(Number(seconds), 60), to });
      const place = { from: view.from ?? to - Number(seconds), to };
      show(findings, findingCards(answer.findings, place, (finding) => {
        if (finding.metric) metric = finding.metric;
        metricBox.value = metric;
        look({ ...place, start: finding.start_key, end: finding.end_key });
        canvas.scrollIntoView({ block: "nearest" });
      }));
    } catch (error) {
      show(findings, problem(error));
    }
  };
  // Who may not look at the server sees the map all the same.
  const loadWriters = async () => {
    try {
      const { minutes, callers } = await askCallers(abortWriters.signal), of_series = table.startsWith(`${instanceOfSeries}/tables/`), own = table.split("/").pop();
      // Line protocol and remote write name their series in the body: they may write to any table of series.
      const mine = callers.filter((one) => isWrite(one.method) && (one.resource === table || (of_series && one.method.startsWith("POST") && (one.resource === "" || one.resource.includes(`/${own}/`)))));
      show(writers, mine.length === 0 ? h("p", { class: "muted" }, "Nobody has written to it.") : h("ul", { class: "writers" }, mine.slice(0, writersShown).map((one) => h("li", {}, h("strong", {}, callerText(one)), h("span", { class: "muted" }, ` ${one.method}, about ${number(one.calls)} calls in ${minutes} min`)))),
        mine.length > writersShown && h("p", { class: "muted" }, `${number(mine.length - writersShown)} more with fewer calls.`),
        mine.some((one) => one.resource === "") && h("p", { class: "muted" }, "Senders of line protocol and remote write may write to any series."));
    } catch (error) {
      show(writers, h("p", { class: "muted" }, error instanceof Error ? error.message : String(error)));
    }
  };
  const store = (how: "step" | "replace") => remember("/keys", { table, metric, window: seconds, from: view.from, to: view.to, start: view.start, end: view.end, before: before || undefined }, how);
  const refresh = (how: "step" | "replace" = "step") => { store(how); trail(); void load(); void loadFindings(); void loadWriters(); };
  const look = (next: View) => { past.push(view); view = next; cursor = undefined; pinned = false; tip.hidden = true; refresh(); };
  const back = () => { view = past.pop() ?? { start: "", end: "" }; cursor = undefined; pinned = false; tip.hidden = true; refresh(); };

  const cellAt = (event: MouseEvent, on = canvas): [number, number] | undefined => {
    if (!map) return undefined;
    const box = on.getBoundingClientRect();
    const clamp = (value: number, end: number) => Math.min(Math.max(Math.floor(value), 0), end - 1);
    return [clamp(((event.clientX - box.left) / box.width) * map.columns, map.columns), clamp(((event.clientY - box.top) / box.height) * map.row_starts.length, map.row_starts.length)];
  };
  const endOf = (row: number) => (map && row + 1 < map.row_starts.length ? map.row_starts[row + 1] : map?.keys_end ?? "");
  const tellBefore = (column: number, row: number): HTMLElement => {
    const at = columnBefore(column);
    return h("div", { class: "before" }, at === undefined ? `${beforeName(before)}: not kept` : [h("strong", {}, metricText(metric, earlier!.values[at * earlier!.row_starts.length + row])),
      ` ${beforeName(before)}, ${clock(earlier!.start_seconds + at * earlier!.column_seconds)}, ${duration(earlier!.column_seconds)}`]);
  };
  const tell = ([column, row]: [number, number]) => {
    if (!map) return;
    const value = map.values[column * map.row_starts.length + row], at = map.start_seconds + column * map.column_seconds;
    show(tip, h("strong", {}, metricText(metric, value)), ` ${metrics.find(([name]) => name === metric)?.[1] ?? metric}`,
      h("div", {}, metric === "size" ? "now, about" : `${clock(at)}, ${duration(map.column_seconds)}`),
      earlier && tellBefore(column, row),
      h("div", {}, "from ", h("code", {}, map.row_starts[row] || "the first key")), h("div", {}, "to ", h("code", {}, endOf(row) || "the last key")),
      h("div", { class: "muted" }, map.row_keys[row] === 0 ? "no keys in use seen" : `about ${number(map.row_keys[row])} keys in use`),
      pinned && h("div", { class: "ways" }, h("a", { href: address("/tables", { table, start: map.row_starts[row], end: endOf(row) }) }, "Rows of this range"),
        h("button", { type: "button", onclick: () => zoom([column, row], [column, row]) }, "Zoom in"), h("button", { type: "button", onclick: unpin }, "Close")));
    tip.classList.toggle("pinned", pinned);
    const place = canvas.getBoundingClientRect();
    const x = ((column + 0.5) / map.columns) * place.width, y = ((row + 0.5) / map.row_starts.length) * place.height;
    tip.hidden = false;
    // Beside another map there may be no room at either side of the cell.
    const is_narrow = place.width < narrowPixels, is_right = is_narrow || x > place.width / 2;
    tip.style.left = is_right ? "" : `${x + 16}px`;
    tip.style.right = is_right ? `${is_narrow ? 0 : place.width - x + 16}px` : "";
    tip.style.top = y > place.height / 2 ? "" : `${y + 8}px`;
    tip.style.bottom = y > place.height / 2 ? `${place.height - y + 8}px` : "";
  };
  const zoom = (a: [number, number], b: [number, number]) => {
    if (!map) return;
    const [first, last] = [Math.min(a[0], b[0]), Math.max(a[0], b[0])], [top, bottom] = [Math.min(a[1], b[1]), Math.max(a[1], b[1])];
    look({ from: map.start_seconds + first * map.column_seconds, to: map.start_seconds + (last + 1) * map.column_seconds, start: map.row_starts[top], end: endOf(bottom) });
  };

  const unpin = () => { pinned = false; tip.hidden = true; canvas.focus(); };
  // A click, or the blank, keeps the tip where it is, with what can be done with its cell.
  const pin = (cell: [number, number]) => { pinned = true; cursor = cell; paint(); tell(cell); };
  canvas.addEventListener("mousemove", (event) => { const cell = cellAt(event); if (cell && !pinned) tell(cell); });
  beforeCanvas.addEventListener("mousemove", (event) => { const cell = cellAt(event, beforeCanvas); if (cell && !pinned) tell(cell); });
  for (const one of [canvas, beforeCanvas]) one.addEventListener("mouseleave", () => { if (!pinned) tip.hidden = true; });
  canvas.addEventListener("dblclick", back);
  canvas.addEventListener("mousedown", (down) => {
    const from = cellAt(down);
    const box = canvas.getBoundingClientRect();
    const move = (event: MouseEvent) => {
      overlay.hidden = false;
      const left = Math.max(Math.min(down.clientX, event.clientX), box.left), top = Math.max(Math.min(down.clientY, event.clientY), box.top);
      overlay.style.left = `${left - box.left}px`;
      overlay.style.top = `${top - box.top}px`;
      overlay.style.width = `${Math.min(Math.max(down.clientX, event.clientX), box.right) - left}px`;
      overlay.style.height = `${Math.min(Math.max(down.clientY, event.clientY), box.bottom) - top}px`;
    };
    const up = (event: MouseEvent) => {
      removeEventListener("mousemove", move);
      removeEventListener("mouseup", up);
      overlay.hidden = true;
      const to = cellAt(event);
      if (from && to && Math.abs(down.clientX - event.clientX) + Math.abs(down.clientY - event.clientY) > 8) zoom(from, to);
      else if (to && event.button === 0) pin(to);
    };
    addEventListener("mousemove", move);
    addEventListener("mouseup", up);
  });
  canvas.addEventListener("keydown", (event) => {
    if (!map) return;
    const by = event.shiftKey ? 10 : 1, rows = map.row_starts.length;
    const [column, row] = cursor ?? [map.columns - 1, Math.floor(rows / 2)];
    const moves: Record<string, [number, number]> = { ArrowLeft: [-by, 0], ArrowRight: [by, 0], ArrowUp: [0, -by], ArrowDown: [0, by] };
    const step = moves[event.key];
    if (step) {
      cursor = [Math.min(Math.max(column + step[0], 0), map.columns - 1), Math.min(Math.max(row + step[1], 0), rows - 1)];
      paint();
      tell(cursor);
    } else if (event.key === " " && cursor) {
      pin(cursor);
      tip.querySelector("a")?.focus();
    } else if (event.key === "Escape" && pinned) {
      unpin();
    } else if (event.key === "Enter" && cursor) {
      const w = Math.ceil(map.columns / 8), t = Math.ceil(rows / 8);
      zoom([Math.max(column - w, 0), Math.max(row - t, 0)], [Math.min(column + w, map.columns - 1), Math.min(row + t, rows - 1)]);
    } else if (event.key === "Escape") {
      back();
    } else {
      return;
    }
    event.preventDefault();
  });
  const resized = new ResizeObserver(() => { paint(); axes(); });
  resized.observe(canvas);
  const themed = () => paint();
  addEventListener("themechange", themed);
  leaving.push(() => resized.disconnect(), () => removeEventListener("themechange", themed));
  leaving.push(every(2000, async () => { if (live && view.to === undefined) await load(); }));
  leaving.push(every(5000, async () => { if (live && view.to === undefined) await Promise.all([loadFindings(), loadWriters()]); }));
  queueMicrotask(() => refresh("replace"));

  const choices = befores.filter(([value]) => value <= keptSeconds);
  if (before > 0 && !choices.some(([value]) => value === before)) choices.push([before, beforeName(before)]);
  const brightnessControl = h("input", { type: "range", min: 0, max: 1, step: 0.05, value: brightness, oninput: (event: Event) => { brightness = Number((event.target as HTMLInputElement).value); paint(); } });
  return h("div", { class: "keys" },
    h("div", { class: "controls" },
      field("Table", select(tables.map((one) => [one.name, has_instances ? `${one.id} in ${one.instance.split("/").filter((_, part) => part % 2 === 1).join("/")}` : one.id]), table, (value) => { table = value; past.length = 0; view = { start: "", end: "" }; refresh(); })),
      field("Metric", metricBox),
      field("Time", select(windows, seconds, (value) => { seconds = value; view = { ...view, from: undefined, to: undefined }; refresh(); })),
      field("Compare with", select([["", "nothing"], ...choices.map(([value, name]): [string, string] => [String(value), name])], before > 0 ? String(before) : "", (value) => { before = Number(value); refresh(); }),
        "Draws the same keys of an earlier time at the left; sizes are known of now alone"),
      field("Brightness", brightnessControl),
      h("label", { class: "toggle" }, h("input", { type: "checkbox", checked: live, onchange: (event: Event) => { live = (event.target as HTMLInputElement).checked; } }), "live"),
      h("button", { onclick: () => canvas.toBlob((blob) => blob && save(`${table.split("/").pop()}-${metric}.png`, blob)) }, "PNG"),
      legend),
    crumbs, message, times,
    h("div", { class: "keys-split" }, h("section", { class: "card heat-card" }, frame),
      h("div", { class: "side" }, h("section", { class: "card" }, h("h2", {}, "Findings"), findings),
        h("section", { class: "card", "data-part": "writers" }, h("h2", {}, "Who writes it", h("small", {}, "of the last ten minutes")), writers))));
}

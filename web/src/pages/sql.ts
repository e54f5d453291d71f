// SQL: an editor, the rows of its query in a grid, and a chart of them where they have a time and numbers.
import type uPlot from "uplot";
import { fetchHere, get, instanceOfSeries, type Series, type Table, type View } from "../api";
import { chart, fit } from "../chart";
import { empty, field, h, problem, save, select, show } from "../dom";
import { bytes, micros } from "../format";
import { cellText, grid, typeText, type Grid } from "../grid";
import { address, remember, route, type Page } from "../page";
import { clock } from "../time";
import { canBeDrawn, drawing } from "../sql_chart";
import { editor, type Suggestion } from "../sql_editor";
import { ask, type Cell, type Column, type Question, type Stats } from "../sql_stream";
import { columnSuggestions } from "../sql_words";
import { parametersOf, placeOf, quoted } from "../sql_text";

interface Words { dialect: string; keywords: string[]; functions: { name: string; signatures: string[]; meaning: string }[] }
interface Parameter { type: string; value: string }
interface Asked { query: string; instance: string; parameters: Record<string, Parameter>; at: number }

const rowsMax = 100_000, historyMax = 100, historyKey = "sonde-sql-history";
const byLook = "by its look";
const types = [byLook, "STRING", "BYTES", "INT64", "FLOAT64", "BOOL", "TIMESTAMP", "DATE", "ARRAY<STRING>", "ARRAY<BYTES>", "ARRAY<INT64>", "ARRAY<FLOAT64>"];

// What the server takes for a parameter that somebody has typed.
function wireValue({ type, value }: Parameter): unknown {
  if (type.startsWith("ARRAY")) {
    const elements = value.trim().startsWith("[") ? JSON.parse(value) as unknown : value.split(",").map((one) => one.trim()).filter((one) => one !== "");
    return { type, value: elements };
  }
  if (type !== byLook) return { type, value };
  if (/^-?\d+$/.test(value)) return { type: "INT64", value };
  if (/^-?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(value)) return { type: "FLOAT64", value };
  if (/^(true|false)$/i.test(value)) return value.toLowerCase() === "true";
  return value;
}

function readHistory(): Asked[] {
  try {
    const all = JSON.parse(localStorage.getItem(historyKey) ?? "[]") as unknown;
    return Array.isArray(all) ? (all as Asked[]).filter((one) => typeof one?.query === "string") : [];
  } catch {
    return [];
  }
}
function keep(asked: Asked): void {
  const others = readHistory().filter((one) => one.query !== asked.query || one.instance !== asked.instance);
  try {
    localStorage.setItem(historyKey, JSON.stringify([asked, ...others].slice(0, historyMax)));
  } catch {
    // The browser keeps nothing more: the query runs all the same.
  }
}

export function sqlPage(): Page {
  const { parameters: linked } = route();
  const abort = new AbortController();
  let running: AbortController | undefined;
  let instance = linked.get("instance") ?? "", tables: Table[] = [], views: View[] = [], allSeries: Series[] = [], words: Words = { dialect: "", keywords: [], functions: [] };
  let keywords: ReadonlySet<string> = new Set();
  const values: Record<string, Parameter> = {};
  for (const [name, text] of linked) {
    if (!name.startsWith("p.")) continue;
    const equals = text.indexOf("=");
    values[name.slice(2)] = { type: text.slice(0, equals) || byLook, value: text.slice(equals + 1) };
  }

  const list = h("nav", { class: "list", "aria-label": "Tables and families" });
  const inputs = h("div", { class: "controls sql-parameters" });
  const status = h("div", { class: "sql-status", role: "status", "aria-live": "polite" });
  const results = h("div", { class: "sql-results" });
  const instances = h("span", {});
  const run = h("button", { class: "primary", title: "Ctrl+Enter", onclick: () => void start("") }, "Run");
  const cancel = h("button", { disabled: true, onclick: () => running?.abort() }, "Cancel");
  const past = h("select", { "aria-label": "History", class: "sql-history", onchange: () => fromHistory(Number(past.value)) });
  const code = editor(linked.get("query") ?? "", () => keywords, suggestions, () => { drawParameters(); rememberAll(); });

  function ofInstance(): Table[] { return tables.filter((table) => table.instance === instance); }
  function suggestions(): Suggestion[] {
    const here = ofInstance();
    const families = new Set(here.flatMap((table) => table.families.map((one) => one.name)));
    const series = instance === instanceOfSeries ? allSeries : [];
    return [
      ...here.map((table) => ({ text: quoted(table.id, keywords), kind: "table" })),
      ...views.filter((view) => view.instance === instance).map((view) => ({ text: quoted(view.id, keywords), kind: `${view.kind} view`, hint: view.query })),
      ...series.map((one) => ({ text: `series.${quoted(one.name, keywords)}`, kind: "series" })),
      ...columnSuggestions(series, keywords),
      ...[...families].map((name) => ({ text: quoted(name, keywords), kind: "family" })),
      ...["_key", "_timestamp"].map((text) => ({ text, kind: "column" })),
      ...words.keywords.map((text) => ({ text, kind: "keyword" })),
      ...words.functions.map((one) => ({ text: `${one.name}(`, kind: "function", hint: [...one.signatures.map((text) => one.name + text), one.meaning].join("\n") })),
    ];
  }
  function used(): [string, Parameter][] {
    return parametersOf(code.text()).map((name) => [name, values[name] ??= { type: byLook, value: "" }]);
  }
  function rememberAll(): void {
    const all: Record<string, string> = { query: code.text(), instance };
    for (const [name, { type, value }] of used()) all[`p.${name}`] = `${type === byLook ? "" : type}=${value}`;
    remember("/sql", all);
  }
  let drawn = "";
  function drawParameters(): void {
    const all = used();
    const names = all.map(([name]) => name).join(" ");
    if (names === drawn) return;
    drawn = names;
    show(inputs, all.map(([name, value]) => h("div", { class: "group" },
      field(`@${name}`, h("input", { type: "text", name: `p.${name}`, value: value.value, spellcheck: "false", autocomplete: "off",
        oninput: (event: Event) => { value.value = (event.target as HTMLInputElement).value; rememberAll(); } }), "Elements of an array: with commas between them, or as JSON"),
      field("Type", select(types.map((one): [string, string] => [one, one]), value.type, (type) => { value.type = type; rememberAll(); })))));
  }
  function drawHistory(): void {
    show(past, h("option", { value: "" }, "History"), readHistory().map((one, index) =>
      h("option", { value: index, title: one.query }, `${clock(one.at / 1000)}  ${one.query.replace(/\s+/g, " ").slice(0, 80)}`)));
  }
  function fromHistory(index: number): void {
    const one = readHistory()[index];
    if (one) {
      Object.assign(values, one.parameters);
      instance = one.instance || instance;
      drawn = "";
      code.set(one.query);
      drawTables();
      code.focus();
    }
    past.value = "";
  }
  function drawTables(): void {
    const all = [...new Set(tables.map((table) => table.instance))];
    show(instances, all.length > 1 && field("Instance", select(all.map((one): [string, string] => [one, one.split("/").filter((_, at) => at % 2 === 1).join("/")]), instance,
      (value) => { instance = value; drawTables(); rememberAll(); })));
    const insert = (text: string, label: string, hint: string) => h("button", { class: "link", title: hint, onclick: () => code.insert(text) }, label);
    show(list, ofInstance().length === 0 && h("small", { class: "muted" }, "No tables"), ofInstance().map((table) => h("details", { open: ofInstance().length <= 8 },
      h("summary", {}, table.id),
      h("div", {}, insert(quoted(table.id, keywords), `${table.id}, the table`, "Put the table's name into the query"), ["_key", ...table.families.map((one) => one.name)].map((name) => insert(name === "_key" ? name : quoted(name, keywords), name, "Put the name into the query"))))));
  }

  let view: ReturnType<typeof resultView> | undefined;
  const preferred: Preferred = { which: "rows" };
  function question(prefix: string): Question {
    const [, project, , name] = instance.split("/");
    const params: Record<string, unknown> = {};
    for (const [one, value] of used()) params[one] = wireValue(value);
    return { query: prefix + code.text(), ...(project ? { project, instance: name } : {}), params };
  }
  const ended = (): void => view?.end();
  async function start(prefix: string): Promise<void> {
    if (code.text().trim() === "") return code.focus();
    running?.abort();
    const mine = running = new AbortController();
    view?.leave();
    view = undefined;
    code.mark(undefined);
    show(results);
    cancel.disabled = false;
    show(status, "Running …");
    const began = performance.now();
    try {
      const asked = question(prefix);
      if (prefix === "") {
        keep({ query: code.text(), instance, parameters: Object.fromEntries(used()), at: Date.now() });
        drawHistory();
      }
      const rows: Cell[][] = [];
      const stats = await ask(asked, {
        columns: (columns) => { view = resultView(columns, rows, () => question(prefix), preferred); show(results, view.element); },
        rows: (more) => {
          const room = rowsMax - rows.length;
          for (const row of more.slice(0, room)) rows.push(row);
          view?.grow();
          show(status, `${count(rows.length)} rows so far …`);
          return more.length <= room;
        },
      }, mine.signal);
      if (mine !== running) return;
      ended();
      show(status, summary(rows.length, stats, performance.now() - began));
    } catch (error) {
      if (mine !== running) return;
      ended();
      if (mine.signal.aborted) show(status, `Cancelled after ${micros((performance.now() - began) * 1000)}`);
      else {
        const text = error instanceof Error ? error.message : String(error);
        show(status, problem(text));
        const place = placeOf(text, prefix + code.text());
        if (place !== undefined && place >= prefix.length) code.mark(place - prefix.length);
      }
    }
    if (mine === running) cancel.disabled = true;
  }
  const keys = (event: KeyboardEvent) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); void start(""); }
    if (event.key === "Escape" && !cancel.disabled) running?.abort();
  };

  get<Words>("/api/v1/sql", {}, abort.signal).then((got) => {
    words = got;
    keywords = new Set(got.keywords);
    code.colourAgain();
    explain.hidden = analyze.hidden = got.dialect === "production"; // which does not have them
  }).catch(() => undefined); // without colours and completion it is an editor still
  get<{ series: Series[] }>("/api/v1/series", {}, abort.signal).then((got) => { allSeries = got.series; }).catch(() => undefined);
  get<{ views: View[] }>("/api/v1/views", {}, abort.signal).then((got) => { views = got.views; }).catch(() => undefined); // who may not list them completes the rest
  get<{ tables: Table[] }>("/api/v1/tables", {}, abort.signal).then((got) => {
    tables = got.tables;
    instance ||= tables[0]?.instance ?? "";
    drawTables();
  }).catch((error) => { if (!abort.signal.aborted) show(list, problem(error)); });
  const explain = h("button", { title: "How the query would be carried out", onclick: () => void start("EXPLAIN ") }, "Explain");
  const analyze = h("button", { title: "Carries the query out, and says what each part took", onclick: () => void start("EXPLAIN ANALYZE ") }, "Explain analyze");
  const toDashboard = h("button", { title: "Saves the query with others, and draws it again and again", onclick: () => { location.hash = address("/dashboards", { add: code.text(), instance }); } }, "Add to a dashboard");
  drawHistory();
  drawParameters();
  const themed = () => view?.colourAgain();
  addEventListener("themechange", themed);
  const element = h("div", { class: "page wide", onkeydown: keys }, h("h1", {}, "SQL"),
    h("div", { class: "split" }, list, h("div", { class: "detail" },
      h("section", { class: "card" }, code.element,
        h("p", { class: "muted hint", id: "sql-keys" }, "Ctrl+Enter runs the query, Escape cancels it, Ctrl+Space completes a word."), inputs,
        h("div", { class: "controls" }, run, cancel, explain, analyze, toDashboard, past, instances)),
      status, results)));
  return { element, leave: () => { abort.abort(); running?.abort(); view?.leave(); removeEventListener("themechange", themed); } };
}

const count = (rows: number): string => rows.toLocaleString("en");
// How a result that can be drawn is shown at first: as the last one was.
interface Preferred { which: "rows" | "chart" }

function summary(rows: number, stats: Stats | undefined, took_ms: number): string {
  if (!stats) return `The first ${count(rows)} rows, which is what the page shows; CSV saves all of them`;
  return [`${count(rows)} ${rows === 1 ? "row" : "rows"} in ${micros(took_ms * 1000)}`, `server ${micros(stats.seconds * 1e6)}`,
    stats.rows_scanned > 0 && `${count(stats.rows_scanned)} rows scanned`,
    stats.memory_bytes > 0 && `${bytes(stats.memory_bytes)} held`].filter((part) => part).join(" · ");
}

// The rows as a grid and, where they can be drawn, as a chart; a value that somebody opens stands below.
function resultView(columns: Column[], rows: Cell[][], question: () => Question, preferred: Preferred) {
  const value = h("section", { class: "card sql-value", hidden: true });
  const open = (row: number, column: number) => {
    const cell = rows[row][column];
    const text = typeof cell === "object" && cell !== null ? JSON.stringify(cell, null, 2) : cellText(cell);
    value.hidden = false;
    show(value, h("h2", {}, columns[column].name, h("small", {}, `${typeText(columns[column])}, row ${row + 1}`)), h("pre", { tabindex: 0 }, indented(text)),
      h("div", { class: "group" }, h("button", { onclick: () => void navigator.clipboard?.writeText(text) }, "Copy"),
        h("button", { onclick: () => { value.hidden = true; } }, "Close")));
  };
  const table: Grid = grid(columns, rows, open);
  const place = h("div", { class: "chart tall", "data-chart": "sql" }), note = h("p", { class: "muted" });
  const drawn = h("div", { hidden: true }, note, place);
  const nothing = h("div", { hidden: true }, empty("No rows", "The query is right, and nothing is as it asks."));
  let plot: uPlot | undefined;
  const observer = fit(place, () => plot);
  const draw = () => {
    plot?.destroy();
    plot = undefined;
    const { times, lines, left_out, unit, text } = drawing(columns, rows);
    place.dataset.unit = unit;
    place.dataset.points = String(times.length);
    place.dataset.lines = String(lines.length);
    show(note, unit !== "" && `In ${unit}. `, left_out > 0 && `The first ${lines.length} lines; ${left_out} are left out.`);
    if (times.length > 0) plot = chart(place, times, lines, { height: 400, text });
    else show(place, empty("Nothing to draw", "No row has both a time and a number."));
  };
  const shown = (which: Preferred["which"]) => {
    table.element.hidden = which !== "rows";
    drawn.hidden = which !== "chart";
    rows_tab.setAttribute("aria-pressed", String(which === "rows"));
    chart_tab.setAttribute("aria-pressed", String(which === "chart"));
    if (which === "chart") draw(); else table.grow();
  };
  const choose = (which: Preferred["which"]) => { preferred.which = which; shown(which); };
  const rows_tab = h("button", { "aria-pressed": "true", onclick: () => choose("rows") }, "Rows");
  const chart_tab = h("button", { "aria-pressed": "false", hidden: !canBeDrawn(columns), onclick: () => choose("chart") }, "Chart");
  const csv = h("button", { onclick: async () => {
    csv.disabled = true;
    try {
      const response = await fetchHere("/api/v1/sql", { method: "POST", body: JSON.stringify({ ...question(), format: "csv" }) });
      if (response.ok) save("query.csv", await response.blob());
      else show(note, problem(await response.text()));
    } catch (error) {
      show(note, problem(error));
    }
    csv.disabled = false;
  } }, "CSV");
  const element = h("section", { class: "card" }, h("div", { class: "controls" }, h("div", { class: "group" }, rows_tab, chart_tab), csv), table.element, nothing, drawn, value);
  return {
    element, grow: () => { if (!table.element.hidden) table.grow(); },
    end: () => {
      nothing.hidden = rows.length > 0;
      if (rows.length === 0) table.element.hidden = true;
      else if (preferred.which === "chart" && canBeDrawn(columns)) shown("chart");
    },
    colourAgain: () => { if (!drawn.hidden) draw(); },
    leave: () => { table.leave(); observer.disconnect(); plot?.destroy(); },
  };
}

// JSON that is a text is shown as JSON.
function indented(text: string): string {
  if (!/^\s*[[{]/.test(text)) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

// Tables, and their rows to look at. Nothing can be changed here.
import { get, questionMs, tablePath, url, type Cell, type Row, type Table, type View } from "../api";
import { empty, field, h, problem, select, show } from "../dom";
import { bytes, number } from "../format";
import { findTables, noTable } from "../named_table";
import { address, remember, route, type Page } from "../page";
import { byName, furtherPages, sideList, type Item } from "../side_list";
import { cellTime, inputSeconds, inputText, zoneName } from "../time";
import { bytesOfText, openValue } from "../value_panel";

const columnsMax = 12;
const pointsMax = 500; // lines of points, of one answer

export function tablesPage(): Page {
  const { parameters } = route();
  const list = h("div");
  const detail = h("div", { class: "detail" });
  const abort = new AbortController();
  const views = h("div", {});
  const page = h("div", { class: "page" }, h("h1", {}, "Tables"), h("div", { class: "split" }, list, detail), views);

  findTables(parameters.get("table") ?? "", abort.signal).then(({ tables, next, asked, missing }) => {
    if (missing !== undefined) show(detail, noTable("/tables", missing, tables));
    else if (tables.length === 0) return show(detail, empty("No tables yet", "Make one with any Bigtable client, or load a series: sonde series load."));
    const chosen = missing === undefined ? asked ?? tables[0] : undefined;
    show(list, sideList("Tables", tables.map(itemOf), chosen?.name ?? "", [byName, { name: "by size", compare: (a, b) => b.size - a.size }],
      next === null ? undefined : async () => {
        const all = await furtherPages(tables, next, async (start) => {
          const page = await get<{ tables: Table[]; next: string | null }>("/api/v1/tables", { start }, abort.signal, questionMs);
          return { found: page.tables, next: page.next };
        });
        return { items: all.found.map(itemOf), has_more: all.next !== null };
      }));
    if (chosen) show(detail, tableDetail(chosen, parameters, abort.signal));
  }).catch((error) => { if (!abort.signal.aborted) show(detail, problem(error)); });
  // Who may not list views sees the tables all the same.
  get<{ views: View[] }>("/api/v1/views", {}, abort.signal)
    .then((answer) => show(views, answer.views.length > 0 && viewsCard(answer.views))).catch(() => undefined);
  return { element: page, leave: () => abort.abort() };
}

const itemOf = (table: Table): Item => ({
  name: table.name, text: table.id, note: bytes(table.bytes), group: table.instance, href: address("/tables", { table: table.name }), title: table.name, size: table.bytes,
});

function viewsCard(views: View[]): HTMLElement {
  return h("section", { class: "card" }, h("h2", {}, "Views"),
    h("div", { class: "scroll" }, h("table", { class: "data" },
      h("thead", {}, h("tr", {}, ["View", "Kind", "Query"].map((text) => h("th", {}, text)))),
      h("tbody", {}, views.map((view) => h("tr", {}, h("th", { scope: "row", title: view.name }, view.id),
        h("td", {}, view.kind), h("td", {}, h("code", {}, view.query))))))));
}

function tableDetail(table: Table, parameters: URLSearchParams, signal: AbortSignal): HTMLElement {
  return h("div", {},
    h("section", { class: "card" },
      h("h2", {}, table.id, h("small", {}, table.instance)),
      h("dl", { class: "facts" },
        h("dt", {}, "Size"), h("dd", {}, `about ${bytes(table.bytes)}`),
        h("dt", {}, "Keys in use"), h("dd", {}, table.keys_in_use > 0 ? `about ${number(table.keys_in_use)}` : "none seen yet"),
        h("dt", {}, "Change stream"), h("dd", {}, table.change_stream_hours === null ? "none" : `kept for ${table.change_stream_hours} h`),
        h("dt", {}, "Deletion"), h("dd", {}, table.deletion_protection ? "protected" : "allowed"),
        h("dt", {}, "Series"), h("dd", {}, table.series ? h("a", { href: address("/series", { name: table.series }) }, table.series) : "none declared"),
        h("dt", {}, "Large rows"), h("dd", {}, table.large_rows.length === 0 ? "none" :
          table.large_rows.map((row) => h("div", {}, h("code", {}, row.key), ` ${bytes(row.bytes)}`)))),
      h("table", {}, h("thead", {}, h("tr", {}, h("th", {}, "Family"), h("th", {}, "Garbage collection"))),
        h("tbody", {}, table.families.map((family) => h("tr", {}, h("td", {}, h("code", {}, family.name)),
          h("td", {}, family.gc_rule ? h("code", {}, family.gc_rule) : h("span", { class: "muted" }, "keeps everything")))))),
      h("p", {}, h("a", { class: "button", href: address("/keys", { table: table.name }) }, "Open in the key visualizer"))),
    browser(table, parameters, signal));
}

function browser(table: Table, parameters: URLSearchParams, signal: AbortSignal): HTMLElement {
  const text = (name: string, placeholder: string) =>
    h("input", { type: "text", name, value: parameters.get(name) ?? "", placeholder, spellcheck: "false", autocomplete: "off" });
  const prefix = text("prefix", "beginning of keys"), pattern = text("pattern", "RE2 of the whole key");
  const start = text("start", "first key"), end = text("end", "before this key");
  const column = text("column", "RE2 of the whole qualifier"), value = text("value", "RE2 of the whole value");
  // Seconds since 1970 in the address and to the server; a time of the page's zone to people.
  const time = (name: string) => h("input", { type: "datetime-local", name, step: 1, value: inputText(Number(parameters.get(name))) });
  const from = time("from"), to = time("to");
  let as = parameters.get("as") ?? "cells";
  let versions = parameters.get("versions") ?? "1", family = parameters.get("family") ?? "";
  let starts: string[] = [""];
  const results = h("div", { class: "rows", "aria-live": "polite" });

  const load = async (how: "step" | "replace") => {
    const asked = { prefix: prefix.value, pattern: pattern.value, start: start.value, end: end.value, family, column: column.value, value: value.value, from: inputSeconds(from.value), to: inputSeconds(to.value) };
    remember("/tables", { table: table.name, ...asked, versions: versions === "1" ? "" : versions, as: as === "cells" ? "" : as }, how);
    results.setAttribute("aria-busy", "true");
    try {
      const answer = await get<{ series?: string; rows: Row[]; next: string | null }>(tablePath(table.name, "/rows"), {
        ...asked, versions: as === "points" ? "1000" : versions, limit: 50, start: starts.at(-1) || start.value }, signal);
      show(results, answer.rows.length === 0 ? empty("No rows", "None of this table's rows has such a key and such cells.")
        : answer.series && as === "points" ? pointsTable(table, answer.rows) : rowsTable(table, answer.rows, versions !== "1"),
        h("div", { class: "pager" },
          h("button", { disabled: starts.length === 1, onclick: () => { starts.pop(); void load("replace"); } }, "← Back"),
          h("span", { class: "muted" }, answer.rows.length === 1 ? "1 row" : `${answer.rows.length} rows`),
          h("button", { disabled: answer.next === null, onclick: () => { starts.push(answer.next ?? ""); void load("replace"); } }, "Next →")));
    } catch (error) {
      if (!signal.aborted) show(results, problem(error));
    }
    results.removeAttribute("aria-busy");
  };
  const again = (how: "step" | "replace" = "step") => { starts = [""]; void load(how); };
  const history = select([["1", "newest"], ["5", "newest 5"], ["1000", "all versions"]], versions, (value) => { versions = value; again(); });
  history.disabled = as === "points"; // a point is made of all versions
  const form = h("form", { class: "controls", onsubmit: (event: Event) => { event.preventDefault(); again(); } },
    field("Prefix", prefix, "Bytes that are not printable as \\xNN"), field("Pattern", pattern),
    field("Family", select([["", "all"], ...table.families.map((one): [string, string] => [one.name, one.name])], family, (value) => { family = value; again(); })),
    field("History", history),
    table.series && field("Show as", select([["cells", "cells"], ["points", `points of ${table.series}`]], as, (value) => { as = value; history.disabled = as === "points"; again(); })),
    h("button", { class: "primary", type: "submit" }, "Find rows"),
    h("details", { class: "more", open: [start, end, column, value, from, to].some((input) => input.value !== "") }, h("summary", {}, "Key range, columns, values, times"),
      h("div", { class: "controls" }, field("From key", start, "Bytes that are not printable as \\xNN"), field("To key", end, "This key is not included"),
        field("Column", column), field("Value", value), field(`From time (${zoneName()})`, from), field(`To time (${zoneName()})`, to, "This second is not included"))));
  again("replace");
  return h("section", { class: "card" }, h("h2", {}, "Rows"), form, results);
}

// The points that the table's series means by its rows: their tags, time and fields, a line each.
function pointsTable(table: Table, rows: Row[]): HTMLElement {
  const tags = new Set<string>(), fields = new Set<string>();
  const lines: { row: Row; time: number; values: Record<string, string> }[] = [];
  let strange = 0, left_out = 0;
  for (const row of rows) {
    const byTime = new Map<number, Record<string, string>>();
    for (const cell of row.cells) {
      if (!cell.points || cell.points.length === 0) ++strange;
      // The newest version of a value comes first.
      for (const point of cell.points ?? []) byTime.set(point.time_micros, Object.assign(byTime.get(point.time_micros) ?? {}, { ...point.values, ...byTime.get(point.time_micros) }));
    }
    left_out += row.cells_count - row.cells.length;
    for (const tag of Object.keys(row.tags ?? {})) tags.add(tag);
    for (const [time, values] of [...byTime].sort((a, b) => a[0] - b[0])) {
      for (const name of Object.keys(values)) fields.add(name);
      lines.push({ row, time, values });
    }
  }
  const shown = lines.slice(0, pointsMax);
  const notes = [
    lines.length > shown.length && `${number(lines.length - shown.length)} more points of these rows are not shown.`,
    left_out > 0 && `${number(left_out)} more cells of these rows were not read.`,
    strange > 0 && `${number(strange)} ${strange === 1 ? "cell is none" : "cells are none"} that the series writes: look at the cells.`,
  ].filter((note) => note);
  return h("div", {}, h("div", { class: "scroll" }, h("table", { class: "data", "data-part": "points" },
    h("thead", {}, h("tr", {}, ["Row key", ...tags, `Time (${zoneName()})`, ...fields].map((name) => h("th", {}, name)))),
    h("tbody", {}, shown.map(({ row, time, values }, at) => h("tr", { class: shown[at - 1]?.row === row ? undefined : "first" },
      h("th", { scope: "row" }, shown[at - 1]?.row !== row && h("button", { class: "link", type: "button", title: "Opens the whole key",
        onclick: () => openValue({ title: "Row key", about: [["Table", table.id]], bytes: bytesOfText(row.key), file: "key" }) }, row.key)),
      [...tags].map((tag) => h("td", {}, row.tags?.[tag])), h("td", { class: "time" }, cellTime(time)),
      [...fields].map((name) => h("td", {}, values[name]))))))),
    notes.map((note) => h("p", { class: "muted" }, note)));
}

// A column for each family:qualifier while there are few of them; else cells one below the other. Keys and values open in a panel.
function rowsTable(table: Table, rows: Row[], history: boolean): HTMLElement {
  const columns = new Map<string, { family: string; qualifier: string }>();
  for (const row of rows) for (const cell of row.cells) columns.set(`${cell.family}\u0000${cell.qualifier}`, cell);
  const wide = !history && columns.size <= columnsMax;
  const value = (row: Row, cell: Cell) => h("button", { class: "link value", type: "button", tabindex: -1, title: `${cellTime(cell.time_micros)}, ${bytes(cell.bytes)}; opens the whole value`,
    onclick: () => openCell(table, row, cell) }, cell.bytes > 1024 && h("span", { class: "muted" }, `${bytes(cell.bytes)}: `), cell.value || h("span", { class: "muted" }, "(empty)"));
  const key = (row: Row) => h("button", { class: "link", type: "button", title: "Opens the whole key",
    onclick: () => openValue({ title: "Row key", about: [["Table", table.id]], bytes: bytesOfText(row.key), file: "key" }) }, row.key);
  const head = wide ? [h("th", {}, "Row key"), [...columns.values()].map((column) => h("th", {}, h("small", {}, column.family), column.qualifier || "(empty)"))]
    : ["Row key", "Column", `Timestamp (${zoneName()})`, "Value"].map((text) => h("th", {}, text));
  const body = rows.map((row) => {
    if (!wide) {
      return row.cells.map((cell, index) => h("tr", { class: index === 0 ? "first" : undefined },
        h("th", { scope: "row" }, index === 0 && key(row)),
        h("td", {}, h("span", { class: "muted" }, `${cell.family}:`), cell.qualifier),
        h("td", { class: "time" }, cellTime(cell.time_micros)), h("td", {}, value(row, cell))));
    }
    const cells = new Map(row.cells.map((cell) => [`${cell.family}\u0000${cell.qualifier}`, cell]));
    return [h("tr", {}, h("th", { scope: "row" }, key(row)), [...columns.keys()].map((name) => {
      const cell = cells.get(name);
      return h("td", {}, cell && value(row, cell));
    }))];
  });
  return h("div", { class: "scroll", onkeydown: moveInTable }, h("table", { class: "data" }, h("thead", {}, h("tr", {}, head)), h("tbody", {}, body)));
}

function openCell(table: Table, row: Row, cell: Cell): void {
  const where = url(tablePath(table.name, "/cell"), { key: row.key, family: cell.family, column: cell.qualifier, time_micros: cell.time_micros });
  openValue({
    title: `${cell.family}:${cell.qualifier}`, about: [["Row key", row.key], ["Timestamp", cellTime(cell.time_micros)]],
    bytes: where, bytes_count: cell.bytes, file: `${cell.family}-${cell.qualifier || "value"}`.replace(/[^\w.-]+/g, "_"),
  });
}

// One tab stop a row, its key; arrows go from cell to cell.
function moveInTable(event: KeyboardEvent): void {
  const at = (event.target as HTMLElement).closest("td, th"), line = at?.closest("tr");
  if (!at || !line || event.ctrlKey || event.metaKey || event.altKey) return;
  const index = [...line.children].indexOf(at);
  const to = {
    ArrowRight: line.children[index + 1], ArrowLeft: line.children[index - 1],
    ArrowDown: line.nextElementSibling?.children[index], ArrowUp: line.previousElementSibling?.children[index],
  }[event.key];
  const button = to?.querySelector<HTMLElement>("button");
  if (!button) return;
  event.preventDefault();
  button.focus();
}

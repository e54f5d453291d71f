// The newest points of a series as a table, for fields that no chart can show.
import { get, questionMs, seriesPath, type QueryAnswer, type Series } from "../api";
import { empty, h, problem, show } from "../dom";
import { clock, zoneName } from "../time";

const pointsMax = 100; // of each combination of tags
const rowsMax = 1_000;

export const textTable = (series: Series, signal: AbortSignal): HTMLElement =>
  h("section", { class: "card" }, h("h2", {}, series.name, h("small", {}, "texts, the newest first")), pointsTable(series, signal));

// The same of a series that has numbers, too: read when somebody opens it.
export function textCard(series: Series, signal: AbortSignal): HTMLElement {
  const place = h("div");
  return h("section", { class: "card", "data-part": "texts" }, h("details", { ontoggle: (event: Event) => {
    if ((event.target as HTMLDetailsElement).open && place.childElementCount === 0) show(place, pointsTable(series, signal));
  } }, h("summary", {}, h("h2", {}, "Newest points", h("small", {}, "all fields, also texts"))), place));
}

function pointsTable(series: Series, signal: AbortSignal): HTMLElement {
  const place = h("div", { "data-part": "points" }, h("p", { class: "muted" }, "Reading ..."));
  const fields = series.fields.map((one) => one.name).join(",");
  get<QueryAnswer>(seriesPath(series.name, "/query"), { field: fields, latest: String(pointsMax), limit: String(rowsMax) }, signal, questionMs).then((answer) => {
    if (answer.rows.length === 0) return show(place, empty("No points yet", "This series has no points."));
    const time = answer.columns.findIndex((column) => column.kind === "time");
    const rows = [...answer.rows].sort((a, b) => Date.parse(String(b[time])) - Date.parse(String(a[time])));
    show(place, h("div", { class: "scroll" }, h("table", { class: "data" },
      h("thead", {}, h("tr", {}, answer.columns.map((column) => h("th", {}, column.kind === "time" ? `Time (${zoneName()})` : column.name)))),
      h("tbody", {}, rows.map((row) => h("tr", {}, row.map((value, at) => h("td", { class: at === time && "time" },
        at === time ? clock(Date.parse(String(value)) / 1000) : value === null ? "" : String(value)))))))),
      h("p", { class: "muted" }, `${rows.length} points: the newest ${pointsMax} of each combination of tags${answer.is_truncated ? `, cut off at ${rowsMax}` : ""}.`));
  }).catch((error) => { if (!signal.aborted) show(place, problem(error)); });
  return place;
}

// Which of the series' combinations of tags are still written, and which have stopped: each with the time of its newest point.
import { get, questionMs, seriesPath, type QueryAnswer, type Series } from "../api";
import { caution, empty, h, problem, show } from "../dom";
import { duration, number } from "../format";
import { address } from "../page";
import { clock, zoneName } from "../time";
import { conditionOf } from "./filter";

const seriesMax = 1_000, shownMax = 100;
// A series is silent when it misses so many times the usual distance between points, and a minute at least.
const missedMax = 5, silentSecondsLeast = 60;

interface Newest { tags: string[]; at: number; before: number | undefined }

// The newest two points of each, of which the distance tells how often it is written.
function newestOf(answer: QueryAnswer): Newest[] {
  const tags = answer.columns.flatMap((column, index) => (column.kind === "tag" ? [index] : []));
  const time = answer.columns.findIndex((column) => column.kind === "time");
  const all = new Map<string, Newest>();
  for (const row of answer.rows) {
    const values = tags.map((index) => String(row[index])), key = JSON.stringify(values), at = Date.parse(String(row[time])) / 1000;
    const known = all.get(key);
    if (!known) all.set(key, { tags: values, at, before: undefined });
    else if (at > known.at) [known.at, known.before] = [at, known.at];
    else known.before = Math.max(known.before ?? -Infinity, at);
  }
  return [...all.values()];
}

// Silent: a series that lags behind the newest point of all by more than its own rhythm lets expect.
export function silentOf(all: Newest[]): Set<Newest> {
  const newest = Math.max(...all.map((one) => one.at));
  return new Set(all.filter((one) => one.before !== undefined && newest - one.at > Math.max(missedMax * (one.at - one.before), silentSecondsLeast)));
}

export function newestCard(series: Series, signal: AbortSignal): HTMLElement {
  const place = h("div");
  const ask = async () => {
    show(place, h("p", { class: "muted" }, "Reading ..."));
    try {
      const field = series.fields.map((one) => one.name).join(",");
      const answer = await get<QueryAnswer>(seriesPath(series.name, "/query"), { field, latest: "2", limit: String(2 * seriesMax) }, signal, questionMs);
      const all = newestOf(answer).sort((a, b) => a.at - b.at), silent = silentOf(all);
      if (all.length === 0) return show(place, empty("No points yet", "This series has no points."));
      const names = answer.columns.filter((column) => column.kind === "tag").map((column) => column.name), newest = all.at(-1)!.at;
      const rows = [...all.filter((one) => silent.has(one)), ...all.filter((one) => !silent.has(one))].slice(0, shownMax);
      show(place,
        answer.is_truncated && caution(h("strong", {}, `Only the first ${number(all.length)} combinations of tags were looked at. `), "There are more: PromQL and SQL can ask for all of them."),
        h("p", { role: "status" }, silent.size === 0 ? `All ${number(all.length)} are written: none lags behind its own rhythm.`
          : h("strong", { class: "bad" }, `${number(silent.size)} of ${number(all.length)} stopped.`), ` The newest point of all is of ${clock(newest)}.`),
        h("div", { class: "scroll" }, h("table", { class: "data", "data-part": "newest" },
          h("thead", {}, h("tr", {}, [...names, `Newest point (${zoneName()})`, "Behind the newest", "Look"].map((name) => h("th", {}, name)))),
          h("tbody", {}, rows.map((one) => h("tr", { "data-silent": silent.has(one) },
            one.tags.map((tag, index) => h(index === 0 ? "th" : "td", index === 0 ? { scope: "row" } : {}, tag)),
            h("td", { class: "time" }, clock(one.at)), h("td", { class: silent.has(one) && "bad" }, silent.has(one) ? `stopped ${duration(newest - one.at)} before` : duration(newest - one.at)),
            h("td", {}, h("a", { href: address("/series", { name: series.name, where: JSON.stringify(names.flatMap((name, index) => (one.tags[index] ? [conditionOf(name, "is", one.tags[index])] : []))),
              from: Math.floor(one.at - 3600), to: Math.ceil(one.at + 600) }) }, "Chart"))))))),
        all.length > rows.length && h("p", { class: "muted" }, `${number(all.length - rows.length)} more, which are written.`));
    } catch (error) {
      if (!signal.aborted) show(place, problem(error));
    }
  };
  let has_asked = false;
  return h("section", { class: "card", "data-part": "stopped" }, h("details", { ontoggle: (event: Event) => {
    if ((event.target as HTMLDetailsElement).open && !has_asked) { has_asked = true; void ask(); }
  } }, h("summary", {}, h("h2", {}, "Which have stopped?", h("small", {}, "the newest point of each combination of tags"))), place,
    h("p", {}, h("button", { type: "button", onclick: () => void ask() }, "Look again"))));
}

// Declared series: what they are, and charts of what is in them.
import { get, questionMs, Refusal, seriesPath, type Checked, type Series } from "../api";
import { empty, h, problem, show } from "../dom";
import { nearest } from "../named_table";
import { address, route, type Page } from "../page";
import { newestCard } from "../series/newest";
import { byName, furtherPages, sideList, type Item } from "../side_list";
import { explorer } from "../series/explorer";
import { promqlAddress, promqlBox } from "../series/promql_box";
import { textCard, textTable } from "../series/text_table";

const itemOf = (one: Series): Item => ({
  name: one.name, text: one.name, note: one.is_declared ? "declared" : "open", group: "", href: address("/series", { name: one.name }), title: one.name, size: 0,
});

export function seriesPage(): Page {
  const { parameters } = route();
  const list = h("div");
  const detail = h("div", { class: "detail" });
  const abort = new AbortController();
  const leaving: (() => void)[] = [() => abort.abort()];
  const is_promql = parameters.get("view") === "promql";
  if (is_promql) show(detail, promqlBox(parameters, abort.signal, leaving));
  get<{ series: Series[]; next: string | null }>("/api/v1/series", {}, abort.signal).then(async ({ series, next }) => {
    if (series.length === 0) {
      if (!is_promql) show(detail, empty("No series yet", "Declare one and load points: sonde series load DECLARATION FILE.csv — or send InfluxDB lines or Prometheus remote write to this port."));
      return;
    }
    const name = parameters.get("name") || series[0].name;
    show(list, sideList("Series", series.map(itemOf), is_promql ? "" : name, [byName], next === null ? undefined : async () => {
      const all = await furtherPages(series, next, async (start) => {
        const page = await get<{ series: Series[]; next: string | null }>("/api/v1/series", { start }, abort.signal, questionMs);
        return { found: page.series, next: page.next };
      });
      return { items: all.found.map(itemOf), has_more: all.next !== null };
    }));
    if (is_promql) return;
    try {
      const one = await get<Series>(seriesPath(name), {}, abort.signal);
      const has_numbers = one.fields.some((field) => field.type !== "string");
      const has_texts = one.fields.some((field) => field.type === "string");
      show(detail, has_numbers ? explorer(one, parameters, abort.signal, leaving) : textTable(one, abort.signal), has_numbers && has_texts && textCard(one, abort.signal), one.tags.length > 0 && newestCard(one, abort.signal), declaration(one));
    } catch (error) {
      if (!(error instanceof Refusal) || error.http_code !== 404) throw error;
      show(detail, h("div", { class: "problem", role: "alert" }, h("strong", {}, "No series "), h("code", {}, name), ". The nearest names are ",
        nearest(name, series, (one) => one.name).map((one, at) => [at > 0 && ", ", h("a", { href: address("/series", { name: one.name }) }, one.name)]), "."));
    }
  }).catch((error) => { if (!abort.signal.aborted && !is_promql) show(detail, problem(error)); });
  return {
    element: h("div", { class: "page" }, h("h1", {}, "Series"),
      h("p", { class: "muted" }, is_promql ? h("a", { href: address("/series") }, "One series by fields and tags") : h("a", { href: promqlAddress() }, "Ask in PromQL over all series")), h("div", { class: "split" }, list, detail)),
    leave: () => leaving.forEach((leave) => leave()),
  };
}

function declaration(series: Series): HTMLElement {
  return h("section", { class: "card" }, h("h2", {}, "Declaration", h("small", {}, `table ${series.table}`)),
    h("dl", { class: "facts" },
      h("dt", {}, "Tags"), h("dd", {}, series.tags.map((tag) => `${tag.name} (${tag.type})`).join(", ") || "none"),
      h("dt", {}, "Fields"), h("dd", {}, series.fields.map((one) => `${one.name} (${one.type}${one.unit ? `, ${one.unit}` : ""})`).join(", ")),
      (series.derived?.length ?? 0) > 0 && [h("dt", {}, "Derived tables"), h("dd", {}, series.derived!.map((one) =>
        h("span", { class: "chip" }, h("a", { href: address("/series", { name: one.name }) }, one.table), ` ${one.kind} `)))]),
    series.declaration === undefined
      ? h("p", { class: "muted" }, `This series was created from incoming points. It is stored in table ${series.table} with all undeclared series.`)
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


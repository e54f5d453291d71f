// Which metrics and labels have most series and values: what the index of series and the memory of questions go to.
import { get } from "../api";
import { caution, h, problem, show } from "../dom";
import { bytes, number } from "../format";
import { clock } from "../time";
import { promqlAddress } from "../series/promql_box";
import { askPrometheus } from "../series/promql_answer";

interface Count { name: string; value: number }
interface TsdbStatus {
  headStats: { numSeries: number; numLabelPairs: number; minTime: number; maxTime: number };
  seriesCountByMetricName: Count[]; labelValueCountByLabelName: Count[]; memoryInBytesByLabelName: Count[]; seriesCountByLabelValuePair: Count[];
}

const shownMax = 8;

function bars(title: string, part: string, counts: Count[], text: (value: number) => string, link?: (name: string) => string): HTMLElement {
  const most = counts[0]?.value ?? 1;
  return h("div", { "data-part": part }, h("h3", {}, title), h("ul", { class: "bars" }, counts.map((one) => h("li", {},
    link ? h("a", { href: link(one.name) }, one.name) : h("span", {}, one.name),
    h("span", { class: "bar" }, h("i", { style: `width:${(100 * one.value) / most}%` })), h("span", { class: "number" }, text(one.value))))));
}

const selectorOf = (pair: string): string => {
  const at = pair.indexOf("="), name = pair.slice(0, at);
  return `count by (__name__) ({${/^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name)}=${JSON.stringify(pair.slice(at + 1))}})`;
};

// How long a look may take that nobody has asked for.
const glanceSeconds = 2;

const newSince = (grown?: { since: number; new_series?: number }): string =>
  grown?.new_series === undefined ? "" : `; ${number(grown.new_series)} new sets of labels since ${clock(grown.since)}`;

// The card is hidden where there are no series, or the caller may not read them.
export function cardinalityCard(): { element: HTMLElement; leave: () => void } {
  const abort = new AbortController();
  const element = h("section", { class: "card", "data-part": "cardinality", hidden: true });
  const look = async (is_of_all_time: boolean, timeout?: number) => {
    element.setAttribute("aria-busy", "true");
    try {
      const [{ data, notices }, names, grown] = await Promise.all([askPrometheus<TsdbStatus>("status/tsdb", { limit: shownMax, start: is_of_all_time ? 0 : undefined, timeout }, abort.signal),
        get<{ count: number; count_max: number }>("/api/v1/series", { limit: 1 }, abort.signal),
        // Who may ask for series may not always ask for what grew.
        get<{ since: number; new_series?: number }>("/api/v1/growth", { seconds: 3_600, limit: 1 }, abort.signal).catch(() => undefined)]);
      const { numSeries, numLabelPairs } = data.headStats;
      element.hidden &&= numSeries === 0;
      show(element, h("h2", {}, "Cardinality", h("small", {}, `${number(numSeries)} series of Prometheus, ${number(numLabelPairs)} pairs of a label and a value, ${is_of_all_time ? "of all time" : "of the last day"}; ${number(names.count)} names of series, at most ${number(names.count_max)}${newSince(grown)}`)),
        notices.map((notice) => caution(notice, timeout !== undefined && [" ", h("button", { type: "button", onclick: () => void look(is_of_all_time) }, "Count all")])),
        h("div", { class: "two" },
          bars("Labels by what their values take", "label-bytes", data.memoryInBytesByLabelName, bytes),
          bars("Labels by values", "label-values", data.labelValueCountByLabelName, number),
          bars("Metrics by series", "metrics", data.seriesCountByMetricName, number, (name) => promqlAddress(/^[A-Za-z_:][\w:]*$/.test(name) ? name : `{${JSON.stringify(name)}}`)),
          bars("Values by series", "pairs", data.seriesCountByLabelValuePair, number, (pair) => promqlAddress(selectorOf(pair)))),
        h("div", { class: "controls" }, h("button", { type: "button", onclick: () => void look(!is_of_all_time) }, is_of_all_time ? "Those of the last day" : "Those of all time")));
    } catch (error) {
      if (!abort.signal.aborted && !element.hidden) show(element, h("h2", {}, "Cardinality"), problem(error));
    } finally {
      element.removeAttribute("aria-busy");
    }
  };
  void look(false, glanceSeconds);
  return { element, leave: () => abort.abort() };
}

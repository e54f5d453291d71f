// Findings as cards, on whichever page they are shown.
import type { Finding } from "./api";
import { empty, h, save } from "./dom";
import { address } from "./page";

const marks = { info: "i", warning: "!", critical: "‼" };

// Where the finding was seen. A finding about all keys has no range.
export interface Place { from: number; to: number }

// `look`: shows the finding's keys on the map beside it; without it, a link leads to the map.
export function findingCards(findings: Finding[], place: Place, look?: (finding: Finding) => void): HTMLElement {
  if (findings.length === 0) {
    return empty("Nothing to report", "No known pattern was found in what was read and written in this time.");
  }
  return h("ul", { class: "findings" }, findings.map((finding) =>
    h("li", { class: `finding ${finding.severity}`, "data-pattern": finding.pattern },
      h("span", { class: "mark", "aria-label": finding.severity }, marks[finding.severity]),
      h("div", {},
        h("h3", {}, finding.title,
          !look && finding.table && h("a", { class: "chip", href: address("/keys", { table: finding.table, metric: finding.metric ?? undefined, from: place.from, to: place.to,
            start: finding.start_key, end: finding.end_key }) }, finding.table.split("/").pop() ?? "")),
        h("p", {}, finding.text),
        h("p", { class: "remedy" }, finding.remedy),
        h("p", { class: "ways" },
          look && h("button", { type: "button", onclick: () => look(finding) }, "Show on the map"),
          (finding.start_key || finding.end_key) && h("a", { href: address("/tables", { table: finding.table, start: finding.start_key, end: finding.end_key }) }, "Rows of these keys")),
        finding.cure && h("p", { class: "cure" }, "In the declaration: ", h("code", {}, finding.cure)),
        finding.declaration && h("details", {}, h("summary", {}, "The whole declaration with this change"),
          h("button", { type: "button", onclick: () => save("declaration.yaml", new Blob([finding.declaration!], { type: "application/yaml" })) }, "Save"),
          h("pre", {}, finding.declaration))))));
}

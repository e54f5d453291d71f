// Findings as cards, on whichever page they are shown.
import type { Finding } from "./api";
import { empty, h, save } from "./dom";
import { address } from "./page";

const marks = { info: "i", warning: "!", critical: "‼" };

export function findingCards(findings: Finding[], withTable: boolean): HTMLElement {
  if (findings.length === 0) {
    return empty("Nothing to report", "No known pattern was found in what was read and written in this time.");
  }
  return h("ul", { class: "findings" }, findings.map((finding) =>
    h("li", { class: `finding ${finding.severity}`, "data-pattern": finding.pattern },
      h("span", { class: "mark", "aria-label": finding.severity }, marks[finding.severity]),
      h("div", {},
        h("h3", {}, finding.title,
          withTable && h("a", { class: "chip", href: address("/keys", { table: finding.table, metric: finding.metric ?? undefined }) },
            finding.table.split("/").pop() ?? "")),
        h("p", {}, finding.text),
        h("p", { class: "remedy" }, finding.remedy),
        finding.cure && h("p", { class: "cure" }, "In the declaration: ", h("code", {}, finding.cure)),
        finding.declaration && h("details", {}, h("summary", {}, "The whole declaration with this change"),
          h("button", { type: "button", onclick: () => save("declaration.yaml", new Blob([finding.declaration!], { type: "application/yaml" })) }, "Save"),
          h("pre", {}, finding.declaration))))));
}

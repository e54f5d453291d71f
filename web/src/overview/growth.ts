// What grew: the parts of the disk and the tables, against an earlier moment.
import { get } from "../api";
import { field, h, problem, select, show } from "../dom";
import { bytes, number } from "../format";
import { address, every } from "../page";
import { clock } from "../time";
import { diskPartName } from "./storage";

interface Growth { since: number; now: number; parts: { part: string; bytes: number; grew: number }[]; tables: { name: string; id: string; bytes: number; grew: number }[]; tables_left_out: number }

const spans: [string, string][] = [["600", "last 10 minutes"], ["3600", "last hour"], ["21600", "last 6 hours"], ["86400", "last 24 hours"], ["604800", "last 7 days"], ["1209600", "last 14 days"]];
const tablesShown = 10;

const signed = (value: number): string => (value === 0 ? "—" : `${value > 0 ? "+" : "−"}${bytes(Math.abs(value))}`);

export function growthCard(): { element: HTMLElement; leave: () => void } {
  const place = h("div"), since = h("small");
  let seconds = "3600", shown = "";
  const rows = (name: string, list: [HTMLElement | string, number, number][]) => h("table", {},
    h("thead", {}, h("tr", {}, [name, "Size", "Grew"].map((one, at) => h("th", { class: at > 0 && "number" }, one)))),
    h("tbody", {}, list.map(([what, size, grew]) => h("tr", {}, h("td", { class: "name" }, what), h("td", { class: "number" }, bytes(size)),
      h("td", { class: `number ${grew > 0 ? "grew" : "shrank"}` }, signed(grew))))));
  const ask = async () => {
    try {
      const growth = await get<Growth>("/api/v1/growth", { seconds, limit: tablesShown });
      const text = JSON.stringify([growth.since, growth.parts, growth.tables]);
      if (text === shown) return;
      shown = text;
      show(since, `since ${clock(growth.since)}`, growth.since > growth.now - Number(seconds) + 300 && ", when the server started");
      show(place, h("div", { class: "two" },
        rows("Table, about", growth.tables.map((one) => [h("a", { href: address("/tables", { table: one.name }), title: one.name }, one.id), one.bytes, one.grew])),
        rows("Part of the disk", growth.parts.filter((one) => one.bytes > 0 || one.grew !== 0).map((one) => [diskPartName(one.part), one.bytes, one.grew]))),
        growth.tables_left_out > 0 && h("p", { class: "muted" }, `${number(growth.tables_left_out)} more tables grew less.`));
    } catch (error) {
      shown = "";
      show(place, problem(error));
    }
  };
  const stop = every(10_000, ask);
  return {
    element: h("section", { class: "card", "data-part": "growth" }, h("h2", {}, "What grew", since),
      h("div", { class: "controls" }, field("Time", select(spans, seconds, (one) => { seconds = one; void ask(); }))), place),
    leave: stop,
  };
}

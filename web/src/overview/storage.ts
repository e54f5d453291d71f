// What is stored: the parts of the data directory, and the largest tables.
import type { Overview, Table } from "../api";
import { h } from "../dom";
import { bytes } from "../format";
import { address } from "../page";

export function tile(label: string, value: string, note: string): HTMLElement {
  return h("div", { class: "tile" }, h("span", {}, label), h("strong", {}, value), h("small", {}, note));
}

// The parts of the data directory, the largest first.  A server whose rows are elsewhere has none.
const diskParts: Record<string, string> = {
  cells: "Cells and change logs", log: "Log of writes", records: "Catalog", history: "Histories",
  ballast: "Ballast for a full disk", copies: "Backups and copies", other: "Other files",
};

export const diskPartName = (part: string): string => diskParts[part] ?? part;

function onDisk(overview: Overview): { part: string; bytes: number }[] {
  return (overview.figures["sonde_disk_used_bytes"]?.samples ?? []).map(({ labels, value }) => ({ part: diskPartName(labels.part), bytes: value }))
    .filter((one) => one.bytes > 0).sort((a, b) => b.bytes - a.bytes);
}

export function diskBars(overview: Overview): HTMLElement | false {
  const parts = onDisk(overview), most = parts[0]?.bytes ?? 1;
  return parts.length > 0 && h("ul", { class: "bars", "data-part": "disk" }, parts.map((one) => h("li", {},
    h("span", {}, one.part), h("span", { class: "bar" }, h("i", { style: `width:${(100 * one.bytes) / most}%` })), h("span", { class: "number" }, bytes(one.bytes)))));
}

export function storedTile(overview: Overview): HTMLElement {
  const parts = onDisk(overview), all = parts.reduce((sum, one) => sum + one.bytes, 0);
  const ofTables = `${bytes(overview.table_bytes)} of ${overview.tables} ${overview.tables === 1 ? "table" : "tables"}, about`;
  return parts.length > 0 ? tile("Stored", bytes(all), `on disk; ${ofTables}`) : tile("Stored", bytes(overview.table_bytes), ofTables);
}

export function tableBars(tables: Table[]): HTMLElement {
  const largest = [...tables].sort((a, b) => b.bytes - a.bytes).slice(0, 10);
  const most = Math.max(...largest.map((table) => table.bytes), 1);
  if (largest.length === 0) return h("p", { class: "muted" }, "No tables yet.");
  return h("ul", { class: "bars" }, largest.map((table) => h("li", {},
    h("a", { href: address("/tables", { table: table.name }) }, table.id),
    h("span", { class: "bar" }, h("i", { style: `width:${(100 * table.bytes) / most}%` })),
    h("span", { class: "number", title: "an estimate" }, bytes(table.bytes)))));
}

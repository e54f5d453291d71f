// A grid of many rows: only those that can be seen are elements. Arrows, Page Up and Down, Home and End move; Enter opens a value.
import { h, show } from "./dom";
import type { Cell, Column } from "./sql_stream";

export interface Grid {
  element: HTMLElement;
  // Rows were added behind those that it has.
  grow: () => void;
  leave: () => void;
}

const rowPixels = 26, rowsBeyond = 8, charactersMax = 46, rowsMeasured = 300;

export function cellText(cell: Cell): string {
  if (cell === null) return "NULL";
  return typeof cell === "object" ? JSON.stringify(cell) : String(cell);
}
// INT64, or of a declared field that has a unit INT64, bytes.
export const typeText = (column: Column): string => (column.unit ? `${column.type}, ${column.unit}` : column.type);
const isNumber = (column: Column): boolean => /^(INT64|FLOAT64|FLOAT32)$/.test(column.type);

export function grid(columns: Column[], rows: Cell[][], open: (row: number, column: number) => void): Grid {
  const head = h("div", { class: "grid-row grid-head", role: "row", "aria-rowindex": 1 },
    columns.map((column, at) => h("span", { role: "columnheader", "aria-colindex": at + 1, class: isNumber(column) && "number", title: `${column.name} ${typeText(column)}` },
      column.name, h("small", {}, typeText(column)))));
  const body = h("div", { class: "grid-body", role: "rowgroup" });
  const element = h("div", { class: "grid", role: "grid", tabindex: 0, "aria-label": "Rows", "aria-colcount": columns.length }, head, body);
  let row = 0, column = 0, queued = false;

  const measure = () => {
    const widths = columns.map((one, at) => {
      const longest = rows.slice(0, rowsMeasured).reduce((most, cells) => Math.max(most, cellText(cells[at]).length), Math.max(one.name.length, typeText(one).length));
      return `${Math.min(Math.max(longest, 6), charactersMax) + 3}ch`;
    });
    element.style.setProperty("--columns", widths.join(" "));
  };
  const draw = () => {
    queued = false;
    const first = Math.max(Math.floor(element.scrollTop / rowPixels) - rowsBeyond, 0);
    const last = Math.min(Math.ceil((element.scrollTop + element.clientHeight) / rowPixels) + rowsBeyond, rows.length);
    const shown: HTMLElement[] = [];
    for (let at = first; at < last; ++at) {
      shown.push(h("div", { class: `grid-row${at % 2 === 1 ? " odd" : ""}`, role: "row", "aria-rowindex": at + 2, style: `top: ${at * rowPixels}px` },
        rows[at].map((cell, place) => h("span", { role: "gridcell", "aria-colindex": place + 1, id: at === row && place === column && "grid-cursor",
          class: `${isNumber(columns[place]) ? "number " : ""}${cell === null ? "null" : ""}`, "data-row": at, "data-column": place }, cellText(cell).slice(0, 400)))));
    }
    show(body, shown);
  };
  const soon = () => { if (!queued) { queued = true; requestAnimationFrame(draw); } };
  const grow = () => {
    if (rows.length <= rowsMeasured || !element.style.getPropertyValue("--columns")) measure();
    body.style.height = `${rows.length * rowPixels}px`;
    element.setAttribute("aria-rowcount", String(rows.length + 1));
    element.dataset.rows = String(rows.length);
    soon();
  };
  const go = (to_row: number, to_column: number) => {
    row = Math.min(Math.max(to_row, 0), rows.length - 1);
    column = Math.min(Math.max(to_column, 0), columns.length - 1);
    const top = row * rowPixels, seen = element.clientHeight - head.offsetHeight;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + rowPixels > element.scrollTop + seen) element.scrollTop = top + rowPixels - seen;
    draw();
    element.setAttribute("aria-activedescendant", "grid-cursor");
    document.getElementById("grid-cursor")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  };
  const page = () => Math.max(Math.floor(element.clientHeight / rowPixels) - 2, 1);
  const moves: Record<string, () => void> = {
    ArrowDown: () => go(row + 1, column), ArrowUp: () => go(row - 1, column), ArrowRight: () => go(row, column + 1), ArrowLeft: () => go(row, column - 1),
    PageDown: () => go(row + page(), column), PageUp: () => go(row - page(), column), Home: () => go(0, column), End: () => go(rows.length - 1, column),
    Enter: () => open(row, column),
  };
  element.addEventListener("keydown", (event) => {
    const move = moves[event.key];
    if (!move || event.ctrlKey || event.metaKey || event.altKey || rows.length === 0) return;
    event.preventDefault();
    move();
  });
  body.addEventListener("click", (event) => {
    const cell = (event.target as HTMLElement).closest<HTMLElement>("[data-row]");
    if (!cell) return;
    go(Number(cell.dataset.row), Number(cell.dataset.column));
    open(row, column);
  });
  element.addEventListener("scroll", soon);
  const observer = new ResizeObserver(soon);
  observer.observe(element);
  grow();
  return { element, grow, leave: () => observer.disconnect() };
}

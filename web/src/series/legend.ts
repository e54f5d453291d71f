// The legend of a chart as a table: each line with its last, least, mean and largest value and, beside an earlier time, its mean then
// and by how much it changed; sorted by any of them. A click on a line
// shows it alone, a click with shift adds it or takes it away, and a click on the only one shows all again.
import { h, show } from "../dom";
import { number } from "../format";
import type { PointsLine } from "./lines";

type Figure = "last" | "min" | "mean" | "max" | "before" | "change"; // `change`: of the mean, in percent
interface Row { line: PointsLine; index: number; figures: Record<Figure, number> }

function figuresOf(line: PointsLine): Record<Figure, number> {
  let last = NaN, last_at = -Infinity, min = Infinity, max = -Infinity, sum = 0;
  for (const [at, value] of line.points) {
    if (at > last_at) [last, last_at] = [value, at];
    min = Math.min(min, value);
    max = Math.max(max, value);
    sum += value;
  }
  const mean = sum / line.points.size, before = meanOf(line.before);
  return { last, min, mean, max, before, change: before === 0 ? NaN : (100 * (mean - before)) / Math.abs(before) };
}

// NaN: there are none.
function meanOf(points: Map<number, number> = new Map()): number {
  let sum = 0;
  for (const value of points.values()) sum += value;
  return sum / points.size;
}
const changeText = (percent: number): string => `${percent > 0 ? "+" : ""}${number(percent, 1)}%`;

// `setShown`: draws the line of this place among `lines`, or does not.
export function legend(lines: PointsLine[], colours: string[], text: (line: PointsLine, value: number) => string, setShown: (index: number, is_shown: boolean) => void): HTMLElement {
  const rows: Row[] = lines.map((line, index) => ({ line, index, figures: figuresOf(line) }));
  const shown = new Set(rows.map((row) => row.index)), is_compared = lines.some((line) => line.before);
  let by: Figure | "label" | undefined, is_descending = true;
  const place = h("div", { class: "scroll legend" });
  const apply = () => rows.forEach((row) => setShown(row.index, shown.has(row.index)));
  const choose = (row: Row, is_added: boolean) => {
    const is_only = shown.size === 1 && shown.has(row.index);
    if (is_added && !is_only) {
      shown.has(row.index) ? shown.delete(row.index) : shown.add(row.index);
    } else {
      shown.clear();
      (is_only ? rows : [row]).forEach((one) => shown.add(one.index));
    }
    apply();
    draw();
  };
  const sort = (name: Figure | "label") => {
    is_descending = by === name ? !is_descending : name !== "label";
    by = name;
    rows.sort((a, b) => (name === "label" ? a.line.label.localeCompare(b.line.label) : (a.figures[name] || 0) - (b.figures[name] || 0)) * (is_descending ? -1 : 1));
    draw();
  };
  const head = (name: Figure | "label", title: string) => h("th", { class: name === "label" ? "" : "number", "aria-sort": by === name && (is_descending ? "descending" : "ascending") },
    h("button", { type: "button", class: "link", onclick: () => sort(name) }, title, by === name && (is_descending ? " ↓" : " ↑")));
  const draw = () => show(place, h("table", {},
    h("thead", {}, h("tr", {}, head("label", "Line"), head("last", "Last"), head("min", "Min"), head("mean", "Mean"), head("max", "Max"), is_compared && [head("before", "Mean before"), head("change", "Change of the mean")])),
    h("tbody", {}, rows.map((row) => h("tr", { class: !shown.has(row.index) && "off" },
      h("th", { scope: "row" }, h("button", { type: "button", class: "link", "aria-pressed": String(shown.has(row.index)), title: "Shows this line alone; with shift, adds it or takes it away",
        onclick: (event: Event) => choose(row, (event as MouseEvent).shiftKey) }, h("i", { style: `background:${colours[row.index]}` }), row.line.label)),
      (["last", "min", "mean", "max", ...(is_compared ? ["before", "change"] : [])] as Figure[]).map((name) => h("td", { class: "number" },
        !Number.isFinite(row.figures[name]) ? "—" : name === "change" ? changeText(row.figures[name]) : text(row.line, row.figures[name]))))))));
  draw();
  return place;
}

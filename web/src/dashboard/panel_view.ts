// One question of a dashboard with its answer: a chart where the rows can be drawn, else the rows.
import type uPlot from "uplot";
import { chart, fit } from "../chart";
import { empty, h, problem, show } from "../dom";
import { grid, type Grid } from "../grid";
import { address } from "../page";
import { canBeDrawn, drawing } from "../sql_chart";
import { ask, type Cell, type Column, type Question } from "../sql_stream";
import type { Panel } from "./document";

export interface PanelView { element: HTMLElement; load: (question: Question) => Promise<void>; colourAgain: () => void; leave: () => void }

const rowsMax = 10_000;

export function panelView(panel: Panel, instance: string): PanelView {
  const answer = h("div", { class: "panel-answer" }), note = h("p", { class: "muted", role: "status" });
  const element = h("section", { class: "card panel", "data-panel": panel.title },
    h("h2", {}, panel.title || "Untitled", h("small", {}, h("a", { href: address("/sql", { query: panel.query, instance }) }, "SQL"))), note, answer);
  let running: AbortController | undefined, plot: uPlot | undefined, table: Grid | undefined, observer: ResizeObserver | undefined;
  let columns: Column[] = [], rows: Cell[][] = [];

  const clear = () => {
    plot?.destroy();
    table?.leave();
    observer?.disconnect();
    plot = table = observer = undefined;
  };
  const draw = () => {
    clear();
    element.dataset.rows = String(rows.length);
    if (rows.length === 0) return show(answer, empty("No rows", "The question is right, and nothing is as it asks."));
    if (panel.shown === "rows" || !canBeDrawn(columns)) {
      table = grid(columns, rows, () => undefined);
      return show(answer, table.element);
    }
    const { times, lines, left_out, unit, text } = drawing(columns, rows);
    if (times.length === 0) return show(answer, empty("Nothing to draw", "No row has both a time and a number."));
    const place = h("div", { class: "chart", "data-chart": "panel", "data-lines": lines.length, "data-points": times.length, "data-unit": unit || undefined });
    show(answer, place);
    show(note, unit !== "" && `In ${unit}. `, left_out > 0 && `The first ${lines.length} lines; ${left_out} are left out.`);
    observer = fit(place, () => plot);
    plot = chart(place, times, lines, { height: 240, text });
  };
  const load = async (question: Question) => {
    running?.abort();
    const mine = running = new AbortController();
    element.setAttribute("aria-busy", "true");
    show(note);
    let got: Column[] = [];
    const taken: Cell[][] = [];
    try {
      const stats = await ask(question, { columns: (all) => { got = all; }, rows: (more) => { taken.push(...more.slice(0, rowsMax - taken.length)); return taken.length < rowsMax; } }, mine.signal);
      if (mine !== running) return;
      [columns, rows] = [got, taken];
      if (!stats) show(note, `The first ${rowsMax.toLocaleString("en")} rows`);
      draw();
    } catch (error) {
      if (mine !== running || mine.signal.aborted) return;
      clear();
      show(answer, problem(error));
    }
    element.removeAttribute("aria-busy");
  };
  return { element, load, colourAgain: () => { if (plot) draw(); }, leave: () => { running?.abort(); clear(); } };
}

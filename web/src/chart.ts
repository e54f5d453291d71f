// Charts of lines over time (uPlot), in the colours of the theme: drag to zoom, shift and drag to pan, double click to
// go back.
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { h, show } from "./dom";
import { clock, zone, zoneName } from "./time";

export interface Line {
  label: string;
  // null: a gap; undefined: another line has a point there, and this one none.
  values: (number | null | undefined)[];
  colour?: string;
  fill?: boolean;
  is_dashed?: boolean; // of an earlier time
}
export interface ChartOptions {
  height: number;
  // With more digits than it would take by itself, if `digits` says so.
  text: (value: number, digits?: number) => string;
  // When the user has chosen another stretch of time; seconds.
  zoom?: (from: number, to: number) => void;
  reset?: () => void;
  // The stretch of time that is shown, if it is not that of the points.
  shown?: { from: number; to: number };
  sync?: string;
  // Whether the scale begins at zero.
  zero?: boolean;
  // Whether the chart has a legend of its own; it has, unless this says no.
  legend?: boolean;
  // Whether the values of all lines at the cursor are told beside it, the largest first.
  tip?: boolean;
  // The dashed lines are of so many seconds earlier.
  shift?: number;
}

export const colour = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
export const palette = ["--line-1", "--line-2", "--line-3", "--line-4", "--line-5", "--line-6", "--line-7", "--line-8"];
// Between two colours of the form #rrggbb.
function mixed(one: string, other: string, part: number): string {
  const parts = (text: string) => [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16));
  const [a, b] = [parts(one), parts(other)];
  return `#${a.map((value, i) => Math.round(value + (b[i] - value) * part).toString(16).padStart(2, "0")).join("")}`;
}
// Of 24 lines each has a colour of its own: the eight of the theme, then these nearer to the ink, then nearer to the card.
export function lineColour(index: number): string {
  const own = colour(palette[index % palette.length]), turn = Math.floor(index / palette.length) % 3;
  return turn === 0 ? own : mixed(own, colour(turn === 1 ? "--ink" : "--card"), turn === 1 ? 0.5 : 0.4);
}

function panning(zoom?: (from: number, to: number) => void): uPlot.Plugin {
  return {
    hooks: {
      ready: (plot: uPlot) => {
        plot.over.addEventListener("mousedown", (down: MouseEvent) => {
          if (!down.shiftKey || !zoom) return;
          down.stopImmediatePropagation();
          const { min, max } = plot.scales.x as { min: number; max: number };
          const perPixel = (max - min) / plot.over.clientWidth;
          const move = (event: MouseEvent) => {
            const by = (down.clientX - event.clientX) * perPixel;
            plot.setScale("x", { min: min + by, max: max + by });
          };
          const up = (event: MouseEvent) => {
            removeEventListener("mousemove", move);
            removeEventListener("mouseup", up);
            const by = (down.clientX - event.clientX) * perPixel;
            if (by !== 0) zoom(min + by, max + by);
          };
          addEventListener("mousemove", move);
          addEventListener("mouseup", up);
        }, true);
      },
    },
  };
}

const tipLinesMax = 12;
// The values at the cursor, in a box beside it.
function telling(options: ChartOptions, lines: Line[]): uPlot.Plugin {
  const box = h("div", { class: "chart-tip", hidden: true });
  return {
    hooks: {
      init: (plot: uPlot) => {
        plot.over.append(box);
        plot.over.addEventListener("mouseleave", () => { box.hidden = true; });
      },
      setCursor: (plot: uPlot) => {
        const { idx, left = -1, top = -1 } = plot.cursor;
        const rows = idx === null || idx === undefined || left < 0 ? [] : plot.series.slice(1).flatMap((line, at) => {
          const value = plot.data[at + 1][idx];
          return line.show && value !== null && value !== undefined ? [{ at, value }] : [];
        }).sort((a, b) => b.value - a.value);
        // A cursor that another panel moves has no place of its own.
        box.hidden = rows.length === 0 || !plot.over.matches(":hover");
        if (box.hidden) return;
        const time = plot.data[0][idx!];
        show(box, h("div", { class: "muted" }, clock(time)), rows.slice(0, tipLinesMax).map(({ at, value }) => h("div", {},
          h("i", { class: lines[at].is_dashed && "dashed", style: `--own:${lines[at].colour ?? lineColour(at)}` }), h("span", {}, lines[at].label), h("b", {}, options.text(value)))),
          options.shift !== undefined && rows.some(({ at }) => lines[at].is_dashed) && h("div", { class: "muted" }, `before: ${clock(time - options.shift)}`),
          rows.length > tipLinesMax && h("div", { class: "muted" }, `${rows.length - tipLinesMax} more with smaller values`));
        const is_right = left > plot.over.clientWidth / 2;
        box.style.left = is_right ? "" : `${left + 14}px`;
        box.style.right = is_right ? `${plot.over.clientWidth - left + 14}px` : "";
        box.style.top = `${Math.min(Math.max(top - 20, 0), Math.max(plot.over.clientHeight - box.offsetHeight, 0))}px`;
      },
    },
  };
}

// Points with nothing beside them: a line would not show them.
const alone = (values: ArrayLike<number | null | undefined>): number[] => {
  const told = Array.from({ length: values.length }, (_, index) => index).filter((index) => values[index] !== undefined);
  const is = (place: number) => place >= 0 && place < told.length && values[told[place]] !== null;
  return told.filter((_, place) => is(place) && !is(place - 1) && !is(place + 1));
};

const digitsMax = 12;
// The texts of an axis: as many digits as tell its ticks apart, and each of them from what lies an eighth of a step above it.
export function ticks(values: (number | null)[], text: ChartOptions["text"]): string[] {
  const known = values.filter((value) => value !== null);
  const part = known.length > 1 ? Math.abs(known[1] - known[0]) / 8 : 0;
  const is_fine = (digits?: number) => new Set(known.map((value) => text(value, digits))).size === known.length &&
    known.every((value) => part === 0 || text(value, digits) !== text(value + part, digits));
  let digits: number | undefined;
  while (!is_fine(digits) && (digits ?? 0) < digitsMax) digits = (digits ?? 1) + 1;
  return values.map((value) => (value === null ? "" : text(value, digits)));
}

// Times of points that lie further apart than `step` have a time without points between them, so that no line is drawn over the gap.
export function withGaps(times: number[], step: number): number[] {
  return times.flatMap((time, at) => (at > 0 && time - times[at - 1] > 1.5 * step ? [times[at - 1] + step, time] : [time]));
}

export function chart(where: HTMLElement, times: number[], lines: Line[], options: ChartOptions): uPlot {
  where.replaceChildren();
  const axis = { stroke: colour("--muted"), grid: { stroke: colour("--grid"), width: 1 }, ticks: { stroke: colour("--grid"), width: 1 }, font: "12px system-ui" };
  const many = times.length > 400;
  const plot = new uPlot({
    width: Math.max(where.clientWidth, 200),
    height: options.height,
    padding: [12, 42, 0, 0], // at the right: half of the last label
    tzDate: (seconds) => (zone() === "utc" ? uPlot.tzDate(new Date(seconds * 1000), "Etc/UTC") : new Date(seconds * 1000)),
    cursor: { drag: { x: !!options.zoom, y: false, setScale: false }, sync: options.sync ? { key: options.sync } : undefined, points: { size: 7 } },
    legend: { live: true, show: options.legend !== false },
    scales: {
      x: { time: true },
      y: options.zero ? { range: (_plot, _min, max) => [0, (max > 0 ? max : 1) * 1.1] } : {},
    },
    axes: [{
      ...axis, space: 90, size: 32, label: zoneName(times.at(-1)), labelSize: 16, labelGap: 0, labelFont: "11px system-ui",
      values: (plot, values) => values.map((value) => clock(value, (plot.scales.x.max ?? 0) - (plot.scales.x.min ?? 0))),
    }, { ...axis, size: 76, values: (_plot, values) => ticks(values, options.text) }],
    series: [
      { label: "time", value: (_plot, value) => (value === null ? "—" : clock(value)) },
      ...lines.map((line, index): uPlot.Series => {
        const stroke = line.colour ?? lineColour(index);
        return {
          label: line.label, stroke, width: 1.6, spanGaps: false, fill: line.fill ? `${stroke}22` : undefined, dash: line.is_dashed ? [5, 4] : undefined,
          points: { show: !many && times.length < 60 && !line.is_dashed, filter: (it, at, all) => (all ? null : alone(it.data[at])) },
          value: (_plot, value) => (value === null || value === undefined ? "—" : options.text(value)),
        };
      }),
    ],
    hooks: {
      setSelect: [(it: uPlot) => {
        if (it.select.width < 4) return;
        const from = it.posToVal(it.select.left, "x"), to = it.posToVal(it.select.left + it.select.width, "x");
        it.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        options.zoom?.(from, to);
      }],
    },
    plugins: [panning(options.zoom), ...(options.tip ? [telling(options, lines)] : [])],
  }, [times, ...lines.map((line) => line.values)] as uPlot.AlignedData, where);
  if (options.shown) plot.setScale("x", { min: options.shown.from, max: options.shown.to });
  if (options.reset) plot.over.addEventListener("dblclick", options.reset);
  return plot;
}

// Keeps the width of a chart that of its place.
export function fit(where: HTMLElement, plot: () => uPlot | undefined): ResizeObserver {
  const observer = new ResizeObserver(() => {
    const it = plot();
    if (it && where.clientWidth > 0 && it.width !== where.clientWidth) it.setSize({ width: where.clientWidth, height: it.height });
  });
  observer.observe(where);
  return observer;
}

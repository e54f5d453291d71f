// A time beside an earlier one: how much earlier it is, who chooses it, how both are drawn, and which line is which.
import type { Line } from "../chart";
import { field, h, select } from "../dom";
import { duration } from "../format";
import { clock, inputSeconds, inputText, zoneName } from "../time";
import type { View } from "./ends";
import type { PointsLine } from "./lines";

export const befores: [seconds: number, name: string][] = [
  [3600, "an hour before"], [86_400, "a day before"], [604_800, "a week before"], [2_419_200, "four weeks before"]];
export const beforeName = (seconds: number): string => befores.find(([value]) => value === seconds)?.[1] ?? `${duration(seconds)} before`;
const beforeMax = 100 * 31_557_600, daySeconds = 86_400;

// Seconds, as an address has them; 0: no earlier time.
export function readBefore(parameters: URLSearchParams): number {
  const before = Math.round(Number(parameters.get("before")));
  return before > 0 && before <= beforeMax ? before : 0;
}

// How far the earlier time is moved: its buckets lie over those of the later one.  Buckets of weeks and more begin where the calendar says.
export const shiftOf = (before: number, step: number): number => (step > daySeconds ? before : Math.max(Math.round(before / step) * step, step));
export const earlierThan = ({ from, to }: View, shift: number): View => ({ from: from - shift, to: to - shift });

// The choice of an earlier time: so much earlier, or one that begins at a time that somebody writes.  `shown`: what it is earlier than.
// `tell`: `shown` or the choice has changed, and is to be shown.
export function beforeControl(value: () => number, shown: () => View | undefined, take: (before: number) => void): { element: HTMLElement; tell: () => void } {
  const start = h("input", { type: "datetime-local", name: "before", step: 1 });
  const chosen = field(`Earlier start (${zoneName()})`, start, "Where the earlier time begins; it is as long as the one that is shown");
  const is = (name: string) => befores.some(([seconds]) => String(seconds) === name);
  const choice = select([["", "nothing"], ...befores.map(([seconds, name]): [string, string] => [String(seconds), name]), ["chosen", "an earlier start …"]], "", (next) => {
    if (next !== "chosen") return take(Number(next));
    const view = shown();
    chosen.hidden = false;
    if (view) start.value = inputText(Math.floor(view.from - daySeconds));
    start.focus();
  });
  const tell = () => {
    const view = shown();
    start.setCustomValidity("");
    choice.value = value() === 0 ? "" : is(String(value())) ? String(value()) : "chosen";
    chosen.hidden = choice.value !== "chosen";
    if (!chosen.hidden && view) start.value = inputText(Math.floor(view.from - value()));
  };
  start.addEventListener("change", () => {
    const view = shown(), begin = inputSeconds(start.value);
    if (!view || begin === undefined) return;
    const before = Math.floor(view.from) - begin;
    start.setCustomValidity(before > 0 ? "" : `The earlier time begins before ${clock(view.from)}`);
    if (start.reportValidity() && before !== value()) take(before);
  });
  tell();
  return { element: h("div", { class: "group" }, field("Compare with", choice, "Draws an earlier time dashed, over the one that is shown"), chosen), tell };
}

// What a chart draws at these times: each line and, where there is an earlier time, the same line dashed.
// `now` and `before`: the times that have a bucket; at others a line goes on.
export function drawnLines(lines: PointsLine[], colours: string[], times: number[], now: ReadonlySet<number>, before: ReadonlySet<number>): Line[] {
  const valuesOf = (points: Map<number, number>, own: ReadonlySet<number>) => times.map((time) => points.get(time) ?? (own.has(time) ? null : undefined));
  return lines.flatMap((line, at): Line[] => [{ label: line.label, colour: colours[at], values: valuesOf(line.points, now) },
    ...(line.before ? [{ label: `${line.label}, before`, colour: colours[at], is_dashed: true, values: valuesOf(line.before, before) }] : [])]);
}
// The places of a line in such a chart, of which the first is 1.
export const placesOf = (line: PointsLine, at: number): number[] => (line.before ? [2 * at + 1, 2 * at + 2] : [at + 1]);

// Says which lines are of which time.
export function timesNote(view: View, shift: number): HTMLElement {
  const stretch = ({ from, to }: View) => `${clock(from)} to ${clock(to)}`;
  return h("p", { class: "times", "data-part": "times" },
    h("span", {}, h("i", { class: "stroke", "aria-hidden": "true" }), h("strong", {}, "Solid: "), stretch(view)),
    h("span", {}, h("i", { class: "stroke dashed", "aria-hidden": "true" }), h("strong", {}, "Dashed: "), `${beforeName(shift)}, ${stretch(earlierThan(view, shift))}`));
}

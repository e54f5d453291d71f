// The lines of an answer: one for each combination of tags and each column of numbers.
import type { QueryAnswer } from "../api";

// `tags` and `column`: whose values they are; together they are the label.  `unit`: that of the column; empty: none was declared.
// `before`: the points of an earlier time, moved to lie over `points`; undefined: no earlier time was asked for.
export interface PointsLine { label: string; tags: string; column: string; unit: string; points: Map<number, number>; before?: Map<number, number>; most: number }
// What was answered for the time `shift` seconds earlier.
export interface Earlier { answer: QueryAnswer; shift: number }
export interface Lines {
  times: number[]; // of the points of all lines, ascending, in seconds
  before: number[]; // of the points of the earlier time
  lines: PointsLine[]; // those that are drawn
  all: number; // how many there are
}

export const linesMax = 24;

// Of more than linesMax lines, those with the largest values are drawn, now or before.
export function linesOf(answer: QueryAnswer, earlier?: Earlier): Lines {
  const byLabel = new Map<string, PointsLine>();
  takePoints(answer, 0, byLabel, earlier !== undefined, (line) => line.points);
  if (earlier) takePoints(earlier.answer, earlier.shift, byLabel, true, (line) => line.before!);
  const all = [...byLabel.values()];
  const drawn = all.length <= linesMax ? all : new Set([...all].sort((a, b) => b.most - a.most).slice(0, linesMax));
  const lines = all.filter((line) => drawn === all || (drawn as Set<PointsLine>).has(line));
  const timesOf = (points: (line: PointsLine) => Map<number, number> | undefined) => [...new Set(lines.flatMap((line) => [...points(line)?.keys() ?? []]))].sort((a, b) => a - b);
  return { times: timesOf((line) => line.points), before: timesOf((line) => line.before), lines, all: all.length };
}

function takePoints(answer: QueryAnswer, shift: number, byLabel: Map<string, PointsLine>, has_before: boolean, pointsOf: (line: PointsLine) => Map<number, number>): void {
  const indexesOf = (kind: string) => answer.columns.flatMap((column, index) => (column.kind === kind ? [index] : []));
  const tags = indexesOf("tag"), values = indexesOf("number"), [time] = indexesOf("time");
  for (const row of answer.rows) {
    const at = Date.parse(String(row[time])) / 1000 + shift;
    const of_tags = tags.map((tag) => String(row[tag])).join(" · ");
    for (const index of values) {
      const column = answer.columns[index].name, value = row[index], label = of_tags ? `${of_tags} · ${column}` : column;
      let line = byLabel.get(label);
      if (!line) {
        line = { label, tags: of_tags, column, unit: answer.columns[index].unit ?? "", points: new Map(), before: has_before ? new Map() : undefined, most: -Infinity };
        byLabel.set(label, line);
      }
      if (typeof value !== "number") continue;
      pointsOf(line).set(at, value);
      line.most = Math.max(line.most, value);
    }
  }
}

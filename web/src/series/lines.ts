// The lines of an answer: one for each combination of tags and each column of numbers.
import type { QueryAnswer } from "../api";

// `tags` and `column`: whose values they are; together they are the label.  `unit`: that of the column; empty: none was declared.
export interface PointsLine { label: string; tags: string; column: string; unit: string; points: Map<number, number>; most: number }
export interface Lines {
  times: number[]; // of all lines, ascending, in seconds
  lines: PointsLine[]; // those that are drawn
  all: number; // how many there are
}

export const linesMax = 24;

// Of more than linesMax lines, those with the largest values are drawn.
export function linesOf(answer: QueryAnswer): Lines {
  const indexesOf = (kind: string) => answer.columns.flatMap((column, index) => (column.kind === kind ? [index] : []));
  const tags = indexesOf("tag"), values = indexesOf("number"), [time] = indexesOf("time");
  const byLabel = new Map<string, PointsLine>();
  for (const row of answer.rows) {
    const at = Date.parse(String(row[time])) / 1000;
    const of_tags = tags.map((tag) => String(row[tag])).join(" · ");
    for (const index of values) {
      const column = answer.columns[index].name, value = row[index], label = of_tags ? `${of_tags} · ${column}` : column;
      let line = byLabel.get(label);
      if (!line) byLabel.set(label, (line = { label, tags: of_tags, column, unit: answer.columns[index].unit ?? "", points: new Map(), most: -Infinity }));
      if (typeof value !== "number") continue;
      line.points.set(at, value);
      line.most = Math.max(line.most, value);
    }
  }
  const all = [...byLabel.values()];
  const drawn = all.length <= linesMax ? all : new Set([...all].sort((a, b) => b.most - a.most).slice(0, linesMax));
  const lines = all.filter((line) => drawn === all || (drawn as Set<PointsLine>).has(line));
  const times = [...new Set(lines.flatMap((line) => [...line.points.keys()]))].sort((a, b) => a - b);
  return { times, lines, all: all.length };
}

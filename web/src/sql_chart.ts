// The lines that rows of a query draw: numbers over the first column of times, a line for each column of numbers and each
// combination of the texts beside them, as `sonde sql --plot` draws them.
import type { Line } from "./chart";
import { cellText } from "./grid";
import type { Cell, Column } from "./sql_stream";

export interface Drawing { times: number[]; lines: Line[]; left_out: number }

const linesMax = 24;
const isOf = (column: Column, ...types: string[]): boolean => types.includes(column.type);
export const canBeDrawn = (columns: Column[]): boolean =>
  columns.some((one) => isOf(one, "TIMESTAMP", "DATE")) && columns.some((one) => isOf(one, "INT64", "FLOAT64", "FLOAT32"));

export function drawing(columns: Column[], rows: Cell[][]): Drawing {
  const indexes = (...types: string[]) => columns.flatMap((one, at) => (isOf(one, ...types) ? [at] : []));
  const [time] = indexes("TIMESTAMP", "DATE"), numbers = indexes("INT64", "FLOAT64", "FLOAT32"), texts = indexes("STRING", "BYTES", "BOOL");
  const lines = new Map<string, Map<number, number | null>>();
  const times = new Set<number>();
  for (const row of rows) {
    const at = Date.parse(String(row[time])) / 1000;
    if (Number.isNaN(at)) continue;
    const group = texts.map((one) => cellText(row[one])).join(" ");
    for (const number of numbers) {
      const label = group ? `${group} ${columns[number].name}` : columns[number].name;
      let line = lines.get(label);
      if (!line) lines.set(label, line = new Map());
      const value = row[number] === null ? NaN : Number(row[number]);
      line.set(at, Number.isFinite(value) ? value : null);
      times.add(at);
    }
  }
  const sorted = [...times].sort((a, b) => a - b);
  const shown = [...lines].slice(0, linesMax);
  return {
    times: sorted, left_out: lines.size - shown.length,
    lines: shown.map(([label, line]) => ({ label, values: sorted.map((at) => line.get(at)) })),
  };
}

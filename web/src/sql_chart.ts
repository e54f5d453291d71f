// The lines that rows of a query draw: numbers over the first column of times, a line for each column of numbers and each
// combination of the texts beside them, as `sonde sql --plot` draws them.
import type { Line } from "./chart";
import { number as plainNumber, unitText } from "./format";
import { cellText } from "./grid";
import type { Cell, Column } from "./sql_stream";

// `unit`: what all numbers have in common; empty: they have no unit, or several.  `text`: how the axis writes them.
export interface Drawing { times: number[]; lines: Line[]; left_out: number; unit: string; text: (value: number, digits?: number) => string }

const linesMax = 24;
const isOf = (column: Column, ...types: string[]): boolean => types.includes(column.type);
export const canBeDrawn = (columns: Column[]): boolean =>
  columns.some((one) => isOf(one, "TIMESTAMP", "DATE")) && columns.some((one) => isOf(one, "INT64", "FLOAT64", "FLOAT32"));

export function drawing(columns: Column[], rows: Cell[][]): Drawing {
  const indexes = (...types: string[]) => columns.flatMap((one, at) => (isOf(one, ...types) ? [at] : []));
  const [time] = indexes("TIMESTAMP", "DATE"), numbers = indexes("INT64", "FLOAT64", "FLOAT32"), texts = indexes("STRING", "BYTES", "BOOL");
  const units = new Set(numbers.map((one) => columns[one].unit ?? "")), unit = units.size === 1 ? [...units][0] : "";
  const lines = new Map<string, Map<number, number | null>>();
  const times = new Set<number>();
  for (const row of rows) {
    const at = Date.parse(String(row[time])) / 1000;
    if (Number.isNaN(at)) continue;
    const group = texts.map((one) => cellText(row[one])).join(" ");
    for (const number of numbers) {
      // Where one axis has several units, each line says its own.
      const name = `${columns[number].name}${unit === "" && columns[number].unit ? ` [${columns[number].unit}]` : ""}`, label = group ? `${group} ${name}` : name;
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
    times: sorted, left_out: lines.size - shown.length, unit, text: unit ? unitText(unit) : plainNumber,
    lines: shown.map(([label, line]) => ({ label, values: sorted.map((at) => line.get(at)) })),
  };
}

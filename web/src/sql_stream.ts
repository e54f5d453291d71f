// Asks a query and takes its answer as it comes: a line of columns, lines of rows, and a line that ends it.
import { fetchHere } from "./api";

export interface Column { name: string; type: string; unit?: string }
export type Cell = null | boolean | number | string | object;
export interface Stats { rows: number; rows_scanned: number; memory_bytes: number; seconds: number }
export interface Question { query: string; project?: string; instance?: string; params: Record<string, unknown> }
export interface Taker {
  columns: (columns: Column[]) => void;
  // False: no more rows are wanted, and the query ends.
  rows: (rows: Cell[][]) => boolean;
}

const cutOff = "The answer was cut off: the server or the connection has gone";

// A whole number beyond 2^53 stays the text that it came as; browsers that do not tell this text round it.
const exact = (_name: string, value: unknown, context?: { source?: string }): unknown =>
  typeof value === "number" && !Number.isSafeInteger(value) && context?.source && /^-?\d+$/.test(context.source) ? context.source : value;
const parse = (line: string): unknown => JSON.parse(line, exact as (name: string, value: unknown) => unknown);

// The stats of a whole answer; undefined: no more rows were wanted.
export async function ask(question: Question, taker: Taker, signal: AbortSignal): Promise<Stats | undefined> {
  const response = await fetchHere("/api/v1/sql", { method: "POST", body: JSON.stringify(question), signal });
  if (!response.ok || !response.body) throw new Error(messageOf(await response.text(), response.status));
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "", has_columns = false;
  for (;;) {
    const { value, done } = await reader.read();
    if (done) throw new Error(cutOff);
    const lines = (rest + value).split("\n");
    rest = lines.pop() ?? "";
    const rows: Cell[][] = [];
    let end: { stats?: Stats; error?: { message: string } } | undefined;
    for (const line of lines) {
      if (line.startsWith("[")) rows.push(parse(line) as Cell[]);
      else if (!has_columns) {
        taker.columns((parse(line) as { columns: Column[] }).columns);
        has_columns = true;
      } else end = parse(line) as { stats?: Stats; error?: { message: string } };
    }
    if (rows.length > 0 && !taker.rows(rows)) {
      await reader.cancel();
      return undefined;
    }
    if (end?.error) throw new Error(end.error.message);
    if (end?.stats) return end.stats;
  }
}

function messageOf(text: string, status: number): string {
  try {
    return (JSON.parse(text) as { error: { message: string } }).error.message;
  } catch {
    return `The server answered ${status}`;
  }
}

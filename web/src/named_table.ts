// The table that an address names: it, or the words that there is none, never another one.
import { get, Refusal, tablePath, type Table } from "./api";
import { h } from "./dom";
import { address } from "./page";

export interface Found {
  tables: Table[];
  next: string | null;
  asked: Table | undefined; // the named one
  missing: string | undefined; // the name, where no table has it
}

const nameForm = /^projects\/[^/]+\/instances\/[^/]+\/tables\/[^/]+$/;
const httpNotFound = 404, httpWrong = 400;

// The named one may be none of the first thousand.
export async function findTables(name: string, signal: AbortSignal): Promise<Found> {
  const listed = get<{ tables: Table[]; next: string | null }>("/api/v1/tables", {}, signal);
  if (name === "") return { ...(await listed), asked: undefined, missing: undefined };
  let asked: Table | undefined;
  try {
    if (nameForm.test(name)) asked = await get<Table>(tablePath(name), {}, signal);
  } catch (error) {
    if (!(error instanceof Refusal) || ![httpNotFound, httpWrong].includes(error.http_code)) throw error;
  }
  const { tables, next } = await listed;
  const all = asked && !tables.some((one) => one.name === asked.name) ? [...tables, asked] : tables;
  return { tables: all, next, asked, missing: asked ? undefined : name };
}

// How many letters must be put in, taken out or changed to make the one of the other.
export function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; ++i) {
    const next = [i];
    for (let j = 1; j <= b.length; ++j) next.push(Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1)));
    row = next;
  }
  return row[b.length];
}

const nearestMax = 3, comparedLetters = 200;
export function nearest<T>(name: string, all: T[], nameOf: (one: T) => string): T[] {
  const short = name.slice(-comparedLetters);
  return all.map((one): [number, T] => [distance(short, nameOf(one).slice(-comparedLetters)), one])
    .sort((a, b) => a[0] - b[0]).slice(0, nearestMax).map(([, one]) => one);
}

export function noTable(path: string, name: string, tables: Table[]): HTMLElement {
  return h("div", { class: "problem", role: "alert" }, h("strong", {}, "No table "), h("code", {}, name), ".",
    tables.length > 0 && [" The nearest names are ", nearest(name, tables, (one) => one.name).map((one, at) =>
      [at > 0 && ", ", h("a", { href: address(path, { table: one.name }) }, one.name)]), "."]);
}

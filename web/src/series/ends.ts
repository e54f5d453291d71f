// Where a series begins and ends, found by seeks, without reading all of it.
import { Refusal, type QueryAnswer, type Series } from "../api";

export interface View { from: number; to: number }
export type Parameters = Record<string, string | string[] | undefined>;
export type Ask = (parameters: Parameters) => Promise<QueryAnswer>;

// A first look reads so many series, and about so many points of them.
export const firstSeriesMax = 8;
const firstPoints = 20_000, newestPoints = 100;
const seriesMax = 1_000; // that are counted

export interface Found {
  extent: View;
  // The newest stretch that has about firstPoints points of so many series.
  viewOf: (series: number) => View;
  series: number; // how many there are; 0: they were not counted
  has_more: boolean; // ... and more than seriesMax
  // Conditions that let the newest firstSeriesMax series through, and no others; undefined: no conditions can say that.
  first: string[] | undefined;
}

const httpWrong = 400;

// The newest point of each of up to seriesMax series.  Of more series than the server holds at once, the first few, as they lie.
async function newestOf(field: string, ask: Ask): Promise<QueryAnswer> {
  try {
    return await ask({ field, latest: "1", limit: String(seriesMax) });
  } catch (error) {
    if (!(error instanceof Refusal) || error.http_code !== httpWrong) throw error;
  }
  const first = await ask({ field, limit: String(seriesMax) });
  const tags = first.columns.flatMap((column, index) => (column.kind === "tag" ? [index] : []));
  const some = [...new Map(first.rows.map((row) => [JSON.stringify(tags.map((tag) => row[tag])), row])).values()].slice(0, firstSeriesMax);
  const answers = await Promise.all(some.map((row) => ask({ field, where: tags.map((tag) => `${first.columns[tag].name}=${row[tag]}`), latest: "1" })));
  const rows = answers.flatMap((answer) => answer.rows);
  return { ...first, rows, is_truncated: true };
}

export async function findEnds(series: Series, field: string, ask: Ask): Promise<Found | undefined> {
  const timeOf = (answer: QueryAnswer) => answer.columns.findIndex((column) => column.kind === "time");
  const seconds = (answer: QueryAnswer, row: QueryAnswer["rows"][number]) => Date.parse(String(row[timeOf(answer)])) / 1000;
  const times = (answer: QueryAnswer) => answer.rows.map((row) => seconds(answer, row));
  if (series.key_tags.length < series.tags.length) {
    // Keys begin with the time, or have it before a tag: a stretch of time is a range of keys.
    for (const [last, span] of [["1h", 3600], ["1d", 86_400], ["31d", 2_678_400], ["366d", 31_622_400], ["3660d", 316_224_000], ["", 316_224_000]] as const) {
      const newest = Math.max(...times(await ask({ field, latest: "1", last, limit: String(seriesMax) })));
      if (!Number.isFinite(newest)) continue;
      const first = Math.min(...times(await ask({ field, limit: "1" })), newest);
      const from = first < newest ? first : newest - span;
      const view = { from: Math.max(from, newest - span), to: newest + 1 };
      return { extent: { from, to: newest + 1 }, viewOf: () => view, first: undefined, series: 0, has_more: false };
    }
    return undefined;
  }
  const newest = await newestOf(field, ask);
  if (newest.rows.length === 0) return undefined;
  const rows = [...newest.rows].sort((a, b) => seconds(newest, b) - seconds(newest, a)).slice(0, firstSeriesMax);
  const condition = (row: QueryAnswer["rows"][number]) => newest.columns.flatMap((column, index) => (column.kind === "tag" ? [`${column.name}=${row[index]}`] : []));
  const end = Math.max(...times(newest));
  const firsts = await Promise.all(rows.map(async (row) => {
    const [first] = times(await ask({ field, where: condition(row), limit: "1" }));
    return first !== undefined && first < seconds(newest, row) ? first : undefined; // else the newest comes first, or there is one point
  }));
  const some = times(await ask({ field, where: condition(rows[0]), latest: String(newestPoints) }));
  const each = some.length > 1 ? (Math.max(...some) - Math.min(...some)) / (some.length - 1) : 3600;
  const spanOf = (count: number) => Math.max((each * firstPoints) / count, 60);
  const known = firsts.filter((first) => first !== undefined);
  const from = known.length > 0 ? Math.min(...known) : end - spanOf(rows.length);
  const is_exact = rows.every((row) => condition(row).every((one) => !one.endsWith("*") && !one.includes("=~")));
  return {
    extent: { from, to: end + 1 }, viewOf: (count) => ({ from: Math.max(from, end - spanOf(Math.max(count, 1))), to: end + 1 }),
    first: is_exact ? [...new Set(rows.flatMap(condition))] : undefined, series: newest.is_truncated ? seriesMax : newest.rows.length, has_more: newest.is_truncated,
  };
}

// What Prometheus' API answers, as the page needs it: its data, what it notices, and its errors as they are.
import { fetchHere, questionMs, url } from "../api";
import type { PointsLine } from "./lines";

export interface Answer<T> { data: T; notices: string[] }
export interface Matrix { resultType: string; result: { metric: Record<string, string>; values: [number, string][] }[] }

type Parameters = Record<string, string | number | undefined>;

export async function askPrometheus<T>(path: string, parameters: Parameters, signal: AbortSignal): Promise<Answer<T>> {
  const response = await fetchHere(url(`/api/v1/${path}`, parameters), { signal: AbortSignal.any([signal, AbortSignal.timeout(questionMs)]) });
  const json = await response.json().catch(() => { throw new Error(`The server answered ${response.status} with something that is no JSON`); }) as
    { status?: string; data: T; error?: string | { message?: string }; warnings?: string[]; infos?: string[] };
  if (json.status !== "success") {
    throw new Error(typeof json.error === "string" ? json.error : json.error?.message ?? `The server answered ${response.status}`);
  }
  return { data: json.data, notices: [...json.warnings ?? [], ...json.infos ?? []] };
}

// up{job="x"}; of a series without a name, {job="x"}.
export function nameOf(metric: Record<string, string>): string {
  const labels = Object.entries(metric).filter(([name]) => name !== "__name__").map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  return `${metric.__name__ ?? ""}${labels.length > 0 || !metric.__name__ ? `{${labels.join(", ")}}` : ""}`;
}

// The lines with the largest values, now or `shift` seconds earlier, so many of them; values that are no numbers are gaps.
export function linesOfMatrix(matrix: Matrix, linesMax: number, earlier?: { matrix: Matrix; shift: number }): { lines: PointsLine[]; all: number } {
  const byLabel = new Map<string, PointsLine>();
  const take = ({ result }: Matrix, shift: number, pointsOf: (line: PointsLine) => Map<number, number>) => {
    for (const { metric, values } of result) {
      const label = nameOf(metric);
      let line = byLabel.get(label);
      if (!line) byLabel.set(label, (line = { label, tags: label, column: "value", unit: "", points: new Map(), before: earlier && new Map(), most: -Infinity }));
      for (const [time, text] of values) {
        const value = Number(text);
        if (!Number.isFinite(value)) continue;
        pointsOf(line).set(time + shift, value);
        line.most = Math.max(line.most, value);
      }
    }
  };
  take(matrix, 0, (line) => line.points);
  if (earlier) take(earlier.matrix, earlier.shift, (line) => line.before!);
  const all = [...byLabel.values()];
  const shown = all.length <= linesMax ? all : all.map((line, at) => ({ line, at })).sort((a, b) => b.line.most - a.line.most).slice(0, linesMax)
    .sort((a, b) => a.at - b.at).map(({ line }) => line);
  return { lines: shown, all: all.length };
}

// The server's JSON, typed. Every failure is an Error with the server's own words.
import { NoAnswer } from "./dom";
import { lookForServer, noteAnswer } from "./link";

export interface Family { name: string; gc_rule: string; is_aggregate: boolean }
export interface LargeRow { key: string; bytes: number }
export interface Table {
  name: string; id: string; instance: string; bytes: number; ranges: number; families: Family[];
  deletion_protection: boolean; change_stream_hours: number | null; keys_in_use: number; large_rows: LargeRow[];
  series: string | null;
}
export interface View { name: string; id: string; instance: string; kind: "logical" | "materialized"; query: string }
export interface MeantPoint { time_micros: number; values: Record<string, string> }
// points, tags: what a declared series means by them.
export interface Cell { family: string; qualifier: string; time_micros: number; value: string; bytes: number; points?: MeantPoint[] }
export interface Row { key: string; cells_count: number; cells: Cell[]; tags?: Record<string, string> }
export interface Finding {
  table: string; pattern: string; severity: "info" | "warning" | "critical"; metric: string | null;
  start_key: string; end_key: string; title: string; text: string; remedy: string;
  cure: string | null; declaration: string | null;
}
export interface Method { name: string; requests: number; errors: number; by_code: Record<string, number>; p50_ms: number; p99_ms: number }
export interface Health { level: "well" | "warning" | "failing"; reasons: string[] }
export interface Overview {
  version: string; now_seconds: number; started_seconds: number; grpc_address: string; data_dir: string;
  durability: string; health: Health; watches_keys: boolean; tables: number; table_bytes: number; resident_bytes: number; memory_bytes: number;
  cpu_seconds: number; figures: Record<string, Figure>; methods: Method[]; seconds: number[][]; slow_queries: SlowQuery[];
  views: KeptView[];
}
export interface KeptView {
  name: string; id: string; lag_seconds: number; is_populating: boolean; rows: number; left_out: number; finding: string; error: string;
}
export interface SlowQuery {
  query: string; method: string; status: string; ended_seconds: number; took_ms: number; rows: number; bytes: number;
  rows_scanned: number; memory_bytes: number;
}
export interface Figure { help: string; samples: { labels: Record<string, string>; value: number }[] }

export interface HeatMap {
  metric: string; start_seconds: number; column_seconds: number; columns: number; row_starts: string[];
  keys_end: string; row_keys: number[]; values: number[];
  // The same rows at an earlier time, if one was asked for.
  before?: { start_seconds: number; column_seconds: number; columns: number; values: number[] };
}
export interface Named { name: string; type: string; unit?: string }
export interface Series { name: string; table: string; is_declared: boolean; tags: Named[]; key_tags: string[]; fields: Named[]; declaration?: string; check?: Checked[];
  derived?: { name: string; table: string; kind: string }[] }
export interface Checked { severity: "note" | "warning" | "error"; line: number; reason: string; remedy: string }
export interface QueryStats { rows_read: number; cells_read: number; value_bytes_read: number; is_full_scan: boolean; ranges_count: number }
export interface QueryAnswer {
  columns: { name: string; kind: "tag" | "time" | "number" | "text"; unit?: string }[];
  rows: (string | number | null)[][]; is_truncated: boolean; stats: QueryStats;
}

type Parameters = Record<string, string | number | string[] | undefined>;

export function url(path: string, parameters: Parameters = {}): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value === undefined || value === "") continue;
    for (const one of Array.isArray(value) ? value : [String(value)]) query.append(name, one);
  }
  const text = query.toString();
  return text ? `${path}?${text}` : path;
}

// What the server answers; a browser whose session has ended goes to the login. NoAnswer: nothing came.
export async function fetchHere(path: string, options: RequestInit = {}): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(path, options);
  } catch (error) {
    const is_ours = options.signal?.aborted && (options.signal.reason as Error)?.name !== "TimeoutError";
    if (is_ours) throw error;
    void lookForServer();
    throw new NoAnswer(`No answer from ${location.host}`);
  }
  noteAnswer();
  if (response.status !== 401) return response;
  location.assign("./login");
  return new Promise(() => undefined); // the page is left
}

export const instanceOfSeries = "projects/sonde/instances/sonde"; // where the server keeps them

// Figures come within the first; a question of a series may have much to read.
export const figureMs = 5_000, questionMs = 120_000;

export interface Session { member: string | null; is_session: boolean }
export async function logOut(): Promise<void> {
  const response = await fetch("/logout", { method: "POST" });
  // 401: the session has ended already.
  if (!response.ok && response.status !== 401) throw new Error(`The session goes on: the server answered ${response.status}`);
  location.assign("./login");
}

export class Refusal extends Error {
  constructor(message: string, readonly http_code: number) { super(message); }
}

export async function get<T>(path: string, parameters: Parameters = {}, signal?: AbortSignal, limit_ms = figureMs): Promise<T> {
  const limit = AbortSignal.timeout(limit_ms);
  return answerOf<T>(await fetchHere(url(path, parameters), { signal: signal ? AbortSignal.any([signal, limit]) : limit }));
}

// Changes something of the server's; `body`: sent as JSON, unless it is undefined.
export async function askServer<T>(method: "PUT" | "POST", path: string, body: unknown): Promise<T> {
  return answerOf<T>(await fetchHere(path, { method, body: body === undefined ? undefined : JSON.stringify(body), signal: AbortSignal.timeout(figureMs) }));
}

async function answerOf<T>(response: Response): Promise<T> {
  const text = await response.text();
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new Error(`The server answered ${response.status} with something that is no JSON`);
  }
  if (!response.ok) {
    const error = (json as { error?: { message?: string } }).error;
    throw new Refusal(error?.message ?? `The server answered ${response.status}`, response.status);
  }
  return json as T;
}

// projects/P/instances/I/tables/T as /api/v1/tables/P/I/T
export function tablePath(name: string, rest = ""): string {
  const [, project, , instance, , table] = name.split("/");
  return `/api/v1/tables/${encodeURIComponent(project)}/${encodeURIComponent(instance)}/${encodeURIComponent(table)}${rest}`;
}
export const seriesPath = (name: string, rest = ""): string => `/api/v1/series/${encodeURIComponent(name)}${rest}`;

// A dashboard as the server keeps it, and the values that its questions are asked with.
import { askServer, get, instanceOfSeries, type Series } from "../api";
import { ask, type Cell, type Question } from "../sql_stream";
import { parametersOf } from "../sql_text";

export interface Variable { name: string; series: string; tag: string }
export interface Panel { title: string; query: string; shown: "chart" | "rows" }
export interface Dashboard { name: string; etag?: string; version: number; title: string; instance: string; variables: Variable[]; panels: Panel[] }
export interface Listed { name: string; title: string; etag: string }

export const choicesMax = 1_000;
// Stretches of time up to now, in seconds: @from and @to of questions.
export const stretches: [string, string][] = [["3600", "last hour"], ["86400", "last day"], ["604800", "last week"], ["2592000", "last 30 days"], ["31536000", "last year"], ["", "everything"]];

const path = (name: string): string => `/api/v1/dashboards/${encodeURIComponent(name)}`;
export const listAll = (signal: AbortSignal): Promise<Listed[]> =>
  get<{ dashboards: Listed[] }>("/api/v1/dashboards", {}, signal).then((got) => got.dashboards);
export const open = (name: string, signal: AbortSignal): Promise<Dashboard> => get<Dashboard>(path(name), {}, signal);
export const saveOne = (dashboard: Dashboard): Promise<Dashboard> => askServer<Dashboard>("PUT", path(dashboard.name), dashboard);
export const deleteOne = (name: string): Promise<unknown> => askServer("POST", `${path(name)}/delete`, undefined);

// A file that somebody has exported, of this server or of another one.
export function imported(text: string): Dashboard {
  const { etag: _of_its_server, ...dashboard } = JSON.parse(text) as Dashboard;
  return dashboard;
}
// The same without what is of this server alone.
export const exported = (dashboard: Dashboard): string => JSON.stringify(imported(JSON.stringify(dashboard)), null, 2) + "\n";

// The values that a variable may have.
export async function choices(variable: Variable, series: Series[], instance: string, signal: AbortSignal): Promise<string[]> {
  const rows: Cell[][] = [];
  const quoted = (name: string) => `\`${name.replace(/[\\`]/g, "\\$&")}\``;
  const known = series.find((one) => one.name === variable.series);
  if (known && !known.tags.some((tag) => tag.name === variable.tag)) throw new Error(`Series ${variable.series} has no tag ${variable.tag}`);
  await ask(questionOf(`SELECT DISTINCT ${quoted(variable.tag)} AS value FROM series.${quoted(variable.series)} ORDER BY value LIMIT ${choicesMax}`, instance, {}),
    { columns: () => undefined, rows: (more) => { rows.push(...more); return true; } }, signal);
  return rows.map(([value]) => String(value));
}

function questionOf(query: string, instance: string, params: Record<string, unknown>): Question {
  const [, project, , name] = (instance || instanceOfSeries).split("/");
  return { query, project, instance: name, params };
}

// The question of a panel: what it names of the variables, and of the stretch of time, stands in its parameters.
export function panelQuestion(dashboard: Dashboard, panel: Panel, values: Record<string, string>, seconds: string, series: Series[], now: Date): Question {
  const params: Record<string, unknown> = {};
  for (const name of parametersOf(panel.query)) {
    const variable = dashboard.variables.find((one) => one.name.toLowerCase() === name.toLowerCase());
    const at = (milliseconds: number) => ({ type: "TIMESTAMP", value: new Date(milliseconds).toISOString() });
    if (variable) {
      const tag = series.find((one) => one.name === variable.series)?.tags.find((one) => one.name === variable.tag);
      params[name] = { type: tag?.type === "int" ? "INT64" : "STRING", value: values[variable.name] ?? "" };
    } else if (name.toLowerCase() === "from") params[name] = seconds === "" ? { type: "TIMESTAMP", value: "0001-01-01T00:00:00Z" } : at(now.getTime() - Number(seconds) * 1000);
    else if (name.toLowerCase() === "to") params[name] = seconds === "" ? { type: "TIMESTAMP", value: "9999-12-31T00:00:00Z" } : at(now.getTime());
  }
  return questionOf(panel.query, dashboard.instance, params);
}

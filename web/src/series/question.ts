// A question to a series: what the controls say, as parameters of the API, as a link, as a curl, as a command.
import { seriesPath, url } from "../api";
import { readBefore } from "./before";
import type { Parameters, View } from "./ends";

export interface Question {
  fields: Set<string>;
  aggregate: string;
  change: string; // "": the values themselves
  group: Set<string>; // tags; empty: all in one line
  every: string; // "": as the width has it
  fill: string;
  window: string;
  top: string;
  panels: string; // "": one for each unit; "field": one for each field; "one": all lines in one
  as: "chart" | "table";
  where: string[]; // conditions, as the API takes them
  view?: View; // none: everything
  last?: number; // seconds until now, which `view` follows
  before: number; // seconds: the time so much earlier is drawn beside; 0: none is
}

// Buckets to choose from, in seconds, by the names that queries take.
export const steps: [seconds: number, name: string][] = [
  [1, "1s"], [5, "5s"], [10, "10s"], [30, "30s"], [60, "1m"], [300, "5m"], [900, "15m"], [3600, "1h"], [10_800, "3h"],
  [21_600, "6h"], [43_200, "12h"], [86_400, "day"], [604_800, "week"], [2_629_800, "month"], [7_889_400, "quarter"], [31_557_600, "year"]];

export const aggregates = ["avg", "min", "max", "sum", "count", "first", "last", "median", "p95", "p99", "stddev"];
export const changes: [string, string][] = [["", "the value"], ["rate", "rate (a second)"], ["increase", "increase"], ["delta", "delta"]];
export const fills: [string, string][] = [["", "leave gaps"], ["null", "empty buckets"], ["previous", "previous value"], ["linear", "straight line"]];
export const lasts: [seconds: number, name: string][] = [
  [300, "last 5 minutes"], [900, "last 15 minutes"], [3600, "last hour"], [21_600, "last 6 hours"], [86_400, "last 24 hours"], [604_800, "last 7 days"], [2_592_000, "last 30 days"]];

export function readQuestion(parameters: URLSearchParams, numeric: string[], tags: string[]): Question {
  const text = (name: string) => parameters.get(name) ?? "";
  const list = (name: string) => text(name).split(",").filter((one) => one);
  const question: Question = {
    fields: new Set((parameters.has("field") ? list("field") : numeric.slice(0, 2)).filter((one) => numeric.includes(one))),
    aggregate: text("agg") || "avg", change: text("change"),
    group: new Set((parameters.has("group") ? list("group") : tags.slice(0, 1)).filter((one) => tags.includes(one))),
    every: text("every"), fill: text("fill"), window: text("window"), top: text("top"), panels: text("panels"), where: conditionsOf(text("where")),
    before: readBefore(parameters), as: text("as") === "table" ? "table" : "chart",
  };
  const from = Number(text("from")), to = Number(text("to")), last = Number(text("last"));
  if (last > 0) question.last = last;
  else if (to > from) question.view = { from, to };
  return question;
}

// What the address keeps.
export const addressOf = (name: string, question: Question): Record<string, string | number | undefined> => ({
  name, field: [...question.fields].join(","), agg: question.aggregate, change: question.change, group: [...question.group].join(",") || "-",
  every: question.every, fill: question.fill, window: question.window, top: question.top, panels: question.panels, where: textOfConditions(question.where), last: question.last, before: question.before || undefined, as: question.as === "table" ? "table" : undefined,
  from: question.last ? undefined : question.view && Math.round(question.view.from), to: question.last ? undefined : question.view && Math.round(question.view.to),
});

// The conditions of an address: with commas between them, or a list in JSON.
export function conditionsOf(where: string): string[] {
  if (where.startsWith("[")) {
    try {
      const list: unknown = JSON.parse(where);
      if (Array.isArray(list)) return list.map(String);
    } catch {
      // Then it is a condition like any other.
    }
  }
  return where.split(/,\s*(?=[A-Za-z_]\w*\s*(?:=|!|<|>))/).map((one) => one.trim()).filter((one) => one);
}
function textOfConditions(conditions: string[]): string {
  const text = conditions.join(", "), again = conditionsOf(text);
  return again.length === conditions.length && again.every((one, at) => one === conditions[at]) ? text : JSON.stringify(conditions);
}

const iso = (seconds: number): string => new Date(Math.round(seconds) * 1000).toISOString().replace(".000Z", "Z");

export function parametersOf(question: Question, where: string[], every: string): Parameters {
  return {
    where, field: [...question.fields].join(","), agg: question.aggregate, change: question.change, group_by: [...question.group].join(",") || "-", every,
    fill: question.fill, window: question.window, top: question.top,
    ...(question.view ? { from: iso(Math.floor(question.view.from)), to: iso(Math.ceil(question.view.to)) } : {}),
  };
}

const quoted = (text: string): string => (/^[\w.,:/=@-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

export const curlOf = (name: string, parameters: Parameters): string => `curl ${quoted(location.origin + url(seriesPath(name, "/query"), parameters))}`;

export function commandOf(name: string, parameters: Parameters): string {
  const flags = Object.entries(parameters).flatMap(([flag, value]) =>
    (Array.isArray(value) ? value : [value]).filter((one) => one).map((one) => `--${flag.replaceAll("_", "-")} ${quoted(one!)}`));
  return `sonde series query ${quoted(`stored:${name}`)} ${flags.join(" ")}`;
}

// The words of PromQL that can be completed, and which of them fit at a place.
import type { Suggestion } from "../sql_editor";

export const aggregations = ["sum", "avg", "count", "min", "max", "group", "stddev", "stdvar", "topk", "bottomk", "count_values", "quantile"];
// Those of Prometheus' default flags.
export const functions = [
  "abs", "absent", "absent_over_time", "acos", "acosh", "asin", "asinh", "atan", "atanh", "avg_over_time", "ceil", "changes", "clamp", "clamp_max",
  "clamp_min", "cos", "cosh", "count_over_time", "day_of_month", "day_of_week", "day_of_year", "days_in_month", "deg", "delta", "deriv", "exp",
  "first_over_time", "floor", "histogram_fraction", "histogram_quantile", "hour", "idelta", "increase", "irate", "label_join", "label_replace",
  "last_over_time", "ln", "log10", "log2", "max_over_time", "min_over_time", "minute", "month", "pi", "predict_linear", "present_over_time",
  "quantile_over_time", "rad", "rate", "resets", "round", "scalar", "sgn", "sin", "sinh", "sort", "sort_desc", "sqrt", "stddev_over_time",
  "stdvar_over_time", "sum_over_time", "tan", "tanh", "time", "timestamp", "vector", "year"];
const words = ["and", "or", "unless", "by", "without", "on", "ignoring", "group_left", "group_right", "bool", "offset", "atan2"];

export const keywords: ReadonlySet<string> = new Set([...aggregations, ...words].map((word) => word.toUpperCase()));

const plain = /^[A-Za-z_:][\w:]*$/;
// What is left of a query without its texts, whose signs mean nothing.
const withoutTexts = (query: string): string => query.replace(/"(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])*'?|`[^`]*`?/g, "\"\"");

// Whether the name of a label is wanted behind `before`: between braces, or in a list of labels.
export function wantsLabel(before: string): boolean {
  const text = withoutTexts(before);
  const brace = text.lastIndexOf("{");
  if (brace > text.lastIndexOf("}")) return /(?:^|[{,])\s*\w*$/.test(text.slice(brace));
  const list = /\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^()]*)$/i.exec(text);
  return list !== null;
}

// Within a text nothing is completed.
const isInText = (before: string): boolean => /"(?:\\.|[^"\\])*$|'(?:\\.|[^'\\])*$|`[^`]*$/.test(before.replace(/"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|`[^`]*`/g, ""));

export function suggest(before: string, metrics: string[], labels: string[]): Suggestion[] {
  if (isInText(before)) return [];
  if (wantsLabel(before)) return labels.map((text) => ({ text: plain.test(text) ? text : JSON.stringify(text), kind: "label" }));
  return [
    ...metrics.map((text) => ({ text: plain.test(text) ? text : `{${JSON.stringify(text)}}`, kind: "metric" })),
    ...aggregations.map((text) => ({ text, kind: "aggregation" })), ...functions.map((text) => ({ text, kind: "function" })),
    ...words.map((text) => ({ text, kind: "word" }))];
}

// The place that an error names, as LINE:COLUMN in bytes, in a query; undefined: it names none.
export function placeOfError(error: string, query: string): number | undefined {
  const found = /(?:^|: )(\d+):(\d+): parse error/.exec(error);
  if (!found) return undefined;
  const lines = query.split("\n"), line = Number(found[1]) - 1;
  if (line >= lines.length) return query.length;
  const bytes = new TextEncoder().encode(lines[line]).slice(0, Number(found[2]) - 1);
  return lines.slice(0, line).reduce((sum, one) => sum + one.length + 1, 0) + new TextDecoder().decode(bytes).length;
}

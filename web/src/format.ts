// Numbers as people read them.

// `digits`: behind the point, at most; more than 2 keep those of large numbers too, so that two ticks of an axis differ.
const formats = new Map<number, Intl.NumberFormat>();
function plain(value: number, digits: number): string {
  let format = formats.get(digits);
  if (!format) formats.set(digits, (format = new Intl.NumberFormat("en", { maximumFractionDigits: digits })));
  return format.format(digits <= 2 && Math.abs(value) >= 100 ? Math.round(value) : value);
}
const steps: [number, string][] = [[1e15, "P"], [1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]];

export function number(value: number, digits = 2): string {
  const size = Math.abs(value);
  const step = size < 1e4 ? undefined : steps.find(([at]) => size >= at);
  return step ? `${plain(value / step[0], digits)} ${step[1]}` : plain(value, digits);
}

export function bytes(value: number, digits = 1): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  while (Math.abs(value) >= 1024 && unit + 1 < units.length) {
    value /= 1024;
    ++unit;
  }
  return `${digits <= 2 && (Math.abs(value) >= 100 || unit === 0) ? Math.round(value) : plain(value, digits)} ${units[unit]}`;
}

export function micros(value: number, digits = 2): string {
  if (value >= 1e6) return `${plain(value / 1e6, digits)} s`;
  if (value >= 1e3) return `${plain(value / 1e3, digits)} ms`;
  return `${plain(value >= 10 && digits <= 2 ? Math.round(value) : value, digits)} µs`;
}

export function duration(seconds: number): string {
  if (seconds >= 172_800) return `${Math.floor(seconds / 86_400)} days`;
  if (seconds >= 7_200) return `${Math.floor(seconds / 3_600)} h ${Math.floor((seconds % 3_600) / 60)} min`;
  if (seconds >= 120) return `${Math.floor(seconds / 60)} min`;
  return `${Math.round(seconds)} s`;
}

// Seconds of one of a declared field's units.
const secondsOf: Record<string, number> = { ns: 1e-9, us: 1e-6, "µs": 1e-6, ms: 1e-3, s: 1 };
function seconds(value: number, digits: number): string {
  const size = Math.abs(value), sign = value < 0 ? "-" : "";
  if (size >= 7_200) return `${plain(value / 3_600, digits)} h`;
  if (size >= 120) return `${plain(value / 60, digits)} min`;
  return value === 0 ? "0 s" : size < 1e-6 ? `${plain(value * 1e9, digits)} ns` : sign + micros(size * 1e6, digits);
}

// How values of a declared unit are written, at an axis or in a legend.  A rate has "/s" behind its unit.
export function unitText(unit: string | undefined): (value: number, digits?: number) => string {
  if (!unit) return number;
  const is_rate = unit.endsWith("/s") && unit.length > 2, of = is_rate ? unit.slice(0, -2) : unit, rate = is_rate ? "/s" : "";
  if (of === "bytes" || of === "B") return (value, digits) => `${bytes(value, digits)}${rate}`;
  if (!is_rate && of in secondsOf) return (value, digits = 2) => seconds(value * secondsOf[of], digits);
  if (of === "%") return (value, digits = 2) => `${plain(value, digits)}%${rate}`;
  return (value, digits) => { const text = number(value, digits); return `${text}${/[A-Za-z]$/.test(text) ? "" : " "}${of}${rate}`; };
}

export const metricText = (metric: string, value: number): string =>
  metric.includes("latency") ? micros(value) : metric.includes("bytes") || metric === "size" ? bytes(value) : number(value);

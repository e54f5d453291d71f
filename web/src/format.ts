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

export const metricText = (metric: string, value: number): string =>
  metric.includes("latency") ? micros(value) : metric.includes("bytes") || metric === "size" ? bytes(value) : number(value);

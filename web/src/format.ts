// Numbers and times as people read them.

const plain = new Intl.NumberFormat("en", { maximumFractionDigits: 2 });

export function number(value: number): string {
  const size = Math.abs(value);
  if (size >= 1e9) return `${plain.format(value / 1e9)} G`;
  if (size >= 1e6) return `${plain.format(value / 1e6)} M`;
  if (size >= 1e4) return `${plain.format(value / 1e3)} k`;
  return plain.format(size >= 100 ? Math.round(value) : value);
}

export function bytes(value: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  while (Math.abs(value) >= 1024 && unit + 1 < units.length) {
    value /= 1024;
    ++unit;
  }
  return `${value >= 100 || unit === 0 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

export function micros(value: number): string {
  if (value >= 1e6) return `${plain.format(value / 1e6)} s`;
  if (value >= 1e3) return `${plain.format(value / 1e3)} ms`;
  return `${Math.round(value)} µs`;
}

export function duration(seconds: number): string {
  if (seconds >= 172_800) return `${Math.floor(seconds / 86_400)} days`;
  if (seconds >= 7_200) return `${Math.floor(seconds / 3_600)} h ${Math.floor((seconds % 3_600) / 60)} min`;
  if (seconds >= 120) return `${Math.floor(seconds / 60)} min`;
  return `${Math.round(seconds)} s`;
}

const pad = (value: number): string => String(value).padStart(2, "0");

// In this browser's zone; shorter where the span makes a part plain.
export function clock(seconds: number, span = 0): string {
  const date = new Date(seconds * 1000);
  const day = `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`;
  const time = `${pad(date.getHours())}:${pad(date.getMinutes())}`;
  if (span > 0 && span <= 7_200) return `${time}:${pad(date.getSeconds())}`;
  if (span > 0 && span <= 86_400) return time;
  if (span > 30 * 86_400) return day;
  if (span > 0) return `${day.slice(5)} ${time}`;
  return `${day} ${time}:${pad(date.getSeconds())}`;
}

export function cellTime(micro: number): string {
  const date = new Date(micro / 1000);
  return Number.isNaN(date.getTime()) ? `${micro} µs` : date.toISOString().replace("T", " ").replace(".000Z", " UTC").replace("Z", " UTC");
}

export const metricText = (metric: string, value: number): string =>
  metric.includes("latency") ? micros(value) : metric.includes("bytes") || metric === "size" ? bytes(value) : number(value);

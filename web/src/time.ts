// The clock of the page: each time is shown in one zone, that of this browser or UTC, and names it.
export type Zone = "local" | "utc";
const key = "sonde-zone";

export const zone = (): Zone => (localStorage.getItem(key) === "utc" ? "utc" : "local");
export function otherZone(): void {
  localStorage.setItem(key, zone() === "utc" ? "local" : "utc");
  dispatchEvent(new Event("zonechange"));
}

// Minutes east of UTC; they depend on the time where clocks are put forward in summer.
const offsetMinutes = (seconds: number): number => (zone() === "utc" ? 0 : -new Date(seconds * 1000).getTimezoneOffset());
// A date whose UTC parts are those of the zone.
const inZone = (seconds: number): Date => new Date((seconds + offsetMinutes(seconds) * 60) * 1000);
const pad = (value: number, digits = 2): string => String(value).padStart(digits, "0");

// "UTC", "UTC-5", "UTC+5:30"
export function zoneName(seconds = Date.now() / 1000): string {
  const minutes = offsetMinutes(seconds), size = Math.abs(minutes);
  if (minutes === 0 || Number.isNaN(minutes)) return "UTC";
  return `UTC${minutes < 0 ? "-" : "+"}${Math.floor(size / 60)}${size % 60 ? `:${pad(size % 60)}` : ""}`;
}

// Without a span, a whole time with its zone. With the span of an axis, as much as tells its ticks apart; the axis names the zone.
export function clock(seconds: number, span = 0): string {
  const date = inZone(seconds);
  const day = `${pad(date.getUTCFullYear(), 4)}-${pad(date.getUTCMonth() + 1)}-${pad(date.getUTCDate())}`;
  const time = `${pad(date.getUTCHours())}:${pad(date.getUTCMinutes())}`;
  if (span > 0 && span <= 7_200) return `${time}:${pad(date.getUTCSeconds())}`;
  if (span > 0 && span <= 86_400) return time;
  if (span > 30 * 86_400) return day;
  if (span > 0) return `${day.slice(5)} ${time}`;
  return `${day} ${time}:${pad(date.getUTCSeconds())} ${zoneName(seconds)}`;
}

// The time of day alone.
export const timeOfDay = (seconds: number): string => `${clock(seconds, 1)} ${zoneName(seconds)}`;

// The time of a cell, with as many digits behind the second as it has.
export function cellTime(micros: number): string {
  const seconds = Math.floor(micros / 1e6);
  if (Number.isNaN(new Date(seconds * 1000).getTime())) return `${micros} µs`;
  const rest = micros - seconds * 1e6;
  const [day, time, name] = clock(seconds).split(" ");
  const part = rest === 0 ? "" : `.${pad(rest, 6).replace(/000$/, "")}`;
  return `${day} ${time}${part} ${name}`;
}

// The value of an input of the type datetime-local, and its way back; undefined: nothing was entered.
export const inputText = (seconds: number): string => (seconds > 0 ? inZone(seconds).toISOString().slice(0, 19) : "");
export function inputSeconds(text: string): number | undefined {
  if (!text) return undefined;
  const milliseconds = zone() === "utc" ? Date.parse(`${text}Z`) : new Date(text).getTime();
  return Number.isNaN(milliseconds) ? undefined : Math.floor(milliseconds / 1000);
}

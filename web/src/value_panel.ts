// A panel that shows the bytes of a value or a key whole: as text, JSON, hex, numbers and a time; to copy and to save.
import { fetchHere } from "./api";
import { h, problem, save, show } from "./dom";
import { bytes as bytesText } from "./format";
import { cellTime } from "./time";

export interface Shown {
  title: string;
  about: [name: string, text: string][];
  // The bytes, or where the server gives them.
  bytes: Uint8Array | string;
  bytes_count?: number;
  file: string;
}

const shownBytesMax = 256 << 10;
const hexBytesMax = 16 << 10;

// Text of the server's JSON, in which bytes that are not printable stand as \\xNN.
export function bytesOfText(text: string): Uint8Array<ArrayBuffer> {
  const escapes: Record<string, number> = { n: 10, r: 13, t: 9, "\\": 92 };
  const encoder = new TextEncoder(), parts: number[] = [];
  for (const [piece, hex, letter] of text.matchAll(/\\x([0-9a-fA-F]{2})|\\([nrt\\])|[^\\]+|\\/g)) {
    if (hex) parts.push(parseInt(hex, 16));
    else if (letter) parts.push(escapes[letter]);
    else for (const byte of encoder.encode(piece)) parts.push(byte);
  }
  return Uint8Array.from(parts);
}

function hexDump(data: Uint8Array): string {
  const lines: string[] = [];
  for (let at = 0; at < Math.min(data.length, hexBytesMax); at += 16) {
    const part = [...data.subarray(at, at + 16)];
    const digits = part.map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
    lines.push(`${at.toString(16).padStart(8, "0")}  ${digits.padEnd(47)}  ${part.map((byte) => (byte >= 32 && byte < 127 ? String.fromCharCode(byte) : ".")).join("")}`);
  }
  if (data.length > hexBytesMax) lines.push(`... the first ${bytesText(hexBytesMax)} of ${bytesText(data.length)}`);
  return lines.join("\n");
}

function indented(text: string): string | undefined {
  if (!/^\s*[[{"]/.test(text)) return undefined;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return undefined;
  }
}

// The numbers that eight bytes may be, and the time that a number may be.
function readings(data: Uint8Array, text: string): [string, string][] {
  const all: [string, string][] = [];
  if (data.length === 8) {
    const view = new DataView(data.buffer, data.byteOffset, 8);
    all.push(["int64", String(view.getBigInt64(0))], ["float64", String(view.getFloat64(0))]);
  }
  const whole = data.length === 8 ? new DataView(data.buffer, data.byteOffset, 8).getBigInt64(0) : /^-?\d{1,19}$/.test(text) ? BigInt(text) : undefined;
  // Seconds, milliseconds, microseconds or nanoseconds since 1970: the unit that gives a year from 1971 to 2200.
  const unit = whole === undefined ? undefined : ([["s", 1_000_000n, 1n], ["ms", 1_000n, 1n], ["µs", 1n, 1n], ["ns", 1n, 1_000n]] as const)
    .find(([, times, by]) => { const micros = (whole * times) / by; return micros > 31_536_000_000_000n && micros < 7_258_118_400_000_000n; });
  if (whole !== undefined && unit) all.push(["time", `${cellTime(Number((whole * unit[1]) / unit[2]))} (as ${unit[0]} since 1970)`]);
  return all;
}

export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  // Without TLS, browsers give no clipboard to hosts other than this machine.
  const area = h("textarea", { readonly: true });
  area.value = text;
  (document.querySelector("dialog[open]") ?? document.body).append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}

export function openValue(shown: Shown): void {
  const body = h("div", { class: "value-body" }, h("p", { class: "muted" }, "Reading ..."));
  const note = h("span", { class: "muted", role: "status" });
  const dialog = h("dialog", { class: "value-panel", "aria-label": shown.title, onclose: () => dialog.remove(),
    onclick: (event: Event) => { if (event.target === dialog) dialog.close(); } },
    h("div", { class: "value-inner" },
      h("h2", {}, h("code", {}, shown.title), h("button", { type: "button", class: "close", "aria-label": "Close", onclick: () => dialog.close() }, "×")),
      h("dl", { class: "facts single" }, shown.about.map(([name, text]) => [h("dt", {}, name), h("dd", {}, text)])), body));
  document.body.append(dialog);
  dialog.showModal();
  read(shown).then(({ data, whole_bytes }) => {
    const text = new TextDecoder("utf-8", { fatal: false }).decode(data);
    const json = indented(text);
    const forms: [string, string][] = [["Text", text], ...(json === undefined ? [] : [["JSON", json] as [string, string]]), ["Hex", hexDump(data)]];
    const is_text = !text.includes("\ufffd") && !/[\x00-\x08\x0e-\x1f]/.test(text);
    let form = forms.find(([name]) => name === (json !== undefined ? "JSON" : is_text ? "Text" : "Hex"))!;
    const pre = h("pre", { tabindex: 0 });
    const tabs = h("div", { class: "group", role: "group", "aria-label": "Form" });
    const draw = () => {
      pre.textContent = form[1];
      show(tabs, forms.map((one) => h("button", { type: "button", "aria-pressed": String(one === form), onclick: () => { form = one; draw(); } }, one[0])));
    };
    draw();
    show(body,
      h("dl", { class: "facts single", "data-part": "readings" }, h("dt", {}, "Size"), h("dd", {}, whole_bytes < 1024 ? `${whole_bytes} B` : `${whole_bytes.toLocaleString("en")} B (${bytesText(whole_bytes)})`),
        readings(data, text).map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])),
      h("div", { class: "controls below" }, tabs, h("div", { class: "group" }, note,
        h("button", { type: "button", onclick: () => void copyText(form[1]).then(() => show(note, "Copied"), () => show(note, "The browser gave no clipboard")) }, "Copy"),
        h("button", { type: "button", onclick: () => (typeof shown.bytes === "string" ? save(shown.file, shown.bytes) : save(shown.file, new Blob([data]))) }, "Save"))),
      data.length < whole_bytes && h("p", { class: "caution" }, `The panel shows the first ${bytesText(data.length)} of ${bytesText(whole_bytes)}; Save has all of it.`),
      pre);
  }, (error) => show(body, problem(error)));
}

async function read(shown: Shown): Promise<{ data: Uint8Array<ArrayBuffer>; whole_bytes: number }> {
  if (typeof shown.bytes !== "string") return { data: Uint8Array.from(shown.bytes), whole_bytes: shown.bytes.length };
  const response = await fetchHere(`${shown.bytes}&bytes=${shownBytesMax}`, { signal: AbortSignal.timeout(30_000) });
  if (!response.ok) {
    const { error } = JSON.parse(await response.text()) as { error?: { message?: string } };
    throw new Error(error?.message ?? `The server answered ${response.status}`);
  }
  const data = new Uint8Array(await response.arrayBuffer());
  return { data, whole_bytes: Math.max(shown.bytes_count ?? 0, data.length) };
}

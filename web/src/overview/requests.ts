// What the server works at, and what it has refused of late.
import { fetchHere, figureMs, get, Refusal, url } from "../api";
import { empty, h, problem, show } from "../dom";
import { bytes, micros, number } from "../format";
import { every } from "../page";
import { clock } from "../time";

interface Running { name: string; port: string; method: string; resource: string; principal: string; client: string; began: string; seconds: number }
interface Failed { time: string; method: string; status: string; message: string; times: number; request: string; resource: string; principal: string; client: string }

const idOf = (resource: string | undefined): string => resource?.split("/").at(-1) ?? "";
const who = (call: { principal: string; client: string }): string => [call.principal, call.client].filter((one) => one).join(" at ");

async function cancel(name: string): Promise<void> {
  const response = await fetchHere(url("/api/v1/running/cancel", { name }), { method: "POST" });
  if (response.ok || response.status === 404) return; // 404: it has ended by itself
  throw new Refusal(((await response.json()) as { error: { message: string } }).error.message, response.status);
}

// The page's own requests are no news.
const isOwn = (call: Running): boolean => call.port === "http" && call.method === "GET /api/v1/running";

export function runningCard(): { element: HTMLElement; leave: () => void } {
  const rows = h("div");
  const message = h("div");
  let shown = "";
  const ask = async () => {
    try {
      const calls = (await get<{ calls: Running[] }>("/api/v1/running")).calls.filter((call) => !isOwn(call));
      show(message);
      const text = JSON.stringify(calls.map((call) => [call.name, Math.floor(call.seconds)]));
      if (text === shown) return;
      shown = text;
      show(rows, calls.length === 0 ? h("p", { class: "muted" }, "Nothing is under way.")
        : h("div", { class: "scroll", tabindex: "0" }, h("table", { class: "data" },
          h("thead", {}, h("tr", {}, h("th", {}, "Method"), h("th", {}, "Resource"), h("th", {}, "Asked by"), h("th", { class: "number" }, "For"), h("th", {}, "End it"))),
          h("tbody", {}, calls.map((call) => h("tr", {},
            h("th", { scope: "row" }, call.method), h("td", { title: call.resource }, idOf(call.resource)), h("td", {}, who(call)),
            h("td", { class: "number" }, micros(call.seconds * 1e6, 1)),
            h("td", {}, h("button", { type: "button", "aria-label": `Cancel ${call.method} of ${who(call)}`,
              onclick: () => void cancel(call.name).then(ask, (error: unknown) => show(message, problem(error))) }, "Cancel"))))))));
    } catch (error) {
      show(message, problem(error));
    }
  };
  return {
    element: h("section", { class: "card", "data-part": "running" },
      h("h2", {}, "Under way", h("small", {}, "a write that is cancelled may have been applied")), message, rows),
    leave: every(2000, ask),
  };
}

export function errorsCard(): { element: HTMLElement; leave: () => void } {
  const rows = h("div");
  const message = h("div");
  let shown = "";
  const ask = async () => {
    try {
      const { errors } = await get<{ errors: Failed[] }>("/api/v1/errors");
      show(message);
      const text = JSON.stringify(errors);
      if (text === shown) return;
      shown = text;
      show(rows, errors.length === 0 ? empty("None", "No request has failed since the server started.")
        : h("div", { class: "scroll", tabindex: "0" }, h("table", { class: "data" },
          h("thead", {}, h("tr", {}, ["Last", "Method", "Status", "Message", "Times", "Asked by"].map((one) => h("th", { class: one === "Times" && "number" }, one)))),
          h("tbody", {}, errors.map((one) => h("tr", {},
            h("td", { class: "time" }, clock(Date.parse(one.time) / 1000)), h("td", { title: one.resource }, one.method), h("td", { class: "bad" }, one.status),
            h("td", { class: "message", title: `request ${one.request}` }, one.message), h("td", { class: "number" }, number(one.times)), h("td", {}, who(one))))))));
    } catch (error) {
      show(message, problem(error));
    }
  };
  return {
    element: h("section", { class: "card", "data-part": "errors", id: "errors" }, h("h2", {}, "Errors", h("small", {}, "the last fifty kinds, the last first")), message, rows),
    leave: every(5000, ask),
  };
}

interface Slow { time: string; took_ms: number; queue_ms: number; method: string; status: string; request: string; resource: string; principal?: string; filter?: string; rows_seen: number; rows: number; bytes: number }
const slowShown = 15;

// The slowest requests that are kept, whichever method: a list of JSON lines.
export function slowestCard(): { element: HTMLElement; leave: () => void } {
  const rows = h("div");
  const message = h("div");
  let shown = "";
  const ask = async () => {
    try {
      const response = await fetchHere("/api/v1/slow", { signal: AbortSignal.timeout(figureMs) });
      const text = await response.text();
      if (!response.ok) throw new Refusal((JSON.parse(text) as { error: { message: string } }).error.message, response.status);
      show(message);
      const calls = text.split("\n").filter((line) => line).map((line) => JSON.parse(line) as Slow).sort((a, b) => b.took_ms - a.took_ms);
      const slowest = calls.slice(0, slowShown), told = JSON.stringify(slowest);
      if (told === shown) return;
      shown = told;
      show(rows, slowest.length === 0 ? empty("None", "No request was among the slowest of its minute yet.")
        : h("div", { class: "scroll", tabindex: "0" }, h("table", { class: "data" },
          h("thead", {}, h("tr", {}, ["Method", "Resource", "Took", "Waited", "Rows seen", "Rows", "Answer", "Status", "Asked by", "Ended"].map((one, at) => h("th", { class: at > 1 && at < 7 && "number" }, one)))),
          h("tbody", {}, slowest.map((one) => h("tr", {},
            h("th", { scope: "row", title: [`request ${one.request}`, one.filter && `filter ${one.filter}`].filter((part) => part).join("\n") }, one.method), h("td", { title: one.resource }, idOf(one.resource)),
            h("td", { class: "number" }, micros(one.took_ms * 1000)), h("td", { class: "number" }, micros(one.queue_ms * 1000)),
            h("td", { class: "number" }, number(one.rows_seen)), h("td", { class: "number" }, number(one.rows)), h("td", { class: "number" }, bytes(one.bytes)),
            h("td", { class: one.status !== "OK" && "bad" }, one.status), h("td", {}, one.principal ?? ""), h("td", { class: "time" }, clock(Date.parse(one.time) / 1000)))))))
      );
    } catch (error) {
      show(message, problem(error));
    }
  };
  return {
    element: h("section", { class: "card", "data-part": "slowest" }, h("h2", {}, "Slowest requests", h("small", {}, "of those that are kept: --slow-ms, and ten a minute")), message, rows),
    leave: every(5000, ask),
  };
}

// Who asks: programs and addresses by the methods that they call, of the last ten minutes.
import { get } from "../api";
import { empty, h, problem, show } from "../dom";
import { number } from "../format";
import { every } from "../page";
import { clock } from "../time";

export interface Caller { method: string; resource: string; principal: string; client: string; agent: string; calls: number; last: string }

const callersShown = 15;
const idOf = (resource: string): string => resource.split("/").at(-1) ?? "";

// Methods that write, whichever way.
export const isWrite = (method: string): boolean => /^(Mutate|CheckAndMutate|ReadModifyWrite)|^POST \/(write|api\/v2\/write|api\/v1\/write|api\/v1\/series\/\{name\}\/write)/.test(method);

export const callerText = (caller: Caller): string => [caller.principal, caller.agent || "a client without a name", caller.client && `at ${caller.client}`].filter((one) => one).join(" ");

export const askCallers = async (signal?: AbortSignal): Promise<{ minutes: number; callers: Caller[]; left_out: number }> => get("/api/v1/callers", { limit: 1000 }, signal);

export function callersTable(callers: Caller[], minutes: number): HTMLElement {
  return h("div", { class: "scroll", tabindex: "0" }, h("table", { class: "data" },
    h("thead", {}, h("tr", {}, ["Program", "Client", "Calls", "Resource", "Times", "Last"].map((one) => h("th", { class: one === "Times" && "number" }, one)))),
    h("tbody", {}, callers.map((one) => h("tr", {},
      h("th", { scope: "row", title: one.agent }, [one.principal, one.agent || "(no name)"].filter((part) => part).join(" · ")), h("td", {}, one.client || "several"), h("td", {}, one.method),
      h("td", { title: one.resource }, idOf(one.resource)), h("td", { class: "number", title: `in ${minutes} minutes, about` }, number(one.calls)),
      h("td", { class: "time" }, clock(Date.parse(one.last) / 1000)))))));
}

export function callersCard(): { element: HTMLElement; leave: () => void } {
  const rows = h("div"), message = h("div");
  let shown = "";
  const ask = async () => {
    try {
      const { minutes, callers, left_out } = await askCallers();
      show(message);
      // What this page asks by itself is no news.
      const others = callers.filter((one) => !one.method.startsWith("GET /api/v1/") || /query|series/.test(one.method)).filter((one) => !/^GET \/(assets|index|icon|$)/.test(one.method) && one.method !== "GET /");
      const text = JSON.stringify(others.slice(0, callersShown));
      if (text === shown) return;
      shown = text;
      show(rows, others.length === 0 ? empty("Nobody", "No client has asked anything within the last ten minutes, but for this page.") : callersTable(others.slice(0, callersShown), minutes),
        others.length + left_out > callersShown && h("p", { class: "muted" }, `${number(others.length + left_out - callersShown)} more callers with fewer calls.`));
    } catch (error) {
      show(message, problem(error));
    }
  };
  return {
    element: h("section", { class: "card", "data-part": "callers" }, h("h2", {}, "Who asks", h("small", {}, "of the last ten minutes, the most calls first")), message, rows),
    leave: every(5000, ask),
  };
}

// Dashboards: saved questions with charts, and variables from tags. The server keeps them; each question is asked with the right of who looks.
import { get, type Series } from "../api";
import { choices, deleteOne, exported, imported, listAll, open, panelQuestion, saveOne, stretches, type Dashboard, type Listed } from "../dashboard/document";
import { form } from "../dashboard/form";
import { panelView, type PanelView } from "../dashboard/panel_view";
import { empty, field, h, problem, save, select, show } from "../dom";
import { address, remember, route, type Page } from "../page";
import { parametersOf, quoted } from "../sql_text";
import { columnSuggestions } from "../sql_words";
import type { Suggestion } from "../sql_editor";

const refreshes: [string, string][] = [["0", "off"], ["5", "every 5 s"], ["30", "every 30 s"], ["300", "every 5 min"]];

export function dashboardsPage(): Page {
  const { parameters } = route();
  const abort = new AbortController();
  const list = h("nav", { class: "list", "aria-label": "Dashboards" }), detail = h("div", { class: "detail" });
  let series: Series[] = [], keywords: ReadonlySet<string> = new Set(), all: Listed[] = [];
  let views: PanelView[] = [], refresh = 0;
  const forget = () => { clearInterval(refresh); views.forEach((view) => view.leave()); views = []; };

  const suggestions = (): Suggestion[] => [
    ...series.map((one) => ({ text: `series.${quoted(one.name, keywords)}`, kind: "series" })),
    ...columnSuggestions(series, keywords),
    ...["time", "@from", "@to"].map((text) => ({ text, kind: "time" })), ...[...keywords].map((text) => ({ text, kind: "keyword" }))];
  const drawList = (name: string) => show(list, all.map((one) => h("a", { href: address("/dashboards", { name: one.name }), "aria-current": one.name === name && "true" }, h("span", {}, one.title))),
    h("button", { class: "link", onclick: () => change({ name: "", version: 1, title: "", instance: "", variables: [], panels: [] }, true) }, "New dashboard"),
    h("label", { class: "link" }, "Import ", h("input", { type: "file", accept: ".json,application/json", hidden: true, name: "import", onchange: (event: Event) => void importFile(event.target as HTMLInputElement) })));
  const goTo = (name: string) => {
    const here = address("/dashboards", { name });
    if (location.hash === here) dispatchEvent(new Event("hashchange"));
    else location.hash = here;
  };
  async function importFile(input: HTMLInputElement): Promise<void> {
    const file = input.files?.[0];
    input.value = "";
    if (!file) return;
    try {
      const dashboard = imported(await file.text());
      if (all.some((one) => one.name === dashboard.name) && !confirm(`Replace the dashboard ${dashboard.name}?`)) return;
      goTo((await saveOne(dashboard)).name);
    } catch (error) {
      forget();
      show(detail, problem(error));
    }
  }
  function change(dashboard: Dashboard, is_new: boolean): void {
    forget();
    show(detail, form(dashboard, is_new, series, () => keywords, suggestions, {
      save: async (changed) => {
        if (is_new && all.some((one) => one.name === changed.name)) throw new Error(`There is a dashboard ${changed.name} already`);
        goTo((await saveOne(changed)).name);
      },
      cancel: () => goTo(dashboard.name),
    }));
  }
  async function look(dashboard: Dashboard): Promise<void> {
    const values: Record<string, string> = {};
    let seconds = parameters.get("last") ?? "86400";
    const wrong = h("div"), controls = h("div", { class: "controls" });
    views = dashboard.panels.map((panel) => panelView(panel, dashboard.instance));
    const load = () => {
      remember("/dashboards", { name: dashboard.name, ...(seconds === "86400" ? {} : { last: seconds || "0" }), ...Object.fromEntries(Object.entries(values).map(([name, value]) => [`v.${name}`, value])) });
      const now = new Date();
      dashboard.panels.forEach((panel, at) => void views[at].load(panelQuestion(dashboard, panel, values, seconds, series, now)));
    };
    if (seconds === "0") seconds = "";
    const remove = async () => {
      if (!confirm(`Delete the dashboard ${dashboard.title}?`)) return;
      await deleteOne(dashboard.name).then(() => goTo(""), (error) => show(wrong, problem(error)));
    };
    show(detail, h("div", { class: "dashboard-head" }, h("h2", {}, dashboard.title), h("div", { class: "group" },
      h("button", { onclick: () => change(dashboard, false) }, "Edit"),
      h("button", { onclick: () => save(`${dashboard.name}.json`, new Blob([exported(dashboard)], { type: "application/json" })) }, "Export"),
      h("button", { onclick: () => void remove() }, "Delete"))), wrong, controls,
      dashboard.panels.length === 0 && empty("No questions yet", "Edit the dashboard, and add one."),
      h("div", { class: "panels" }, views.map((view) => view.element)));
    const chosen = await Promise.all(dashboard.variables.map(async (variable) => {
      const possible: string[] = await choices(variable, series, dashboard.instance, abort.signal).catch((error: unknown) => { if (!abort.signal.aborted) show(wrong, problem(error)); return []; });
      const linked = parameters.get(`v.${variable.name}`);
      values[variable.name] = linked ?? possible[0] ?? "";
      const offered = linked !== null && !possible.includes(linked) ? [linked, ...possible] : possible;
      return field(variable.name, select(offered.map((one): [string, string] => [one, one]), values[variable.name], (value) => { values[variable.name] = value; load(); }));
    }));
    if (abort.signal.aborted) return;
    const names = new Set(dashboard.panels.flatMap((panel) => parametersOf(panel.query)).map((name) => name.toLowerCase()));
    show(controls, chosen, (names.has("from") || names.has("to")) && field("Time", select(stretches, seconds, (value) => { seconds = value; load(); })),
      field("Refresh", select(refreshes, "0", (value) => {
        clearInterval(refresh);
        if (value !== "0") refresh = window.setInterval(() => { if (!document.hidden) load(); }, Number(value) * 1000);
      })));
    load();
  }

  async function begin(): Promise<void> {
    const words = get<{ keywords: string[] }>("/api/v1/sql", {}, abort.signal).then((got) => { keywords = new Set(got.keywords); }).catch(() => undefined);
    const known = get<{ series: Series[] }>("/api/v1/series", {}, abort.signal).then((got) => { series = got.series; }).catch(() => undefined);
    all = await listAll(abort.signal);
    await Promise.all([words, known]);
    const name = parameters.get("name") || (parameters.has("add") ? "" : all[0]?.name ?? "");
    drawList(name);
    const added = parameters.get("add");
    const dashboard = name === "" ? undefined : await open(name, abort.signal);
    if (added !== null) {
      const panel = { title: "", query: added, shown: "chart" as const };
      const to = dashboard ?? { name: "", version: 1, title: "", instance: parameters.get("instance") ?? "", variables: [], panels: [] };
      change({ ...to, panels: [...to.panels, panel] }, dashboard === undefined);
    } else if (dashboard) await look(dashboard);
    else show(detail, empty("No dashboards yet", "A dashboard is questions in SQL that are asked again and again, with charts. Make one, or import a file."));
  }
  begin().catch((error) => { if (!abort.signal.aborted) { show(detail, problem(error)); drawList(""); } });
  const themed = () => views.forEach((view) => view.colourAgain());
  addEventListener("themechange", themed);
  return {
    element: h("div", { class: "page wide" }, h("h1", {}, "Dashboards"), h("div", { class: "split" }, list, detail)),
    leave: () => { abort.abort(); forget(); removeEventListener("themechange", themed); },
  };
}

// The form that changes a dashboard: its title, its variables from tags of series, its questions.
import type { Series } from "../api";
import { field, h, problem, select, show } from "../dom";
import { editor, type Suggestion } from "../sql_editor";
import type { Dashboard, Panel, Variable } from "./document";

export interface FormActs { save: (dashboard: Dashboard) => Promise<void>; cancel: () => void }

// Letters, digits, - and _ of a title, as the server wants names.
const nameOf = (title: string): string => title.toLowerCase().replace(/[^a-z0-9_-]+/g, "-").replace(/^-+|-+$/g, "").slice(0, 64);

export function form(before: Dashboard, is_new: boolean, series: Series[], keywords: () => ReadonlySet<string>, suggestions: () => Suggestion[], acts: FormActs): HTMLElement {
  const dashboard = structuredClone(before);
  const wrong = h("div"), variables = h("div"), panels = h("div");
  const title = h("input", { type: "text", name: "title", value: dashboard.title, required: true });
  const name = h("input", { type: "text", name: "name", value: dashboard.name, disabled: !is_new, placeholder: "from the title", spellcheck: "false" });

  const tagsOf = (one: Variable): string[] => series.find((known) => known.name === one.series)?.tags.map((tag) => tag.name) ?? [];
  const drawVariables = () => show(variables, dashboard.variables.map((one, index) => h("div", { class: "controls", "data-variable": index },
    field("Variable", h("input", { type: "text", class: "short", name: `variable-${index}`, value: one.name, spellcheck: "false", oninput: (event: Event) => { one.name = (event.target as HTMLInputElement).value; } }), "Questions name it as @VARIABLE"),
    field("Series", select(series.map((known): [string, string] => [known.name, known.name]), one.series, (value) => { one.series = value; one.tag = tagsOf(one)[0] ?? ""; drawVariables(); })),
    field("Tag", select(tagsOf(one).map((tag): [string, string] => [tag, tag]), one.tag, (value) => { one.tag = value; })),
    h("button", { type: "button", onclick: () => { dashboard.variables.splice(index, 1); drawVariables(); } }, "Remove the variable"))));
  const addVariable = () => {
    const first = series.find((one) => one.tags.length > 0);
    if (!first) return show(wrong, problem("No series has tags: a variable takes its values from a tag"));
    dashboard.variables.push({ name: first.tags[0].name, series: first.name, tag: first.tags[0].name });
    drawVariables();
  };
  const move = (from: number, to: number) => {
    dashboard.panels.splice(to, 0, ...dashboard.panels.splice(from, 1));
    drawPanels();
  };
  const panelForm = (panel: Panel, index: number) => {
    const code = editor(panel.query, keywords, suggestions, () => { panel.query = code.text(); });
    return h("fieldset", { class: "card", "data-panel-form": index }, h("legend", {}, `Question ${index + 1}`),
      h("div", { class: "controls" },
        field("Title", h("input", { type: "text", name: `panel-${index}`, value: panel.title, oninput: (event: Event) => { panel.title = (event.target as HTMLInputElement).value; } })),
        field("Shown as", select([["chart", "chart"], ["rows", "rows"]], panel.shown, (value) => { panel.shown = value as Panel["shown"]; })),
        h("button", { type: "button", disabled: index === 0, onclick: () => move(index, index - 1) }, "Up"),
        h("button", { type: "button", disabled: index + 1 === dashboard.panels.length, onclick: () => move(index, index + 1) }, "Down"),
        h("button", { type: "button", onclick: () => { dashboard.panels.splice(index, 1); drawPanels(); } }, "Remove the question")),
      code.element);
  };
  const drawPanels = () => show(panels, dashboard.panels.map(panelForm));
  const save = async () => {
    show(wrong);
    dashboard.title = title.value.trim();
    if (is_new) dashboard.name = name.value.trim() || nameOf(dashboard.title);
    try {
      await acts.save(dashboard);
    } catch (error) {
      show(wrong, problem(error));
    }
  };
  drawVariables();
  drawPanels();
  return h("form", { class: "dashboard-form", onsubmit: (event: Event) => { event.preventDefault(); void save(); } },
    h("section", { class: "card" }, wrong, h("div", { class: "controls" }, field("Title", title), field("Name", name, "Letters, digits, - and _; the address names it")), variables,
      h("p", { class: "muted hint", id: "sql-keys" }, "A question names a variable as @NAME, and the stretch of time that is looked at as @from and @to."),
      h("div", { class: "group" },
        h("button", { type: "button", onclick: addVariable }, "Add a variable"),
        h("button", { type: "button", onclick: () => { dashboard.panels.push({ title: "", query: "", shown: "chart" }); drawPanels(); } }, "Add a question"),
        h("button", { type: "submit", class: "primary" }, "Save"), h("button", { type: "button", onclick: acts.cancel }, "Cancel"))),
    panels);
}

// The conditions of a question: chips, and a row that makes another one, whose tag and value are completed from what is stored.
import { get, seriesPath, type Series } from "../api";
import { h, select, show } from "../dom";
import type { Question } from "./question";

// `take`: makes a condition of what is written in the row; false: something of it is missing, and it has said so.
export interface Filter { element: HTMLElement; take: () => boolean }

type Operator = "is" | "is not" | "begins with" | "matches" | "does not match";
const operators: Operator[] = ["is", "is not", "begins with", "matches", "does not match"];
const valuesMax = 50, waitMs = 150;

const quoted = (text: string): string => text.replace(/[\\^$.|?*+()[\]{}]/g, "\\$&");

// A value that the API would take for a pattern is written as one.
export function conditionOf(tag: string, operator: Operator, value: string): string {
  switch (operator) {
    case "is": return value.startsWith("~") || value.endsWith("*") ? `${tag}=~${quoted(value)}` : `${tag}=${value}`;
    case "is not": return value.startsWith("~") ? `${tag}!~${quoted(value)}` : `${tag}!=${value}`;
    case "begins with": return value.startsWith("~") ? `${tag}=~${quoted(value)}.*` : `${tag}=${value}*`;
    case "matches": return `${tag}=~${value}`;
    case "does not match": return `${tag}!~${value}`;
  }
}

let numbers = 0;

// Values of a tag below its input, as in a list of choices: arrows move, Enter takes, Escape closes.
function completed(series: Series, tag: () => string, others: () => string[], taken: () => void): { element: HTMLElement; input: HTMLInputElement; offer: () => void } {
  const id = `values-${++numbers}`;
  const list = h("ul", { class: "choices", role: "listbox", id, hidden: true, "aria-label": "Stored values" });
  const note = h("p", { class: "choices-note muted", role: "status", hidden: true });
  const input = h("input", { type: "text", name: "value", placeholder: "value", spellcheck: "false", autocomplete: "off", role: "combobox", "aria-label": "Value",
    "aria-expanded": "false", "aria-controls": id, "aria-autocomplete": "list" });
  let values: string[] = [], at = -1, timer = 0;
  let asking = new AbortController();
  const close = () => {
    clearTimeout(timer);
    asking.abort();
    list.hidden = note.hidden = true;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  };
  const take = (value: string) => { input.value = value; close(); taken(); };
  const draw = () => {
    list.hidden = values.length === 0;
    input.setAttribute("aria-expanded", String(values.length > 0));
    show(list, values.map((value, index) => h("li", { role: "option", id: `${id}-${index}`, "aria-selected": String(index === at),
      onmousedown: (event: Event) => { event.preventDefault(); take(value); } }, value)));
    if (at < 0) return input.removeAttribute("aria-activedescendant");
    input.setAttribute("aria-activedescendant", `${id}-${at}`);
    list.children[at].scrollIntoView({ block: "nearest" });
  };
  const ask = async () => {
    asking.abort();
    asking = new AbortController();
    const mine = asking;
    try {
      const answer = await get<{ values: string[]; has_more: boolean }>(seriesPath(series.name, `/tags/${encodeURIComponent(tag())}/values`),
        { prefix: input.value, where: others(), limit: valuesMax }, mine.signal);
      if (mine.signal.aborted) return;
      [values, at] = [answer.values, -1];
      draw();
      note.hidden = values.length > 0 && !answer.has_more;
      show(note, values.length === 0 ? (answer.has_more ? "None was found in time: write more of it" : "No stored value begins so") : "There are more: write more of it");
    } catch (error) {
      if (mine.signal.aborted) return;
      close();
      note.hidden = false;
      show(note, (error as Error).message);
    }
  };
  const soon = () => { clearTimeout(timer); timer = window.setTimeout(() => void ask(), waitMs); };
  input.addEventListener("input", soon);
  input.addEventListener("focus", soon);
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !list.hidden) { event.preventDefault(); return close(); }
    if (event.key === "Enter") {
      event.preventDefault();
      if (at >= 0 && !list.hidden) take(values[at]);
      else { close(); taken(); }
    }
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    event.preventDefault();
    if (list.hidden) return void ask();
    at = event.key === "ArrowDown" ? Math.min(at + 1, values.length - 1) : Math.max(at - 1, -1);
    draw();
  });
  return { element: h("span", { class: "combo" }, input, list, note), input, offer: () => { input.focus(); soon(); } };
}

export function filter(series: Series, question: Question, changed: () => void): Filter {
  const chips = h("span", { class: "chips" }), wrong = h("p", { class: "field-problem", role: "alert", hidden: true });
  if (series.tags.length === 0) return { element: h("span"), take: () => true };
  let tag = series.tags[0].name, operator: Operator = "is";
  const draw = () => show(chips, question.where.map((one, index) => h("span", { class: "chip", "data-condition": one }, h("code", {}, one),
    h("button", { type: "button", class: "link", "aria-label": `Remove the condition ${one}`, onclick: () => {
      question.where = question.where.filter((_, other) => other !== index);
      draw();
      changed();
    } }, "×"))));
  // Values of one tag are each other's alternatives: they do not narrow what it is completed with.
  const others = () => question.where.filter((one) => !one.startsWith(`${tag}=`) && !one.startsWith(`${tag}!`));
  const add = (): boolean => {
    wrong.hidden = true;
    if (value.input.value === "") return true;
    const condition = conditionOf(tag, operator, value.input.value);
    if (!question.where.includes(condition)) question.where = [...question.where, condition];
    value.input.value = "";
    draw();
    return true;
  };
  const value = completed(series, () => tag, others, () => {
    if (value.input.value !== "") { add(); changed(); return; }
    wrong.hidden = false;
    show(wrong, `A value of ${tag} is missing: choose one of those that are stored, or write one.`);
  });
  draw();
  return {
    element: h("div", { class: "filter", role: "group", "aria-label": "Filter" }, h("span", { class: "muted" }, "Filter"), chips,
      h("label", { class: "bare" }, h("span", { class: "unseen" }, "Tag"), select(series.tags.map((one): [string, string] => [one.name, one.name]), tag, (next) => { tag = next; value.offer(); })),
      h("label", { class: "bare" }, h("span", { class: "unseen" }, "Condition"), select(operators.map((one): [string, string] => [one, one]), operator, (next) => { operator = next as Operator; })),
      value.element, wrong),
    take: add,
  };
}

// The controls of a question to a series: fields, values, groups, buckets, time, filter.
import type { Series } from "../api";
import { field, h, optionsOf, select } from "../dom";
import { clock, inputSeconds, inputText, zoneName } from "../time";
import { beforeControl } from "./before";
import type { View } from "./ends";
import { filter } from "./filter";
import { aggregates, changes, fills, lasts, steps, type Question } from "./question";

export interface Acts {
  changed: () => void;
  asked: () => void; // the form was sent
  look: (view: View | undefined, last?: number) => void;
  refresh: (seconds: number) => void; // 0: no more
  shown: () => View | undefined; // what is shown now; undefined: nothing is known of it
}

const refreshes: [string, string][] = [["0", "off"], ["5", "every 5 s"], ["30", "every 30 s"]];

function checks(title: string, names: string[], chosen: Set<string>, changed: () => void): HTMLElement {
  return h("fieldset", { class: "checks" }, h("legend", {}, title), names.map((name) => h("label", {},
    h("input", { type: "checkbox", checked: chosen.has(name), onchange: (event: Event) => {
      (event.target as HTMLInputElement).checked ? chosen.add(name) : chosen.delete(name); changed(); } }), name)));
}

// `tellTime`: the question's time has changed, and is to be shown.
export function controls(series: Series, numeric: string[], question: Question, acts: Acts): { element: HTMLElement; tellTime: () => void } {
  const where = filter(series, question, acts.asked);
  const top = h("input", { type: "number", name: "top", value: question.top, placeholder: "all", class: "short" });
  const window_ = h("input", { type: "text", name: "window", value: question.window, placeholder: "5,10", class: "short" });
  const from = h("input", { type: "datetime-local", name: "from", step: 1 }), to = h("input", { type: "datetime-local", name: "to", step: 1 });
  const range = h("div", { class: "group", hidden: true }, field(`From (${zoneName()})`, from), field(`To (${zoneName()})`, to));
  const time = select([], "", (next) => {
    if (next === "range") { range.hidden = false; from.focus(); }
    else acts.look(undefined, next ? Number(next) : undefined);
  });
  const timeField = field("Time", time);
  const before = beforeControl(() => question.before, acts.shown, (seconds) => { question.before = seconds; acts.changed(); });
  const tellTime = () => {
    const value = question.last ? String(question.last) : question.view ? "range" : "";
    const known = lasts.some(([seconds]) => seconds === question.last);
    timeField.title = question.view && !question.last ? `${clock(question.view.from)} to ${clock(question.view.to)}` : "";
    // The box itself stays, so that it keeps the focus.
    time.replaceChildren(...optionsOf([["", "everything"], ...lasts.map(([seconds, name]): [string, string] => [String(seconds), name]),
      ...(question.last && !known ? [[value, `last ${question.last} s`] as [string, string]] : []), ["range", "from … to …"]], value));
    before.tell();
    range.hidden = value !== "range";
    if (question.view && !question.last) {
      from.value = inputText(Math.floor(question.view.from));
      to.value = inputText(Math.ceil(question.view.to));
    }
  };
  const chooseRange = () => {
    const begin = inputSeconds(from.value), end = inputSeconds(to.value);
    if (begin !== undefined && end !== undefined && begin < end && (begin !== Math.floor(question.view?.from ?? NaN) || end !== Math.ceil(question.view?.to ?? NaN))) acts.look({ from: begin, to: end });
  };
  from.addEventListener("change", chooseRange);
  to.addEventListener("change", chooseRange);
  const choose = (options: [string, string][], value: string, take: (value: string) => void) => select(options, value, (next) => { take(next); acts.changed(); });
  const send = () => {
    if (!where.take()) return;
    question.top = top.value;
    question.window = window_.value;
    acts.asked();
  };
  tellTime();
  const element = h("form", { class: "controls", onsubmit: (event: Event) => { event.preventDefault(); send(); } },
    checks("Fields", numeric, question.fields, acts.changed),
    field("Value", choose(aggregates.map((one) => [one, one]), question.aggregate, (value) => { question.aggregate = value; })),
    field("Change", choose(changes, question.change, (value) => { question.change = value; }), "A counter is read by its rate or its increase"),
    series.tags.length > 0 && checks("Group by", series.tags.map((tag) => tag.name), question.group, acts.changed),
    field("Bucket", choose([["", "auto"], ...steps.map(([, name]): [string, string] => [name, name])], question.every, (value) => { question.every = value; })),
    timeField, range, before.element, field("Refresh", select(refreshes, "0", (value) => acts.refresh(Number(value)))),
    where.element, h("button", { class: "primary", type: "submit" }, "Run"),
    h("details", { class: "more", open: question.fill !== "" || question.window !== "" || question.top !== "" || question.panels !== "" }, h("summary", {}, "Gaps, moving windows, panels, top lines"),
      h("div", { class: "controls" }, field("Gaps", choose(fills, question.fill, (value) => { question.fill = value; })),
        field("Moving windows", window_, "Numbers of buckets, with commas between them"), field("Panels", choose([["", "one for each unit"], ["field", "one for each field"], ["one", "all fields in one"]], question.panels, (value) => { question.panels = value; }), "A declaration says the unit of a field; a field without one has a panel of its own"),
        field("Top lines", top, "The lines with the largest values; -3: the three with the smallest"))));
  return { element, tellTime };
}

// An editor for queries: a text field over its own coloured copy, with the place of an error marked, and completion by Ctrl+Space.
import { h, show } from "./dom";
import { tokens } from "./sql_text";

export interface Suggestion { text: string; kind: string; hint?: string }
export interface Editor {
  element: HTMLElement;
  text: () => string;
  set: (text: string) => void;
  insert: (text: string) => void;
  // Marks what stands at this place as wrong, and puts the cursor there; undefined: nothing is wrong.
  mark: (at: number | undefined) => void;
  focus: () => void;
  colourAgain: () => void;
}

const suggestionsMax = 12;

// `suggestions`: of what may stand behind the text before the cursor.  `look`: SQL's, unless it says another.
export function editor(value: string, keywords: () => ReadonlySet<string>, suggestions: (before: string) => Suggestion[], changed: () => void,
  look = { placeholder: "SELECT _key, cf['qualifier'] FROM table LIMIT 100", rows: 6 }): Editor {
  const copy = h("pre", { class: "sql-copy", "aria-hidden": "true" });
  const input = h("textarea", { class: "sql-input", spellcheck: "false", autocomplete: "off", autocapitalize: "off", rows: look.rows, "aria-label": "Query",
    "aria-describedby": "sql-keys", "aria-controls": "sql-words", "aria-autocomplete": "list", placeholder: look.placeholder });
  const list = h("ul", { class: "sql-words", id: "sql-words", role: "listbox", "aria-label": "Completions", hidden: true });
  const element = h("div", { class: "sql-editor" }, h("div", { class: "sql-field" }, copy, input), list);
  input.value = value;
  let wrong: number | undefined, offered: Suggestion[] = [], chosen = 0;

  const colour = () => {
    const words = keywords();
    show(copy, tokens(input.value).map((token) => {
      const kind = token.kind === "word" ? (words.has(token.text.toUpperCase()) ? "keyword" : "") : token.kind;
      const holds = wrong !== undefined && wrong >= token.at && wrong < token.at + token.text.length;
      return h("span", { class: `${kind}${holds ? " wrong" : ""}` }, token.text);
    }), wrong !== undefined && wrong >= input.value.length && h("span", { class: "wrong" }, " "), "\n");
    copy.scrollTop = input.scrollTop;
    copy.scrollLeft = input.scrollLeft;
  };
  const close = () => { list.hidden = true; offered = []; input.removeAttribute("aria-activedescendant"); };
  const begun = () => /[\w.]*$/.exec(input.value.slice(0, input.selectionStart))![0];
  const draw = () => {
    show(list, offered.map((one, index) => h("li", { role: "option", id: `sql-word-${index}`, "aria-selected": index === chosen ? "true" : "false", title: one.hint,
      onmousedown: (event: Event) => { event.preventDefault(); chosen = index; accept(); } }, h("span", {}, one.text), h("small", {}, one.kind))));
    list.hidden = offered.length === 0;
    if (offered.length > 0) input.setAttribute("aria-activedescendant", `sql-word-${chosen}`);
  };
  const offer = () => {
    const prefix = begun().toLowerCase();
    offered = suggestions(input.value.slice(0, input.selectionStart)).filter((one) => one.text.toLowerCase().replaceAll("`", "").startsWith(prefix)).slice(0, suggestionsMax);
    chosen = 0;
    draw();
  };
  // By the browser's own editing, so that it can be undone.
  const replace = (from: number, to: number, text: string) => {
    input.focus();
    input.setSelectionRange(from, to);
    if (!document.execCommand("insertText", false, text)) {
      input.setRangeText(text, from, to, "end");
      edited();
    }
  };
  const accept = () => {
    const text = offered[chosen].text;
    replace(input.selectionStart - begun().length, input.selectionStart, text);
    close();
  };
  const edited = () => { wrong = undefined; colour(); changed(); };
  input.addEventListener("input", () => { edited(); if (!list.hidden) offer(); });
  input.addEventListener("scroll", () => { copy.scrollTop = input.scrollTop; copy.scrollLeft = input.scrollLeft; });
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (event) => {
    if (event.key === " " && event.ctrlKey) offer();
    else if (offered.length === 0) return;
    else if (event.key === "Escape") close();
    else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      chosen = (chosen + (event.key === "ArrowDown" ? 1 : offered.length - 1)) % offered.length;
      draw();
    } else if (event.key === "Enter" && !event.ctrlKey && !event.metaKey) accept();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  new ResizeObserver(() => { copy.style.height = `${input.offsetHeight}px`; }).observe(input);
  colour();
  return {
    element,
    text: () => input.value,
    set: (text) => { input.value = text; edited(); },
    insert: (text) => replace(input.selectionStart, input.selectionEnd, text),
    mark: (at) => {
      wrong = at;
      colour();
      if (at !== undefined) { input.focus(); input.setSelectionRange(at, at); }
    },
    focus: () => input.focus(),
    colourAgain: colour,
  };
}

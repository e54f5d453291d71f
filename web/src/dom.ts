// Elements in a line. Text is always text: nothing from the server is ever taken for markup.

type Child = Node | string | number | null | undefined | false | Child[];
type Attributes = Record<string, unknown>;

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K, attributes: Attributes = {}, ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value as EventListener);
    else if (value === true) element.setAttribute(name, "");
    else element.setAttribute(name, String(value));
  }
  add(element, children);
  return element;
}

// Signs that turn the direction of what follows would let a name look like another one: they are shown, not obeyed.
const shownText = (text: string): string => text.replace(/[\u200E\u200F\u202A-\u202E\u2066-\u2069]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).toUpperCase()}`);

function add(element: HTMLElement, children: Child[]): void {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    if (Array.isArray(child)) add(element, child);
    else element.append(child instanceof Node ? child : shownText(String(child)));
  }
}

export function show(element: HTMLElement, ...children: Child[]): void {
  const focusAgain = keptFocus(element);
  element.replaceChildren();
  add(element, children);
  focusAgain?.();
}

// Who goes through a page by keyboard keeps the place where it is drawn anew: what has the same name and leads to the same place
// gets the focus, and of several the one that stands where the focus was.
function keptFocus(element: HTMLElement): (() => void) | undefined {
  const focused = document.activeElement;
  if (!focused || focused === element || !element.contains(focused)) return undefined;
  const identity = (one: Element) => [one.tagName, one.getAttribute("name"), one.getAttribute("aria-label"), one.getAttribute("href"), one.textContent].join("\n");
  const wanted = identity(focused), alike = () => [...element.querySelectorAll<HTMLElement>(focused.tagName)].filter((one) => identity(one) === wanted);
  const place = alike().indexOf(focused as HTMLElement);
  return () => {
    const found = alike();
    (found[place] ?? found[0])?.focus({ preventScroll: true });
  };
}

export const optionsOf = (options: [value: string, text: string][], value: string): HTMLOptionElement[] =>
  options.map(([one, text]) => h("option", { value: one, selected: one === value }, text));

export function field(label: string, control: HTMLElement, hint = ""): HTMLElement {
  return h("label", { class: "field", title: hint || undefined }, h("span", {}, label), control);
}

export function select(options: [value: string, text: string][], value: string, change: (value: string) => void): HTMLSelectElement {
  const element = h("select", { onchange: () => change(element.value) }, optionsOf(options, value));
  return element;
}

export const empty = (title: string, text: string): HTMLElement =>
  h("div", { class: "empty" }, h("strong", {}, title), h("p", {}, text));

export class NoAnswer extends Error {}

// Where the server gave no answer, the frame draws the page again as soon as it answers.
export const problem = (error: unknown): HTMLElement =>
  h("div", { class: "problem", role: "alert", "data-no-answer": error instanceof NoAnswer }, error instanceof Error ? error.message : String(error));

// Something is left out of what is shown.
export const caution = (...children: Child[]): HTMLElement => h("div", { class: "caution", role: "status" }, ...children);

export function save(name: string, data: Blob | string): void {
  const href = typeof data === "string" ? data : URL.createObjectURL(data);
  h("a", { href, download: name }).click();
  if (typeof data !== "string") setTimeout(() => URL.revokeObjectURL(href), 1000);
}

// The list beside a page's detail: searched, sorted, in groups, and walked with arrows; one tab stop for all of it.
import { h, select, show } from "./dom";

export interface Item { name: string; text: string; note: string; group: string; href: string; title: string; size: number }
export interface Order { name: string; compare: (a: Item, b: Item) => number }

const shownMax = 200;

export const byName: Order = { name: "by name", compare: (a, b) => a.group.localeCompare(b.group) || a.text.localeCompare(b.text) };

// `more`: gives items that were not loaded at first, and is asked once, when somebody searches; it says whether there are still others.
export function sideList(label: string, all: Item[], current: string, orders: Order[], more?: () => Promise<{ items: Item[]; has_more: boolean }>): HTMLElement {
  let items = all, order = orders[0], searched = "", has_more = more !== undefined, has_asked = false;
  const rows = h("div", { class: "list-rows" });
  const note = h("p", { class: "muted list-note", role: "status" });
  const links = () => [...rows.querySelectorAll<HTMLAnchorElement>("a")];

  const draw = () => {
    const words = searched.toLowerCase().split(/\s+/).filter((one) => one);
    const found = items.filter((one) => words.every((word) => one.title.toLowerCase().includes(word))).sort(order.compare);
    const at = found.findIndex((one) => one.name === current);
    // What is chosen is among those that are shown.
    const shown = at >= shownMax ? [...found.slice(0, shownMax - 1), found[at]] : found.slice(0, shownMax);
    const groups = new Set(items.map((one) => one.group));
    const most = Math.max(...shown.map((one) => one.size), 1);
    let group: string | undefined;
    show(rows, shown.map((one) => {
      const head = groups.size > 1 && order === byName && one.group !== group && h("h3", { title: one.group }, one.group.split("/").filter((_, part) => part % 2 === 1).join("/") || one.group);
      group = one.group;
      return [head, h("a", { href: one.href, title: one.title, tabindex: -1, "aria-current": one.name === current && "true" },
        h("span", {}, one.text), h("small", {}, one.note), one.size > 0 && h("i", { class: "size", "aria-hidden": "true", style: `width:${(100 * one.size) / most}%` }))];
    }));
    const stop = rows.querySelector<HTMLElement>("[aria-current]") ?? links()[0];
    if (stop) stop.tabIndex = 0;
    const left = found.length - shown.length;
    show(note, found.length === 0 ? "None has such a name." : left > 0 ? `${left.toLocaleString("en")} more: search for them.` : "",
      has_more && (searched === "" || has_asked) ? ` There are more than ${items.length.toLocaleString("en")}: name one in the address, or search.` : "");
    note.hidden = note.textContent === "";
  };
  const load = async () => {
    if (!more || has_asked) return;
    has_asked = true;
    try {
      const answer = await more();
      [items, has_more] = [answer.items, answer.has_more];
    } catch {
      has_asked = false;
    }
    draw();
  };
  const search = h("input", { type: "search", placeholder: "Search", "aria-label": `Search ${label.toLowerCase()}`, spellcheck: "false", autocomplete: "off",
    oninput: () => { searched = search.value; draw(); void load(); } });
  search.addEventListener("keydown", (event) => { if (event.key === "ArrowDown") { event.preventDefault(); links()[0]?.focus(); } });
  rows.addEventListener("keydown", (event) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!by) return;
    event.preventDefault();
    const list = links(), next = list.indexOf(document.activeElement as HTMLAnchorElement) + by;
    (next < 0 ? search : list[Math.min(next, list.length - 1)]).focus();
  });
  draw();
  // In sight, without moving the page.
  requestAnimationFrame(() => {
    const chosen = rows.querySelector<HTMLElement>("[aria-current]");
    if (chosen) rows.scrollTop = chosen.offsetTop - rows.clientHeight / 2;
  });
  return h("nav", { class: "list", "aria-label": label },
    h("div", { class: "list-head" }, search, orders.length > 1 && h("label", { class: "bare" }, h("span", { class: "unseen" }, "Order"),
      select(orders.map((one): [string, string] => [one.name, one.name]), order.name, (name) => { order = orders.find((one) => one.name === name)!; draw(); }))),
    rows, note);
}

// The pages of a list of the API behind the first one, some thousands of entries at most.
const pagesMax = 20;
export async function furtherPages<T>(first: T[], next: string, ask: (start: string) => Promise<{ found: T[]; next: string | null }>): Promise<{ found: T[]; next: string | null }> {
  const found = [...first];
  let start: string | null = next;
  for (let page = 0; start !== null && page < pagesMax; ++page) {
    const answer: { found: T[]; next: string | null } = await ask(start);
    found.push(...answer.found);
    start = answer.next;
  }
  return { found, next: start };
}

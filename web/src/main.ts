// The frame: which page is shown, and the way to the others.
import "./style.css";
import { get, logOut, type Session } from "./api";
import { h, show } from "./dom";
import { route, type Page } from "./page";
import { dashboardsPage } from "./pages/dashboards";
import { keysPage } from "./pages/keys";
import { overviewPage } from "./pages/overview";
import { seriesPage } from "./pages/series";
import { sqlPage } from "./pages/sql";
import { tablesPage } from "./pages/tables";
import { lookForServer, silentSince } from "./link";
import { applyTheme, otherTheme } from "./theme";
import { clock, otherZone, zoneName } from "./time";

const pages: [path: string, name: string, mark: string, make: () => Page][] = [
  ["/", "Overview", "M3 12h4l3-8 4 16 3-8h4", overviewPage],
  ["/tables", "Tables", "M3 5h18v14H3zM3 10h18M3 15h18M9 5v14", tablesPage],
  ["/series", "Series", "M3 17l5-6 4 3 5-8 4 5M3 21h18", seriesPage],
  ["/sql", "SQL", "M4 6c0-2 16-2 16 0v12c0 2-16 2-16 0zM4 6c0 2 16 2 16 0M4 12c0 2 16 2 16 0", sqlPage],
  ["/dashboards", "Dashboards", "M3 3h8v10H3zM13 3h8v6h-8zM3 15h8v6H3zM13 11h8v10h-8z", dashboardsPage],
  ["/keys", "Key visualizer", "M3 3h5v5H3zM10 3h5v5h-5zM17 3h4v5h-4zM3 10h5v5H3zM10 10h5v5h-5zM3 17h5v4H3zM17 17h4v4h-4z", keysPage],
];

function icon(path: string): SVGElement {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  const line = document.createElementNS("http://www.w3.org/2000/svg", "path");
  line.setAttribute("d", path);
  svg.append(line);
  return svg;
}

const content = h("main", { id: "content", tabindex: -1 });
const leave = h("button", { class: "leave", hidden: true, onclick: () => void logOut() }, "Log out");
const silence = h("div", { class: "silence", role: "alert", hidden: true });
const zoneButton = h("button", { class: "zone", onclick: otherZone });
const links = h("nav", { class: "pages", "aria-label": "Pages" });
let current: Page | undefined;
let shown = "";

function draw(): void {
  const { path } = route();
  const page = pages.find(([one]) => one === path) ?? pages[0];
  show(links, pages.map(([one, name, mark]) => h("a", { href: `#${one}`, "aria-current": one === page[0] && "page" }, icon(mark), h("span", {}, name))));
  document.title = `${location.host} · ${page[1]} · Sonde`;
  current?.leave();
  current = page[3]();
  show(content, current.element);
  if (shown !== "" && shown !== page[0]) content.focus({ preventScroll: true });
  shown = page[0];
}

// The server has fallen silent, or answers again: figures of before are grey, and say of when they are.
function drawLink(): void {
  const since = silentSince();
  document.documentElement.toggleAttribute("data-silent", since !== undefined);
  silence.hidden = since === undefined;
  if (since !== undefined) {
    show(silence, h("strong", {}, `No answer from ${location.host} since ${clock(since)}.`), " Trying again. ",
      h("span", {}, `The figures are as of ${clock(since)}.`), " ", h("button", { onclick: () => void lookForServer() }, "Try now"));
  } else if (content.querySelector("[data-no-answer]")) {
    draw();
  }
}

function drawZone(): void {
  show(zoneButton, zoneName());
  const other = zoneName() === "UTC" ? "this browser's zone" : "UTC";
  zoneButton.title = `All times are ${zoneName()}; show ${other}`;
  zoneButton.setAttribute("aria-label", zoneButton.title);
}

applyTheme();
drawZone();
show(document.getElementById("app")!,
  h("header", { class: "frame" },
    h("a", { class: "brand", href: "#/" }, h("img", { src: "./icon.svg", alt: "", width: 26, height: 26 }), "Sonde"),
    links,
    leave, zoneButton,
    h("button", { class: "theme", title: "Light or dark", "aria-label": "Light or dark", onclick: otherTheme }, icon("M12 3a9 9 0 1 0 9 9 7 7 0 0 1-9-9z"))),
  silence, content);
addEventListener("hashchange", draw);
addEventListener("linkchange", drawLink);
addEventListener("zonechange", () => { drawZone(); if (route().path !== "/sql") draw(); });
// Colours of charts are drawn, not styled.
let first = true;
addEventListener("themechange", () => { if (!first && !["/keys", "/sql", "/dashboards"].includes(route().path)) draw(); });
draw();
first = false;
void get<Session>("/api/v1/session").then((session) => {
  leave.hidden = !session.is_session;
  leave.title = session.member ?? "";
}, () => undefined);

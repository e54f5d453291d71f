// What is stored, and what comes over the wire, may be anything: it is shown escaped, bounded, and what is left out is said.  And what the
// page says of sizes holds while data is written, rests and settles.  SONDE_WEB_SERIES: how many series (20,000; scripts/nightly: 1,000,000).
import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";

import { consoleOf, json, launchBrowser, runTests, startServer } from "./server.mjs";

const binary = path.resolve(process.argv[2]);
const option = process.argv.indexOf("--screenshots");
const work = fs.mkdtempSync(path.join(os.tmpdir(), "sonde-hostile-"));
const pictures = option > 0 ? path.resolve(process.argv[option + 1]) : path.join(work, "screenshots");
fs.mkdirSync(pictures, { recursive: true });
const manySeries = Number(process.env.SONDE_WEB_SERIES ?? 20_000);
const start = Date.UTC(2026, 0, 15, 12) / 1000;

let base, page;
const tests = [];
const test = (name, body) => tests.push([name, body]);
const open = async (hash) => {
  await page.goto("about:blank");
  await page.goto(base + hash);
};
const picture = (name) => page.screenshot({ path: path.join(pictures, `hostile-${name}.png`), fullPage: false });
const post = (route, body, headers = {}) => fetch(base + route, { method: "POST", body, headers });
const write = async (lines) => {
  const answer = await post("api/v2/write?precision=s", lines.join("\n"));
  assert.equal(answer.status, 204, await answer.text());
};
const escaped = (text) => text.replace(/[ ,=]/g, "\\$&"), escapedName = (text) => text.replace(/[ ,]/g, "\\$&");

// Names and values that want to be markup, patterns, another direction, or nothing that can be seen.
const markup = "<img src=x onerror=alert(1)>", rightToLeft = "\u202Egnp.exe\u202C שלום مرحبا", odd = "a*", pattern = "~.*", long = "x".repeat(900), control = "tab\u0001bell\u0007";
const values = [markup, rightToLeft, odd, pattern, long, control, "'; DROP TABLE x; --", "{{7*7}}", "javascript:alert(1)", "plain"];

test("markup and other directions in names and values are text, wherever they are shown", async () => {
  await write(values.map((value, at) => `${escapedName(markup)},${escaped("<b>tag</b>")}=${escaped(value)} ${escaped("<i>field</i>")}=${at},note="${value.replace(/["\\]/g, "\\$&")}" ${start + at}`));
  let alerts = 0;
  page.on("dialog", (dialog) => { ++alerts; void dialog.dismiss(); });
  await open(`#/series?${new URLSearchParams({ name: markup, every: "1s" })}`);
  await page.waitForSelector("[data-chart=series][data-points]");
  await page.waitForSelector(`h2 >> text=${markup}`);
  assert.equal((await page.locator(".legend tbody th").allTextContents()).length >= 8, true);
  await page.click("summary:has-text('Which have stopped?')");
  await page.waitForSelector("[data-part=newest] tbody tr");
  // Signs that turn the direction are shown, not obeyed.
  assert.ok((await page.locator("[data-part=newest] tbody th").allTextContents()).includes("\\u202Egnp.exe\\u202C שלום مرحبا"));
  assert.equal(/[\u202A-\u202E]/.test(await page.locator("#content").textContent()), false);
  await picture("names");
  const { tables } = await json(`${base}api/v1/tables`);
  await open(`#/tables?table=${encodeURIComponent(tables.find((one) => one.id === "timeseries").name)}&versions=5`);
  await page.waitForSelector("table.data tbody tr");
  await picture("rows");
  await page.click("button.value >> text=/onerror/");
  await page.waitForSelector("dialog[open] pre");
  assert.equal(await page.textContent("dialog pre"), markup);
  await page.keyboard.press("Escape");
  for (const hash of ["#/", "#/keys", "#/sql"]) {
    await open(hash);
    await page.waitForTimeout(700);
  }
  assert.equal(alerts, 0);
  assert.equal(await page.locator("img[src=x], main b, main i:not([style]):not([class]):not([aria-hidden])").count(), 0);
});

test("a value that looks like a pattern is asked for as it is", async () => {
  for (const [value, count] of [[odd, 1], [pattern, 1], [markup, 1], ["plain", 1]]) {
    await open(`#/series?${new URLSearchParams({ name: markup, every: "1s" })}`);
    await page.waitForSelector("[data-chart=series][data-points]");
    const input = page.locator(".filter input[name=value]");
    await input.fill(value);
    await page.waitForSelector(".choices li");
    assert.deepEqual(await page.locator(".choices li").allTextContents(), [value]);
    const [response] = await Promise.all([page.waitForResponse((one) => /\/query\?.*group_by=/.test(one.url())), input.press("Enter")]);
    const answer = await response.json();
    const tags = new Set(answer.rows.map((row) => row[answer.columns.findIndex((one) => one.kind === "tag")]));
    assert.deepEqual([...tags], [value]);
    assert.equal(tags.size, count);
    await page.waitForSelector(".filter .chip");
    // The address keeps it.
    await page.reload();
    await page.waitForSelector(".filter .chip");
    await page.click(".filter .chip button");
    await page.waitForSelector(".filter .chip", { state: "detached" });
  }
});

test("conditions are made by keyboard, completed from what is stored, and mistakes are told beside them", async () => {
  await write(["cpu,host=web1,region=eu u=1", "cpu,host=web10,region=us u=2", "cpu,host=db,region=eu u=3"].map((line) => `${line} ${start}`));
  await open("#/series?name=cpu&every=1m");
  await page.waitForSelector("[data-chart=series][data-points]");
  const input = page.locator(".filter input[name=value]");
  await input.focus();
  await page.keyboard.type("web");
  await page.waitForFunction(() => document.querySelectorAll(".choices li").length === 2);
  await picture("choices");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  await page.waitForSelector(".choices li[aria-selected=true] >> text=web10");
  await page.keyboard.press("Enter");
  await page.waitForSelector(".filter .chip >> text=host=web10");
  await page.waitForSelector("[data-chart=series][data-lines='1']");
  // Values of another tag are those that go with the condition.
  await page.selectOption(".filter select >> nth=0", "region");
  await input.fill("");
  await page.waitForFunction(() => [...document.querySelectorAll(".choices li")].map((one) => one.textContent).join() === "us");
  await input.press("Escape");
  await input.press("Enter");
  await page.waitForSelector(".field-problem >> text=A value of region is missing");
  await input.fill("no such");
  await page.waitForSelector(".choices-note >> text=No stored value begins so");
});

test("many series: the first are shown, and what is left out is said", async () => {
  for (let from = 0; from < manySeries; from += 20_000) {
    await write(Array.from({ length: Math.min(20_000, manySeries - from) }, (_, at) => `many,id=s${String(from + at).padStart(7, "0")} v=${at % 100} ${start}`));
  }
  const began = Date.now();
  await open("#/series?name=many&group=-&every=1h");
  await page.waitForSelector("[data-chart=series][data-points='1']", { timeout: 120_000 });
  console.log(`        ${manySeries} series: a mean of all after ${Date.now() - began} ms`);
  await open("#/series?name=many&every=1h");
  await page.waitForSelector(".caution >> text=/The chart shows 8 of more than 1,000 series/", { timeout: 60_000 });
  await page.locator(".filter input[name=value]").fill("s00000");
  await page.waitForSelector(".choices-note >> text=There are more: write more of it");
  assert.equal(await page.locator(".choices li").count(), 50);
  await page.click("summary:has-text('Which have stopped?')");
  // Of more than the server holds at once, it says so.
  await page.waitForSelector("[data-part=stopped] >> text=/Only the first [\\d,.]+ k? ?combinations|ask for less|fewer points, series or fields/", { timeout: 60_000 });
  if (manySeries > 100_000) expected(/status of 400/);
  assert.ok(await page.locator("[data-part=newest] tbody tr").count() <= 100);
  assert.ok(await page.evaluate(() => document.querySelectorAll("*").length) < 5_000);
});

test("10,000 tables are searched, and cost few elements", async () => {
  const all = Array.from({ length: 10_000 }, (_, at) => ({ name: `projects/p/instances/${at % 2 ? "i" : "j"}/tables/t${String(at).padStart(5, "0")}`, id: `t${String(at).padStart(5, "0")}`,
    instance: `projects/p/instances/${at % 2 ? "i" : "j"}`, bytes: at * 1000, ranges: 1, families: [], deletion_protection: false, change_stream_hours: null, keys_in_use: 0, large_rows: [], series: null }));
  await page.route("**/api/v1/tables?*", (route) => answer(route));
  await page.route("**/api/v1/tables", (route) => answer(route));
  await page.route("**/api/v1/tables/**", (route) => route.fulfill({ json: { rows: [], next: null } }));
  const answer = (route) => {
    const from = Math.max(all.findIndex((one) => one.name >= (new URL(route.request().url()).searchParams.get("start") ?? "")), 0);
    return route.fulfill({ json: { tables: all.slice(from, from + 1000), next: all[from + 1000]?.name ?? null } });
  };
  all.sort((a, b) => (a.name < b.name ? -1 : 1));
  await open("#/tables");
  await page.waitForSelector(".list-rows a");
  assert.ok(await page.locator(".list-rows a").count() <= 200);
  await page.waitForSelector(".list-note >> text=/800 more: search for them.*more than 1,000/s");
  await page.fill(".list input[type=search]", "t09998");
  await page.waitForFunction(() => document.querySelectorAll(".list-rows a").length === 1, undefined, { timeout: 20_000 });
  assert.equal(await page.locator(".list-rows a >> nth=0").getAttribute("title"), "projects/p/instances/j/tables/t09998");
  await page.fill(".list input[type=search]", "none of them");
  await page.waitForSelector(".list-note >> text=None has such a name");
  // Without a mouse: one stop for the list, arrows in it.
  await page.fill(".list input[type=search]", "t000");
  await page.press(".list input[type=search]", "ArrowDown");
  await page.keyboard.press("ArrowDown");
  assert.equal(await page.evaluate(() => document.activeElement.closest(".list-rows") !== null), true);
  assert.equal(await page.locator(".list-rows a[tabindex='0']").count(), 1);
  await picture("tables");
  for (const pattern of ["**/api/v1/tables?*", "**/api/v1/tables", "**/api/v1/tables/**"]) await page.unroute(pattern);
});

test("answers that come late, are cut off, or are no JSON are told, and the page goes on", async () => {
  await open("#/");
  await page.waitForSelector(".tile strong");
  await page.route("**/api/v1/errors", (route) => route.fulfill({ body: "{\"errors\": [", contentType: "application/json" }));
  await page.waitForSelector("[data-part=errors] .problem >> text=no JSON", { timeout: 12_000 });
  await page.unroute("**/api/v1/errors");
  await page.waitForSelector("[data-part=errors] .problem", { state: "detached", timeout: 12_000 });
  // Later than the page waits: the server answers otherwise, so that it is not said to be gone.
  await page.route("**/api/v1/growth?*", async (route) => { await new Promise((done) => setTimeout(done, 8_000)); await route.abort().catch(() => {}); });
  await page.selectOption("[data-part=growth] select", "600");
  await page.waitForSelector("[data-part=growth] .problem >> text=No answer from", { timeout: 15_000 });
  assert.equal(await page.locator(".silence:visible").count(), 0);
  await page.unroute("**/api/v1/growth?*");
  await page.waitForSelector("[data-part=growth] table", { timeout: 20_000 });
  await page.route("**/query?*", (route) => route.abort("connectionreset"));
  await open("#/series?name=cpu");
  await page.waitForSelector(".problem >> text=No answer from");
  await page.unroute("**/query?*");
  expected(/ERR_|Failed to load/);
});

// What a control is to somebody who looks for it: its kind, name and aim, and the how many-th such one.
function controlsOf() {
  const isSeen = (one) => one.checkVisibility({ visibilityProperty: true }) && !one.disabled && one.tabIndex >= 0;
  const counts = new Map(), names = new Map();
  for (const one of document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex='0']")) {
    if (!isSeen(one)) continue;
    const label = one.getAttribute("aria-label") || one.title || one.labels?.[0]?.querySelector("span")?.textContent || one.labels?.[0]?.textContent || one.textContent.trim() || one.placeholder || one.name || "";
    const kind = [one.tagName, one.getAttribute("href") ?? one.name ?? one.dataset.chart ?? "", label.slice(0, 80)].join(" ");
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
    names.set(one, `${kind} #${counts.get(kind)}`);
  }
  const focused = document.activeElement;
  const style = focused && getComputedStyle(focused);
  return { all: [...names.values()], focused: names.get(focused), is_named: !!(names.get(focused)?.split(" ").slice(1).join("").replace(/#\d+$/, "")),
    what: focused?.outerHTML.slice(0, 90), is_body: !focused || focused === document.body, is_seen: style && style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0 };
}

test("every control is reached by keyboard alone, shows that it has the focus, and has a name", async () => {
  // The pages go on asking, and draw what they are answered: the first answers, again and again, so that the same controls are there.
  const answers = new Map();
  await page.route("**/api/v1/**", async (route) => {
    const { pathname, href } = new URL(route.request().url()), key = pathname.endsWith("/query") ? href : pathname;
    if (!answers.has(key)) answers.set(key, route.fetch().then(async (answer) => ({ status: answer.status(), contentType: answer.headers()["content-type"], body: await answer.body() })));
    await route.fulfill(await answers.get(key)).catch(() => {});
  });
  for (const [hash, ready] of [["#/", "[data-part=growth] table"], ["#/series?name=cpu&every=1m&where=host%3Dweb1&before=86400", ".legend tbody tr"], ["#/series?view=promql&query=up", "[data-part=promql]"],
    ["#/tables", "table.data tbody tr"], ["#/keys?before=3600", "canvas.heat"], ["#/sql", ".list summary"], ["#/dashboards", "h1"]]) {
    answers.clear();
    await open(hash);
    await page.waitForSelector(ready);
    await page.waitForTimeout(1500);
    const wanted = new Set((await page.evaluate(controlsOf)).all), reached = new Set(), unnamed = new Set(), unseen = new Set();
    let lost = 0;
    for (let press = 0; press < 4 * wanted.size + 60 && reached.size < wanted.size; ++press) {
      await page.keyboard.press("Tab");
      const at = await page.evaluate(controlsOf);
      if (at.is_body) { ++lost; continue; }
      if (at.focused && wanted.has(at.focused)) reached.add(at.focused);
      if (at.focused && !at.is_named) unnamed.add(at.what);
      if (!at.is_seen) unseen.add(at.what);
    }
    assert.deepEqual([...wanted].filter((one) => !reached.has(one)), [], `${hash}: ${reached.size} of ${wanted.size} were reached`);
    assert.deepEqual([...unnamed], [], hash);
    assert.deepEqual([...unseen], [], hash);
    console.log(`        ${hash}: ${wanted.size} controls, the focus left the page ${lost} times`);
  }
  await page.unroute("**/api/v1/**");
});

test("the focus stays where it is while a page draws itself anew", async () => {
  await open("#/");
  const link = page.locator("[data-part=engine] a");
  await link.focus();
  const before = await page.evaluate(() => { window.focusedBefore = document.activeElement; return document.activeElement.textContent; });
  await page.waitForFunction(() => !window.focusedBefore.isConnected, undefined, { timeout: 10_000 }); // drawn anew
  assert.equal(await page.evaluate(() => document.activeElement.textContent), before);
});

test("text may be twice as large", async () => {
  // 200% zoom of 1,400 pixels is a page of 700, with twice the pixels.
  await page.setViewportSize({ width: 700, height: 450 });
  for (const [hash, ready] of [["#/", ".tile strong"], ["#/series?name=cpu&every=1m", ".legend tbody tr"], ["#/tables", "table.data"], ["#/keys", "canvas.heat, .empty"], ["#/sql", ".sql-input"], ["#/dashboards", "h1"]]) {
    await open(hash);
    await page.waitForSelector(ready);
    await page.waitForTimeout(400);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth) <= 700, hash);
  }
  await page.setViewportSize({ width: 1400, height: 900 });
});

// What the files of cells and their log take.
function onDisk(work) {
  const walk = (directory) => fs.readdirSync(directory, { withFileTypes: true }).flatMap((one) => (one.isDirectory() ? walk(path.join(directory, one.name)) : [path.join(directory, one.name)]));
  const sum = (end) => walk(path.join(work, "data/cells")).filter((one) => one.endsWith(end)).reduce((all, one) => all + (fs.existsSync(one) ? fs.statSync(one).size : 0), 0);
  return { files: sum(".sst"), log: sum(".log") };
}
const isNear = (told, truth) => told >= 0.8 * truth && told <= 1.2 * truth;
const bytesOf = async (name) => (await json(`${base}api/v1/tables/sonde/sonde/${name}`)).bytes;
const shownBytes = async (name) => {
  const text = await page.evaluate((name) => [...document.querySelectorAll("[data-part=storage] .bars li")].find((one) => one.textContent.includes(name))?.querySelector(".number").textContent ?? "", name);
  return parseFloat(text) * ({ B: 1, KiB: 2 ** 10, MiB: 2 ** 20 }[text.split(" ")[1]] ?? NaN);
};

test("sizes of large values hold while they are written and rest", async () => {
  const put = await fetch(`${base}api/v1/series/sized`, { method: "PUT", body: "series: sized\ntags: { id: string }\nfields: { doc: string }\nkey: [id, bucket]\nbucket: day\n" });
  assert.equal(put.status, 200, await put.text());
  // Printable noise: packed it takes 82% of its bytes at least (6.55 of 8 bits), and never more than all.
  const entropy = Math.log2(94) / 8, noise = () => Array.from({ length: 5000 }, () => String.fromCharCode(33 + Math.floor(Math.random() * 94))).join("");
  await open("#/");
  let written = 0, looks = 0;
  const look = async () => {
    const told = await bytesOf("sized");
    assert.ok(told >= 0.8 * entropy * written && told <= 1.2 * written, `${written} bytes were written, the server says ${told}`);
    ++looks;
  };
  for (let part = 0; part < 16; ++part) {
    const points = Array.from({ length: 100 }, (_, at) => JSON.stringify({ id: `d${part}-${at}`, time: new Date(start * 1000).toISOString(), doc: noise() }));
    const answer = await post("api/v1/series/sized/write", points.join("\n"), { "content-type": "application/x-ndjson" });
    assert.equal(answer.status, 200, await answer.text());
    written += 100 * 5000;
    await look();
  }
  for (let rest = 0; rest < 8; ++rest) { await page.waitForTimeout(1000); await look(); }
  const shown = await shownBytes("sized");
  assert.ok(shown >= 0.8 * entropy * written && shown <= 1.2 * written, `the page says ${shown} of ${written} bytes`);
  console.log(`        ${looks} looks at ${written} bytes, of which the page says ${shown}`);
});

test("sizes of numbers hold while they are written, settle, and are there after a restart", async () => {
  const fields = Array.from({ length: 10 }, (_, at) => `f${at}`);
  const put = await fetch(`${base}api/v1/series/counters`, { method: "PUT", body: `series: counters\ntags: { id: string }\nfields: { ${fields.map((one) => `${one}: double`).join(", ")} }\nkey: [id, bucket]\nbucket: hour\n` });
  assert.equal(put.status, 200, await put.text());
  await open("#/");
  const settlesBelow = 900_000; // cells that a head takes before it settles, and some fewer
  const settledCells = async () => (await json(`${base}api/v1/overview`)).figures.sonde_settling_cells_total.samples.reduce((sum, one) => sum + one.value, 0);
  const before = onDisk(work), settledBefore = await settledCells();
  let cells = 0, looks = 0, perCell = 0;
  // More cells than heads hold before they settle.
  for (let part = 0; part < 26; ++part) {
    await write(Array.from({ length: 5000 }, (_, at) => `counters,id=h${String(at % 100).padStart(3, "0")} ${fields.map((one) => `${one}=${(Math.random() * 100).toFixed(2)}`).join(",")} ${start + Math.floor((part * 5000 + at) / 100)}`));
    cells += 50_000;
    const { files, log } = onDisk(work), told = await bytesOf("counters"), truth = files + log - before.files - before.log;
    // While heads settle, the log has the cells twice: as they came, and as pages.
    if (cells > settlesBelow) assert.ok(told <= 1.2 * perCell * cells, `${told} bytes of ${cells} cells, which took ${perCell} each`);
    else assert.ok(isNear(told, truth), `after ${cells} cells the server says ${told} bytes, its files have ${truth}`);
    if (cells <= settlesBelow) perCell = truth / cells;
    ++looks;
  }
  for (let look = 0; look < 60 && (await settledCells()) - settledBefore < cells; ++look) await page.waitForTimeout(500);
  await page.waitForTimeout(6_000); // the page looks every five seconds
  const told = await bytesOf("counters"), all = (await json(`${base}api/v1/tables`)).tables.reduce((sum, one) => sum + one.bytes, 0), shown = await shownBytes("counters");
  assert.ok(told < 4 * cells, `${told} bytes of ${cells} cells: they have not settled`);
  assert.ok(isNear(shown, told), `the page says ${shown}, the server ${told}`);
  // What was in the log is in files after a restart, and nothing else is.
  await restart();
  const { files } = onDisk(work);
  assert.ok(isNear(all, files), `the server said ${all} bytes of all tables, the files have ${files}`);
  assert.ok(isNear(await bytesOf("counters"), told));
  console.log(`        ${looks} looks while ${cells} cells were written; ${told} bytes when they had settled, ${files} of all tables on disk`);
});

// ---- the run
let problems = [];
const allowed = [];
const expected = (line) => allowed.push(line);
let { server, page: address } = await startServer(binary, work);
base = address;
async function restart() {
  server.kill("SIGTERM");
  await new Promise((done) => server.once("exit", done));
  ({ server, page: base } = await startServer(binary, work));
}
let failures = 0;
try {
  const browser = await launchBrowser();
  const context = await browser.newContext({ viewport: { width: 1400, height: 900 }, timezoneId: "Etc/UTC" });
  page = await context.newPage();
  page.setDefaultTimeout(15_000);
  problems = consoleOf(page);
  failures = await runTests(tests, (count) => picture(`failed-${count}`));
  const unexpected = problems.filter((text) => !allowed.some((one) => one.test(text)));
  if (unexpected.length > 0) {
    ++failures;
    console.log(`FAILED  the console is silent\n${unexpected.join("\n")}`);
  }
  await browser.close();
} finally {
  server.kill("SIGTERM");
  await new Promise((done) => server.on("exit", done));
  console.log(`screenshots: ${pictures}`);
  if (option > 0 || failures === 0) fs.rmSync(path.join(work, "data"), { recursive: true, force: true });
}
process.exit(failures > 0 ? 1 : 0);

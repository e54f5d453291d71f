// Whether what the pages say is so: nothing is left out without a word, gaps are gaps, one clock, a server that is gone is told.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";

import { consoleOf, get, json, launchBrowser, runTests, startServer } from "./server.mjs";

const binary = path.resolve(process.argv[2]);
const option = process.argv.indexOf("--screenshots");
const work = fs.mkdtempSync(path.join(os.tmpdir(), "sonde-trust-"));
const pictures = option > 0 ? path.resolve(process.argv[option + 1]) : path.join(work, "screenshots");
fs.mkdirSync(pictures, { recursive: true });

const hour = 3600, day = 86_400, hosts = 40, minutes = 30;
const start = Math.floor(Date.UTC(2026, 0, 15, 12) / 1000); // no clock is put forward near it

// ---- a server with data in it
let base, page;
const post = async (route, body, headers = {}) => fetch(base + route, { method: "POST", body, headers });

async function writeData() {
  const lines = [];
  // The newest points are those of hosts with small values: an average of some of them is far from that of all.
  for (let host = 0; host < hosts; ++host) {
    for (let minute = 0; minute < minutes; ++minute) {
      lines.push(`cpu,region=${host % 2 ? "us" : "eu"},host=h${String(host).padStart(2, "0")} usage=${host < 8 ? 10 : 50} ${start + minute * 60 + (host < 8 ? 30 : 0)}`);
    }
  }
  // Silent for two of every six hours.
  for (let at = 0; at < 24 * 6; ++at) if (at % 36 < 24) lines.push(`sensor,id=a level=${at} ${start + at * 600}`);
  lines.push(`notes,id=a text="all is well",author="n" ${start}`, `notes,id=a text="it is not",author="m" ${start + 60}`);
  // Two fields of very different sizes.
  for (let at = 0; at < 10; ++at) lines.push(`power,id=a volts=${230 + at},wh=${1e6 + at * 1000} ${start + at * 60}`);
  // A scale whose ticks differ behind the point only.
  for (let at = 0; at < 10; ++at) lines.push(`fine,id=a level=${1017950000 + at * 10} ${start + at * 60}`);
  // Twice as many visits as a day before; one site was there only then, and one is new.
  for (let minute = 0; minute < 60; ++minute) {
    const at = start + minute * 60;
    lines.push(`visits,site=a count=${200 + minute} ${at}`, `visits,site=new count=10 ${at}`, `visits,site=a count=${100 + minute / 2} ${at - day}`, `visits,site=gone count=30 ${at - day}`);
  }
  const answer = await post("api/v2/write?precision=s", lines.join("\n"));
  assert.equal(answer.status, 204, await answer.text());
  const declared = await fetch(`${base}api/v1/series/values`, { method: "PUT", body: "series: values\ntags: { id: string }\nfields: { doc: string, count: int }\nkey: [id, bucket]\nbucket: day\n" });
  assert.equal(declared.status, 200, await declared.text());
  // The second text is eight bytes that are an int64, too.
  const points = [['{"b":[1,2]}', 0], ["\0\0\0\0\0\0\0*", 60]].map(([doc, after]) => JSON.stringify({ id: "a", time: new Date((start + after) * 1000).toISOString(), doc, count: 42 }));
  const written = await post("api/v1/series/values/write", points.join("\n"), { "Content-Type": "application/x-ndjson" });
  assert.equal(written.status, 200, await written.text());
  const machine = await fetch(`${base}api/v1/series/machine`, { method: "PUT", body: "series: machine\ntags: { host: string }\nfields: { used: { type: int, unit: bytes }, free: { type: int, unit: bytes }, load: { unit: '%' }, wait: { unit: ms } }\nkey: [host, bucket]\nbucket: day\n" });
  assert.equal(machine.status, 200, await machine.text());
  const loads = Array.from({ length: 10 }, (_, at) => JSON.stringify({ host: "a", time: new Date((start + 60 * at) * 1000).toISOString(), used: 3 * 2 ** 30, free: 1.5 * 2 ** 30, load: 69 + at / 2, wait: 1500 }));
  assert.equal((await post("api/v1/series/machine/write", loads.join("\n"), { "Content-Type": "application/x-ndjson" })).status, 200);
  assert.equal((await post("write", "no point\nsensor,id=a level=\"text\" 1")).status, 400);
}

// ---- the tests
const tests = [];
const test = (name, body) => tests.push([name, body]);
const open = async (hash) => {
  await page.goto("about:blank");
  await page.goto(base + hash);
};
const picture = (name) => page.screenshot({ path: path.join(pictures, `${name}.png`), fullPage: true });
const chart = '[data-chart="series"]';
const drawn = (attribute, wanted) => page.waitForFunction(([chart, attribute, wanted]) => document.querySelector(chart)?.dataset[attribute] === String(wanted), [chart, attribute, wanted]);
const legend = () => page.locator(".legend tbody th").allTextContents();
// What the newest question of the page was answered.
const asking = async (act) => {
  const [answer] = await Promise.all([page.waitForResponse((response) => /\/query\?.*group_by=/.test(response.url())), act()]);
  return { url: new URL(answer.url()), body: await answer.json() };
};

test("lines over several series are made of all of them", async () => {
  const { url, body } = await asking(() => open("#/series?name=cpu&group=region&every=1h"));
  assert.deepEqual(url.searchParams.getAll("where"), []);
  const at = body.columns.findIndex((one) => one.kind === "number"), tag = body.columns.findIndex((one) => one.kind === "tag");
  const means = Object.fromEntries(body.rows.map((row) => [row[tag], row[at]]));
  const mean = (4 * 10 + 16 * 50) / 20;
  assert.ok(Math.abs(means.eu - mean) < 0.01 && Math.abs(means.us - mean) < 0.01, JSON.stringify(means));
  await drawn("lines", 2);
  assert.equal(await page.locator(".caution").count(), 0);
});

test("lines that are left out are told above the chart", async () => {
  await open("#/series?name=cpu&group=host&every=1m");
  await page.waitForSelector(".caution >> text=24 of 40 lines");
  await drawn("lines", 24);
  const swatches = await page.locator(".legend tbody i").evaluateAll((all) => all.map((one) => getComputedStyle(one).backgroundColor));
  assert.equal(new Set(swatches).size, 24);
  const note = await page.locator(".caution").boundingBox(), place = await page.locator(chart).boundingBox();
  assert.ok(note.y + note.height <= place.y);
  await picture("trust-left-out");
});

test("no line is drawn over a gap", async () => {
  await open("#/series?name=sensor&every=10s&field=level");
  await page.waitForSelector(`${chart}[data-points]`);
  await page.selectOption("label:has-text('Bucket') select", "5m");
  await page.waitForFunction((chart) => Number(document.querySelector(chart).dataset.gaps) > 0, chart);
  await open("#/series?name=sensor&every=15m&field=level");
  await page.waitForSelector(`${chart}[data-gaps="3"] canvas`);
  await picture("trust-gap");
});

test("a table or series that is gone is said to be gone, with its neighbours", async () => {
  const { tables } = await json(`${base}api/v1/tables`);
  const name = tables[0].name;
  for (const where of ["tables", "keys"]) {
    await open(`#/${where}?table=${encodeURIComponent(`${name}x`)}`);
    await page.waitForSelector(`.problem >> text=No table ${name}x`);
    await page.waitForSelector(`.problem a >> text=${name}`);
    assert.equal(await page.locator("table.data, canvas.heat").count(), 0);
    await open(`#/${where}?table=nonsense`);
    await page.waitForSelector(".problem >> text=No table nonsense");
    expected(/status of 404/);
  }
  await open("#/series?name=senser");
  await page.waitForSelector(".problem >> text=No series senser");
  expected(/status of 404/);
  await page.click(".problem a >> text=sensor");
  await page.waitForSelector("h2 >> text=sensor");
});

test("one clock for cells, inputs, axes and words", async () => {
  await open("#/series?name=sensor&every=15m");
  await page.waitForSelector("p >> text=from 2026-01-15 07:00:00 UTC-5");
  assert.equal(await page.textContent(".zone"), "UTC-5");
  const { tables } = await json(`${base}api/v1/tables`);
  const table = tables.find((one) => /timeseries/.test(one.name)).name;
  await open(`#/tables?table=${encodeURIComponent(table)}&versions=5&from=${start}&to=${start + hour}`);
  await page.waitForSelector("table.data td.time >> text=UTC-5");
  assert.equal(await page.inputValue("input[name=from]"), "2026-01-15T07:00");
  await page.click(".zone");
  await page.waitForSelector("table.data td.time >> text=/12:0\\d:00 UTC$/");
  assert.equal(await page.inputValue("input[name=from]"), "2026-01-15T12:00");
  await page.waitForSelector("text=From time (UTC)");
  await page.click(".zone");
});

test("values and keys are read whole, copied and saved", async () => {
  const { tables } = await json(`${base}api/v1/tables`);
  const table = tables.find((one) => one.series === "values").name;
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await open(`#/tables?table=${encodeURIComponent(table)}&versions=5`);
  await page.click("button.value >> text=/\\{\"b\"/");
  await page.waitForSelector("dialog[open] pre");
  assert.equal(await page.textContent("dialog pre"), JSON.stringify({ b: [1, 2] }, null, 2));
  await picture("trust-value");
  await page.click("dialog button:has-text('Text')");
  await page.click("dialog button:has-text('Copy')");
  await page.waitForSelector("dialog >> text=Copied");
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), '{"b":[1,2]}');
  const [download] = await Promise.all([page.waitForEvent("download"), page.click("dialog button:has-text('Save')")]);
  assert.equal(fs.readFileSync(await download.path(), "utf8"), '{"b":[1,2]}');
  await page.click("dialog button:has-text('Hex')");
  assert.match(await page.textContent("dialog pre"), /^00000000 {2}7b 22 62 22/);
  await page.keyboard.press("Escape");
  await page.waitForSelector("dialog", { state: "detached" });
  await page.click("button.value >> text=/x00\\*$/");
  await page.waitForSelector("dialog dd >> text=/^42$/");
  await page.keyboard.press("Escape");
  await page.click("table.data th button");
  await page.waitForSelector("dialog[open] >> text=Row key");
  await page.keyboard.press("Escape");
});

test("Back goes to the view before a zoom", async () => {
  await open("#/series?name=sensor&every=15m&field=level");
  await page.waitForSelector(`${chart}[data-points]`);
  const before = page.url();
  await page.click("button[aria-label='Zoom in']");
  await page.waitForFunction((before) => location.href !== before, before);
  await page.goBack();
  await page.waitForSelector(`${chart}[data-points]`);
  assert.equal(page.url(), before);
  // Also after another metric of the key visualizer.
  await open("#/keys?metric=writes");
  await page.waitForSelector("canvas[data-total]");
  await page.selectOption("label:has-text('Metric') select", "reads");
  await page.waitForFunction(() => location.hash.includes("metric=reads"));
  await page.goBack();
  await page.waitForFunction(() => location.hash.includes("metric=writes"));
  assert.equal(await page.inputValue("label:has-text('Metric') select"), "writes");
});

test("lines are grouped by several tags, ranked, and shown alone", async () => {
  const { url, body } = await asking(() => open("#/series?name=cpu&group=region,host&every=1h&top=3"));
  assert.equal(url.searchParams.get("group_by"), "region,host");
  assert.equal(body.columns.filter((one) => one.kind === "tag").length, 2);
  await drawn("lines", 3);
  assert.equal((await legend()).length, 3);
  await page.click(".legend thead button:has-text('Max')");
  await page.waitForSelector(".legend th[aria-sort=descending] >> text=Max");
  await page.click(".legend tbody button >> nth=0");
  await page.waitForFunction(() => document.querySelectorAll(".legend tbody tr.off").length === 2);
  await page.click(".legend tbody button >> nth=1", { modifiers: ["Shift"] });
  await page.waitForFunction(() => document.querySelectorAll(".legend tbody tr.off").length === 1);
  for (const scheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme: scheme });
    await picture(`trust-legend-${scheme}`);
  }
  await page.emulateMedia({ colorScheme: "light" });
});

test("fields of different sizes have panels of their own", async () => {
  await open("#/series?name=power&every=1m");
  await page.waitForSelector(`${chart} [data-panel="avg(volts)"] canvas`);
  await page.waitForSelector(`${chart} [data-panel="avg(wh)"] canvas`);
  // The cursor of one panel is that of all.
  const over = await page.locator(`${chart} [data-panel="avg(volts)"] .u-over`).boundingBox();
  await page.mouse.move(over.x + over.width / 2, over.y + 40);
  const cursors = () => page.locator(`${chart} .u-cursor-x`).evaluateAll((all) => all.map((one) => new DOMMatrix(getComputedStyle(one).transform).e));
  await page.waitForFunction((chart) => [...document.querySelectorAll(`${chart} .u-cursor-x`)].every((one) => new DOMMatrix(getComputedStyle(one).transform).e > 50), chart);
  const [first, second] = await cursors();
  assert.ok(Math.abs(first - second) < 2, `${first} ${second}`);
  await page.mouse.move(5, 5);
  await page.click(".legend tbody button >> nth=0");
  await page.waitForFunction(() => document.querySelectorAll(".legend tbody tr.off").length === 1);
  await picture("trust-panels");
  await page.click("summary:has-text('panels')");
  await page.selectOption("label:has-text('Panels') select", "one");
  await page.waitForFunction((chart) => document.querySelectorAll(`${chart} .panel`).length === 1, chart);
});

function noteDrawnTexts() {
  if (window.drawnTexts) return;
  const fill = CanvasRenderingContext2D.prototype.fillText;
  window.drawnTexts = [];
  CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) { window.drawnTexts.push(text); return fill.call(this, text, ...rest); };
}

test("fields of one unit share a panel, whose axis and legend have the unit", async () => {
  // Texts of canvases are drawn, not read: they are noted as they are drawn.
  await page.addInitScript(noteDrawnTexts);
  await open("#/series?name=machine&every=1m&field=used,free,load,wait");
  await page.waitForSelector(`${chart} [data-panel="avg(used), avg(free)"][data-unit=bytes] canvas`);
  await page.waitForSelector(`${chart} [data-panel="avg(load)"][data-unit="%"] canvas`);
  await page.waitForSelector(`${chart} [data-panel="avg(wait)"][data-unit=ms] canvas`);
  assert.deepEqual(await page.locator(`${chart} h3`).allTextContents(), ["avg(used), avg(free) [bytes]", "avg(load) [%]", "avg(wait) [ms]"]);
  const rows = await page.locator(".legend tbody tr").evaluateAll((all) => Object.fromEntries(all.map((row) => [row.querySelector("th").textContent.split(" · ").at(-1), row.querySelector("td").textContent])));
  assert.deepEqual(rows, { "avg(used)": "3 GiB", "avg(free)": "1.5 GiB", "avg(load)": "73.5%", "avg(wait)": "1.5 s" });
  await page.waitForTimeout(300);
  const texts = await page.evaluate(() => window.drawnTexts);
  for (const wanted of [/GiB$/, /%$/, / s$/]) assert.ok(texts.some((text) => wanted.test(text)), `${wanted} is not in ${JSON.stringify(texts)}`);
  await page.waitForSelector("dd >> text=used (int, bytes)");
  for (const scheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme: scheme });
    await picture(`trust-units-${scheme}`);
  }
  await page.emulateMedia({ colorScheme: "light" });
  await page.click("summary:has-text('panels')");
  await page.selectOption("label:has-text('Panels') select", "field");
  await page.waitForFunction((chart) => document.querySelectorAll(`${chart} .panel`).length === 4, chart);
  // A rate is so much a second, and a count counts.
  await page.selectOption("label:has-text('Change') select", "rate");
  await page.waitForSelector(`${chart} [data-panel="avg(rate(used))"][data-unit="bytes/s"]`);
  await page.selectOption("label:has-text('Change') select", "");
  await page.selectOption("label:has-text('Value') select", "count");
  await page.waitForSelector(`${chart} [data-panel="count(used)"]:not([data-unit])`);
});

test("SQL says the units of declared fields: in the head of rows, at the axes of charts, in completion, on dashboards", async () => {
  const query = "SELECT time, used, free FROM series.machine ORDER BY time";
  await page.addInitScript(noteDrawnTexts);
  await open(`#/sql?${new URLSearchParams({ query })}`);
  await page.waitForSelector(".list summary");
  await page.press("textarea", "Control+Enter");
  await page.waitForSelector(".grid[data-rows='10']");
  assert.deepEqual(await page.locator(".grid-head small").allTextContents(), ["TIMESTAMP", "INT64, bytes", "INT64, bytes"]);
  await page.click("button:has-text('Chart')");
  await page.waitForSelector("[data-chart=sql][data-unit=bytes] canvas");
  await page.waitForSelector("p >> text=In bytes.");
  const drawnTexts = async () => { await page.waitForTimeout(300); return page.evaluate(() => window.drawnTexts); };
  assert.ok((await drawnTexts()).some((text) => /GiB$/.test(text)), JSON.stringify(await drawnTexts()));
  await page.waitForSelector(".u-legend >> text=used");
  for (const scheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme: scheme });
    await picture(`trust-sql-units-${scheme}`);
  }
  await page.emulateMedia({ colorScheme: "light" });
  // Fields of several units: each line says its own.
  await page.fill("textarea", "SELECT time, used, wait, RATE(used) OVER (ORDER BY time) AS grows, used / 1024 AS kibi FROM series.machine ORDER BY time");
  await page.press("textarea", "Control+Enter");
  await page.waitForSelector(".u-legend >> text=wait [ms]");
  await page.waitForSelector(".u-legend >> text=grows [bytes/s]");
  assert.match(await page.locator(".u-legend .u-label, .u-legend th").allTextContents().then((all) => all.join("|")), /kibi(\||$)/);
  await page.fill("textarea", "SELECT us");
  await page.focus("textarea");
  await page.press("textarea", "End");
  await page.press("textarea", "Control+Space");
  await page.waitForSelector(".sql-words li:has-text('used') small >> text=of a series, bytes");
  // A dashboard's chart has them as well.
  const put = await fetch(`${base}api/v1/dashboards/units`, { method: "PUT", body: JSON.stringify({ title: "Units", panels: [{ title: "Memory", shown: "chart", query }] }) });
  assert.equal(put.status, 200, await put.text());
  await open("#/dashboards?name=units");
  await page.waitForSelector("[data-panel=Memory] [data-chart=panel][data-unit=bytes] canvas");
  await page.waitForSelector("[data-panel=Memory] >> text=In bytes.");
  assert.ok((await drawnTexts()).some((text) => /GiB$/.test(text)));
  await picture("trust-dashboard-units");
});

function noteDashes() {
  if (window.drawnDashes) return;
  const set = CanvasRenderingContext2D.prototype.setLineDash;
  window.drawnDashes = 0;
  CanvasRenderingContext2D.prototype.setLineDash = function (dashes) { if (dashes.length === 2) ++window.drawnDashes; return set.call(this, dashes); };
}

const hashOf = () => new URLSearchParams(page.url().split("?")[1]);
const compared = `#/series?name=visits&group=site&every=1m&from=${start}&to=${start + hour}`;

test("a time is drawn over an earlier one, and it is said which is which", async () => {
  await page.addInitScript(noteDashes);
  const asked = [];
  const note = (request) => { if (/\/query\?.*group_by=/.test(request.url())) asked.push(new URL(request.url()).searchParams); };
  page.on("request", note);
  await open(`${compared}&before=${day}`);
  await page.waitForSelector(`${chart}[data-points="60"][data-before="60"][data-lines="3"] canvas`);
  page.off("request", note);
  assert.deepEqual(asked.map((one) => one.get("from")), ["2026-01-15T12:00:00Z", "2026-01-14T12:00:00Z"]);
  assert.equal(await page.getAttribute(chart, "data-gaps"), "0");
  await page.waitForTimeout(300);
  assert.ok(await page.evaluate(() => window.drawnDashes) > 0, "no line is dashed");
  const times = await page.locator("[data-part=times] > span").allTextContents();
  assert.deepEqual(times, ["Solid: 2026-01-15 07:00:00 UTC-5 to 2026-01-15 08:00:00 UTC-5", "Dashed: a day before, 2026-01-14 07:00:00 UTC-5 to 2026-01-14 08:00:00 UTC-5"]);
  const rows = await page.locator(".legend tbody tr").evaluateAll((all) => Object.fromEntries(all.map((row) => [row.querySelector("th").textContent.split(" · ")[0], [...row.querySelectorAll("td")].map((cell) => cell.textContent)])));
  assert.deepEqual(rows, { a: ["259", "200", "230", "259", "115", "+100%"], new: ["10", "10", "10", "10", "—", "—"], gone: ["—", "—", "—", "—", "30", "—"] });
  assert.deepEqual(await page.locator(".legend thead th").allTextContents(), ["Line", "Last", "Min", "Mean", "Max", "Mean before", "Change of the mean"]);
  // The box at the cursor has both values, and both times.
  const over = await page.locator(`${chart} .u-over`).boundingBox();
  await page.mouse.move(over.x + over.width / 2, over.y + 40);
  const tip = page.locator(".chart-tip:visible");
  await tip.locator("div:has(i.dashed):has-text('a · avg(count), before')").waitFor();
  const [, at] = /2026-01-15 (07:\d\d:00) UTC-5/.exec(await tip.textContent());
  await tip.locator(`text=before: 2026-01-14 ${at} UTC-5`).waitFor();
  await page.mouse.move(5, 5);
  // A line alone is alone with what it was before.
  await page.click(".legend tbody button:has-text('a · ')");
  await page.waitForFunction(() => document.querySelectorAll(".legend tbody tr.off").length === 2);
  await page.locator(`${chart} .u-over`).hover();
  await page.waitForFunction(() => document.querySelectorAll(".chart-tip b").length === 2);
  await page.mouse.move(5, 5);
  await page.click(".legend tbody button:has-text('a · ')");
  // The one that changed most comes first.
  await page.click(".legend thead button:has-text('Change')");
  await page.waitForSelector(".legend th[aria-sort=descending] >> text=Change of the mean");
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.click("button:has-text('curl')");
  await page.waitForSelector("text=Copied as curl");
  assert.equal((await page.evaluate(() => navigator.clipboard.readText())).split("\n").length, 2);
  for (const width of [1400, 390]) {
    await page.setViewportSize({ width, height: 900 });
    for (const scheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme: scheme });
      await page.waitForTimeout(300); // the page is drawn anew in other colours
      await page.waitForSelector(`${chart}[data-before="60"] canvas`);
      await page.waitForSelector(".legend tbody tr");
      await page.evaluate(() => scrollTo(0, 0));
      await picture(`trust-before-${width}-${scheme}`);
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth) <= width);
    }
  }
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize({ width: 1400, height: 900 });
});

test("the earlier time is chosen by keyboard, kept in the address, and lies on the same buckets", async () => {
  await open(compared);
  await page.waitForSelector(`${chart}[data-points] canvas`);
  const box = page.locator("label:has-text('Compare with') select"), isFocused = () => box.evaluate((one) => document.activeElement === one);
  await box.focus();
  await page.keyboard.press("ArrowDown");
  await page.waitForFunction(() => location.hash.includes("before=3600"));
  await page.waitForSelector(".caution >> text=There are no points of the earlier time");
  assert.ok(await isFocused(), "the focus was lost when the chart was drawn");
  await page.keyboard.press("ArrowDown");
  await page.waitForSelector(`${chart}[data-before="60"]`);
  assert.equal(hashOf().get("before"), String(day));
  await page.goBack();
  await page.waitForFunction(() => location.hash.includes("before=3600"));
  await page.waitForSelector(".caution >> text=There are no points of the earlier time");
  await box.selectOption("chosen");
  // A start of one's own, which lies a little beside the buckets: they are moved by whole ones.
  const [request] = await Promise.all([page.waitForRequest((one) => /\/query\?.*group_by=.*from=2026-01-14/.test(one.url())), (async () => {
    await page.fill("input[name=before]", "2026-01-14T07:00:20");
    await page.press("input[name=before]", "Tab");
  })()]);
  assert.equal(new URL(request.url()).searchParams.get("from"), "2026-01-14T12:00:00Z");
  await page.waitForSelector(`${chart}[data-before="60"][data-gaps="0"]`);
  assert.equal(hashOf().get("before"), String(day - 20));
  await page.waitForSelector("[data-part=times] >> text=Dashed: a day before, 2026-01-14 07:00:00");
  // What does not begin before is refused, beside the input.
  await page.fill("input[name=before]", "2026-01-15T07:00");
  await page.press("input[name=before]", "Tab");
  assert.match(await page.locator("input[name=before]").evaluate((one) => one.validationMessage), /begins before 2026-01-15 07:00:00 UTC-5/);
  assert.equal(hashOf().get("before"), String(day - 20));
  await page.selectOption("label:has-text('Compare with') select", "");
  await page.waitForSelector("[data-part=times]", { state: "detached" });
  assert.equal(hashOf().get("before"), null);
});

test("PromQL is drawn over an earlier time, too", async () => {
  await open(`#/series?${new URLSearchParams({ view: "promql", query: "sum by (site) (visits_count)", from: start, to: start + hour, before: day })}`);
  await page.waitForSelector("[data-chart=promql][data-lines='3'] canvas");
  await page.waitForSelector("[data-part=times] >> text=Dashed: a day before");
  await page.waitForSelector(".legend thead >> text=Mean before");
});

test("the box at the cursor has the values of all lines, the largest first", async () => {
  await open("#/series?name=cpu&group=region&every=1m&agg=max");
  await page.waitForSelector(`${chart}[data-points] canvas`);
  const over = await page.locator(`${chart} .u-over`).boundingBox();
  await page.mouse.move(over.x + over.width / 2, over.y + 40);
  await page.waitForSelector(".chart-tip:visible >> text=UTC-5");
  const values = (await page.locator(".chart-tip b").allTextContents()).map(Number);
  assert.deepEqual(values, [...values].sort((a, b) => b - a));
  assert.equal(values.length, 2);
  await picture("trust-tip");
  await page.mouse.move(5, 5);
  await page.waitForSelector(".chart-tip", { state: "hidden" });
});

test("a counter is read by its rate, gaps are filled on demand", async () => {
  const rate = await asking(() => open("#/series?name=sensor&every=1h&change=rate"));
  const at = rate.body.columns.findIndex((one) => one.kind === "number");
  assert.ok(Math.abs(rate.body.rows[1][at] - 1 / 600) < 1e-9, JSON.stringify(rate.body.rows[1]));
  await asking(() => open("#/series?name=sensor&every=1h&fill=linear"));
  await page.waitForSelector(`${chart}[data-gaps="0"] canvas`);
});

test("a time is chosen, followed, and kept in the address", async () => {
  await open("#/series?name=sensor&every=15m");
  await page.waitForSelector(`${chart}[data-points]`);
  const { url } = await asking(() => page.selectOption("label:has-text('Time') select", "3600"));
  const span = (Date.parse(url.searchParams.get("to")) - Date.parse(url.searchParams.get("from"))) / 1000;
  assert.ok(Math.abs(span - hour) <= 2 && Math.abs(Date.parse(url.searchParams.get("to")) - Date.now()) < 60_000, String(url));
  assert.match(page.url(), /last=3600/);
  // Followed: it is asked again by itself.
  await asking(() => page.selectOption("label:has-text('Refresh') select", "5"));
  await asking(() => page.waitForTimeout(100));
  await page.selectOption("label:has-text('Refresh') select", "0");
  await page.selectOption("label:has-text('Time') select", "range");
  await page.fill("input[name=from]", "2026-01-15T08:00");
  await page.fill("input[name=to]", "2026-01-15T10:00");
  await page.press("input[name=to]", "Tab");
  await page.waitForFunction((from) => new URLSearchParams(location.hash.split("?")[1]).get("from") === from, String(start + hour));
});

test("a question is copied as a command that gives the same rows", async () => {
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  const { body } = await asking(() => open("#/series?name=cpu&group=region&every=1h&agg=max"));
  await page.waitForSelector(`${chart}[data-points]`);
  const copied = async (name) => {
    await page.click(`button:has-text('${name}')`);
    await page.waitForSelector(`text=Copied as ${name}`);
    return page.evaluate(() => navigator.clipboard.readText());
  };
  assert.equal(await copied("link"), page.url());
  assert.match(await copied("curl"), /^curl '?http:.*\/api\/v1\/series\/cpu\/query\?/);
  const command = await copied("command");
  assert.match(command, /^sonde series query stored:cpu /);
  const out = execFileSync("bash", ["-c", `${command.replace(/^sonde/, JSON.stringify(binary))} --format json --endpoint ${endpoint}`], { encoding: "utf8" });
  assert.equal(out.trim().split("\n").length, body.rows.length);
});

test("what is empty is said without a time of nothing", async () => {
  await open("#/series?name=sensor&field=level&from=1000&to=2000");
  await page.waitForSelector(`${chart} >> text=No points here`);
  assert.doesNotMatch(await page.textContent("#content"), /1970/);
});

test("the rows of a chart are read as a table, and texts beside numbers", async () => {
  await open(`#/series?name=cpu&group=region&every=1h&agg=max`);
  await page.waitForSelector(`${chart}[data-points] canvas`);
  assert.match(await page.locator("p[aria-live]").textContent(), /In [\d.,]+ m?µ?s, [\d,.]+ k? ?rows/);
  await page.click("button:text-is('Table')");
  await page.waitForSelector("[data-part=table] .grid[data-rows='2'] >> text=UTC-5");
  assert.match(page.url(), /as=table/);
  assert.equal(await page.locator(chart).isVisible(), false);
  assert.match((await page.locator("[data-part=table] .grid-head").textContent()), /region.*time \(UTC-5\).*max\(usage\)/);
  await picture("trust-table");
  await page.goBack();
  await page.waitForSelector(`${chart} canvas`);
  await open("#/series?name=values");
  await page.click("summary:has-text('Newest points')");
  await page.waitForSelector("[data-part=texts] table.data >> text={\"b\":[1,2]}");
});

test("a series of texts is a table", async () => {
  await open("#/series?name=notes");
  await page.waitForSelector("table.data >> text=it is not");
  assert.equal(await page.locator("text=Choose at least one field").count(), 0);
});

test("ticks of an axis differ", async () => {
  await page.addInitScript(noteDrawnTexts);
  await open("#/series?name=fine&every=1m&field=level");
  await page.waitForSelector(`${chart}[data-points="10"] canvas`);
  await page.waitForTimeout(300);
  const texts = await page.evaluate(() => window.drawnTexts.filter((text) => / G$/.test(text)));
  assert.ok(texts.length >= 3, JSON.stringify(texts));
  assert.equal(new Set(texts).size, texts.length, JSON.stringify(texts));
});

test("no text of a chart is cut off at its right", async () => {
  const other = await page.context().newPage();
  await other.addInitScript(() => {
    const draw = CanvasRenderingContext2D.prototype.fillText;
    window.textsCut = [];
    window.textsDrawn = 0;
    CanvasRenderingContext2D.prototype.fillText = function (text, x, y, ...rest) {
      const at = this.getTransform();
      if (at.b === 0) {
        const width = this.measureText(text).width, share = { center: 0.5, right: 0, end: 0 }[this.textAlign] ?? 1;
        ++window.textsDrawn;
        if (at.a * (x + width * share) + at.e > this.canvas.width) window.textsCut.push(text);
      }
      return draw.call(this, text, x, y, ...rest);
    };
  });
  for (const seconds of [60, 600, 1800, 7200, day, 10 * day]) {
    await other.goto("about:blank");
    await other.goto(`${base}#/series?name=cpu&field=usage&from=${start}&to=${start + seconds}`);
    await other.waitForSelector(`${chart} canvas`);
    await other.waitForFunction(() => window.textsDrawn > 5);
    assert.deepEqual(await other.evaluate(() => window.textsCut), [], `${seconds} s`);
  }
  await other.close();
});

test("rows of a declared series are shown as its points", async () => {
  await open(`#/tables?table=${encodeURIComponent("projects/sonde/instances/sonde/tables/values")}`);
  await page.waitForSelector("table.data td");
  await page.selectOption("label:has-text('Show as') select", "points");
  await page.waitForSelector("[data-part=points]");
  const heads = await page.locator("[data-part=points] thead th").allTextContents();
  assert.deepEqual(heads.map((name) => name.replace(/ \(.*\)/, "")), ["Row key", "id", "Time", "count", "doc"]);
  const lines = await page.locator("[data-part=points] tbody tr").evaluateAll((rows) => rows.map((row) => [...row.querySelectorAll("td")].map((cell) => cell.textContent)));
  assert.equal(lines.length, 2);
  assert.deepEqual(lines.map((line) => line[0]), ["a", "a"]);
  assert.deepEqual(lines.map((line) => line[2]), ["42", "42"]);
  assert.match(lines[0][3], /"b":\[1,2\]/);
  assert.match(page.url(), /as=points/);
  await picture("trust-points");
  await page.reload();
  await page.waitForSelector("[data-part=points] tbody tr");
});

test("HTTP requests and points are counted, refused ones by reason", async () => {
  const metrics = (await get(`${base}metrics`)).body.toString().split("\n");
  for (const line of ['sonde_requests_total{method="POST /api/v2/write",code="OK"} 1', 'sonde_requests_total{method="POST /write",code="INVALID_ARGUMENT"} 1',
    `sonde_points_total{series="cpu",sender="influx"} ${hosts * minutes}`, 'sonde_points_total{series="values",sender="json"} 2',
    'sonde_points_refused_total{reason="unreadable"} 1', 'sonde_points_refused_total{reason="invalid"} 1', `sonde_points_newest_seconds{series="notes"} ${start + 60}`]) {
    assert.ok(metrics.includes(line), `${line}\n${metrics.filter((one) => /^sonde_(requests_total|points)/.test(one)).join("\n")}`);
  }
  assert.ok(metrics.some((one) => /^sonde_request_duration_seconds_count\{method="GET \/api\/v1\/series\/\{name\}\/query"\} [1-9]/.test(one)));
  await open("#/");
  await page.waitForSelector("td >> text=POST /api/v2/write");
  await page.waitForSelector("[data-part=points] >> text=Written by influx");
  await page.waitForSelector("[data-part=points] >> text=Refused: unreadable");
});

test("every page fits a phone, and its links have names", async () => {
  await page.setViewportSize({ width: 390, height: 844 });
  const { tables } = await json(`${base}api/v1/tables`);
  const table = encodeURIComponent(tables.find((one) => /timeseries/.test(one.name)).name);
  for (const scheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme: scheme });
    for (const [name, hash, wait] of [["overview", "#/", ".tile strong"], ["tables", `#/tables?table=${table}&start=a`, "table.data"],
      ["series", "#/series?name=cpu&group=host", `${chart}[data-points]`], ["sql", "#/sql", ".sql-editor"], ["keys", `#/keys?table=${table}`, "canvas[data-total]"]]) {
      await open(hash);
      await page.waitForSelector(wait);
      await page.waitForTimeout(500);
      await picture(`phone-${name}-${scheme}`);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(wide <= 390, `${name}: ${wide} pixels wide`);
      for (const link of await page.locator(".pages a span").all()) assert.ok(await link.isVisible());
    }
  }
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize({ width: 1400, height: 900 });
});

test("a server that is stopped, and one that is gone, is told; its figures are grey until it answers", async () => {
  await open("#/");
  await page.waitForSelector(".tile strong");
  server.kill("SIGSTOP");
  await page.waitForSelector(".silence:visible >> text=/No answer from 127.0.0.1:\\d+ since 20\\d\\d-.*UTC-5/", { timeout: 12_000 });
  await page.waitForSelector(".silence >> text=The figures are as of");
  assert.ok(await page.evaluate(() => Number(getComputedStyle(document.querySelector("#content")).opacity)) < 1);
  await picture("trust-silent");
  server.kill("SIGCONT");
  await page.waitForSelector(".silence", { state: "hidden" });
  expected(/./);
});

test("the processor's figure has no sign after a restart", async () => {
  let cpu = 100, started = 1;
  await page.route("**/api/v1/overview", async (route) => {
    const answer = await (await route.fetch()).json();
    await route.fulfill({ json: { ...answer, cpu_seconds: cpu, started_seconds: started } });
  });
  await open("#/");
  const tile = page.locator(".tile:has-text('Processor') strong");
  await page.waitForFunction(() => /%$/.test([...document.querySelectorAll(".tile")].at(-1)?.querySelector("strong").textContent ?? ""));
  [cpu, started] = [1, 2];
  await page.waitForFunction(() => [...document.querySelectorAll(".tile")].at(-1).querySelector("strong").textContent === "—");
  assert.doesNotMatch(await tile.textContent(), /-/);
  await page.unroute("**/api/v1/overview");
});

// ---- the run
let problems = [];
const allowed = [];
const expected = (line) => allowed.push(line);
const { server, page: address, endpoint } = await startServer(binary, work);
base = address;
let failures = 0;
try {
  await writeData();
  const browser = await launchBrowser();
  const context = await browser.newContext({ viewport: { width: 1400, height: 900 }, acceptDownloads: true, timezoneId: "America/New_York" });
  page = await context.newPage();
  page.setDefaultTimeout(10_000);
  problems = consoleOf(page);
  failures = await runTests(tests, (count) => picture(`trust-failed-${count}`));
  const unexpected = problems.filter((text) => !allowed.some((one) => one.test(text)));
  if (unexpected.length > 0) {
    ++failures;
    console.log(`FAILED  the console is silent\n${unexpected.join("\n")}`);
  }
  await browser.close();
} finally {
  server.kill("SIGCONT");
  server.kill("SIGTERM");
  await new Promise((done) => server.on("exit", done));
  console.log(`screenshots: ${pictures}`);
  if (option > 0 || failures === 0) fs.rmSync(path.join(work, "data"), { recursive: true, force: true });
}
process.exit(failures > 0 ? 1 : 0);

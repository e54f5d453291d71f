// What a person on call needs of the page: how the server is, what it works at, what it refused and how long requests took; what
// somebody does first with an empty server; and that nobody is shut out (axe-core, in light and dark).
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";

import { consoleOf, json, launchBrowser, runTests, startServer } from "./server.mjs";

const binary = path.resolve(process.argv[2]);
const option = process.argv.indexOf("--screenshots");
const work = fs.mkdtempSync(path.join(os.tmpdir(), "sonde-oncall-"));
const pictures = option > 0 ? path.resolve(process.argv[option + 1]) : path.join(work, "screenshots");
fs.mkdirSync(pictures, { recursive: true });
const axe = fs.readFileSync(path.join(process.env.SONDE_WEB_PACKAGES, "axe-core/axe.min.js"), "utf8");

let base, page;
const tests = [];
const test = (name, body) => tests.push([name, body]);
const open = async (hash) => {
  await page.goto("about:blank");
  await page.goto(base + hash);
};
const picture = (name) => page.screenshot({ path: path.join(pictures, `${name}.png`), fullPage: true });
const post = (route, body, type = "text/plain") => fetch(base + route, { method: "POST", body, headers: { "content-type": type } });
const sql = (query) => post("api/v1/sql", JSON.stringify({ query }), "application/json");

test("an empty server shows how to begin, and what it shows works", async () => {
  await open("#/");
  const card = page.locator("[data-part=first-steps]");
  await card.waitFor();
  assert.deepEqual(await card.getByRole("tab").allTextContents(), ["curl", "Prometheus", "Python", "Go, Java, Node, cbt", "CSV"]);
  await picture("oncall-empty");
  // By keyboard alone.
  await card.getByRole("tab", { name: "Prometheus" }).focus();
  await page.keyboard.press("Enter");
  await card.locator("pre:has-text('remote_write')").waitFor();
  await card.getByRole("tab", { name: "curl" }).click();
  const line = await card.locator("pre").textContent();
  assert.ok(line.includes(new URL(base).host), line);
  await card.getByRole("button", { name: "Copy" }).click();
  await card.getByText("Copied").waitFor();
  execFileSync("bash", ["-c", line], { stdio: "pipe" });
  const { series } = await json(`${base}api/v1/series`);
  assert.ok(series.some((one) => one.name === "weather"), JSON.stringify(series));
  await card.waitFor({ state: "detached" });
});

test("one line says how the server is, and which one it is", async () => {
  await open("#/");
  const line = page.locator("[data-part=health]");
  await line.getByText("Writes and reads go through").waitFor();
  const { version, grpc_address, data_dir, durability } = await json(`${base}api/v1/overview`);
  const text = await line.textContent();
  for (const one of [version, grpc_address, data_dir]) assert.ok(text.includes(one), `${one} is not in ${text}`);
  assert.equal(durability, "os");
  assert.ok(text.includes("a power cut may lose the last seconds"), text);
  assert.ok(text.includes("only this machine reaches it") && /memory [\d.]+ [GM]iB/.test(text), text);
  assert.ok((await page.title()).startsWith(new URL(base).host), await page.title());
  await page.route("**/api/v1/overview", async (route) => {
    const answer = await (await route.fetch()).json();
    await route.fulfill({ json: { ...answer, grpc_address: "10.0.0.7:8086", health: { level: "failing", reasons: ["Writes are refused: the disk is full", "The newest backup is 3 days old"] } } });
  });
  await open("#/");
  await line.locator("strong.failing >> text=Writes are refused: the disk is full").waitFor();
  await line.locator("summary >> text=1 more").click();
  await line.getByText("The newest backup is 3 days old").waitFor();
  await line.getByText("other machines reach it").waitFor();
  await picture("oncall-failing");
  await page.unroute("**/api/v1/overview");
});

test("what was refused is told with its reason, once for each kind", async () => {
  for (let i = 0; i < 5; ++i) assert.equal((await post("write", "this is no point")).status, 400);
  assert.equal((await sql("SELECT nothing FROM nowhere")).status, 404);
  await open("#/");
  const card = page.locator("[data-part=errors]");
  const row = card.locator("tr:has-text('POST /write')");
  await row.waitFor();
  const cells = await row.locator("td").allTextContents();
  assert.equal(cells[2], "INVALID_ARGUMENT");
  assert.match(cells[3], /this is no point|line 1/i);
  assert.equal(cells[4], "5");
  assert.match(await card.locator("tr:has-text('POST /api/v1/sql')").textContent(), /NOT_FOUND.*nowhere/s);
  // The count in the list of requests leads there, and names the codes.
  const count = page.locator("section.card:has(h2:text-is('Requests')) tr:has-text('POST /write') a");
  assert.equal(await count.textContent(), "5");
  assert.match(await count.locator("xpath=..").getAttribute("title"), /INVALID_ARGUMENT: 5/);
  await count.click();
  assert.ok(page.url().endsWith("#/"), page.url());
});

test("a request that is under way is seen, and can be cancelled", async () => {
  const slow = sql("SELECT COUNT(*) FROM UNNEST(GENERATE_ARRAY(1, 100000)) AS a, UNNEST(GENERATE_ARRAY(1, 100000)) AS b WHERE MOD(a * b, 7) = 3");
  await open("#/");
  const row = page.locator("[data-part=running] tr:has-text('POST /api/v1/sql')");
  await row.waitFor();
  await picture("oncall-running");
  const began = Date.now();
  await row.getByRole("button", { name: /^Cancel POST/ }).click();
  const answer = await slow;
  assert.ok(Date.now() - began < 5_000, "the query went on");
  assert.match(await answer.text(), /CANCELLED/);
  await row.waitFor({ state: "detached" });
});

test("latency is shown by its quantiles, for each method, up to two weeks back", async () => {
  await open("#/");
  const card = page.locator("[data-part=latency]");
  await card.locator("canvas").waitFor({ timeout: 15_000 }); // a step has 10 s
  await card.getByLabel("Time").selectOption("1209600");
  await card.locator("h2 small", { hasText: /[1-9].* requests/ }).waitFor();
  const [answer] = await Promise.all([page.waitForResponse((one) => one.url().includes("method=")), card.getByLabel("Method").selectOption("POST /write")]);
  const latency = await answer.json();
  assert.equal(latency.points.reduce((sum, point) => sum + point[2], 0), 5, JSON.stringify(latency));
  await card.locator("h2 small", { hasText: "5 failed" }).waitFor();
});

test("a cell of the key map leads to its rows, and a finding to its keys", async () => {
  const lines = Array.from({ length: 300 }, (_, i) => `weather,city=Rome temperature=${i} ${1_700_000_000 + i}`);
  for (let i = 0; i < 40; ++i) assert.equal((await post("api/v2/write?precision=s", lines.join("\n"))).status, 204);
  await open("#/keys?metric=writes");
  const map = page.locator("canvas.heat");
  await page.waitForFunction(() => Number(document.querySelector("canvas.heat")?.dataset.total) > 0);
  await map.focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Space");
  const tip = page.locator(".tip.pinned");
  await tip.waitFor();
  await picture("oncall-map");
  await page.keyboard.press("Enter"); // the link has the focus
  await page.waitForSelector("table.data tbody tr, .empty");
  assert.match(page.url(), /#\/tables\?table=.*/);
  // The finding of the overview frames its time and keys.
  const finding = { table: decodeURIComponent(page.url().match(/table=([^&]*)/)[1]), pattern: "hot_range", severity: "warning", metric: "writes", start_key: "weather#a", end_key: "weather#z",
    title: "A test", text: "t", remedy: "r", cure: null, declaration: null };
  await page.route("**/api/v1/findings", (route) => route.fulfill({ json: { findings: [finding] } }));
  await open("#/");
  await page.locator(".finding .chip").click();
  await page.waitForSelector("canvas.heat");
  const asked = new URLSearchParams(page.url().split("?")[1]);
  assert.deepEqual([asked.get("start"), asked.get("end"), asked.get("metric")], ["weather#a", "weather#z", "writes"]);
  assert.equal(Number(asked.get("to")) - Number(asked.get("from")), 600);
  await page.unroute("**/api/v1/findings");
});

test("keys are seen beside the same keys of an earlier time", async () => {
  const line = "weather,city=Oslo temperature=1 1700000000";
  for (let i = 0; i < 20; ++i) assert.equal((await post("api/v2/write?precision=s", line)).status, 204);
  const written = Math.floor(Date.now() / 1000), before = 100;
  await page.waitForTimeout(2500); // a second is counted when it has passed
  // The map is of the time that comes, in which nothing is written yet; the earlier one has what was written.
  const table = "projects/sonde/instances/sonde/tables/timeseries", at = { metric: "writes", from: written - 10 + before, to: written + 3 + before };
  await open(`#/keys?${new URLSearchParams({ table, ...at, before })}`);
  const earlier = page.locator("canvas.heat-before");
  await page.waitForFunction(() => Number(document.querySelector("canvas.heat-before")?.dataset.total) >= 20);
  assert.equal(await page.getAttribute("canvas.heat", "data-total"), "0");
  const path_ = "api/v1/tables/sonde/sonde/timeseries/heatmap";
  const both = await json(`${base}${path_}?${new URLSearchParams({ ...at, before })}`);
  assert.equal(both.before.values.length, both.before.columns * both.row_starts.length);
  const alone = await json(`${base}${path_}?${new URLSearchParams({ ...at, from: at.from - before, to: at.to - before })}`);
  const sum = ({ values }) => values.reduce((all, one) => all + one, 0);
  assert.equal(sum(both.before), sum(alone));
  const [, left, right] = await page.locator("[data-part=times]").textContent().then((text) => /^Left: 100 s before, (.*)Right: (.*)$/.exec(text));
  assert.notEqual(left, right);
  // The box at a cell tells both, by mouse over either map and by keyboard.
  await earlier.hover();
  await page.locator(".tip .before >> text=/100 s before, 20\\d\\d-/").waitFor();
  await page.mouse.move(5, 5);
  await page.focus("canvas.heat");
  await page.keyboard.press("ArrowLeft");
  await page.locator(".tip:visible .before").waitFor();
  for (const width of [1400, 390]) {
    await page.setViewportSize({ width, height: 900 });
    for (const scheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme: scheme });
      await page.waitForTimeout(300);
      await picture(`oncall-keys-before-${width}-${scheme}`);
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth) <= width);
      const boxes = [await earlier.boundingBox(), await page.locator("canvas.heat").boundingBox()];
      assert.ok(boxes[0].x + boxes[0].width <= boxes[1].x && Math.abs(boxes[0].width - boxes[1].width) < 2 && boxes[0].y === boxes[1].y, JSON.stringify(boxes));
    }
  }
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize({ width: 1400, height: 900 });
  await page.selectOption("label:has-text('Compare with') select", "86400");
  await page.waitForFunction(() => location.hash.includes("before=86400"));
  await page.selectOption("label:has-text('Metric') select", "size");
  await earlier.waitFor({ state: "hidden" });
  await page.selectOption("label:has-text('Compare with') select", "");
  assert.equal(new URLSearchParams(page.url().split("?")[1]).get("before"), null);
});

test("lines of charts stand out from what is behind them, in light and dark", async () => {
  await open("#/");
  for (const scheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme: scheme });
    await page.waitForFunction((scheme) => document.documentElement.dataset.theme === scheme, scheme);
    const colours = await page.evaluate(() => ["--card", ...Array.from({ length: 8 }, (_, at) => `--line-${at + 1}`)].map((name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim()));
    const light = (colour) => [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16) / 255).map((part) => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
      .reduce((sum, part, at) => sum + part * [0.2126, 0.7152, 0.0722][at], 0);
    const [card, ...lines] = colours.map(light);
    lines.forEach((line, at) => assert.ok((Math.max(line, card) + 0.05) / (Math.min(line, card) + 0.05) >= 3, `${scheme}: ${colours[at + 1]} on ${colours[0]}`));
  }
  await page.emulateMedia({ colorScheme: "light" });
});

test("nobody is shut out", async () => {
  const found = [];
  for (const scheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme: scheme });
    for (const [hash, ready] of [["#/", ".tile strong"], ["#/series?name=weather", ".legend tbody tr"], ["#/tables", ".list a"], ["#/keys", "canvas.heat, .empty"], ["#/sql", ".sql-input"], ["#/dashboards", "h1"],
      ["#/series?name=weather&before=86400", ".legend tbody tr"], ["#/keys?before=3600", "canvas.heat-before:visible"], ["#/series?name=weather&where=city%3DRome", ".filter .chip"]]) {
      await open(hash);
      await page.waitForSelector(ready);
      if (hash.includes("where=")) { // what opens by itself on no page
        await page.click("summary:has-text('Which have stopped?')");
        await page.waitForSelector("[data-part=newest]");
        await page.click("summary:has-text('panels')");
        await page.locator(".filter input[name=value]").focus();
        await page.waitForSelector(".choices li");
      }
      await page.waitForTimeout(500);
      await page.evaluate(axe);
      const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
      for (const one of violations) found.push(`${scheme} ${hash}: ${one.id}: ${one.help}: ${one.nodes.map((node) => node.target.join(" ")).slice(0, 4).join(", ")}`);
      await picture(`oncall-${scheme}-${hash.replace(/\W+/g, "-")}`);
    }
  }
  await page.emulateMedia({ colorScheme: "light" });
  assert.deepEqual(found, []);
});

// ---- the run
let problems = [];
const { server, page: address } = await startServer(binary, work);
base = address;
let failures = 0;
try {
  const browser = await launchBrowser();
  const context = await browser.newContext({ viewport: { width: 1400, height: 900 }, permissions: ["clipboard-read", "clipboard-write"], bypassCSP: true });
  page = await context.newPage();
  page.setDefaultTimeout(10_000);
  problems = consoleOf(page);
  failures = await runTests(tests, (count) => picture(`oncall-failed-${count}`));
  if (problems.length > 0) {
    ++failures;
    console.log(`FAILED  the console is silent\n${problems.join("\n")}`);
  }
  await browser.close();
} finally {
  server.kill("SIGTERM");
  await new Promise((done) => server.on("exit", done));
  console.log(`screenshots: ${pictures}`);
  if (option > 0 || failures === 0) fs.rmSync(path.join(work, "data"), { recursive: true, force: true });
}
process.exit(failures > 0 ? 1 : 0);

// Questions of a person on call, asked of the page as that person would, each of which ends with the right answer.
import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";

import { consoleOf, get, json, launchBrowser, runTests, startServer } from "./server.mjs";

const binary = path.resolve(process.argv[2]);
const option = process.argv.indexOf("--screenshots");
const work = fs.mkdtempSync(path.join(os.tmpdir(), "sonde-tasks-"));
const pictures = option > 0 ? path.resolve(process.argv[option + 1]) : path.join(work, "screenshots");
fs.mkdirSync(pictures, { recursive: true });

const hosts = 30, minutes = 180;
const start = Date.UTC(2026, 0, 15, 12) / 1000;
const culprit = "web17", roseAt = Date.UTC(2026, 0, 15, 14, 5) / 1000;
const silent = "web04", silentFrom = start + 100 * 60;
const gateway = "sensor-gateway/2.1";

let base, page, server, endpoint;
const tests = [];
const task = (name, body) => tests.push([name, async () => {
  const began = Date.now();
  const answer = await body();
  console.log(`        ${answer} (${((Date.now() - began) / 1000).toFixed(1)} s)`);
}]);
const open = async (hash) => {
  await page.goto("about:blank");
  await page.goto(base + hash);
};
const picture = (name) => page.screenshot({ path: path.join(pictures, `tasks-${name}.png`), fullPage: true });
const post = (route, body, headers = {}) => fetch(base + route, { method: "POST", body, headers });
const write = async (lines, headers = {}) => {
  const answer = await post("api/v2/write?precision=s", lines.join("\n"), headers);
  assert.equal(answer.status, 204, await answer.text());
};
const declare = async (name, yaml) => {
  const answer = await fetch(`${base}api/v1/series/${name}`, { method: "PUT", body: yaml });
  assert.equal(answer.status, 200, await answer.text());
};

async function writeData() {
  const lines = [];
  const counts = Array.from({ length: hosts }, (_, host) => 1000 * host);
  for (let minute = 0; minute < minutes; ++minute) {
    for (let host = 0; host < hosts; ++host) {
      const name = `web${String(host).padStart(2, "0")}`, at = start + minute * 60;
      counts[host] += 60 * (10 + (host % 5)) * (name === culprit && at >= roseAt ? 4 : 1) + (minute % 7);
      // Counters begin anew with a restart, here and there.
      if (minute === 40 + host) counts[host] = 60;
      if (name === silent && at >= silentFrom) continue;
      lines.push(`http,host=${name},zone=${host % 2 ? "b" : "a"} requests=${counts[host]} ${at}`);
    }
  }
  await write(lines);
}

// What the chart's box says at a place of its width, 0 to 1: the time, and a value by the name of its line.
async function tipAt(chart, part) {
  const box = await chart.locator(".u-over").boundingBox();
  await page.mouse.move(box.x + part * box.width, box.y + box.height / 2);
  const tip = chart.locator(".chart-tip");
  if (await tip.isHidden()) return undefined;
  const [time, ...rows] = await tip.locator("> div").allInnerTexts();
  return { time, values: Object.fromEntries(rows.map((row) => row.split(/\n+/).map((one) => one.trim())).map(([name, value]) => [name, value])) };
}
const numberOf = (text) => Number(text.replace(/[^\d.-]/g, "")) * ({ k: 1e3, M: 1e6 }[text.match(/[kM]\b/)?.[0]] ?? 1);

// ---- the tasks
task("1. which host's requests rose at 14:05, and since when?", async () => {
  await open("#/");
  await page.click(".pages a:has-text('Series')");
  await page.click("nav.list a:has-text('http')");
  await page.waitForSelector("[data-chart=series][data-points]");
  await page.selectOption("label:has-text('Change') select", "rate");
  await page.selectOption("label:has-text('Bucket') select", "5m");
  await page.click("button:has-text('Everything')");
  await page.waitForSelector(".caution >> text=/The chart shows 24 of 30 lines, those with the largest values/");
  await page.click(".legend thead button:has-text('Max')");
  const first = page.locator(".legend tbody tr >> nth=0");
  const host = (await first.locator("th").textContent()).split(" · ")[0];
  assert.equal(host, culprit);
  // Its line alone.
  await first.locator("button").click();
  const chart = page.locator("[data-chart=series] .panel");
  let since, before;
  for (let part = 0.02; part < 0.99 && !since; part += 0.005) {
    const tip = await tipAt(chart, part);
    if (!tip) continue;
    const value = numberOf(Object.values(tip.values)[0]);
    if (before !== undefined && value > 2.5 * before) since = tip.time;
    before ??= value;
  }
  await picture("rate");
  assert.match(since ?? "none", /^2026-01-15 14:05:00 UTC/);
  return `${host}, since ${since}`;
});

task("2. which key is hot, and who writes it?", async () => {
  await declare("battery", "series: battery\ntags: { user: string }\nfields: { level: double }\nkey: [user, bucket]\nbucket: day\n");
  const lines = [];
  for (let user = 0; user < 60; ++user) lines.push(`battery,user=u${String(user).padStart(3, "0")} level=${user} ${start}`);
  await write(lines);
  await new Promise((done) => setTimeout(done, 1500));
  for (let i = 0; i < 1200; i += 40) {
    await Promise.all(Array.from({ length: 40 }, (_, k) => post("write?precision=s", `battery,user=u007 level=${i + k} ${start + i + k}`, { "user-agent": gateway })));
  }
  await open("#/");
  const finding = page.locator(".finding[data-pattern=hot_row], .finding[data-pattern=hot_range]").filter({ hasText: "battery" }).first();
  await finding.waitFor({ timeout: 30_000 });
  await finding.locator("a.chip").click();
  const writers = page.locator("[data-part=writers]");
  await writers.locator(`text=${gateway}`).waitFor();
  const card = page.locator(".side .finding").filter({ hasText: "u007" }).first();
  await card.waitFor();
  await picture("hot-key");
  const row = await writers.locator("li >> nth=0").innerText();
  const told = /^sensor-gateway\/2\.1 at 127\.0\.0\.1 POST \/write, about ([\d,]+) calls in 10 min$/.exec(row);
  assert.ok(told, row);
  // There were 1,200; beyond 256 a second the server counts samples.
  assert.ok(Math.abs(Number(told[1].replace(",", "")) - 1_200) <= 120, row);
  return `u007, by ${row}`;
});

task("3. what was refused, and why?", async () => {
  assert.equal((await post("write", "http,host=web00 requests=\"many\" 1", { "user-agent": "old-agent/0.9" })).status, 400);
  assert.equal((await post("write", "battery,user=a level=1,colour=3 1")).status, 400);
  await open("#/");
  await page.waitForSelector("[data-part=points] >> text=Refused: invalid");
  const rows = page.locator("[data-part=errors] tbody tr");
  const text = await rows.filter({ hasText: "requests" }).first().innerText();
  assert.match(text, /POST \/write\s+INVALID_ARGUMENT/);
  assert.match(text, /requests/);
  assert.match(await rows.filter({ hasText: "colour" }).first().innerText(), /INVALID_ARGUMENT.*colour/s);
  return text.split("\t")[3].slice(0, 120);
});

task("4. what grew the disk?", async () => {
  await declare("bulky", "series: bulky\ntags: { id: string }\nfields: { doc: string }\nkey: [id, bucket]\nbucket: day\n");
  const text = () => Array.from({ length: 4000 }, () => String.fromCharCode(33 + Math.floor(Math.random() * 94))).join("").replace(/["\\]/g, "x");
  for (let part = 0; part < 10; ++part) {
    const points = Array.from({ length: 60 }, (_, i) => JSON.stringify({ id: `d${part}-${i}`, time: new Date(start * 1000).toISOString(), doc: text() }));
    const answer = await post("api/v1/series/bulky/write", points.join("\n"), { "content-type": "application/x-ndjson" });
    assert.equal(answer.status, 200, await answer.text());
  }
  await open("#/");
  const row = page.locator("[data-part=growth] tbody tr >> nth=0");
  await row.filter({ hasText: "bulky" }).waitFor({ timeout: 15_000 });
  await picture("growth");
  const [table, size, grew] = (await row.innerText()).split("\t").map((one) => one.trim());
  assert.equal(table, "bulky");
  assert.match(grew, /^\+[\d.]+ MiB$/);
  assert.ok(Math.abs(parseFloat(grew.slice(1)) - (600 * 4000) / 2 ** 20) < 0.2 * ((600 * 4000) / 2 ** 20), grew);
  return `${table}, ${grew}, now ${size}`;
});

task("5. which series stopped?", async () => {
  await open("#/series?name=http");
  await page.click("summary:has-text('Which have stopped?')");
  const rows = page.locator("[data-part=newest] tr[data-silent]");
  await rows.first().waitFor();
  await picture("stopped");
  assert.equal(await rows.count(), 1);
  const [host, , at, behind] = (await rows.first().innerText()).split("\t").map((one) => one.trim());
  assert.equal(host, silent);
  assert.match(at, /^2026-01-15 13:39:00 UTC/);
  await rows.first().getByRole("link", { name: "Chart" }).click();
  await page.waitForSelector("[data-chart=series][data-lines='1']");
  return `${host}, at ${at}, ${behind}`;
});

task("6. which request is the slowest now? End it.", async () => {
  const slow = post("api/v1/sql", JSON.stringify({ query: "SELECT COUNT(*) FROM UNNEST(GENERATE_ARRAY(1, 100000)) AS a, UNNEST(GENERATE_ARRAY(1, 100000)) AS b WHERE MOD(a * b, 7) = 3" }),
    { "content-type": "application/json", "user-agent": "report-job/1" });
  await open("#/");
  const row = page.locator("[data-part=running] tbody tr >> nth=0");
  await row.filter({ hasText: "POST /api/v1/sql" }).waitFor();
  await row.getByRole("button", { name: /^Cancel/ }).click();
  assert.match(await (await slow).text(), /CANCELLED/);
  const ended = page.locator("[data-part=slowest] tbody tr").filter({ hasText: "POST /api/v1/sql" }).first();
  await ended.filter({ hasText: "CANCELLED" }).waitFor({ timeout: 15_000 });
  return (await ended.innerText()).split("\t").slice(0, 3).join(" ");
});

task("7. how long did 99% of the writes take, in these two weeks?", async () => {
  await open("#/");
  const card = page.locator("[data-part=latency]");
  await card.locator("canvas").waitFor({ timeout: 15_000 });
  await card.getByLabel("Time").selectOption("1209600");
  await card.getByLabel("Method").selectOption("POST /write");
  let points, requests = 0;
  for (let look = 0; look < 30 && requests < 1202; ++look) { // a step has 10 s
    if (look > 0) await page.waitForTimeout(500);
    ({ points } = await json(`${base}api/v1/latency?seconds=1209600&method=${encodeURIComponent("POST /write")}`));
    requests = points.reduce((sum, point) => sum + point[1], 0);
  }
  assert.equal(requests, 1202);
  await card.locator("h2 small", { hasText: "1,202 requests, 2 failed" }).waitFor();
  await card.locator(".u-legend >> text=99% of them within").waitFor();
  const p99 = Math.max(...points.map((point) => point[4]));
  assert.ok(p99 > 0 && p99 < 10_000, String(p99));
  return `${p99} ms of ${requests} requests`;
});

task("8. which errors were there, by code, and the last of them?", async () => {
  for (let i = 0; i < 60; ++i) assert.equal((await get(`${base}api/v1/series/none${i}`)).status, 404);
  await open("#/");
  const rows = page.locator("[data-part=errors] tbody tr");
  await rows.filter({ hasText: "none59" }).waitFor();
  assert.equal(await rows.count(), 50);
  assert.match(await rows.first().innerText(), /NOT_FOUND.*none59/s);
  const count = page.locator("section.card:has(h2:text-is('Requests')) tr:has-text('GET /api/v1/series/{name}') a").first();
  assert.match(await count.locator("xpath=..").getAttribute("title"), /NOT_FOUND: 60/);
  return `${await count.textContent()} of GET /api/v1/series/{name}, NOT_FOUND`;
});

task("9. a link to a table that is gone", async () => {
  await open(`#/tables?table=${encodeURIComponent("projects/sonde/instances/sonde/tables/batteri")}`);
  const problem = page.locator(".problem");
  await problem.waitFor();
  assert.match(await problem.innerText(), /No table projects\/sonde\/instances\/sonde\/tables\/batteri\. The nearest names are projects\/sonde\/instances\/sonde\/tables\/battery/);
  assert.equal(await page.locator("table.data").count(), 0);
  await problem.locator("a >> nth=0").click();
  await page.waitForSelector("h2 >> text=battery");
  expected(/status of 404/);
  return await page.locator(".detail h2 >> nth=0").innerText();
});

task("10. does the server answer? Since when not?", async () => {
  await open("#/");
  await page.waitForSelector(".tile strong");
  const ports = { grpc: Number(endpoint.split(":").at(-1)), http: Number(new URL(base).port) };
  const gone = new Promise((done) => server.once("exit", done));
  server.kill("SIGKILL");
  await gone;
  const banner = page.locator(".silence");
  await banner.locator("text=/No answer from 127.0.0.1:\\d+ since 20\\d\\d-/").waitFor({ timeout: 15_000 });
  const told = (await banner.innerText()).split("\n")[0];
  await picture("gone");
  ({ server, endpoint } = await startServer(binary, work, [], ports));
  await banner.waitFor({ state: "hidden", timeout: 15_000 });
  await page.waitForSelector("[data-part=health] >> text=Writes and reads go through");
  expected(/ERR_CONNECTION_REFUSED|Failed to load resource|ERR_/);
  return told;
});

task("11. which host is busier than a day before, and by how much?", async () => {
  const lines = [];
  for (let minute = 0; minute < 60; ++minute) {
    for (let host = 0; host < 12; ++host) {
      const at = start + minute * 60, usual = 20 + host;
      lines.push(`load,host=db${String(host).padStart(2, "0")} jobs=${usual * (host === 8 ? 1.75 : 1)} ${at}`, `load,host=db${String(host).padStart(2, "0")} jobs=${usual} ${at - 86_400}`);
    }
  }
  await write(lines);
  await open(`#/series?name=load&from=${start}&to=${start + 3600}`);
  await page.waitForSelector("[data-chart=series][data-points] canvas");
  await page.click(".caution button:has-text('ask for all')");
  await page.waitForSelector("[data-chart=series][data-lines='12'] canvas");
  await page.selectOption("label:has-text('Compare with') select", { label: "a day before" });
  await page.waitForSelector("[data-part=times] >> text=Dashed: a day before, 2026-01-14 12:00:00 UTC");
  await page.click(".legend thead button:has-text('Change of the mean')");
  const row = page.locator(".legend tbody tr >> nth=0");
  const [host, change] = [(await row.locator("th").textContent()).split(" · ")[0], await row.locator("td").last().textContent()];
  await picture("before");
  assert.deepEqual([host, change], ["db08", "+75%"]);
  return `${host}, ${change}`;
});

// ---- the run
let problems = [];
const allowed = [];
const expected = (line) => allowed.push(line);
const started = await startServer(binary, work);
({ server, endpoint } = started);
base = started.page;
let failures = 0;
try {
  await writeData();
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
  if (server.exitCode === null && server.signalCode === null) await new Promise((done) => server.on("exit", done));
  console.log(`screenshots: ${pictures}`);
  if (option > 0 || failures === 0) fs.rmSync(path.join(work, "data"), { recursive: true, force: true });
}
process.exit(failures > 0 ? 1 : 0);

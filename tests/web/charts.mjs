// What charts draw, beside what DuckDB says of the same points: means by group over 1,200 series, gaps, rates over counters that begin anew.
// SONDE_DUCKDB_PYTHON: a Python that has DuckDB (tests/conformance/run charts).
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";

import { consoleOf, launchBrowser, runTests, startServer } from "./server.mjs";

const binary = path.resolve(process.argv[2]);
const work = fs.mkdtempSync(path.join(os.tmpdir(), "sonde-charts-"));
const hosts = 1200, regions = 8, minutes = 60;
const start = Date.UTC(2026, 0, 15, 12) / 1000;
const chartMs = 1000;
const quiet = () => os.loadavg()[0] < os.cpus().length;

let base, page;
const tests = [];
const test = (name, body) => tests.push([name, body]);
let seed = 7;
const random = () => { seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff; return seed / 0x7fffffff; };

const csv = path.join(work, "points.csv");
async function writeData() {
  const lines = [], rows = ["host,region,time,usage,requests"];
  for (let host = 0; host < hosts; ++host) {
    let requests = Math.floor(random() * 1e6);
    const name = `h${String(host).padStart(4, "0")}`, region = `r${host % regions}`;
    for (let minute = 0; minute < minutes; ++minute) {
      // A region is silent for ten minutes, and others miss points of their own.
      if ((host % regions === 3 && minute >= 20 && minute < 30) || random() < 0.05) continue;
      if (random() < 0.02) requests = Math.floor(random() * 100);
      else requests += Math.floor(random() * 5000);
      const usage = Math.round(random() * 1e5) / 1e3, at = start + minute * 60 + (host % 50);
      lines.push(`cpu,host=${name},region=${region} usage=${usage},requests=${requests}i ${at}`);
      rows.push(`${name},${region},${at},${usage},${requests}`);
    }
  }
  fs.writeFileSync(csv, rows.join("\n") + "\n");
  for (let at = 0; at < lines.length; at += 20_000) {
    const answer = await fetch(`${base}api/v2/write?precision=s`, { method: "POST", body: lines.slice(at, at + 20_000).join("\n") });
    assert.equal(answer.status, 204, await answer.text());
  }
}

const duckdb = (sql) => JSON.parse(execFileSync(process.env.SONDE_DUCKDB_PYTHON, ["-c",
  "import duckdb, json, sys; print(json.dumps(duckdb.execute(sys.argv[1]).fetchall(), default=float))", sql.replaceAll("POINTS", `read_csv('${csv}')`)], { encoding: "utf8", maxBuffer: 1 << 28 }));

// A map from "line second" to the value.
const asMap = (rows) => new Map(rows.map(([line, second, value]) => [`${line} ${second}`, value]));
async function asked(hash) {
  await page.goto("about:blank");
  const begin = Date.now();
  const [response] = await Promise.all([page.waitForResponse((one) => /\/query\?.*group_by=/.test(one.url())), page.goto(`${base}${hash}&from=${start}&to=${start + minutes * 60}`)]);
  const answer = await response.json();
  await page.waitForSelector("[data-chart=series][data-points] canvas");
  return { answer, took: Date.now() - begin };
}
// The values of an answer, and those that the chart's box tells while the mouse goes over all of its buckets.
function answered(answer) {
  const of = (kind) => answer.columns.findIndex((one) => one.kind === kind);
  return asMap(answer.rows.filter((row) => row[of("number")] !== null).map((row) => [of("tag") < 0 ? "" : row[of("tag")], Date.parse(row[of("time")]) / 1000, row[of("number")]]));
}
async function told(step) {
  const chart = page.locator("[data-chart=series] .panel"), box = await chart.locator(".u-over").boundingBox();
  const seen = new Map();
  for (let x = 1; x < box.width; x += box.width / 600) {
    await page.mouse.move(box.x + x, box.y + box.height / 2);
    const rows = await chart.locator(".chart-tip").evaluate((tip) => (tip.hidden ? [] : [...tip.children].map((row) => [row.querySelector("span")?.textContent ?? row.textContent, row.querySelector("b")?.textContent ?? ""])));
    if (rows.length === 0) continue;
    const at = Date.parse(`${rows[0][0].replace(" UTC", "Z").replace(" ", "T")}`) / 1000;
    assert.equal(at % step, 0, rows[0][0]);
    for (const [label, value] of rows.slice(1)) seen.set(`${label.includes(" · ") ? label.split(" · ")[0] : ""} ${at}`, value);
  }
  return seen;
}
// As the page writes them: three places behind the point of 100, and the like.
const isShown = (text, value) => {
  const unit = { k: 1e3, M: 1e6, G: 1e9 }[text.match(/[kMG]/)?.[0]] ?? 1, shown = Number(text.replace(/[^\d.-]/g, "")) * unit;
  return Math.abs(shown - value) <= Math.max(Math.abs(value) * 0.006, 0.0051);
};

async function compare(hash, sql, step) {
  const { answer, took } = await asked(hash);
  const truth = asMap(duckdb(sql)), values = answered(answer);
  assert.equal(values.size, truth.size);
  for (const [key, value] of truth) assert.ok(Math.abs(values.get(key) - value) <= 1e-9 * Math.max(Math.abs(value), 1), `${key}: ${values.get(key)}, DuckDB has ${value}`);
  const drawn = await told(step);
  assert.deepEqual([...drawn.keys()].filter((key) => !truth.has(key)), []);
  assert.ok(drawn.size >= 0.95 * truth.size, `${drawn.size} of ${truth.size} values were told`);
  for (const [key, text] of drawn) assert.ok(isShown(text, truth.get(key)), `${key}: the page tells ${text}, DuckDB has ${truth.get(key)}`);
  console.log(`        ${truth.size} values, ${drawn.size} of them told by the mouse, ${took} ms until they were drawn`);
  return { answer, truth, took };
}

test("means by group over 1,200 series", async () => {
  const { took } = await compare("#/series?name=cpu&field=usage&group=region&every=5m&agg=avg",
    "SELECT region, (time // 300) * 300 AS at, avg(usage) FROM POINTS GROUP BY ALL", 300);
  assert.ok(took < chartMs || !quiet(), `drawn after ${took} ms`);
});

test("what is silent is a gap", async () => {
  const { truth } = await compare("#/series?name=cpu&field=usage&group=region&every=1m&agg=max&where=region%3Dr3",
    "SELECT region, (time // 60) * 60 AS at, max(usage) FROM POINTS WHERE region = 'r3' GROUP BY ALL", 60);
  assert.equal(truth.size, minutes - 10);
  assert.equal(await page.getAttribute("[data-chart=series]", "data-gaps"), "1");
});

test("rates over counters that begin anew", async () => {
  await compare("#/series?name=cpu&field=requests&group=region&every=5m&agg=avg&change=rate",
    `WITH steps AS (SELECT region, time, requests, lag(requests) OVER host AS before, time - lag(time) OVER host AS passed FROM POINTS WINDOW host AS (PARTITION BY host ORDER BY time))
     SELECT region, (time // 300) * 300 AS at, avg(CASE WHEN requests >= before THEN requests - before ELSE requests END / passed) FROM steps WHERE before IS NOT NULL GROUP BY ALL`, 300);
});

test("increases are summed whole", async () => {
  await compare("#/series?name=cpu&field=requests&group=-&every=15m&agg=sum&change=increase",
    `WITH steps AS (SELECT time, requests, lag(requests) OVER host AS before FROM POINTS WINDOW host AS (PARTITION BY host ORDER BY time))
     SELECT '', (time // 900) * 900 AS at, sum(CASE WHEN requests >= before THEN requests - before ELSE requests END)::DOUBLE FROM steps WHERE before IS NOT NULL GROUP BY ALL`, 900);
});

const { server, page: address } = await startServer(binary, work);
base = address;
let failures = 0;
try {
  await writeData();
  const browser = await launchBrowser();
  page = await (await browser.newContext({ viewport: { width: 1400, height: 900 }, timezoneId: "Etc/UTC" })).newPage();
  page.setDefaultTimeout(15_000);
  const problems = consoleOf(page);
  failures = await runTests(tests, (count) => page.screenshot({ path: path.join(work, `failed-${count}.png`) }));
  if (problems.length > 0) {
    ++failures;
    console.log(`FAILED  the console is silent\n${problems.join("\n")}`);
  }
  await browser.close();
} finally {
  server.kill("SIGTERM");
  await new Promise((done) => server.once("exit", done));
}
if (failures === 0) fs.rmSync(work, { recursive: true, force: true });
else console.log(`pictures of failures: ${work}`);
process.exit(failures > 0 ? 1 : 0);

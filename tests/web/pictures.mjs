// The pictures of README and of the lesson (docs/designing.md), of a server under a load like that of a real one: see `run`.
import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";

import { consoleOf, json, launchBrowser, runTests, startServer } from "./server.mjs";

const binary = path.resolve(process.argv[2]);
const repository = path.resolve(import.meta.dirname, "../..");
const option = (name) => process.argv.includes(name) && path.resolve(process.argv[process.argv.indexOf(name) + 1]);
const work = fs.mkdtempSync(path.join(os.tmpdir(), "sonde-pictures-"));
const forDocuments = option("--pictures");   // then a minute and a half of load, else a look whether they can be made
const pictures = forDocuments || option("--screenshots") || path.join(work, "screenshots");
fs.mkdirSync(pictures, { recursive: true });

const bytesMax = 150_000;
const loadMs = forDocuments ? 75_000 : 12_000;
const windowSeconds = 90;
const users = 60, hosts = 24, historyMinutes = 120;

let page, base, loads = true;
const post = async (url, body, type = "text/plain") => {
  const answer = await fetch(base + url, { method: "POST", body, headers: { "content-type": type } });
  const text = await answer.text();
  assert.ok(answer.ok, `${url}: ${text}`);
};

// ---- the load
const hostName = (i) => `web${String(i).padStart(2, "0")}`;
const usage = (host, seconds) => 35 + 2 * host + 18 * Math.sin(seconds / 1700 + host) + 6 * Math.sin(seconds / 130 + 3 * host) + 3 * Math.sin(seconds * 1.7 + host);
const cpuLines = (seconds) => Array.from({ length: hosts }, (_, i) => `cpu,host=${hostName(i)},region=${["eu", "us", "asia"][i % 3]} usage=${Math.max(0, usage(i, seconds)).toFixed(2)} ${seconds}`);

async function declare(name, file) {
  const put = await fetch(`${base}api/v1/series/${name}`, { method: "PUT", body: fs.readFileSync(path.join(repository, file)) });
  assert.equal(put.status, 200, await put.text());
}

// Each user's battery once in this tenth of a second, under both keys.
async function writeBatteries(at, first, count) {
  const lines = [];
  for (let i = 0; i < count; ++i) lines.push(JSON.stringify({ time: new Date(at + i).toISOString(), user: `user${String((first + i * 7) % users).padStart(2, "0")}`, percentage: 20 + ((first + i) % 80) }));
  await Promise.all(["battery_bad", "battery"].map((name) => post(`api/v1/series/${name}/write`, lines.join("\n"), "application/json")));
}

async function prepare() {
  await declare("battery_bad", "examples/battery/bad.yaml");
  await declare("battery", "examples/battery/promoted.yaml");
  const start = Math.floor(Date.now() / 1000), history = [];
  for (let minute = historyMinutes * 6; minute > 0; --minute) history.push(...cpuLines(start - 10 * minute));
  await post("write?precision=s", history.join("\n"));
  for (let i = 0; i < 20; ++i) await writeBatteries(Date.now() - 600_000 + 1000 * i, i * users, users);
}

async function load() {
  for (let tick = 0; loads; ++tick) {
    await post("write?precision=s", cpuLines(Math.floor(Date.now() / 1000)).join("\n"));
    await writeBatteries(Date.now(), tick, 12);
    await json(`${base}api/v1/series/cpu/query?where=host=${hostName(tick % hosts)}&last=1h&agg=max&every=minute`);
    await json(`${base}api/v1/series/battery/query?where=user=user${String(tick % users).padStart(2, "0")}&latest=1`);
    if (tick % 40 === 0) await post("api/v1/sql", JSON.stringify({ query: "SELECT host, MAX(usage) AS most FROM series.cpu GROUP BY host" }), "application/json");
    await new Promise((done) => setTimeout(done, 100));
  }
}

// ---- the pictures
const open = async (hash, scheme) => {
  await page.emulateMedia({ colorScheme: scheme });
  await page.goto("about:blank");
  await page.goto(base + hash);
};
const picture = async (name, target = page) => {
  const file = path.join(pictures, `${name}.png`);
  await target.screenshot({ path: file });
  const bytes = fs.statSync(file).size;
  console.log(`  ${name}.png ${bytes} bytes`);
  assert.ok(bytes > 1_000 && bytes < bytesMax, `${name}.png has ${bytes} bytes; allowed: fewer than ${bytesMax}`);
};

const tests = [];
for (const [name, table] of [["keys-hot", "battery_bad"], ["keys-spread", "battery"]]) {
  tests.push([`the key visualizer of ${table}`, async () => {
    await open(`#/keys?table=${encodeURIComponent(`projects/sonde/instances/sonde/tables/${table}`)}&metric=writes&window=${windowSeconds}`, "light");
    await page.waitForSelector("canvas[data-total]");
    await page.waitForTimeout(1500);
    await picture(name, page.locator("canvas[data-total]"));
  }]);
}
for (const scheme of ["light", "dark"]) {
  tests.push([`the overview in ${scheme}, under load`, async () => {
    await open("#/", scheme);
    await page.waitForSelector('[data-chart="throughput"] canvas');
    await page.waitForSelector("td >> text=POST /write");
    await page.waitForTimeout(5000);   // two looks at the processor's time
    await picture(`overview-${scheme}`);
  }]);
  tests.push([`a series in ${scheme}`, async () => {
    await open("#/series?name=cpu&agg=avg&group=region&every=1m", scheme);
    await page.waitForSelector("[data-points]");
    await page.waitForTimeout(800);
    await picture(`series-${scheme}`);
  }]);
}

const { server, page: address } = await startServer(binary, work, forDocuments ? ["--durability", "fsync"] : []);
base = address;
let failures = 0;
try {
  await prepare();
  const loading = load();
  await new Promise((done) => setTimeout(done, loadMs));
  const browser = await launchBrowser();
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 } });
  page = await context.newPage();
  page.setDefaultTimeout(20_000);
  const problems = consoleOf(page);
  // A picture shows a server as it is installed: nobody's temporary directory, and the usual port.
  await page.route("**/api/v1/overview", async (route) => {
    const answer = await (await route.fetch()).json();
    await route.fulfill({ json: { ...answer, data_dir: "/var/lib/sonde", grpc_address: "127.0.0.1:8086" } });
  });
  failures = await runTests(tests, (count) => page.screenshot({ path: path.join(work, `failed-${count}.png`) }));
  if (problems.length > 0) {
    ++failures;
    console.log(`FAILED  the console is silent\n${problems.join("\n")}`);
  }
  await browser.close();
  loads = false;
  await loading;
} finally {
  server.kill("SIGTERM");
  await new Promise((done) => server.once("exit", done));
}
if (failures === 0) fs.rmSync(work, { recursive: true, force: true });
else console.log(`pictures of failures: ${work}`);
process.exit(failures > 0 ? 1 : 0);

// PromQL on the page: questions with completion, their charts, errors at their places; which labels cost most.
import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";

import { consoleOf, json, launchBrowser, runTests, startServer } from "./server.mjs";

const binary = path.resolve(process.argv[2]);
const option = process.argv.indexOf("--screenshots");
const work = fs.mkdtempSync(path.join(os.tmpdir(), "sonde-promql-"));
const pictures = option > 0 ? path.resolve(process.argv[option + 1]) : path.join(work, "screenshots");
fs.mkdirSync(pictures, { recursive: true });
const axe = fs.readFileSync(path.join(process.env.SONDE_WEB_PACKAGES, "axe-core/axe.min.js"), "utf8");

const hosts = 30, minutes = 50;
let base, page;
let problems = [];
const expected = (pattern) => {
  const found = problems.findIndex((one) => pattern.test(one));
  assert.ok(found >= 0, `the console does not say ${pattern}: ${problems}`);
  problems.splice(found, 1);
};
const tests = [];
const test = (name, body) => tests.push([name, body]);
const open = async (hash) => {
  await page.goto("about:blank");
  await page.goto(base + hash);
};
const ask = async (query) => {
  await page.fill(".sql-input", query);
  await page.press(".sql-input", "Control+Enter");
};
const picture = (name) => page.screenshot({ path: path.join(pictures, `${name}.png`), fullPage: true });
const offered = () => page.locator(".sql-words li span").allTextContents();

async function writePoints() {
  const now = Math.floor(Date.now() / 1000), lines = [];
  for (let host = 0; host < hosts; ++host) {
    for (let minute = 0; minute < minutes; ++minute) {
      const at = now - 60 * minute;
      lines.push(`requests_total,host=host_${host},job=${host % 3 ? "api" : "web"} value=${(minutes - minute) * (host + 1)} ${at}`);
      lines.push(`cpu,host=host_${host} user=${(50 + 40 * Math.sin(minute / 8 + host)).toFixed(2)},note="n" ${at}`);
    }
  }
  const answer = await fetch(`${base}write?precision=s`, { method: "POST", body: lines.join("\n"), headers: { "content-type": "text/plain" } });
  assert.equal(answer.status, 204, await answer.text());
}

test("an empty server takes a question, too", async () => {
  await open("#/series?view=promql&query=up");
  await page.waitForSelector("[data-chart=promql] >> text=No samples here");
});

test("a question over all series is drawn", async () => {
  await writePoints();
  await open("#/series");
  await page.click("text=Ask in PromQL over all series");
  await ask("sum by (job) (rate(requests_total[5m]))");
  await page.waitForSelector("[data-chart=promql] canvas");
  await page.waitForFunction(() => document.querySelector("[data-chart=promql]").dataset.lines === "2");
  assert.deepEqual((await page.locator(".legend tbody th").allTextContents()).sort(), ["{job=\"api\"}", "{job=\"web\"}"]);
  assert.match(page.url(), /view=promql&query=sum\+by/);
  // What the chart says is what the API says: the mean of the last five minutes.
  const { data } = await json(`${base}api/v1/query?${new URLSearchParams({ query: "sum(rate(requests_total{job=\"web\"}[5m]))" })}`);
  const shown = await page.locator(".legend tbody tr", { hasText: "web" }).locator("td").first().textContent();
  assert.ok(Math.abs(Number(shown) - Number(data.result[0].value[1])) < 0.1, `${shown}, ${JSON.stringify(data.result)}`);
  // A link has the question and its time.
  await page.selectOption("label:has-text('Time') select", "86400");
  await page.waitForFunction(() => location.hash.includes("last=86400"));
  const link = page.url();
  await page.goto("about:blank");
  await page.goto(link);
  await page.waitForSelector("[data-chart=promql] canvas");
  assert.equal(await page.inputValue(".sql-input"), "sum by (job) (rate(requests_total[5m]))");
});

test("of many lines the largest are drawn, and the page says so", async () => {
  await open(`#/series?${new URLSearchParams({ view: "promql", query: "requests_total" })}`);
  await page.waitForSelector(`text=The chart shows 24 of ${hosts} lines`);
  assert.ok((await page.locator(".legend tbody th").allTextContents()).some((one) => one.includes(`host_${hosts - 1}`)));
});

test("what the server notices is shown", async () => {
  await open(`#/series?${new URLSearchParams({ view: "promql", query: "rate(cpu_user[5m])" })}`);
  await page.waitForSelector(".caution >> text=metric might not be a counter");
});

test("names of metrics, labels and functions are completed", async () => {
  await open("#/series?view=promql");
  await page.waitForSelector(".list a"); // the names have come
  await page.waitForTimeout(300);
  await page.fill(".sql-input", "");
  await page.type(".sql-input", "req");
  await page.keyboard.press("Control+Space");
  assert.deepEqual(await offered(), ["requests_total"]);
  await page.keyboard.press("Enter");
  await page.type(".sql-input", "{");
  await page.keyboard.press("Control+Space");
  assert.deepEqual(await offered(), ["__name__", "host", "job"]);
  await page.type(".sql-input", "jo");
  assert.deepEqual(await offered(), ["job"]);
  await page.keyboard.press("Enter");
  await page.type(".sql-input", "=\"w");
  await page.keyboard.press("Control+Space");
  assert.deepEqual(await offered(), []); // a text is not completed
  await page.type(".sql-input", "eb\"}");
  assert.equal(await page.inputValue(".sql-input"), "requests_total{job=\"web\"}");
  await page.fill(".sql-input", "");
  await page.type(".sql-input", "sum by (ho");
  await page.keyboard.press("Control+Space");
  assert.deepEqual(await offered(), ["host"]);
  await page.keyboard.press("Escape");
  await page.fill(".sql-input", "");
  await page.type(".sql-input", "quantile");
  await page.keyboard.press("Control+Space");
  assert.deepEqual(await offered(), ["quantile", "quantile_over_time"]);
  await page.keyboard.press("Escape");
});

test("every word that is offered is one of the language", async () => {
  const file = fs.readFileSync(path.resolve(import.meta.dirname, "../../web/src/series/promql_words.ts"), "utf8");
  const list = (name) => [...new RegExp(`export const ${name} = \\[([^\\]]*)\\]`).exec(file)[1].matchAll(/"(\w+)"/g)].map((one) => one[1]);
  const refused = [];
  for (const name of [...list("aggregations"), ...list("functions")]) {
    const answer = await json(`${base}api/v1/parse_query?query=${name}()`);
    // Without arguments most are refused, but not because nobody knows them.
    if (/unknown function|not enabled|experimental|unexpected identifier/.test(answer.error ?? "")) refused.push(`${name}: ${answer.error}`);
  }
  assert.deepEqual(refused, []);
  assert.match((await json(`${base}api/v1/parse_query?query=no_such_function()`)).error, /unknown function/);
});

test("an error is told in Prometheus' words, and marked where it is", async () => {
  await open("#/series?view=promql");
  await ask("sum(up)\n  by (job) +* 2");
  await page.waitForSelector(".problem >> text=parse error");
  await page.waitForSelector(".sql-copy .wrong");
  assert.equal(await page.locator(".sql-copy .wrong").textContent(), "*");
  expected(/status of 400/);
  await ask("up{");
  await page.waitForSelector(".problem >> text=unexpected end of input");
  expected(/status of 400/);
  await ask("1 + 1");
  await page.waitForSelector("[data-chart=promql] canvas");
  assert.equal(await page.locator(".sql-copy .wrong").count(), 0);
});

test("the overview shows which labels cost most", async () => {
  await open("#/");
  const card = page.locator("[data-part=cardinality]");
  await card.waitFor();
  await card.getByText(`${2 * hosts} series of Prometheus`).waitFor();
  await card.getByText(/[1-9] names of series, at most 100 k/).waitFor();
  await card.getByText(/[0-9]+ new sets of labels since/).waitFor();
  const rows = (part) => card.locator(`[data-part=${part}] li`).allTextContents();
  assert.deepEqual(await rows("label-values"), [`host${hosts}`, "__name__2", "job2"]);
  assert.deepEqual(await rows("metrics"), [`cpu_user${hosts}`, `requests_total${hosts}`]);
  assert.match((await rows("label-bytes"))[0], /^__name__/);
  await card.getByText("Those of all time").click();
  await card.getByText("of all time").first().waitFor();
  await card.locator("[data-part=pairs] a").first().click();
  await page.waitForSelector("[data-chart=promql] canvas");
});

test("nobody is shut out", async () => {
  const found = [];
  for (const scheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme: scheme });
    for (const [hash, ready] of [[`#/series?${new URLSearchParams({ view: "promql", query: "topk(5, cpu_user)" })}`, ".legend tbody tr"], ["#/", "[data-part=cardinality]"]]) {
      await open(hash);
      await page.waitForSelector(ready);
      await page.waitForTimeout(500);
      await page.evaluate(axe);
      const { violations } = await page.evaluate(() => window.axe.run({ include: [["[data-part=promql], [data-part=cardinality]"]] }, { resultTypes: ["violations"] }));
      for (const one of violations) found.push(`${scheme} ${hash}: ${one.id}: ${one.help}: ${one.nodes.map((node) => node.target.join(" ")).slice(0, 4).join(", ")}`);
      await picture(`promql-${scheme}-${hash.length > 2 ? "series" : "overview"}`);
    }
  }
  await page.emulateMedia({ colorScheme: "light" });
  assert.deepEqual(found, []);
});

// ---- the run
const { server, page: address } = await startServer(binary, work);
base = address;
let failures = 0;
try {
  const browser = await launchBrowser();
  const context = await browser.newContext({ viewport: { width: 1400, height: 900 }, bypassCSP: true });
  page = await context.newPage();
  page.setDefaultTimeout(10_000);
  problems = consoleOf(page);
  failures = await runTests(tests, (count) => picture(`promql-failed-${count}`));
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

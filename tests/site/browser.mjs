// The built site as people see it: see `run`.
import assert from "node:assert/strict";
import fs from "node:fs";
import http from "node:http";
import { createRequire } from "node:module";
import path from "node:path";

import { consoleOf, launchBrowser, runTests } from "../web/server.mjs";

const axe = createRequire(path.join(process.env.SONDE_WEB_PACKAGES, "x.js")).resolve("axe-core/axe.min.js");
const site = path.resolve(process.argv[2]);
const option = process.argv.indexOf("--screenshots");
const pictures = option > 0 && process.argv[option + 1];
if (pictures) fs.mkdirSync(pictures, { recursive: true });

const kinds = { ".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml", ".png": "image/png", ".json": "application/json" };
const server = http.createServer((request, response) => {
  let file = path.join(site, decodeURIComponent(new URL(request.url, "http://x").pathname));
  if (file.endsWith("/")) file += "index.html";
  if (!file.startsWith(site) || !fs.existsSync(file)) return void response.writeHead(404).end();
  response.writeHead(200, { "content-type": kinds[path.extname(file)] ?? "application/octet-stream" }).end(fs.readFileSync(file));
});
await new Promise((done) => server.listen(0, "127.0.0.1", done));
const base = `http://127.0.0.1:${server.address().port}/`;

const pages = ["", "docs/", "docs/install/", "docs/first-server/", "docs/designing/", "docs/sizing/", "docs/recipes/kafka/", "docs/troubleshooting/", "docs/commands/",
  "docs/metrics/", "docs/decisions/0038-documents/", "docs/formats/segment/", "bench/RESULTS/"];
const foreign = [], problems = [];
let browser, page;
// A reader of their own for each test: the theme remembers what was chosen.
async function reader(colorScheme = "light", width = 1400, height = 900) {
  await page?.context().close();
  page = await (await browser.newContext({ colorScheme, viewport: { width, height } })).newPage();
  page.setDefaultTimeout(20_000);
  page.on("request", (request) => { if (!/^(data|blob):/.test(request.url()) && !request.url().startsWith(base)) foreign.push(request.url()); });
  problems.push(consoleOf(page));
}
const open = (place) => page.goto(base + place, { waitUntil: "load" });

const tests = [];
const test = (name, body) => tests.push([name, body]);

for (const [width, height] of [[1400, 900], [390, 844]]) {
  for (const scheme of ["light", "dark"]) {
    test(`pages at ${width} pixels in ${scheme}`, async () => {
      await reader(scheme, width, height);
      for (const place of width > 1000 ? pages : pages.slice(4, 9)) {
        await open(place);
        assert.equal(await page.locator("h1").count(), 1, `${place} has one title`);
        const [there, room] = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
        assert.ok(there <= room, `${place} is ${there} pixels wide, and the window ${room}`);
        const broken = await page.evaluate(() => [...document.images].filter((image) => image.complete && image.naturalWidth === 0).map((image) => image.src));
        assert.deepEqual(broken, [], `${place} lacks pictures`);
        const background = await page.evaluate(() => getComputedStyle(document.body).backgroundColor.match(/\d+/g).slice(0, 3).map(Number));
        assert.equal(background[0] > 128, scheme === "light", `${place} has the background ${background}`);
        if (pictures) await page.screenshot({ path: path.join(pictures, `${place.replaceAll("/", "-") || "home-"}${width}-${scheme}.png`) });
      }
    });
  }
}

// The page's own formula, in this test's words.
const expected = { series: 2000, fields: 5, seconds: 60, days: 30 };
test("the calculator sizes as its page says", async () => {
  const text = fs.readFileSync(new URL("../../docs/sizing.md", import.meta.url), "utf8");
  const [, perCell, written] = text.match(/^\| meters \|[^|]*\| bucket \| ([\d.]+) \| ([\d.]+) \|$/m).map(Number);
  const taken = Number(text.match(/took ([\d,]+) cells a second/)[1].replaceAll(",", ""));
  await reader();
  await open("docs/sizing/");
  for (const [name, value] of Object.entries(expected)) await page.fill(`.sizing input[name=${name}]`, String(value));
  await page.selectOption(".sizing select", { label: `meters, bucket rows (${perCell} B a cell)` });
  const lines = await page.locator(".sizing output li").allTextContents();
  const cells = (expected.series * expected.fields) / expected.seconds, stored = cells * 86400 * expected.days * perCell;
  const near = (text, wanted, unit) => {
    const [, number, shown] = text.match(/: ([\d.,]+) ?(\S*)$/);
    assert.equal(shown, unit, text);
    assert.ok(Math.abs(Number(number.replaceAll(",", "")) / wanted - 1) < 0.01, `${text}: not near ${wanted}`);
  };
  near(lines[0], cells, "");
  near(lines[1], stored / 1e6, "MB");
  near(lines[2], (2 * stored) / 1e9, "GB");
  near(lines[3], (cells * 86400 * written) / 1e6, "MB");
  near(lines[4].replace("%", ""), (100 * cells) / taken, "");
  await page.fill(".sizing input[name=seconds]", "0");
  assert.match(await page.textContent(".sizing output"), /Seconds between two points: a number from 0.001/);
  if (pictures) await page.screenshot({ path: path.join(pictures, "calculator.png") });
});

test("the search finds a message", async () => {
  await reader();
  await open("");
  await page.keyboard.press("/");
  await page.keyboard.type("field type conflict");
  await page.waitForSelector('.md-search-result__link[href*="troubleshooting"]');
});

test("a person on the first page reaches the lesson by links", async () => {
  await reader();
  await open("");
  await page.click("article >> text=docs/README.md");
  await page.click("article >> text=designing.md");
  await page.waitForSelector("h1 >> text=Designing a series");
});

test("axe finds no serious fault", async () => {
  for (const scheme of ["light", "dark"]) {
    await reader(scheme);
    for (const place of ["docs/sizing/", "docs/designing/", "docs/troubleshooting/"]) {
      await open(place);
      await page.addScriptTag({ path: axe });
      // The pages' own part: the frame around them is the theme's.
      const { violations } = await page.evaluate(() => window.axe.run("article", { resultTypes: ["violations"] }));
      const grave = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
      assert.deepEqual(grave.map(({ id, nodes }) => `${id}: ${nodes[0].html.slice(0, 160)}`), [], `${place} in ${scheme}`);
    }
  }
});

test("nothing is asked of other hosts", async () => assert.deepEqual(foreign, []));

browser = await launchBrowser();
let failures = await runTests(tests, (count) => pictures && page.screenshot({ path: path.join(pictures, `failed-${count}.png`) }));
if (problems.flat().length > 0) {
  ++failures;
  console.log(`FAILED  the console is silent\n${problems.flat().join("\n")}`);
}
await browser.close();
server.close();
process.exit(failures > 0 ? 1 : 0);

// The login of the page in a browser, over TLS with a server as `sonde init` sets it up: see `run`.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import fs from "node:fs";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";

const { chromium } = createRequire(path.join(process.env.SONDE_WEB_PACKAGES, "x.js"))("playwright-core");
const binary = path.resolve(process.argv[2]);
const option = process.argv.indexOf("--screenshots");
const work = fs.mkdtempSync(path.join(os.tmpdir(), "sonde-login-"));
const data = path.join(work, "data");
const pictures = option > 0 ? path.resolve(process.argv[option + 1]) : path.join(work, "screenshots");
fs.mkdirSync(pictures, { recursive: true });

const sonde = (...words) => execFileSync(binary, [...words, "--data-dir", data], { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
const makeToken = (name) => sonde("auth", "create-token", name, "--expires", "1d").trim().split("\n").pop();

async function startServer() {
  const out = path.join(work, "stdout");
  const server = spawn(binary, ["serve", "--config", path.join(data, "sonde.yaml"), "--port", "0", "--http-port", "0"],
    { stdio: ["ignore", fs.openSync(out, "w"), fs.openSync(path.join(work, "log"), "w")] });
  for (let i = 0; i < 300; ++i) {
    const text = fs.readFileSync(out, "utf8");
    const page = text.match(/web page at (\S+)/)?.[1];
    if (page && text.includes("listening on")) return { server, page };
    assert.equal(server.exitCode, null, fs.readFileSync(path.join(work, "log"), "utf8"));
    await new Promise((done) => setTimeout(done, 100));
  }
  throw new Error("the server did not start");
}

sonde("init");
const token = makeToken("watcher"), other = makeToken("other");
sonde("auth", "bind", "watcher", "roles/bigtable.admin");
sonde("auth", "bind", "other", "roles/bigtable.admin");
const { server, page: base } = await startServer();
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"] });
let failed = false;
try {
  const context = await browser.newContext({ ignoreHTTPSErrors: true, viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  const problems = [];
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("console", (message) => { if (message.type() === "error" && !/401/.test(message.text())) problems.push(message.text()); });
  const picture = (name) => page.screenshot({ path: path.join(pictures, `login-${name}.png`) });
  const logIn = async (text) => {
    await page.fill("input[name=token]", text);
    await page.click("button");
  };

  await page.goto(base);
  assert.equal(page.url(), `${base}login`, "a browser without a session is shown the login");
  for (const scheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme: scheme });
    await picture(scheme);
  }
  await logIn("sonde_0123456789ab_" + "A".repeat(43));
  await page.waitForSelector("[role=alert]");
  await picture("refused");
  assert.deepEqual(await context.cookies(), [], "a wrong token gives no cookie");

  await logIn(token);
  await page.waitForSelector(".tile strong");
  assert.equal(page.url(), base, "the token is in no address");
  const [cookie, ...more] = await context.cookies();
  assert.equal(more.length, 0);
  assert.deepEqual([cookie.name, cookie.httpOnly, cookie.secure, cookie.sameSite, cookie.path, cookie.domain],
    ["__Host-sonde", true, true, "Strict", "/", new URL(base).hostname]);
  assert.match(cookie.value, /^[A-Za-z0-9_-]{43}$/);
  assert.ok(Math.abs(cookie.expires - Date.now() / 1000 - 12 * 3600) < 120, "the cookie holds for 12 hours");
  assert.equal(await page.evaluate(() => document.cookie), "", "no script sees the cookie");
  const kept = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, location.href]));
  assert.ok(!kept.includes(token) && !kept.includes(cookie.value), "no storage has a secret");
  await page.waitForSelector("button.leave:visible");
  for (const scheme of ["dark", "light"]) {
    await page.emulateMedia({ colorScheme: scheme });
    await page.waitForTimeout(300);
    await picture(`inside-${scheme}`);
  }
  // A query is a POST, whose origin the browser tells.
  await page.goto(`${base}#/sql`);
  const answer = await page.evaluate(async () => {
    const response = await fetch("/api/v1/sql", { method: "POST", body: JSON.stringify({ query: "SELECT 1" }) });
    return response.status;
  });
  assert.equal(answer, 200);

  await page.click("button.leave");
  await page.waitForSelector("input[name=token]");
  assert.deepEqual(await context.cookies(), [], "the logout takes the cookie away");
  const stale = await context.request.get(`${base}api/v1/session`, { headers: { cookie: `__Host-sonde=${cookie.value}` } });
  assert.equal(stale.status(), 401, "the session has ended at the server, too");

  await logIn(other);
  await page.waitForSelector(".tile strong");
  sonde("auth", "revoke", other.split("_")[1]);
  server.kill("SIGHUP");
  await page.waitForSelector("input[name=token]", { timeout: 20000 });
  assert.equal(page.url(), `${base}login`, "a session whose token is revoked leads to the login");

  assert.deepEqual(problems, [], "the browser complains of nothing");
  const written = fs.readFileSync(path.join(work, "log"), "utf8") + fs.readFileSync(path.join(data, "audit.log"), "utf8");
  for (const secret of [token, other, cookie.value]) assert.ok(!written.includes(secret.slice(-43)), "no log has a secret");
  console.log("login: the form, the cookie, the page, the logout and a revoked token are as they must be");
} catch (error) {
  console.error(error);
  failed = true;
} finally {
  await browser.close();
  server.kill("SIGTERM");
  await new Promise((done) => (server.exitCode === null ? server.once("exit", done) : done()));
  fs.rmSync(work, { recursive: true, force: true });
}
process.exit(failed ? 1 : 0);

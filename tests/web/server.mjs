// What the suites of the page share: a server of theirs, questions to it, and a browser that nobody sees.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import fs from "node:fs";
import http from "node:http";
import { createRequire } from "node:module";
import path from "node:path";

const { chromium } = createRequire(path.join(process.env.SONDE_WEB_PACKAGES, "x.js"))("playwright-core");

// A server with its data, output and log below `work`; `more`: further arguments; `ports`: those to listen on, any when missing.
export async function startServer(binary, work, more = [], ports = { grpc: 0, http: 0 }) {
  const out = path.join(work, "stdout");
  const server = spawn(binary, ["serve", "--port", String(ports.grpc), "--http-port", String(ports.http), ...(more.includes("--durability") ? [] : ["--durability", "os"]), "--data-dir", path.join(work, "data"), ...more],
    { stdio: ["ignore", fs.openSync(out, "w"), fs.openSync(path.join(work, "log"), "w")] });
  for (let i = 0; i < 300; ++i) {
    const text = fs.readFileSync(out, "utf8");
    const page = text.match(/web page at (\S+)/)?.[1], endpoint = text.match(/listening on (\S+)/)?.[1];
    if (endpoint) return { server, page, endpoint };
    assert.equal(server.exitCode, null, fs.readFileSync(path.join(work, "log"), "utf8"));
    await new Promise((done) => setTimeout(done, 100));
  }
  throw new Error("the server did not start");
}

export const get = (url, headers = {}) => new Promise((done, fail) => http.get(url, { headers }, (response) => {
  const parts = [];
  response.on("data", (part) => parts.push(part));
  response.on("end", () => done({ status: response.statusCode, headers: response.headers, body: Buffer.concat(parts) }));
}).on("error", fail));
export const json = async (url) => JSON.parse((await get(url)).body);

export const launchBrowser = () => chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"] });

// The errors that a page tells its console, as they come.
export function consoleOf(page) {
  const problems = [];
  // Between two pages there is an empty one, which is none of Sonde's. The browser asks for the icon by itself, and gives it up with this error where a test ends
  // a route while it is asked for.
  const isOurs = (message) => message.location().url !== "about:blank" && !(/net::ERR_FAILED/.test(message.text()) && /\/icon\.svg$/.test(message.location().url));
  page.on("console", (message) => { if (message.type() === "error" && isOurs(message)) problems.push(`${message.text()} ${message.location().url}`); });
  page.on("pageerror", (error) => problems.push(String(error)));
  return problems;
}

// Runs tests, pairs of a name and a body, in their order, and tells of each; a body may give the reason why it was not run. SONDE_WEB_ONLY: those
// whose names have it. Returns how many failed; `onFailure` is told each time how many so far.
export async function runTests(tests, onFailure) {
  let failures = 0;
  for (const [name, body] of tests) {
    if (process.env.SONDE_WEB_ONLY && !name.includes(process.env.SONDE_WEB_ONLY)) continue;
    try {
      const skipped = await body();
      console.log(`${skipped ? "not run" : "ok     "} ${name}${skipped ? `: ${skipped}` : ""}`);
    } catch (error) {
      console.log(`FAILED  ${name}\n${error.stack ?? error}`);
      await Promise.resolve(onFailure(++failures)).catch(() => {});
    }
  }
  return failures;
}

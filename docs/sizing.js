// The calculator of docs/sizing.md. Its figures are those of the page's table and of the text below it, which a test compares with bench/RESULTS.md.
"use strict";

(() => {
  const SECONDS_PER_DAY = 86400;
  const INPUTS = [
    ["series", "Series (hosts, sensors, symbols)", 1000, 1, 1e9],
    ["fields", "Fields of a point", 10, 1, 10000],
    ["seconds", "Seconds between two points", 10, 0.001, 1e9],
    ["days", "Days that points are kept", 365, 1, 100000],
  ];

  const format = (number, digits = 3) => number.toLocaleString("en-US", { maximumSignificantDigits: digits });
  const bytes = (count) => {
    const units = ["B", "kB", "MB", "GB", "TB", "PB", "EB"];
    let i = 0;
    for (; count >= 1000 && i + 1 < units.length; ++i) count /= 1000;
    return `${format(count)} ${units[i]}`;
  };

  // Rows of the page's table: {kind, rows, stored, written}, both in bytes a cell.
  function readKinds(root) {
    const kinds = [];
    for (const row of root.querySelectorAll("table tbody tr")) {
      const [kind, , rows, stored, written] = [...row.cells].map((cell) => cell.textContent.trim());
      if (rows === "bucket" || rows === "tall") kinds.push({ kind, rows, stored: Number(stored), written: Number(written) });
    }
    return kinds;
  }

  function size({ series, fields, seconds, days, kind, measured }) {
    const cells = (series * fields) / seconds;
    const stored = cells * SECONDS_PER_DAY * days * kind.stored;
    return { cells, stored, planned: 2 * stored, writtenADay: cells * SECONDS_PER_DAY * kind.written, load: cells / measured };
  }

  function element(tag, attributes = {}, ...children) {
    const one = Object.assign(document.createElement(tag), attributes);
    one.append(...children);
    return one;
  }

  function start() {
    const place = document.getElementById("calculator");
    if (!place || place.firstChild) return;
    const article = place.closest("article") ?? document;
    const kinds = readKinds(article);
    const measured = Number(article.textContent.match(/took ([\d,]+) cells a second/)[1].replaceAll(",", ""));
    const choice = element("select", { name: "kind" }, ...kinds.map((one, i) => element("option", { value: i }, `${one.kind}, ${one.rows} rows (${one.stored} B a cell)`)));
    const inputs = INPUTS.map(([name, , value, min, max]) => element("input", { name, type: "number", value, min, max, step: "any", required: true }));
    const answer = element("output", { name: "answer" });
    const label = (text, input) => element("label", {}, text, input);
    const form = element("form", { className: "sizing" }, ...inputs.map((input, i) => label(INPUTS[i][1], input)), label("Data like", choice), answer);
    const show = () => {
      if (!form.checkValidity()) {
        const wrong = inputs.find((input) => !input.validity.valid);
        answer.textContent = `${INPUTS[inputs.indexOf(wrong)][1]}: a number from ${format(Number(wrong.min), 6)} to ${format(Number(wrong.max), 6)}.`;
        return;
      }
      const values = Object.fromEntries(inputs.map((input) => [input.name, Number(input.value)]));
      const found = size({ ...values, kind: kinds[choice.value], measured });
      const line = (text, value) => element("li", {}, `${text} `, element("strong", {}, value));
      answer.replaceChildren(element("ul", {},
        line("Cells a second:", format(found.cells)),
        line("Stored, settled:", bytes(found.stored)),
        line("Disk to plan (twice that):", bytes(found.planned)),
        line("Written to the disk a day:", bytes(found.writtenADay)),
        line("Of what two processors took when measured:", `${format(100 * found.load)}%`)));
    };
    form.addEventListener("input", show);
    form.addEventListener("submit", (event) => event.preventDefault());
    place.append(form);
    show();
  }

  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();

// How long requests took, over time: a card with its own stretch of time, from five minutes to two weeks.
import type uPlot from "uplot";
import { get } from "../api";
import { chart, fit, lineColour } from "../chart";
import { empty, field, h, problem, select, show } from "../dom";
import { micros, number } from "../format";
import { every } from "../page";

interface Latency { end: number; seconds: number; step_seconds: number; methods: string[]; points: [second: number, requests: number, errors: number, p50_ms: number, p99_ms: number][] }

const spans: [string, string][] = [["300", "last 5 minutes"], ["3600", "last hour"], ["21600", "last 6 hours"], ["86400", "last 24 hours"], ["604800", "last 7 days"], ["1209600", "last 14 days"]];

// A step without requests has no latency; a chart draws a gap there.
function columns(latency: Latency): { times: number[]; p50: (number | null)[]; p99: (number | null)[]; requests: number; errors: number } {
  const known = new Map(latency.points.map((point) => [point[0], point]));
  const times: number[] = [], p50: (number | null)[] = [], p99: (number | null)[] = [];
  const step = latency.step_seconds, first = latency.end - latency.seconds;
  for (let second = first - (first % step) + step; second < latency.end; second += step) {
    const point = known.get(second);
    times.push(second);
    p50.push(point ? point[3] * 1000 : null);
    p99.push(point ? point[4] * 1000 : null);
  }
  const sum = (index: 1 | 2) => latency.points.reduce((all, point) => all + point[index], 0);
  return { times, p50, p99, requests: sum(1), errors: sum(2) };
}

export function latencyCard(): { element: HTMLElement; leave: () => void } {
  const drawn = h("div", { class: "chart", "data-chart": "latency" });
  const facts = h("small");
  const message = h("div");
  const methodBox = h("span");
  let seconds = "300", method = "";
  let plot: uPlot | undefined;
  let methods = "";

  const ask = async () => {
    try {
      const latency = await get<Latency>("/api/v1/latency", { seconds, method });
      const { times, p50, p99, requests, errors } = columns(latency);
      show(message, requests === 0 && empty("No requests", "None ended in this time."));
      show(facts, `${number(requests)} requests, ${number(errors)} failed`);
      const names = JSON.stringify([latency.methods, method]);
      if (names !== methods) {
        methods = names;
        const choices = [...new Set([...latency.methods, ...(method ? [method] : [])])].sort();
        show(methodBox, field("Method", select([["", "all"], ...choices.map((one): [string, string] => [one, one])], method, (one) => { method = one; void ask(); })));
      }
      drawn.hidden = requests === 0;
      if (plot) return plot.setData([times, p50, p99]);
      if (requests === 0) return;
      plot = chart(drawn, times, [
        { label: "half of them within", values: p50, colour: lineColour(0) },
        { label: "99% of them within", values: p99, colour: lineColour(1) }], { height: 200, text: micros, zero: true });
    } catch (error) {
      show(message, problem(error));
    }
  };
  const stop = every(5000, ask);
  const observer = fit(drawn, () => plot!);
  return {
    element: h("section", { class: "card", "data-part": "latency" }, h("h2", {}, "Latency", facts),
      h("div", { class: "controls" }, field("Time", select(spans, seconds, (one) => { seconds = one; void ask(); })), methodBox),
      message, drawn),
    leave: () => {
      stop();
      observer.disconnect();
      plot?.destroy();
    },
  };
}

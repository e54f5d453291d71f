// What somebody does first with a server that has no data: lines to copy, with this server's address in them.
import type { Overview } from "../api";
import { h, show } from "../dom";
import { copyText } from "../value_panel";

interface Way { name: string; told: string; lines: string }

function ways(overview: Overview): Way[] {
  const secure = location.protocol === "https:";
  const http = location.origin;
  const token = secure ? ` -H "Authorization: Bearer $(cat token)" --cacert ca.pem` : "";
  const grpc = overview.grpc_address;
  const client = secure
    ? "This server wants TLS and a key: docs/clients.md shows how each client is given both."
    : "Official clients find the server by one variable. Projects and instances are made as they are named.";
  return [
    { name: "curl", told: "A point in line protocol makes its series. Influx's and Telegraf's senders take the same address.",
      lines: `curl${token} '${http}/api/v2/write?bucket=b&precision=s' \\\n  --data-binary "weather,city=Rome temperature=21.5 $(date +%s)"` },
    { name: "Prometheus", told: "Prometheus sends its samples by remote write.",
      lines: `remote_write:\n  - url: ${http}/api/v1/write${secure ? "\n    authorization:\n      credentials_file: token\n    tls_config:\n      ca_file: ca.pem" : ""}` },
    { name: "Python", told: client,
      lines: `${secure ? "" : `export BIGTABLE_EMULATOR_HOST=${grpc}\n`}pip install google-cloud-bigtable\npython3 - <<'END'\nfrom google.cloud import bigtable\nfrom google.cloud.bigtable import column_family\ntable = bigtable.Client(project="p", admin=True).instance("i").table("weather")\ntable.create(column_families={"cf": column_family.MaxVersionsGCRule(1)})\nrow = table.direct_row(b"Rome#2026")\nrow.set_cell("cf", b"temperature", b"21.5")\nrow.commit()\nprint(table.read_row(b"Rome#2026").cells)\nEND` },
    { name: "Go, Java, Node, cbt", told: client,
      lines: secure ? "# see docs/clients.md" : `export BIGTABLE_EMULATOR_HOST=${grpc}\ncbt -project p -instance i createtable weather families=cf:maxversions=1\ncbt -project p -instance i set weather Rome#2026 cf:temperature=21.5\ncbt -project p -instance i read weather` },
    { name: "CSV", told: "A file of points is described once, and then loaded.",
      lines: "sonde series init points.csv > points.yaml\nsonde series check points.yaml\nsonde series load points.yaml points.csv" },
  ];
}

export function firstSteps(overview: Overview): HTMLElement {
  const all = ways(overview);
  const box = h("div");
  const note = h("small", { class: "muted", role: "status" });
  const tabs = h("div", { class: "group", role: "tablist", "aria-label": "Ways to begin" });
  const choose = (chosen: Way) => {
    show(note);
    show(tabs, all.map((way) => h("button", { type: "button", role: "tab", "aria-selected": String(way === chosen), "aria-pressed": String(way === chosen), onclick: () => choose(way) }, way.name)));
    show(box, h("p", {}, chosen.told), h("pre", { tabindex: "0" }, chosen.lines), h("div", { class: "controls below" },
      h("button", { type: "button", onclick: () => void copyText(chosen.lines).then(() => show(note, "Copied"), () => show(note, "The browser gave no clipboard")) }, "Copy"), note));
  };
  choose(all[0]);
  return h("section", { class: "card", "data-part": "first-steps" },
    h("h2", {}, "Nothing is stored yet", h("small", {}, "this page fills with the first request")), tabs, box);
}

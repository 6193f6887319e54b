// How far the figures can be trusted: the tool's own cost, what is missing, what ran and on what.

import { type Child, empty, h, longText, note, section } from "./dom";
import { bytes, count, percent, seconds, shellWords, shortened } from "./format";
import type { Report } from "./report";
import { text } from "./values";

const MACHINE: Record<string, string> = {
  hostname: "host",
  model: "processor",
  cpus_online: "CPUs online",
  cpus_affinity: "CPUs allowed",
  cpu_quota: "CPU quota",
  kernel: "kernel",
  memory_bytes: "memory",
  numa_nodes: "NUMA nodes",
  smt: "threads per core",
};

export function cost(report: Report): HTMLElement {
  const own = report.overhead;
  const facts: [string, string][] = [["of the core time", percent(own.share ?? null)]];
  if (own.seconds !== undefined) facts.push(["CPU time", seconds(own.seconds)]);
  if (own.setup_s !== undefined) facts.push(["of this setting up", seconds(own.setup_s)]);
  if (own.sampler_s !== undefined) facts.push(["of this sampling", seconds(own.sampler_s)]);
  facts.push(["events recorded", count(own.events ?? null)], ["dropped", count(own.dropped ?? null)]);
  return section(
    "cost",
    "Trimtab\u2019s own cost",
    h("dl", { class: "tiles" }, ...facts.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value)))),
    note(
      `${report.level === "idle" || report.level === "off" ? "Attached without recording" : "Estimated from what each event costs, the set-up and the sampler"}; it counts as runtime and tool above.`,
    ),
    (own.dropped ?? 0) > 0 &&
      h(
        "p",
        { class: "warning" },
        `${count(own.dropped ?? null)} records found no room: what is drawn over time lacks them. A larger --max-trace keeps more.`,
      ),
  );
}

export function unavailable(report: Report): HTMLElement {
  if (!report.unavailable.length) return section("missing", "Not available", empty("Nothing was missing."));
  return section(
    "missing",
    "Not available",
    h(
      "ul",
      { class: "missing" },
      ...report.unavailable.map((each) =>
        h(
          "li",
          {},
          h("b", {}, longText(each.what)),
          h("span", {}, longText(each.why)),
          each.remedy ? h("em", {}, "\u2192 ", longText(each.remedy)) : null,
        ),
      ),
    ),
  );
}

export function machine(report: Report, save: () => void): HTMLElement {
  const pairs: Child[] = [];
  const pair = (name: string, value: string): void =>
    void pairs.push(h("dt", {}, shortened(name, 60)), h("dd", {}, longText(value)));
  for (const [key, given] of Object.entries(report.machine)) {
    const value = text(given);
    if (!value) continue;
    pair(MACHINE[key] ?? key.replaceAll("_", " "), key.endsWith("_bytes") ? bytes(Number(value)) : value);
  }
  const command = shellWords(report.command);
  pairs.push(h("dt", {}, "command"), h("dd", { class: "code" }, longText(command, 2000)));
  pair("recorded with", `trimtab ${report.trimtab}, level ${report.level || "not known"}`);
  return section(
    "machine",
    "Machine and command",
    h("dl", { class: "pairs" }, ...pairs),
    h("div", { class: "more" }, h("button", { type: "button", on: { click: save } }, "Save the data as JSON")),
  );
}

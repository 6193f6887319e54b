// How far the figures can be trusted: the tool's own cost, what is missing, what ran and on what.

import { type Child, empty, folded, h, longText, note, section } from "./dom";
import { bytes, count, percent, seconds, shellWords, shortened } from "./format";
import type { Process, Report } from "./schema";
import { Table } from "./table";

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
  for (const [key, value] of report.machine) {
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
    report.processes.length > 1 &&
      folded(`Processes (${count(report.processes.length)})`, () => processes(report.processes)),
    h("div", { class: "more" }, h("button", { type: "button", on: { click: save } }, "Save the data as JSON")),
  );
}

function processes(all: Process[]): HTMLElement {
  return new Table<Process>({
    caption: "Processes",
    rows: all,
    sortBy: 2,
    words: (each) => `${each.pid ?? ""} ${each.command.join(" ")}`,
    columns: [
      { title: "pid", key: (each) => each.pid, cell: (each) => String(each.pid ?? "\u2013") },
      {
        title: "command",
        key: (each) => each.command.join(" "),
        cell: (each) =>
          h("span", { class: "code", title: shellWords(each.command) }, shortened(shellWords(each.command), 120)),
      },
      { title: "CPU time", key: (each) => each.cpu_s, cell: (each) => seconds(each.cpu_s), isNumber: true },
      { title: "wall", key: (each) => each.wall_s, cell: (each) => seconds(each.wall_s), isNumber: true },
      { title: "threads", key: (each) => each.lanes, cell: (each) => count(each.lanes), isNumber: true },
      { title: "regions", key: (each) => each.regions, cell: (each) => count(each.regions), isNumber: true },
      { title: "calls", key: (each) => each.calls, cell: (each) => count(each.calls), isNumber: true },
      {
        title: "ended",
        key: (each) => Number(each.complete),
        cell: (each) => (each.complete ? "by itself" : "cut off"),
      },
    ],
  }).root;
}

// The page of one report. Its data stands in the element #report as JSON.

import * as about from "./about";
import { blame } from "./blame";
import { TimeCharts } from "./charts";
import { regionPalette } from "./colors";
import { concurrency } from "./concurrency";
import { append, type Child, empty, h } from "./dom";
import { findings } from "./findings";
import { kernel } from "./kernel";
import { load } from "./load";
import { chooser, ofProcess, processes } from "./processes";
import { network } from "./network";
import { regions } from "./regions";
import { read } from "./read";
import type { Report } from "./report";
import { spark } from "./spark";
import { steering } from "./steering";
import { themeButton } from "./theme";
import { usage } from "./usage";
import { heading, verdict } from "./verdict";
import { workers } from "./workers";

const LINKS = [
  ["verdict", "Verdict"],
  ["findings", "Findings"],
  ["blame", "Blame"],
  ["processes", "Processes"],
  ["steering", "Steering"],
  ["over-time", "Over time"],
  ["workers", "Workers"],
  ["network", "Messages"],
  ["kernel", "Scheduler"],
  ["spark", "Spark"],
  ["regions", "Regions"],
  ["usage", "Counters"],
  ["system", "System"],
  ["cost", "Own cost"],
  ["missing", "Not available"],
  ["machine", "Machine"],
] as const;

/** A part that fails says so, and leaves the others alone. */
function safely(name: string, make: () => HTMLElement): HTMLElement {
  try {
    return make();
  } catch (error) {
    console.error(`${name}:`, error);
    return empty(`${name}: this part of the page failed (${String(error)}). The other parts do not depend on it.`);
  }
}

function save(text: string, program: string): void {
  const link = h("a", { href: URL.createObjectURL(new Blob([text], { type: "application/json" })) });
  link.download = `${
    program
      .replace(/^.*\//, "")
      .replace(/[^\w.-]+/g, "_")
      .slice(0, 80) || "report"
  }.trimtab.json`;
  link.click();
  URL.revokeObjectURL(link.href);
}

/** What a page shows of the whole run. Counters are of one process each: those of several cannot be one chart. */
function ofAll(report: Report): Report {
  const parts = report.processes.filter((each) => each.takes_part).map((each) => each.id);
  if (report.processes.length < 2 || parts.length === 0) return report;
  const counters = parts.length > 1 ? [] : report.counters.filter((each) => each.process === parts[0]);
  return { ...report, counters };
}

const regionColors = (report: Report): ((name: string) => string) =>
  regionPalette([
    ...(report.timeline?.series.slice(0, 12) ?? []).map((each) => each.name),
    ...report.regions.slice(0, 12).map((each) => each.name),
  ]);

const isThere =
  (report: Report) =>
  (id: string): boolean => {
    if (id === "workers") return report.workers.length > 0;
    if (id === "steering") return report.decisions.length > 0;
    if (id === "network") return report.network !== null;
    if (id === "kernel") return report.kernel !== null;
    if (id === "spark") return report.spark !== null;
    if (id === "blame") return report.blame.length > 0;
    if (id === "usage") return report.counter_use.length > 0;
    if (id === "processes") return report.processes.length > 1;
    return id !== "regions" || !report.workers.length || report.regions.length > 0;
  };

function sections(report: Report, charts: TimeCharts, choose: (id: string | null) => void, data: () => void): Child[] {
  const has = isThere(report),
    color = regionColors(report);
  let openRegion = (_: string): boolean => false;
  return [
    safely("Verdict", () => verdict(report)),
    safely("Findings", () => findings(report, (name) => openRegion(name))),
    has("blame") && safely("Blame", () => blame(report)),
    has("processes") && safely("Processes", () => processes(report.processes, choose)),
    has("steering") && safely("Steering", () => steering(report)),
    safely("Concurrency", () => concurrency(report, charts, color)),
    has("workers") && safely("Workers", () => workers(report)),
    report.network !== null && safely("Messages", () => network(report.network!)),
    report.kernel !== null && safely("Scheduler", () => kernel(report.kernel!)),
    report.spark !== null && safely("Spark", () => spark(report, report.spark!)),
    has("regions") &&
      safely("Regions", () => {
        const made = regions(report, color);
        openRegion = made.open;
        return made.root;
      }),
    has("usage") && safely("Counters", () => usage(report)),
    safely("System", () => load(report, charts)),
    safely("Own cost", () => about.cost(report)),
    safely("Not available", () => about.unavailable(report)),
    safely("Machine", () => about.machine(report, data)),
  ];
}

function show(whole: Report, text: string, page: HTMLElement): void {
  document.title = `${whole.program.replace(/^.*\//, "").slice(0, 100)} \u2013 trimtab`;
  let charts = new TimeCharts(1);
  const links = h("div", { class: "links" });
  page.before(
    h(
      "nav",
      { class: "top", "aria-label": "Parts of the report" },
      h("b", {}, "trimtab"),
      links,
      themeButton(() => charts.redraw()),
    ),
  );
  const render = (chosen: string | null): void => {
    const report = chosen === null ? ofAll(whole) : ofProcess(whole, chosen);
    const lastSample = report.counters.reduce((end, each) => Math.max(end, each.t_s[each.t_s.length - 1] ?? 0), 0);
    const lastBin = (report.timeline?.dt_s ?? 0) * (report.timeline?.waiting.length ?? 0);
    charts.close();
    charts = new TimeCharts(Math.max(report.observed_s ?? 0, lastSample, lastBin) || 1);
    links.replaceChildren(
      ...LINKS.filter(([id]) => isThere(report)(id)).map(([id, name]) => h("a", { href: `#${id}` }, name)),
    );
    page.replaceChildren();
    append(
      page,
      heading(report),
      chooser(whole.processes, chosen, render),
      ...sections(report, charts, render, () => save(text, whole.program)),
    );
  };
  render(null);
}

const page = document.getElementById("page")!;
const text = document.getElementById("report")?.textContent ?? "null";
page.replaceChildren();
try {
  show(read(JSON.parse(text)), text, page);
} catch (error) {
  console.error(error);
  append(page, empty(`The report inside this page cannot be shown: ${String(error)}`));
}

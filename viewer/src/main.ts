// The page of one report. Its data stands in the element #report as JSON.

import * as about from "./about";
import { TimeCharts } from "./charts";
import { regionPalette } from "./colors";
import { concurrency } from "./concurrency";
import { append, empty, h } from "./dom";
import { findings } from "./findings";
import { load } from "./load";
import { regions } from "./regions";
import { read, type Report } from "./schema";
import { steering } from "./steering";
import { themeButton } from "./theme";
import { heading, verdict } from "./verdict";
import { workers } from "./workers";

const LINKS = [
  ["verdict", "Verdict"],
  ["findings", "Findings"],
  ["steering", "Steering"],
  ["over-time", "Over time"],
  ["workers", "Workers"],
  ["regions", "Regions"],
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

function show(report: Report, text: string, page: HTMLElement): void {
  document.title = `${report.program.replace(/^.*\//, "").slice(0, 100)} \u2013 trimtab`;
  const lastSample = report.counters.reduce((end, each) => Math.max(end, each.t_s[each.t_s.length - 1] ?? 0), 0);
  const charts = new TimeCharts(Math.max(report.observed_s ?? 0, lastSample) || 1);
  const color = regionPalette([
    ...(report.timeline?.series.slice(0, 12) ?? []).map((each) => each.name),
    ...report.regions.slice(0, 12).map((each) => each.name),
  ]);
  const hasWorkers = report.workers.length > 0;
  const isThere = (id: string): boolean => {
    if (id === "workers") return hasWorkers;
    if (id === "steering") return report.decisions.length > 0;
    return id !== "regions" || !hasWorkers || report.regions.length > 0;
  };
  let openRegion = (_: string): boolean => false;
  const nav = h(
    "nav",
    { class: "top", "aria-label": "Parts of the report" },
    h("b", {}, "trimtab"),
    h(
      "div",
      { class: "links" },
      ...LINKS.filter(([id]) => isThere(id)).map(([id, name]) => h("a", { href: `#${id}` }, name)),
    ),
    themeButton(() => charts.redraw()),
  );
  page.before(nav);
  append(
    page,
    heading(report),
    safely("Verdict", () => verdict(report)),
    safely("Findings", () => findings(report, (name) => openRegion(name))),
    isThere("steering") && safely("Steering", () => steering(report)),
    safely("Concurrency", () => concurrency(report, charts, color)),
    isThere("workers") && safely("Workers", () => workers(report)),
    isThere("regions") &&
      safely("Regions", () => {
        const made = regions(report, color);
        openRegion = made.open;
        return made.root;
      }),
    safely("System", () => load(report, charts)),
    safely("Own cost", () => about.cost(report)),
    safely("Not available", () => about.unavailable(report)),
    safely("Machine", () => about.machine(report, () => save(text, report.program))),
  );
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

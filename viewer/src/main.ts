// The page of one report. Its data stands in the element #report as JSON.

import * as about from "./about";
import { blame } from "./blame";
import { TimeCharts } from "./charts";
import { regionPalette } from "./colors";
import { concurrency } from "./concurrency";
import { append, type Child, empty, h } from "./dom";
import { findings } from "./findings";
import { kernel } from "./kernel";
import { readModel } from "./lane_view/model";
import { lanes, type LaneJumps, NO_LANES } from "./lane_view/section";
import { TileStore } from "./lane_view/tiles";
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
  ["lanes-over-time", "Lanes"],
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

/** Lanes over time; null: no process has all of its events. */
const store = ((): TileStore | null => {
  const text = document.getElementById("lanes")?.textContent;
  const model = text ? readModel(JSON.parse(text)) : null;
  return model?.processes.length ? new TileStore(model) : null;
})();
let redrawLanes = (): void => undefined;

const isThere =
  (report: Report) =>
  (id: string): boolean => {
    if (id === "workers") return report.workers.length > 0;
    if (id === "steering") return report.decisions.length > 0;
    if (id === "network") return report.network !== null;
    if (id === "kernel") return report.kernel !== null;
    if (id === "spark") return report.spark !== null;
    if (id === "blame") return report.blame.length > 0;
    if (id === "lanes-over-time") return store !== null;
    if (id === "usage") return report.counter_use.length + report.cpu_use.length > 0;
    if (id === "processes") return report.processes.length > 1;
    return id !== "regions" || !report.workers.length || report.regions.length > 0;
  };

function sections(
  report: Report,
  charts: TimeCharts,
  chosen: string | null,
  choose: (id: string | null) => void,
  data: () => void,
): Child[] {
  const has = isThere(report),
    color = regionColors(report);
  let openRegion = (_: string): boolean => false;
  let jumps: LaneJumps | null = null;
  const lanesOver = (): HTMLElement => {
    const made = store === null ? NO_LANES : lanes(store.model, store, charts, color, chosen);
    jumps = made.jumps;
    redrawLanes = made.redraw;
    return made.root;
  };
  // Made first: others lead to it.
  const overTime = has("lanes-over-time") && safely("Lanes", lanesOver);
  return [
    safely("Verdict", () => verdict(report)),
    safely("Findings", () => findings(report, (name) => openRegion(name), jumps)),
    overTime,
    has("blame") && safely("Blame", () => blame(report, jumps)),
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

/** When the last lane ended, seconds. */
function lanesEnd(chosen: string | null): number {
  const own = (store?.model.processes ?? []).filter((each) => chosen === null || each.id === chosen);
  return Math.max(0, ...own.map((each) => (chosen === null ? each.begin : 0) + each.span)) * 1e-9;
}

/** Two runs on one axis, each from its own begin: lanes and concurrency one above the other. */
function showTwo(runs: Report[], page: HTMLElement): void {
  const names = runs.map((each, at) => `${"AB"[at]}: ${each.program.replace(/^.*\//, "").slice(0, 80)}`);
  document.title = `${names.join(" and ")} \u2013 trimtab`;
  const ends = runs.map((each) =>
    Math.max(each.observed_s ?? 0, (each.timeline?.dt_s ?? 0) * (each.timeline?.waiting.length ?? 0)),
  );
  const charts = new TimeCharts(Math.max(...ends, lanesEnd(null)) || 1);
  const color = regionColors({ ...runs[0]!, regions: runs.flatMap((each) => each.regions) });
  const made = store === null ? NO_LANES : lanes(store.model, store, charts, color, null);
  const redraw = (): void => {
    charts.redraw();
    made.redraw();
  };
  page.before(h("nav", { class: "top" }, h("b", {}, "trimtab"), h("div", { class: "links" }), themeButton(redraw)));
  const part = (kind: string, at: number, of: (run: Report) => HTMLElement): HTMLElement => {
    const section = safely(kind, () => of(runs[at]!));
    section.id = `${section.id}-${"ab"[at]}`;
    const title = section.querySelector("h2");
    if (title !== null) title.textContent = `${"AB"[at]}: ${title.textContent}`;
    return section;
  };
  const each = (kind: string, of: (run: Report) => HTMLElement): HTMLElement[] =>
    runs.map((_, at) => part(kind, at, of));
  page.replaceChildren();
  append(
    page,
    ...runs.flatMap((run, at) => [heading(run), part("Verdict", at, verdict)]),
    made.root,
    ...each("Concurrency", (run) => concurrency(run, charts, color)),
  );
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
      themeButton(() => {
        charts.redraw();
        redrawLanes();
      }),
    ),
  );
  const render = (chosen: string | null): void => {
    const report = chosen === null ? ofAll(whole) : ofProcess(whole, chosen);
    const lastSample = report.counters.reduce((end, each) => Math.max(end, each.t_s[each.t_s.length - 1] ?? 0), 0);
    const lastBin = (report.timeline?.dt_s ?? 0) * (report.timeline?.waiting.length ?? 0);
    charts.close();
    charts = new TimeCharts(Math.max(report.observed_s ?? 0, lastSample, lastBin, lanesEnd(chosen)) || 1);
    links.replaceChildren(
      ...LINKS.filter(([id]) => isThere(report)(id)).map(([id, name]) => h("a", { href: `#${id}` }, name)),
    );
    page.replaceChildren();
    append(
      page,
      heading(report),
      chooser(whole.processes, chosen, render),
      ...sections(report, charts, chosen, render, () => save(text, whole.program)),
    );
  };
  render(null);
}

const page = document.getElementById("page")!;
const text = document.getElementById("report")?.textContent ?? "null";
page.replaceChildren();
try {
  const second = document.getElementById("report-b")?.textContent;
  if (second)
    showTwo(
      [text, second].map((each) => ofAll(read(JSON.parse(each)))),
      page,
    );
  else show(read(JSON.parse(text)), text, page);
} catch (error) {
  console.error(error);
  append(page, empty(`The report inside this page cannot be shown: ${String(error)}`));
}

// The processes of a run: a table of them, and what a page shows of one of them.

import { type Child, h, note, section } from "./dom";
import { count, percent, seconds, shellWords, shortened } from "./format";
import type { ProcessSummary, Region, Report } from "./report";
import { type Column, Table } from "./table";

const LONGEST_COMMAND = 120;

/** As people tell it from the others. */
export function processName(each: ProcessSummary): string {
  const rank = each.rank === null ? "" : `rank ${each.rank} `;
  const host = each.host ? ` on ${each.host}` : "";
  return `${rank}${shortened(shellWords(each.command), 60)} (${each.id}${host})`;
}

/** The report of one process: its own account, regions, findings and what it did over time. */
export function ofProcess(report: Report, id: string): Report {
  const process = report.processes.find((each) => each.id === id);
  if (!process) return report;
  const isMine = (each: { process: string }): boolean => each.process === id;
  return {
    ...report,
    wall_s: process.wall_s,
    observed_s: process.wall_s,
    capacity_s: process.cpus_available * process.wall_s,
    cpus_available: process.cpus_available,
    threads: process.threads,
    efficiency: process.efficiency,
    time: process.time,
    timeline: process.timeline,
    regions: report.regions.flatMap((each) => regionOf(each, id)),
    findings: report.findings.filter((each) => each.processes.includes(id)),
    decisions: report.decisions.filter(isMine),
    workers: report.workers.filter(isMine),
    lanes: report.lanes.filter(isMine),
    blame: [],
    critical_path: [],
    pop: null,
    counters: report.counters.filter(isMine),
    counter_use: report.counter_use.filter(isMine),
  };
}

function regionOf(region: Region, id: string): Region[] {
  const part = region.processes.find((each) => each.process === id);
  if (!part) return [];
  // What is recorded by process; loops, waits and durations are those of all processes.
  return [{ ...region, ...part, lanes: region.lanes.filter((each) => each.process === id), processes: [part] }];
}

/** A choice of one process, or of all; nothing where there is only one. */
export function chooser(all: ProcessSummary[], chosen: string | null, choose: (id: string | null) => void): Child {
  if (all.length < 2) return null;
  const select = h(
    "select",
    { "aria-label": "ProcessSummary", on: { change: () => choose(select.value || null) } },
    option("", "all processes", chosen === null),
    ...byTime(all).map((each) => option(each.id, processName(each), each.id === chosen)),
  );
  return h("div", { class: "chooser" }, "Shown: ", select);
}

const byTime = (all: ProcessSummary[]): ProcessSummary[] => [...all].sort((a, b) => (b.cpu_s ?? 0) - (a.cpu_s ?? 0));

function option(value: string, label: string, isChosen: boolean): HTMLOptionElement {
  const made = h("option", {}, shortened(label, LONGEST_COMMAND));
  made.value = value;
  made.selected = isChosen;
  return made;
}

export function processes(all: ProcessSummary[], choose: (id: string | null) => void): HTMLElement {
  const leftOut = all.filter((each) => !each.takes_part).length;
  return section(
    "processes",
    "Processes",
    leftOut > 0 &&
      note(
        `${count(leftOut)} of ${count(all.length)} did nothing worth showing: they have no part in the shares of the whole run.`,
      ),
    new Table<ProcessSummary>({
      caption: "Processes",
      rows: all,
      sortBy: 1,
      words: (each) => `${each.id} ${each.host} ${each.command.join(" ")}`,
      columns: columns(all, choose),
    }).root,
  );
}

function columns(all: ProcessSummary[], choose: (id: string | null) => void): Column<ProcessSummary>[] {
  const figure = (
    title: string,
    key: (each: ProcessSummary) => number | null,
    shown: (value: number | null) => string,
    help?: string,
  ): Column<ProcessSummary> => ({
    title,
    key,
    cell: (each) => shown(key(each)),
    isNumber: true,
    ...(help ? { help } : {}),
  });
  const where: Column<ProcessSummary>[] = [];
  // Where all are on one host, its name would say nothing.
  if (new Set(all.map((each) => each.host)).size > 1)
    where.push({ title: "host", key: (each) => each.host, cell: (each) => each.host });
  if (all.some((each) => each.rank !== null)) where.push(figure("rank", (each) => each.rank, count));
  return [
    { title: "command", key: (each) => each.command.join(" "), cell: (each) => command(each, choose) },
    figure("CPU time", (each) => each.cpu_s, seconds, "user and system, all threads"),
    { title: "process", key: (each) => each.pid, cell: (each) => shortened(each.id, 40) },
    ...where,
    figure("begin", (each) => each.begin_s, seconds, "since the first process began"),
    figure("wall", (each) => each.wall_s, seconds, "while it was observed"),
    figure("work", (each) => each.efficiency, percent, "of the time of the CPUs that it could use"),
    figure("threads", (each) => each.threads, count),
    figure("regions", (each) => each.regions, count),
    figure("calls", (each) => each.calls, count),
    {
      title: "ended",
      key: (each) => Number(each.complete),
      cell: (each) => (each.complete ? "by itself" : "cut off"),
    },
  ];
}

const command = (each: ProcessSummary, choose: (id: string | null) => void): HTMLElement =>
  h(
    "button",
    { type: "button", class: "link code", title: shellWords(each.command), on: { click: () => choose(each.id) } },
    shortened(shellWords(each.command), LONGEST_COMMAND) || "(no name)",
  );

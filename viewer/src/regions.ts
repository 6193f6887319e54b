// The parallel regions: a table to sort and search; a row unfolds into what each thread did.

import { append, type Child, empty, folded, h, longText, note, section } from "./dom";
import { count, percent, placeName, ratio, seconds, shortened } from "./format";
import { histogram, laneBars } from "./lanes";
import type { Loop, Region, RegionPart, Report, Scope, TaskKind } from "./report";
import { type Column, Table } from "./table";

const LONGEST_NAME = 160;
const NAMELESS = "(no name)";
const HIGH_IMBALANCE = 1.1;

export interface Regions {
  root: HTMLElement;
  open: (name: string) => boolean;
}

export function regions(report: Report, color: (name: string) => string): Regions {
  // With workers, tasks are told of beside them.
  const more = [
    report.workers.length ? null : tallies("Tasks", report.tasks),
    tallies("Scopes of the program\u2019s own", report.scopes),
  ];
  if (!report.regions.length) {
    const why = report.unavailable.find((each) => each.kind === "regions");
    const root = section(
      "regions",
      "Parallel regions",
      empty(
        "No parallel region was seen",
        why ? ": " : ".",
        why ? longText(why.why) : null,
        why ? ". " : null,
        why ? h("em", {}, longText(why.remedy)) : null,
      ),
      ...more,
    );
    return { root, open: () => false };
  }
  const longest = Math.max(...report.regions.map(laneTime)) || 1;
  const table = new Table<Region>({
    caption: "Parallel regions",
    rows: report.regions,
    columns: columns(report, longest, color),
    sortBy: 2,
    words: (region) => `${region.name} ${region.file} ${region.function} ${region.schedule}`,
    detail,
  });
  const root = section(
    "regions",
    "Parallel regions",
    h("p", { class: "note hint" }, "Select a region to see what each of its threads did."),
    table.root,
    ...more,
  );
  return { root, open: (name) => table.open((region) => region.name === name) };
}

const laneTime = (region: Region): number => region.work_s + region.wait_s + region.arrival_s;
const schedule = (region: Region): string =>
  [region.schedule, region.chunk === null ? "" : String(region.chunk)].filter(Boolean).join(", ");

function columns(report: Report, longest: number, color: (name: string) => string): Column<Region>[] {
  const number = (
    title: string,
    key: (region: Region) => number | null,
    cell: (region: Region) => Child,
    help: string,
  ): Column<Region> => ({ title, key, cell, help, isNumber: true });
  return [
    {
      title: "region",
      key: (region) => region.name,
      class: "name",
      cell: (region) =>
        h(
          "span",
          { class: "region" },
          h("i", { class: "dot", style: { background: color(region.name) } }),
          h(
            "span",
            {
              class: "code",
              title: region.file ? `${region.name}\n${region.file}:${region.line ?? "?"}` : region.name,
            },
            placeName(region.name, LONGEST_NAME) || NAMELESS,
          ),
          region.nested && h("small", { class: "tag", title: "always entered from inside another region" }, "nested"),
        ),
    },
    {
      title: "threads\u2019 time",
      key: laneTime,
      class: "time",
      isNumber: false,
      help: "work, wait and arrival of all its threads together",
      cell: (region) => timeBar(region, longest),
    },
    number(
      "wall",
      (region) => region.wall_s,
      (region) =>
        h(
          "span",
          { title: report.observed_s ? `${percent(region.wall_s / report.observed_s)} of the run` : undefined },
          seconds(region.wall_s),
        ),
      "from fork to join, all calls together",
    ),
    number(
      "calls",
      (region) => region.calls,
      (region) => count(region.calls),
      "times it was entered",
    ),
    number(
      "each",
      (region) => (region.calls ? region.wall_s / region.calls : null),
      (region) => seconds(region.calls ? region.wall_s / region.calls : null),
      "mean wall time of a call",
    ),
    number(
      "threads",
      (region) => region.threads,
      (region) => count(region.threads),
      "most threads of a call",
    ),
    number(
      "work",
      (region) => region.work_s,
      (region) => seconds(region.work_s),
      "of all threads together, without waits",
    ),
    number(
      "wait",
      (region) => region.wait_s,
      (region) => seconds(region.wait_s),
      "of all threads together: at the end, barriers, locks",
    ),
    number(
      "imbalance",
      (region) => region.imbalance,
      (region) =>
        h("span", { class: (region.imbalance ?? 0) >= HIGH_IMBALANCE ? "high" : "" }, ratio(region.imbalance)),
      "work of the slowest thread over the mean; 1 is perfect",
    ),
    ...(report.regions.some((region) => region.processes.length > 1)
      ? [
          number(
            "processes",
            (region) => region.processes.length,
            (region) => count(region.processes.length),
            "in which it was entered",
          ),
        ]
      : []),
    {
      title: "schedule",
      key: (region) => schedule(region) || null,
      cell: (region) => shortened(schedule(region), 40) || "\u2013",
      help: "of its longest loop, with the chunk",
      class: "schedule",
    },
    number(
      "iterations",
      (region) => region.iterations,
      (region) => count(region.iterations),
      "of one execution of its longest loop",
    ),
  ];
}

function timeBar(region: Region, longest: number): HTMLElement {
  const words = `work ${seconds(region.work_s)}, wait ${seconds(region.wait_s)}, arrival ${seconds(region.arrival_s)}`;
  const piece = (value: number, color: string): HTMLElement =>
    h("span", { class: "piece", style: { width: `${(value / longest) * 100}%`, background: color } });
  return h(
    "div",
    { class: "bar thin", role: "img", "aria-label": words, title: words },
    piece(region.work_s, "var(--work)"),
    piece(region.wait_s, "var(--barrier-wait)"),
    piece(region.arrival_s, "var(--arrival)"),
  );
}

function detail(region: Region): HTMLElement {
  const facts: [string, string][] = [["region", region.name]];
  if (region.file) facts.push(["file", region.line === null ? region.file : `${region.file}:${region.line}`]);
  if (region.function) facts.push(["function", region.function]);
  if (region.runtime) facts.push(["runtime", region.runtime]);
  for (const [kind, value] of Object.entries(region.waits)) facts.push([`waiting: ${kind}`, seconds(value)]);
  if (region.lock_wait_s > 0) {
    facts.push(["waiting for locks", seconds(region.lock_wait_s)], ["locks held", seconds(region.lock_held_s)]);
  }
  const side = h(
    "div",
    {},
    h("h3", {}, "Place"),
    h(
      "dl",
      { class: "pairs" },
      ...facts.flatMap(([name, value]) => [
        h("dt", {}, shortened(name, 60)),
        h("dd", { class: "code" }, longText(value, 2000)),
      ]),
    ),
  );
  if (region.histogram.length > 1) append(side, h("h3", {}, "Calls by duration"), histogram(region.histogram));
  return h(
    "div",
    { class: "detail" },
    h(
      "div",
      {},
      h("h3", {}, "What each thread did"),
      region.lanes.length
        ? laneBars(region.lanes)
        : region.lanes_omitted
          ? empty(
              "Left out, for the page\u2019s size: this is one of many small regions. ",
              h("code", {}, "trimtab report RUN --json"),
              " has it.",
            )
          : empty("Not recorded for each thread."),
    ),
    side,
    region.processes.length > 1 &&
      h("div", { class: "whole" }, h("h3", {}, "In each process"), spreads(region), parts(region.processes)),
    region.loops.length > 0 && h("div", { class: "whole" }, h("h3", {}, "Loops"), loops(region.loops)),
  );
}

function spreads(region: Region): HTMLElement {
  const words = (["wall_s", "work_s", "wait_s"] as const).map((name) => {
    const spread = region.spread[name];
    return spread
      ? `${name.replace("_s", "")} ${seconds(spread.least)} / ${seconds(spread.median)} / ${seconds(spread.most)}`
      : "";
  });
  return note(`Least, median and most over ${count(region.processes.length)} processes: ${words.join(", ")}.`);
}

function parts(all: RegionPart[]): HTMLElement {
  const figure = (
    title: string,
    key: (part: RegionPart) => number | null,
    shown: (value: number | null) => string,
  ): Column<RegionPart> => ({ title, key, cell: (part) => shown(key(part)), isNumber: true });
  return new Table<RegionPart>({
    caption: "In each process",
    rows: all,
    sortBy: 2,
    words: (part) => part.process,
    columns: [
      { title: "process", key: (part) => part.process, cell: (part) => shortened(part.process, 40) },
      figure("calls", (part) => part.calls, count),
      figure("wall", (part) => part.wall_s, seconds),
      figure("work", (part) => part.work_s, seconds),
      figure("wait", (part) => part.wait_s, seconds),
      figure("imbalance", (part) => part.imbalance, ratio),
      figure("threads", (part) => part.threads, count),
    ],
  }).root;
}

function loops(all: Loop[]): HTMLElement {
  return new Table<Loop>({
    caption: "Loops",
    rows: all,
    sortBy: 0,
    columns: [
      {
        title: "loop",
        key: (loop) => loop.name,
        cell: (loop) => h("span", { class: "code", title: loop.name }, placeName(loop.name, 80)),
      },
      {
        title: "schedule",
        key: (loop) => loop.schedule || null,
        cell: (loop) => shortened(loop.schedule, 40) || "\u2013",
      },
      { title: "chunk", key: (loop) => loop.chunk, cell: (loop) => count(loop.chunk), isNumber: true },
      {
        title: "iterations",
        key: (loop) => loop.iterations,
        cell: (loop) => count(loop.iterations),
        isNumber: true,
        help: "of one execution",
      },
      { title: "executions", key: (loop) => loop.executions, cell: (loop) => count(loop.executions), isNumber: true },
      { title: "chunks handed out", key: (loop) => loop.chunks, cell: (loop) => count(loop.chunks), isNumber: true },
    ],
  }).root;
}

type Tally = TaskKind | Scope;

function tallies(caption: string, rows: Tally[]): Child {
  if (!rows.length) return null;
  return folded(
    `${caption} (${count(rows.length)})`,
    () =>
      new Table<Tally>({
        caption,
        rows,
        sortBy: 2,
        words: (row) => row.name,
        columns: [
          {
            title: "name",
            key: (row) => row.name,
            cell: (row) => h("span", { class: "code", title: row.name }, placeName(row.name, LONGEST_NAME) || NAMELESS),
          },
          { title: "count", key: (row) => row.count, cell: (row) => count(row.count), isNumber: true },
          {
            title: "time",
            key: (row) => row.total_s,
            cell: (row) => seconds(row.total_s),
            isNumber: true,
            help: "all together",
          },
          { title: "each", key: (row) => row.mean_s, cell: (row) => seconds(row.mean_s), isNumber: true, help: "mean" },
        ],
      }).root,
  );
}

// What the operating system's scheduler did: who had the CPUs while the program waited, by process, program and thread.

import { type Child, note, section } from "./dom";
import { count, percent, seconds, shortened } from "./format";
import type { Delays, Kernel, LateWaker, Preemptor, ScheduledProgram, ScheduledThread } from "./report";
import { type Column, Table } from "./table";

const LONGEST_NAME = 60;

export function kernel(all: Kernel): HTMLElement {
  return section("kernel", "Scheduler", note(summary(all)), preemptors(all), programs(all), threads(all), wakers(all));
}

/** `The program's threads were ready to run without a CPU for 1 s (25.0 % of their running time); ...`. */
export function summary(all: Kernel): string {
  const cost = all.running_s > 0 ? ` (${percent(all.waiting_s / all.running_s)} of their running time)` : "";
  const parts = [`The program's threads were ready to run without a CPU for ${seconds(all.waiting_s)}${cost}`];
  if (all.idle_though_ready_s > 0) parts.push(`their CPU was idle in ${seconds(all.idle_though_ready_s)} of it`);
  if (all.unknown_s > 0) parts.push(`what it did is not known for ${seconds(all.unknown_s)}`);
  if (all.lost > 0) parts.push(`${count(all.lost)} events were lost, so the figures are too low`);
  if (!all.complete) parts.push("the recording did not end in order");
  return `${parts.join("; ")}. Recording took ${seconds(all.recorder_s)} of CPU time.`;
}

/** A column of figures. */
function figure<Row>(
  title: string,
  key: (row: Row) => number | null,
  shown: (value: number | null) => string,
  help: string,
): Column<Row> {
  return { title, key, cell: (row) => shown(key(row)), isNumber: true, help };
}

const named = (row: { name: string; is_own: boolean }): string =>
  `${shortened(row.name, LONGEST_NAME)}${row.is_own ? " (own)" : ""}`;

/** Where all are on one host, its name would say nothing. */
function hostColumn<Row extends { host: string }>(rows: Row[]): Column<Row>[] {
  if (new Set(rows.map((row) => row.host).filter((host) => host !== "")).size < 2) return [];
  return [{ title: "host", key: (row) => row.host, cell: (row) => shortened(row.host, LONGEST_NAME) }];
}

function preemptors(all: Kernel): Child {
  if (!all.preemptors.length) return null;
  return new Table<Preemptor>({
    caption: "Processes that ran while threads of the program waited for their CPU",
    rows: all.preemptors,
    sortBy: 2,
    words: (row) => `${row.name} ${row.pid ?? ""} ${row.host}`,
    columns: [
      { title: "ran meanwhile", key: (row) => row.name, cell: named },
      {
        title: "process",
        key: (row) => row.pid,
        cell: (row) => (row.pid === null ? "" : String(row.pid)),
        isNumber: true,
      },
      figure("time", (row) => row.time_s, seconds, "that threads of the program waited meanwhile"),
      figure("share", (row) => row.share, percent, "of all time that the program's threads waited for a CPU"),
      figure("after a preemption", (row) => row.preempted_s, seconds, "part of the time: they had the CPU before"),
      figure("waits", (row) => row.count, count, "in which it has run"),
      ...hostColumn(all.preemptors),
    ],
  }).root;
}

type Scheduled = {
  running_s: number;
  waiting_s: number;
  voluntary: number;
  involuntary: number;
  migrations: number;
  wakeup_latency: Delays;
  preemption: Delays;
};

function scheduled<Row extends Scheduled>(): Column<Row>[] {
  return [
    figure<Row>("running", (row) => row.running_s, seconds, "on CPUs"),
    figure<Row>("waiting", (row) => row.waiting_s, seconds, "ready to run, without a CPU"),
    figure<Row>("voluntary", (row) => row.voluntary, count, "switches: it waited for something, or ended"),
    figure<Row>("involuntary", (row) => row.involuntary, count, "switches: it could go on"),
    figure<Row>("moves", (row) => row.migrations, count, "to other CPUs"),
    figure<Row>("wake-up p50", (row) => row.wakeup_latency.p50_s, seconds, "half of the waits are not longer"),
    figure<Row>("wake-up p99", (row) => row.wakeup_latency.p99_s, seconds, "99 % of the waits are not longer"),
    figure<Row>("preempted max", (row) => row.preemption.max_s, seconds, "longest wait after a preemption"),
  ];
}

const programs = (all: Kernel): HTMLElement =>
  new Table<ScheduledProgram>({
    caption: "Programs",
    rows: all.programs,
    sortBy: 2,
    words: (row) => `${row.name} ${row.host}`,
    columns: [
      { title: "program", key: (row) => row.name, cell: named },
      figure("threads", (row) => row.threads, count, "that ran or waited"),
      ...scheduled<ScheduledProgram>(),
      ...hostColumn(all.programs),
    ],
  }).root;

function threads(all: Kernel): Child {
  if (!all.threads.length) return null;
  return new Table<ScheduledThread>({
    caption: "Threads of the program",
    rows: all.threads,
    sortBy: 3,
    words: (row) => `${row.name} ${row.tid ?? ""} ${row.host}`,
    columns: [
      { title: "thread", key: (row) => row.name, cell: (row) => shortened(row.name, LONGEST_NAME) },
      { title: "number", key: (row) => row.tid, cell: (row) => (row.tid === null ? "" : String(row.tid)) },
      ...scheduled<ScheduledThread>(),
      ...hostColumn(all.threads),
    ],
  }).root;
}

function wakers(all: Kernel): Child {
  if (!all.late_wakers.length) return null;
  return new Table<LateWaker>({
    caption: "Who woke threads that then waited for a CPU",
    rows: all.late_wakers,
    sortBy: 2,
    words: (row) => `${row.name} ${row.woken} ${row.host}`,
    columns: [
      { title: "woke late", key: (row) => row.name, cell: (row) => shortened(row.name, LONGEST_NAME) },
      { title: "threads", key: (row) => row.woken, cell: (row) => shortened(row.woken, LONGEST_NAME) },
      figure("waited", (row) => row.time_s, seconds, "that they waited"),
      figure("wake-ups", (row) => row.count, count, "after which they waited"),
      ...hostColumn(all.late_wakers),
    ],
  }).root;
}

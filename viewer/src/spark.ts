// What an event log of Spark says beyond what every report has: parts of the core time, stages, and who they belong to.

import { type Child, note, section } from "./dom";
import { bytes, count, percent, seconds, shortened } from "./format";
import type { Report, Spark, SparkGroup, Stage } from "./report";
import { type Column, Table } from "./table";

const LONGEST_NAME = 120;
const LEAST_SHARE = 0.0005;
/** As text/spark.py has them; names that are not here are shown with spaces. */
const WORDS = new Map<string, string>([
  ["application", "application code"],
  ["fetch_network", "fetch over the network"],
  ["fetch_disk", "fetch from disk"],
  ["gc", "garbage collection"],
  ["failed", "failed tasks"],
  ["few_partitions", "too few partitions"],
  ["driver", "driver busy"],
  ["pending", "tasks pending"],
]);

export const word = (name: string): string => WORDS.get(name) ?? name.replaceAll("_", " ");

export function spark(report: Report, all: Spark): HTMLElement {
  return section(
    "spark",
    "Spark",
    note(summary(all)),
    shares(all),

    stages(report.stages),
    groups(all),
  );
}

/** The error of the replay comes first: it says what the gains are worth. */
export function summary(all: Spark): string {
  const parts = [`Spark ${all.version}, ${count(all.executors)} executors with ${count(all.slots)} core slots`];
  if (all.replay_error !== null) parts.push(`the unchanged replay is ${percent(all.replay_error)} off`);
  if (!all.replay_trusted) parts.push("too far: there is no what-if, and gains of findings are bounds");
  return `${parts.join("; ")}.`;
}

/** The largest three of some times. */
export const most = (times: Record<string, number>): string =>
  Object.entries(times)
    .sort((a, b) => b[1] - a[1])
    .slice(0, 3)
    .map(([name, time]) => `${word(name)} ${seconds(time)}`)
    .join(", ");

function shares(all: Spark): Child {
  const rows = Object.entries(all.time).filter(([, share]) => share >= LEAST_SHARE);
  return new Table<[string, number]>({
    caption: "Where the time of the core slots went",
    rows,
    sortBy: 1,
    columns: [
      { title: "part", key: ([name]) => word(name), cell: ([name]) => word(name) },
      { title: "share", key: ([, share]) => share, cell: ([, share]) => percent(share), isNumber: true },
    ],
  }).root;
}

const figure = <Row>(
  title: string,
  key: (row: Row) => number | null,
  shown: (value: number | null) => string,
  help: string,
): Column<Row> => ({ title, key, cell: (row) => shown(key(row)), isNumber: true, help });
const total = (times: Record<string, number>): number => Object.values(times).reduce((sum, each) => sum + each, 0);

function stages(rows: Stage[]): Child {
  return new Table<Stage>({
    caption: "Stages",
    rows,
    sortBy: 2,
    words: (row) => `${row.id} ${row.place} ${row.operators.join(" ")}`,
    detail: (row) => note(`${row.operators.join(" \u2190 ")}. ${most({ ...row.time, ...row.idle })}.`),
    columns: [
      {
        title: "stage",
        key: (row) => row.id,
        cell: (row) => shortened(`${row.id}.${row.attempt} ${row.place}`, LONGEST_NAME),
      },
      figure("tasks", (row) => row.attempts, count, "attempts of tasks"),
      figure("core time", (row) => row.core_time_s, seconds, "on core slots"),
      figure("median", (row) => row.median_s, seconds, "median task"),
      figure("longest", (row) => row.longest_s, seconds, "longest task"),
      figure("idle", (row) => total(row.idle), seconds, "idle core time that is charged to it"),
      figure("stragglers", (row) => row.stragglers, count, "tasks that held up others"),
      figure("spilled", (row) => row.spilled_bytes, bytes, "to disk"),
      figure(
        "sensitivity",
        (row) => row.sensitivity,
        (value) => (value === null ? "" : value.toFixed(2)),
        "seconds that its job takes longer for each second of standard deviation of its task times",
      ),
    ],
  }).root;
}

function groups(all: Spark): Child {
  return new Table<SparkGroup>({
    caption: "Core time by job, query, executor, host and line",
    rows: all.groups,
    sortBy: 2,
    words: (row) => `${row.group} ${row.name}`,
    columns: [
      { title: "by", key: (row) => row.group, cell: (row) => row.group },
      { title: "name", key: (row) => row.name, cell: (row) => shortened(row.name, LONGEST_NAME) },
      figure("core time", (row) => row.core_time_s, seconds, "of its tasks, and idle time that it is to blame for"),
      { title: "most of it", key: (row) => most(row.time), cell: (row) => most(row.time) },
    ],
  }).root;
}

// Workers of task runtimes: what each did all its life, and the tasks that they ran.

import { type Child, h, section } from "./dom";
import { count, placeName, seconds, shortened } from "./format";
import type { Report, TaskKind, WorkerSummary } from "./report";
import { type Column, processColumn, Table } from "./table";

const LONGEST_NAME = 160;
const PARTS = [
  ["work_s", "work", "var(--work)", "running tasks"],
  ["looking_s", "looking", "var(--runtime)", "looking for a task"],
  ["starved_s", "no task ready", "var(--starved)", "parked while another worker ran tasks"],
  ["idle_s", "nobody at work", "var(--serial)", "parked while no worker ran a task"],
  ["capped_s", "capped", "var(--unattributed)", "parked, since the runtime may not use more workers"],
] as const;

const life = (worker: WorkerSummary): number => PARTS.reduce((sum, [part]) => sum + worker[part], 0);

export function workers(report: Report): HTMLElement {
  const longest = Math.max(...report.workers.map(life)) || 1;
  return section(
    "workers",
    "Workers and tasks",
    h(
      "div",
      { class: "keys" },
      ...PARTS.filter(([part]) => report.workers.some((each) => each[part] > 0)).map(([, name, color, meaning]) =>
        h("span", { class: "key", title: meaning }, h("i", { class: "dot", style: { background: color } }), name),
      ),
    ),
    new Table<WorkerSummary>({
      caption: "Workers",
      rows: report.workers,
      columns: [...workerColumns(longest), ...processColumn(report.workers)],
      sortBy: 2,
      words: (worker) => `${worker.process} ${worker.name} ${worker.runtime}`,
    }).root,
    tasks(report.tasks),
  );
}

function workerColumns(longest: number): Column<WorkerSummary>[] {
  const time = (title: string, part: (typeof PARTS)[number][0], help: string): Column<WorkerSummary> => ({
    title,
    key: (worker) => worker[part],
    cell: (worker) => seconds(worker[part]),
    isNumber: true,
    help,
  });
  return [
    { title: "worker", key: (worker) => worker.name, cell: (worker) => shortened(worker.name, 60) },
    { title: "life", key: life, cell: (worker) => bar(worker, longest), help: "its states, from begin to end" },
    time("work", "work_s", "running tasks"),
    time("looking", "looking_s", "looking for a task"),
    time("no task ready", "starved_s", "parked while another worker ran tasks"),
    time("nobody at work", "idle_s", "parked while no worker ran a task"),
    {
      title: "tasks",
      key: (worker) => worker.tasks,
      cell: (worker) => count(worker.tasks),
      isNumber: true,
      help: "that it ran",
    },
    {
      title: "made",
      key: (worker) => worker.created,
      cell: (worker) => count(worker.created),
      isNumber: true,
      help: "tasks that it made",
    },
    {
      title: "parks",
      key: (worker) => worker.parks,
      cell: (worker) => count(worker.parks),
      isNumber: true,
      help: "times it was parked",
    },
  ];
}

function bar(worker: WorkerSummary, longest: number): HTMLElement {
  const words = PARTS.filter(([part]) => worker[part] > 0)
    .map(([part, name]) => `${name} ${seconds(worker[part])}`)
    .join(", ");
  return h(
    "div",
    { class: "bar thin", role: "img", "aria-label": words, title: words },
    ...PARTS.map(([part, , color]) =>
      h("span", { class: "piece", style: { width: `${(worker[part] / longest) * 100}%`, background: color } }),
    ),
  );
}

function tasks(all: TaskKind[]): Child {
  if (!all.length) return null;
  const figure = (title: string, value: (task: TaskKind) => number | null, help: string): Column<TaskKind> => ({
    title,
    key: value,
    cell: (task) => count(value(task)),
    isNumber: true,
    help,
  });
  const time = (title: string, value: (task: TaskKind) => number | null, help: string): Column<TaskKind> => ({
    title,
    key: value,
    cell: (task) => seconds(value(task)),
    isNumber: true,
    help,
  });
  return h(
    "div",
    {},
    h("h3", {}, "Tasks"),
    new Table<TaskKind>({
      caption: "Tasks",
      rows: all,
      sortBy: 4,
      words: (task) => task.name,
      columns: [
        {
          title: "task",
          key: (task) => task.name,
          cell: (task) =>
            h("span", { class: "code", title: task.name }, placeName(task.name, LONGEST_NAME) || "(no name)"),
        },
        figure("count", (task) => task.count, "that ran"),
        time("each", (task) => task.mean_s, "mean; with inner tasks where these ran inside"),
        time("longest", (task) => task.longest_s, "of those that were timed"),
        time("all", (task) => task.total_s, "all together, estimated from those that were timed"),
        figure("made", (task) => task.created, "that were made"),
        figure("suspended", (task) => task.suspended, "times that they were suspended"),
      ],
    }).root,
  );
}

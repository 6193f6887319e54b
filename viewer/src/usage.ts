// What was counted while which region or kind of task ran.

import { note, place, section } from "./dom";
import { percent, quantity, seconds, shortened } from "./format";
import type { CounterUse, CpuUse, ProcessSummary, Report } from "./report";
import { Table } from "./table";

const LONGEST_NAME = 80;
/** So many processes of one program are one row. */
const LEAST_OF_GROUP = 4;

export function usage(report: Report): HTMLElement {
  const rows = report.counter_use;
  return section(
    "usage",
    "Counted while they ran",
    ...(report.cpu_use.length > 0 ? [cpuUse(cpuUseRows(report.cpu_use, report.processes))] : []),
    ...(rows.length > 0 ? counted(rows) : []),
  );
}

/** Of a process or a region of it, or of many processes of one program: `process` says how many. */
export interface CpuUseRow extends CpuUse {
  program: string;
}

/** Processes without regions that run the same program are one row where there are many of them. */
export function cpuUseRows(uses: CpuUse[], processes: ProcessSummary[]): CpuUseRow[] {
  const programs = new Map(processes.map((one) => [one.id, one.command[0]?.split("/").pop() ?? ""]));
  const rowsOf = new Map<string, number>();
  for (const use of uses) rowsOf.set(use.process, (rowsOf.get(use.process) ?? 0) + 1);
  const rows = uses.map((use) => ({ ...use, program: programs.get(use.process) ?? "" }));
  const plain = new Map<string, CpuUseRow[]>();
  for (const row of rows.filter((one) => rowsOf.get(one.process) === 1)) {
    const group = plain.get(row.program);
    if (group) group.push(row);
    else plain.set(row.program, [row]);
  }
  const groups = [...plain.values()].filter((group) => group.length >= LEAST_OF_GROUP);
  const grouped = new Set(groups.flat());
  return [...groups.map(together), ...rows.filter((row) => !grouped.has(row))];
}

function together(group: CpuUseRow[]): CpuUseRow {
  const sum = (of: (row: CpuUseRow) => number) => group.reduce((all, row) => all + of(row), 0);
  return {
    ...group[0]!,
    process: `${group.length} processes`,
    cpu_s: sum((row) => row.cpu_s),
    kernel_s: sum((row) => row.kernel_s),
    page_fault_s: sum((row) => row.page_fault_s),
    error_s: Math.sqrt(sum((row) => row.error_s ** 2)),
    minor_faults: sum((row) => row.minor_faults),
    major_faults: sum((row) => row.major_faults),
  };
}

/** CPU time by region: the program's own, and the kernel's for it. */
function cpuUse(rows: CpuUseRow[]): HTMLElement {
  const processes = new Set(rows.map((row) => row.process));
  return new Table<CpuUseRow>({
    caption: "CPU time, and what of it the kernel used",
    rows,
    sortBy: 1,
    words: (row) => `${row.name} ${row.program} ${row.process}`,
    columns: [
      { title: "where", key: (row) => row.name, cell: (row) => place(row.name, LONGEST_NAME) },
      { title: "CPU time", key: (row) => row.cpu_s, cell: (row) => seconds(row.cpu_s), isNumber: true },
      {
        title: "kernel",
        key: (row) => row.kernel_s,
        cell: (row) => seconds(row.kernel_s),
        isNumber: true,
        help: "page faults and system calls; of regions estimated from sampled parts",
      },
      { title: "\u00b1", key: (row) => row.error_s, cell: (row) => seconds(row.error_s), isNumber: true },
      {
        title: "page faults",
        key: (row) => row.page_fault_s,
        cell: (row) => seconds(row.page_fault_s),
        isNumber: true,
        help: "their number, times what one costs on this machine",
      },
      {
        title: "minor faults",
        key: (row) => row.minor_faults,
        cell: (row) => quantity(shown(row.minor_faults), "1"),
        isNumber: true,
      },
      {
        title: "major faults",
        key: (row) => row.major_faults,
        cell: (row) => quantity(shown(row.major_faults), "1"),
        isNumber: true,
      },
      ...(processes.size < 2
        ? []
        : [
            { title: "program", key: (row: CpuUseRow) => row.program, cell: (row: CpuUseRow) => row.program },
            { title: "process", key: (row: CpuUseRow) => row.process, cell: (row: CpuUseRow) => row.process },
          ]),
    ],
  }).root;
}

function counted(rows: CounterUse[]): HTMLElement[] {
  const processes = new Set(rows.map((row) => row.process));
  return [
    note(
      "What was counted between two readings goes to what ran in between, by time. \u201cCertain\u201d was counted while hardly anything else ran. Counters of the machine also count what other programs did.",
    ),
    new Table<CounterUse>({
      caption: "Counters by region and kind of task",
      rows,
      sortBy: 0,
      words: (row) => `${row.counter} ${row.name} ${row.process}`,
      columns: [
        { title: "counter", key: (row) => row.counter, cell: (row) => shortened(row.counter, LONGEST_NAME) },
        { title: "while it ran", key: (row) => row.name, cell: (row) => place(row.name, LONGEST_NAME) },
        {
          title: "counted",
          key: (row) => row.value,
          cell: (row) => quantity(shown(row.value), row.unit),
          isNumber: true,
        },
        { title: "share", key: (row) => row.share, cell: (row) => percent(row.share), isNumber: true },
        {
          title: "certain",
          key: certainShare,
          cell: (row) => percent(certainShare(row)),
          isNumber: true,
          help: "part of it that was counted while hardly anything else ran",
        },
        ...(processes.size < 2
          ? []
          : [{ title: "process", key: (row: CounterUse) => row.process, cell: (row: CounterUse) => row.process }]),
      ],
    }).root,
  ];
}

export const certainShare = (row: CounterUse): number => (row.value > 0 ? row.certain / row.value : 0);

/** A part of a count is an estimate: without a fraction where that says nothing. */
const shown = (value: number): number => (value >= 1000 ? Math.round(value) : value);

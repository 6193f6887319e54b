// What was counted while which region or kind of task ran.

import { note, section } from "./dom";
import { percent, quantity, shortened } from "./format";
import type { CounterUse, Report } from "./report";
import { Table } from "./table";

const LONGEST_NAME = 80;

export function usage(report: Report): HTMLElement {
  const rows = report.counter_use,
    processes = new Set(rows.map((row) => row.process));
  return section(
    "usage",
    "Counted while they ran",
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
        { title: "while it ran", key: (row) => row.name, cell: (row) => shortened(row.name, LONGEST_NAME) },
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
  );
}

export const certainShare = (row: CounterUse): number => (row.value > 0 ? row.certain / row.value : 0);

/** A part of a count is an estimate: without a fraction where that says nothing. */
const shown = (value: number): number => (value >= 1000 ? Math.round(value) : value);

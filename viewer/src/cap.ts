// What is drawn on top of concurrency: how many threads or workers there might be, where Trimtab changed their number while the
// program ran, and the power that the machine took.

import { rate, valueAt } from "./rates";
import type { Decision, Report } from "./report";

export interface Cap {
  label: string;
  /** The number at each of the times. */
  values: number[];
}

const LABELS: Record<string, string> = { workers: "cap of workers", threads: "threads that a team may have" };
const PER_PROGRAM = /^(runtime \d+|threads of teams)$/;

/** The cap at these times, which grow; null: nothing changed it, or more than one runtime had one. */
export function capOverTime(report: Report, times: number[]): Cap | null {
  const changes = report.decisions.filter((each) => PER_PROGRAM.test(each.subject)).flatMap(changesOf);
  const first = changes[0];
  if (first === undefined || changes.some((each) => each.owner !== first.owner)) return null;
  let next = 0,
    now = first.from;
  const values = times.map((time) => {
    for (; next < changes.length && changes[next]!.time <= time; ++next) now = changes[next]!.to;
    return now;
  });
  return { label: LABELS[first.knob]!, values };
}

interface CapChange {
  owner: string;
  knob: string;
  time: number;
  from: number;
  to: number;
}

function changesOf(decision: Decision): CapChange[] {
  return decision.changes
    .filter((change) => change.knob in LABELS)
    .map((change) => ({
      owner: `${decision.process} ${decision.subject}`,
      knob: change.knob,
      time: decision.time_s,
      from: Number(change.from),
      to: Number(change.to),
    }))
    .filter((change) => Number.isFinite(change.from) && Number.isFinite(change.to));
}

/** Watts of the whole machine in the bin that begins at each of these times; null: no meter, or of several processes. */
export function powerOverTime(report: Report, times: number[], bin: number): (number | null)[] | null {
  const meters = report.counters.filter((each) => report.energy?.meters.includes(each.name));
  if (!meters.length || new Set(meters.map((each) => each.process)).size > 1) return null;
  const lines = meters.map((each) => rate(each, each.name));
  return times.map((time) => {
    const watts = lines.map((line) => valueAt(line, time + bin / 2));
    return watts.some((value) => value === null) ? null : watts.reduce<number>((sum, value) => sum + value!, 0);
  });
}

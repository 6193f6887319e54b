// A report as the page shows it: what `trimtab report --json` writes, with what charts cannot draw left out.

import { type CounterSeries, readReport, type Report, type Timeline } from "./report";
import { dict } from "./values";

const zeroForNone = (values: number[]): number[] => values.map((value) => (Number.isNaN(value) ? 0 : value));

/** null where there is nothing to draw. */
function drawable(timeline: Timeline | null): Timeline | null {
  if (timeline === null || timeline.dt_s <= 0 || !timeline.series[0]?.lanes.length) return null;
  const series = timeline.series.map((each) => ({ ...each, lanes: zeroForNone(each.lanes) }));
  return {
    ...timeline,
    series,
    waiting: zeroForNone(timeline.waiting),
    eligible: zeroForNone(timeline.eligible),
    ineligible: zeroForNone(timeline.ineligible),
  };
}

/** Points with a time that does not run backwards: what charts need. */
function ordered(counter: CounterSeries): CounterSeries {
  const t_s: number[] = [],
    values: number[] = [];
  for (let at = 0; at < Math.min(counter.t_s.length, counter.values.length); at++) {
    const time = counter.t_s[at]!,
      value = counter.values[at]!;
    if (Number.isNaN(time) || Number.isNaN(value) || time <= (t_s[t_s.length - 1] ?? -Infinity)) continue;
    t_s.push(time);
    values.push(value);
  }
  return { ...counter, t_s, values };
}

/** Read parsed JSON of any version as a report. */
export function read(value: unknown): Report {
  const report = readReport(dict(value));
  return {
    ...report,
    timeline: drawable(report.timeline),
    counters: report.counters.map(ordered),
    processes: report.processes.map((each) => ({ ...each, timeline: drawable(each.timeline) })),
  };
}

/** Whether a timeline covers the whole run. */
export const isComplete = (timeline: Timeline): boolean => timeline.source === "all events";

// What lies below the axis of concurrency: tasks that wait for a worker, and for their inputs.

import type { Timeline } from "./report";

/** How much of the height lies below the axis, as a share of what lies above. */
export const SHARE_BELOW = 0.6;

export interface Below {
  /** Both kinds together, and those that could run; below 0, and the last value twice, since bins are steps. */
  values: [number[], number[]];
  most: number;
}

/** null: not known, or nothing ever waited. */
export function belowAxis(line: Timeline): Below | null {
  const all = line.eligible.map((value, bin) => value + (line.ineligible[bin] ?? 0));
  const most = Math.max(0, ...all);
  if (!all.length || most === 0) return null;
  const below = (values: number[]): number[] => [...values, values[values.length - 1]!].map((value) => -value);
  return { values: [below(all), below(line.eligible)], most: most * 1.05 };
}

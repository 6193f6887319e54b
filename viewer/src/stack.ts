// Series on top of each other.

import type { Timeline } from "./report";

/** Sums from below up to each series that is shown, one value a bin and the last one twice (bins are steps). */
export function stacked(line: Timeline, isShown: boolean[]): number[][] {
  const bins = line.series[0]!.lanes.length;
  let below = new Array<number>(bins).fill(0);
  return line.series.map((series, at) => {
    if (isShown[at]) below = below.map((value, bin) => value + (series.lanes[bin] ?? 0));
    return [...below, below[bins - 1]!];
  });
}

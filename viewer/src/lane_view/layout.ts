// Where each lane is drawn: one row each, below the name of its process where there are several.

import type { LaneProcess } from "./model";

export const GUTTER = 150;
export const AXIS = 24;
const HEAD = 20;
const GAP = 1;
const [LEAST, MOST] = [5, 44];
export const MOST_HEIGHT = 620;

export interface Row {
  process: LaneProcess;
  /** -1: the head of a process. */
  lane: number;
  y: number;
  height: number;
}
export interface Layout {
  rows: Row[];
  /** Of all rows; more than is seen at a time where there are many. */
  height: number;
}

/** Rows of these lanes, as high as there is room. */
export function layoutOf(processes: LaneProcess[], isShown: (process: LaneProcess, lane: number) => boolean): Layout {
  const lanes = processes.map((process) =>
    process.lanes.map((_, lane) => lane).filter((lane) => isShown(process, lane)),
  );
  const heads = processes.length > 1 ? processes.length * HEAD : 0;
  const total = lanes.reduce((sum, each) => sum + each.length, 0);
  // Of few lanes a part is enough: nobody needs a page full of one bar.
  const room = total < 16 ? 340 : MOST_HEIGHT - heads;
  const height = Math.min(Math.max(Math.floor(room / Math.max(total, 1)) - GAP, LEAST), MOST);
  const rows: Row[] = [];
  let y = 0;
  processes.forEach((process, at) => {
    if (processes.length > 1) {
      rows.push({ process, lane: -1, y, height: HEAD });
      y += HEAD;
    }
    for (const lane of lanes[at]!) {
      rows.push({ process, lane, y, height });
      y += height + GAP;
    }
  });
  return { rows, height: y };
}

export const rowOf = (layout: Layout, process: LaneProcess, lane: number): Row | null =>
  layout.rows.find((row) => row.process === process && row.lane === lane) ?? null;

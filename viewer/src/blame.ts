// Who is to blame for idle cores, the critical path, and the efficiencies of the lanes.

import { type Child, h, note, place, section } from "./dom";
import { percent, seconds } from "./format";
import type { Blamed, PathPart, Pop, Report, WhatIf } from "./report";
import type { LaneJumps } from "./lane_view/section";
import { Table } from "./table";

const LONGEST_NAME = 80;

export function blame(report: Report, jumps: LaneJumps | null = null): HTMLElement {
  return section(
    "blame",
    "Who is to blame",
    note(
      "All idle core time by cause and place. A wait is charged to what the lane did that it waited for; if that lane waited, too, to what this one waited for.",
    ),
    blamed(report.blame, jumps),
    path(report.critical_path),
    report.pop !== null && note(efficiencies(report.pop)),
    ...whatIf(report.what_if),
  );
}

function blamed(rows: Blamed[], jumps: LaneJumps | null): Child {
  return new Table<Blamed>({
    caption: "Idle core time",
    rows,
    sortBy: 3,
    words: (row) => `${row.cause} ${row.subject ?? ""}`,
    columns: [
      { title: "idle because of", key: (row) => row.cause, cell: (row) => leading(row, jumps) },
      { title: "at", key: (row) => row.subject, cell: (row) => place(row.subject ?? "", LONGEST_NAME) },
      { title: "core time", key: (row) => row.lane_time_s, cell: (row) => seconds(row.lane_time_s), isNumber: true },
      { title: "share", key: (row) => row.share, cell: (row) => percent(row.share), isNumber: true },
      { title: "known from", key: (row) => row.basis, cell: (row) => row.basis },
      ...(rows.some((row) => row.reason) ? [reason<Blamed>()] : []),
    ],
  }).root;
}

/** The cause, which leads to the longest stretch of it where lanes are shown. */
function leading(row: Blamed, jumps: LaneJumps | null): Child {
  if (jumps === null || !jumps.isShown(row)) return row.cause;
  const attributes = { type: "button", class: "link", title: "Show the longest of these waits" };
  return h("button", { ...attributes, on: { click: () => void jumps.blame(row) } }, row.cause);
}

function path(rows: PathPart[]): Child {
  if (!rows.length) return null;
  return new Table<PathPart>({
    caption: `Critical path: what decided when the program ended${lacking(rows)}`,
    rows,
    sortBy: 2,
    words: (row) => `${what(row)} ${row.subject ?? ""}`,
    columns: [
      { title: "what it was", key: what, cell: what },
      { title: "at", key: (row) => row.subject, cell: (row) => place(row.subject ?? "", LONGEST_NAME) },
      { title: "time", key: (row) => row.time_s, cell: (row) => seconds(row.time_s), isNumber: true },
      { title: "share", key: (row) => row.share, cell: (row) => percent(row.share), isNumber: true },
      ...(rows.some((row) => row.reason) ? [reason<PathPart>()] : []),
    ],
  }).root;
}

/** What the events lack that the rows rest on, for a caption. */
const lacking = (rows: { basis: string }[]): string => {
  const basis = rows[0]?.basis ?? "events";
  return basis === "events" ? "" : ` (from ${basis})`;
};

/** A column of what is not known of what is unattributed. */
const reason = <Row extends { reason: string | null }>() => ({
  title: "not known, since",
  key: (row: Row) => row.reason,
  cell: (row: Row) => row.reason ?? "",
});

/** What the run would take with changes; without any where the replay does not fit. */
function whatIf(rows: WhatIf[]): Child[] {
  const [unchanged, ...changes] = rows;
  if (unchanged === undefined) return [];
  const error = unchanged.replay_error ?? 0;
  const fit = `A replay of the unchanged run is ${percent(Math.abs(error))} ${error >= 0 ? "longer" : "shorter"} than the run`;
  if (!changes.length) return [note(`${fit}, too much to predict anything.`)];
  const table = new Table<WhatIf>({
    caption: `What if${lacking(rows)}`,
    rows: changes,
    sortBy: 2,
    words: (row) => row.change,
    columns: [
      { title: "if", key: (row) => row.change, cell: (row) => place(row.change, LONGEST_NAME) },
      {
        title: "it would take",
        key: (row) => row.predicted_s,
        cell: (row) => seconds(row.predicted_s),
        isNumber: true,
      },
      {
        title: "at least",
        key: (row) => row.predicted_low_s,
        cell: (row) => seconds(row.predicted_low_s),
        isNumber: true,
      },
      {
        title: "at most",
        key: (row) => row.predicted_high_s,
        cell: (row) => seconds(row.predicted_high_s),
        isNumber: true,
      },
      { title: "saved", key: (row) => row.gain_s, cell: (row) => seconds(row.gain_s), isNumber: true },
    ],
  }).root;
  return [table, note(`${fit}.`)];
}

/** What the reader has no text for was work. */
export const what = (row: PathPart): string => row.cause || "work";

/** `Parallel efficiency of 4 lanes 50.0 % = serialization ...`. */
export function efficiencies(pop: Pop): string {
  const factors = [
    ...(pop.serialization === null ? [] : [`serialization ${percent(pop.serialization)}`]),
    `load balance ${percent(pop.load_balance)}`,
    `scheduling ${percent(pop.scheduling)}`,
  ];
  const messages = pop.communication === null ? "" : ` Communication efficiency ${percent(pop.communication)}.`;
  return `Parallel efficiency of ${pop.lanes} lanes ${percent(pop.parallel_efficiency)} = ${factors.join(" \u00d7 ")}.${messages}`;
}

// What is seen, as a table: for screen readers, and for whoever wants figures.

import { h } from "../dom";
import { percent, placeName, seconds } from "../format";
import { originOf } from "./overlay";
import type { LaneView } from "./view";
import { timeByClass } from "./window";

const MOST_ROWS = 64;
const TOP = 3;

/** A row for each lane: time by state, and the subjects with most time. */
export function windowTable(view: LaneView): HTMLElement {
  const rows = view.layout.rows.filter((row) => row.lane >= 0);
  const lanes = rows.slice(0, MOST_ROWS).map(({ process, lane }) => {
    const origin = originOf(process);
    const sums = timeByClass(view.shown(process), lane, view.low - origin, view.high - origin);
    const byState = new Map<number, number>(),
      bySubject = new Map<string, number>();
    for (const [kind, ns] of sums) {
      const each = process.classes[kind]!;
      byState.set(each.state, (byState.get(each.state) ?? 0) + ns);
      const name = process.subjects[each.subject]?.name;
      if (name !== undefined && each.cause === null) bySubject.set(name, (bySubject.get(name) ?? 0) + ns);
    }
    return { process, lane, byState, bySubject };
  });
  const states = view.model.states
    .map((name, at) => ({ name, at }))
    .filter(({ at }) => lanes.some((each) => each.byState.has(at)));
  const width = view.high - view.low;
  const head = h(
    "tr",
    {},
    h("th", { scope: "col" }, "lane"),
    ...states.map((state) => h("th", { scope: "col", class: "n" }, state.name)),
    h("th", { scope: "col" }, "most work"),
  );
  const body = lanes.map(({ process, lane, byState, bySubject }) => {
    const top = [...bySubject].sort((one, other) => other[1] - one[1]).slice(0, TOP);
    return h(
      "tr",
      {},
      h("th", { scope: "row" }, `${view.processes.length > 1 ? `${process.name}, ` : ""}${process.lanes[lane]}`),
      ...states.map(({ at }) => h("td", { class: "n" }, seconds((byState.get(at) ?? 0) * 1e-9))),
      h("td", {}, top.map(([name, ns]) => `${placeName(name, 40)} ${percent(ns / width)}`).join(", ")),
    );
  });
  const caption = `What each lane did from ${seconds(view.low * 1e-9)} to ${seconds(view.high * 1e-9)}`;
  return h(
    "div",
    { class: "wide" },
    h("table", { class: "lane-table" }, h("caption", {}, caption), h("thead", {}, head), h("tbody", {}, ...body)),
    rows.length > MOST_ROWS &&
      h("p", { class: "note" }, `The first ${MOST_ROWS} of ${rows.length} lanes. A filter of lanes shows others.`),
  );
}

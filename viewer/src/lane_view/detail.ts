// What is selected or hovered, in words.

import { h, note } from "../dom";
import { percent, placeName, seconds } from "../format";
import { charge, ENDS, fullName, giverOf, laneName, sentence } from "./chain";
import type { LaneModel, LaneProcess } from "./model";
import { originOf, timeLabel } from "./overlay";
import type { LaneView, Selection } from "./view";
import { type Stretch, timeByClass } from "./window";

const MOST_KINDS = 8;

/** Classes with most time first: `work in loop 3 ms (75 %)`. */
export function composition(process: LaneProcess, sums: Map<number, number>, states: string[]): string[] {
  const total = [...sums.values()].reduce((sum, each) => sum + each, 0) || 1;
  return [...sums]
    .sort((one, other) => other[1] - one[1])
    .slice(0, MOST_KINDS)
    .map(([kind, ns]) => {
      const each = process.classes[kind]!;
      const name = process.subjects[each.subject]?.name;
      const cause = each.cause === null ? "" : `, because of ${each.cause}`;
      const where = name === undefined ? "" : ` (${placeName(name, 48)})`;
      return `${states[each.state]}${where}${cause}: ${seconds(ns * 1e-9)}, ${percent(ns / total)}`;
    });
}

/** What is under the pointer. */
export function hovered(view: LaneView, x: number, y: number): HTMLElement[] {
  const row = view.rowAt(y);
  if (row === null) return [];
  const time = view.timeAt(x);
  const stretch = view.at(row.process, row.lane, time);
  const head = h("b", {}, `${row.process.lanes[row.lane]}, ${timeLabel(time, (view.high - view.low) / view.width)}`);
  if (stretch !== null) return [head, ...lines([sentence(stretch), charge(stretch)])];
  const shown = view.shown(row.process);
  const pixel = (view.high - view.low) / view.width;
  const width = shown.what === "buckets" ? Math.max(2 ** shown.shift, pixel) : pixel;
  const low = Math.floor((time - originOf(row.process)) / width) * width;
  const words = composition(row.process, timeByClass(shown, row.lane, low, low + width), view.model.states);
  return [head, ...lines(words.length ? words : ["nothing recorded"])];
}

const lines = (words: string[]): HTMLElement[] => words.filter(Boolean).map((each) => h("p", {}, each));

/** The selection; each lane that it names can be gone to. */
export function detail(view: LaneView, selection: Selection | null, go: (stretch: Stretch) => void): HTMLElement[] {
  if (selection === null) return [note("Nothing is selected. Click a stretch, or press the right arrow.")];
  const { stretch, chain, before } = selection;
  const parts: HTMLElement[] = [
    h(
      "p",
      {},
      h("b", { title: fullName(stretch) }, sentence(stretch)),
      ` from ${seconds((stretch.begin + originOf(stretch.process)) * 1e-9)} on.`,
    ),
  ];
  const text = charge(stretch);
  if (text) parts.push(h("p", {}, text));
  if (chain !== null) {
    const steps = chain.links
      .slice(1)
      .map((link) => h("li", {}, isSameLane(link, stretch) ? "" : "it waits for: ", goTo(view, link, go, stretch)));
    if (steps.length) parts.push(h("ol", { class: "chain" }, ...steps));
    if (ENDS[chain.end]) parts.push(h("p", {}, ENDS[chain.end]));
  }
  if (before !== null) {
    const giver = giverOf(before);
    const by = giver === null ? "" : `, which ${laneName(giver, stretch.process)} ended`;
    parts.push(h("p", {}, "Before that: ", goTo(view, before, go), `${by}.`));
  }
  parts.push(...releasedOf(selection, view, go), ...arrowsOf(selection, view, go));
  return parts;
}

const isSameLane = (one: Stretch, other: Stretch): boolean => one.process === other.process && one.lane === other.lane;

/** A stretch as a link to it; only its words where its process is not shown. */
function goTo(view: LaneView, stretch: Stretch, go: (stretch: Stretch) => void, from = stretch): HTMLElement {
  const words = sentence(stretch, from.process);
  if (!view.processes.includes(stretch.process)) return h("span", {}, words);
  return h("button", { type: "button", class: "link", on: { click: () => go(stretch) } }, words);
}

function releasedOf({ stretch, released }: Selection, view: LaneView, go: (stretch: Stretch) => void): HTMLElement[] {
  if (!released.length) return [];
  const items = released.map((each) => h("li", {}, goTo(view, each, go, stretch)));
  const lane = stretch.process.lanes[stretch.lane];
  return [h("p", {}, `${lane} ended these waits:`), h("ul", { class: "chain" }, ...items)];
}

function arrowsOf({ stretch, arrows }: Selection, view: LaneView, go: (stretch: Stretch) => void): HTMLElement[] {
  const links = (heading: string, ends: { lane: number; time: number }[]): HTMLElement[] => {
    const items = ends
      .slice(0, MOST_KINDS)
      .map(({ lane, time }) => view.at(stretch.process, lane, time + originOf(stretch.process)))
      .filter((each): each is Stretch => each !== null)
      .map((each) => h("li", {}, goTo(view, each, go)));
    return items.length ? [h("p", {}, heading), h("ul", { class: "chain" }, ...items)] : [];
  };
  return [
    ...links(
      "What its task was created by, or needed:",
      arrows.entering.map((each) => ({ lane: each.fromLane, time: Math.max(each.from - 1, 0) })),
    ),
    ...links(
      "Tasks that it created, or gave something:",
      arrows.leaving.map((each) => ({ lane: each.toLane, time: each.to + 1 })),
    ),
  ];
}

/** Of what is seen, where single stretches are not there. */
export function coarse(view: LaneView, process: LaneProcess, lane: number, time: number): HTMLElement[] {
  const shown = view.shown(process);
  if (shown.what === "stretches") return [];
  const width = 2 ** shown.shift,
    low = Math.floor((time - originOf(process)) / width) * width;
  const words = composition(process, timeByClass(shown, lane, low, low + width), view.model.states);
  return [
    h(
      "p",
      {},
      h(
        "b",
        {},
        `${process.lanes[lane]}, ${seconds(width * 1e-9)} from ${seconds((low + originOf(process)) * 1e-9)} on:`,
      ),
    ),
    h("ul", { class: "chain" }, ...words.map((each) => h("li", {}, each))),
    note("Zoom in for single stretches. ", ...singleEvents(view.model)),
  ];
}

/** Where single events are, if not inside the page. */
export function singleEvents(model: LaneModel): (string | HTMLElement)[] {
  return model.isServed
    ? []
    : ["Where this page has no room for them, ", h("code", {}, "trimtab view RUN"), " shows single events."];
}

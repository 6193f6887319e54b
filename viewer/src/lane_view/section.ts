// The part of the page with lanes over time.

import type { TimeCharts } from "../charts";
import { empty, folded, h, note, section } from "../dom";
import type { Blamed, LongestWait } from "../report";
import { coarse, detail, hovered, singleEvents } from "./detail";
import { filters, key, tools } from "./controls";
import { isSupported } from "./columns";
import { culpritOf, longestOf, ofBlame, ofSubject } from "./find";
import { go, listen } from "./input";
import { GUTTER } from "./layout";
import type { Chosen, LaneModel, LaneProcess, Place } from "./model";
import { originOf } from "./overlay";
import type { TileStore } from "./tiles";
import { windowTable } from "./tables";
import { LaneView } from "./view";
import { type Stretch, stretchAt } from "./window";

const HEADING = "Lanes over time";
/** Charts follow after the last step: a step of zooming must not wait for them. */
const CHARTS_AFTER_MS = 120;

/** What other parts of the page lead to. Each is false where there is no such place. */
export interface LaneJumps {
  /** Whether the lanes have a stretch that this row is charged for. */
  isShown: (row: Blamed) => boolean;
  blame: (row: Blamed) => boolean;
  subject: (name: string) => boolean;
  /** The longest wait for a finding, with its lane's number. */
  wait: (wait: LongestWait) => boolean;
}
export interface LaneSection {
  root: HTMLElement;
  jumps: LaneJumps | null;
  redraw: () => void;
}

export const NO_LANES: LaneSection = { root: withoutEvents(), jumps: null, redraw: () => undefined };

export function withoutEvents(): HTMLElement {
  return section(
    "lanes-over-time",
    HEADING,
    empty("Not recorded: all events of a process are needed, which ", h("code", {}, "trimtab run --trace"), " keeps."),
  );
}

export function lanes(
  model: LaneModel,
  store: TileStore,
  charts: TimeCharts,
  color: (name: string) => string,
  only: string | null,
): LaneSection {
  const processes = model.processes.filter((each) => only === null || each.id === only);
  if (!processes.length) return { ...NO_LANES, root: withoutEvents() };
  if (!isSupported()) {
    const words =
      "This browser cannot decompress data (DecompressionStream): lanes need Chrome 80, Firefox 113, Safari 16.4, or later.";
    return { ...NO_LANES, root: section("lanes-over-time", HEADING, empty(words)) };
  }
  const view = new LaneView(model, store, charts.end * 1e9, processes, color, only !== null);
  view.canvas.setAttribute("aria-label", "Lanes over time. The table below has the figures of what is seen.");
  const panel = h("div", { class: "lane-detail", role: "status", "aria-live": "polite" });
  const tip = h("div", { class: "tip" });
  tip.hidden = true;
  const { root: buttons, update } = tools(view);
  const table = tableBelow(view);
  synchronize(view, charts, () => (update(), table.update()));
  const show = (stretch: Stretch): void => go(view, stretch);
  view.selected = () => panel.replaceChildren(...detail(view, view.selection, show));
  panel.replaceChildren(...detail(view, null, show));
  listen(view, (at) => showTip(view, tip, at));
  view.canvas.addEventListener("click", (event) => {
    const row = view.rowAt(event.offsetY);
    if (view.selection !== null || row === null || event.offsetX < GUTTER) return;
    panel.replaceChildren(...coarse(view, row.process, row.lane, view.timeAt(event.offsetX)));
  });
  const jump = jumper(view);
  const root = section(
    "lanes-over-time",
    HEADING,
    note(
      h(
        "span",
        { class: "hint" },
        "Click a stretch for the reason of a wait. Drag to move; wheel (after a click), + and \u2212, or shift and drag to zoom. By key: arrows select, shift and arrows move, Enter zooms to the selection, g goes to the lane that was waited for, 0 shows all, Escape ends the selection.",
      ),
    ),
    h(
      "div",
      { class: "row" },
      filters(view, (stretch, chosen) => void jump(chosen, stretch)),
      buttons,
    ),
    h("div", { class: "lane-box" }, view.canvas, tip),
    key(view),
    panel,
    table.root,
    note(
      model.leftOut === 1 && "One process of the run has not all of its events, and is left out. ",
      model.leftOut > 1 && `${model.leftOut} processes of the run have not all of their events, and are left out. `,
      ...(isAllInside(store, processes) ? [] : singleEvents(model)),
    ),
  );
  const jumps: LaneJumps = {
    isShown: (row) => longestOf(view.processes, ofBlame(row)).length > 0,
    blame: (row) => {
      const [charged, culprit] = [ofBlame(row), culpritOf(row)];
      return jump(charged, undefined, (each, process) => charged(each, process) || culprit(each, process));
    },
    subject: (name) => jump(ofSubject(model, name)),
    wait: (wait) => {
      const place = placeOfWait(view, wait);
      if (place === null) return false;
      const [begin, end] = [(wait.begin_s ?? 0) * 1e9, (wait.end_s ?? 0) * 1e9];
      const { process, lane } = place;
      const find = (): Stretch | null => stretchAt(view.store, process, lane, Math.floor((begin + end) / 2));
      const show = (): void => {
        const stretch = find();
        if (stretch === null) return showWindow(view, begin + originOf(process), end + originOf(process));
        jump((each, of) => of === process && each === process.classes[stretch.kind], stretch);
      };
      find();
      // Its tile may have to come first.
      void view.store.settled().then(show);
      return true;
    },
  };
  return { root, jumps, redraw: () => view.recolor() };
}

/** The lane of such a wait; null: it is not shown. */
function placeOfWait(view: LaneView, wait: LongestWait): Place | null {
  const process = view.processes.find((each) => each.id === wait.process);
  const lane = process?.lanes.findIndex((name) => Number(/\d+/.exec(name)?.[0]) === wait.lane) ?? -1;
  return process === undefined || lane < 0 ? null : { process, lane };
}

/** Where single stretches are not there. */
function showWindow(view: LaneView, begin: number, end: number): void {
  view.setWindow(begin - (end - begin), end + (end - begin));
  view.canvas.scrollIntoView({ block: "center" });
  view.canvas.focus({ preventScroll: true });
}

/** Zooms to a stretch, or the longest one of what is chosen; all that is not `lit` becomes dim. */
function jumper(view: LaneView): (chosen: Chosen, to?: Stretch, lit?: Chosen) => boolean {
  return (chosen, to = longestOf(view.processes, chosen)[0], lit = chosen) => {
    if (to === undefined) return false;
    view.choose(lit);
    view.show(to);
    view.canvas.scrollIntoView({ block: "center" });
    view.canvas.focus({ preventScroll: true });
    const middle = Math.floor((to.begin + to.end) / 2);
    const select = (): void => view.select(view.at(to.process, to.lane, middle + originOf(to.process)) ?? to);
    select();
    // Who was waited for is in a tile that may have to come first.
    void view.store.settled().then(select);
    return true;
  };
}

const isAllInside = (store: TileStore, processes: LaneProcess[]): boolean =>
  processes.every((process) => process.bounds.slice(1).every((_, tile) => store.has(`${process.at}.s.${tile}`)));

function tableBelow(view: LaneView): { root: HTMLElement; update: () => void } {
  const place = h("div");
  let isOpen = false,
    timer = 0;
  const fill = (): void => {
    place.replaceChildren(windowTable(view));
  };
  const root = folded("Table of what is seen", () => place);
  root.addEventListener("toggle", () => {
    isOpen = root.open;
    if (isOpen) fill();
  });
  const update = (): void => {
    if (!isOpen) return;
    clearTimeout(timer);
    timer = window.setTimeout(fill, CHARTS_AFTER_MS);
  };
  return { root, update };
}

/** What is zoomed in one is zoomed in all. */
function synchronize(view: LaneView, charts: TimeCharts, update: () => void): void {
  let timer = 0,
    isOurs = false;
  view.changed = () => {
    update();
    clearTimeout(timer);
    if (isOurs) return;
    timer = window.setTimeout(() => {
      isOurs = true;
      charts.setRange(view.low * 1e-9, view.high * 1e-9);
      isOurs = false;
    }, CHARTS_AFTER_MS);
  };
  charts.onRange(() => {
    if (isOurs) return;
    isOurs = true;
    const [low, high] = charts.range;
    view.setWindow(low * 1e9, high * 1e9);
    isOurs = false;
  });
}

function showTip(view: LaneView, tip: HTMLElement, at: { x: number; y: number } | null): void {
  const words = at === null || at.x < GUTTER ? [] : hovered(view, at.x, at.y);
  tip.hidden = !words.length;
  if (at === null || tip.hidden) return;
  tip.replaceChildren(...words);
  const room = view.canvas.clientWidth;
  tip.style.left = `${at.x + 16 + tip.offsetWidth > room ? Math.max(at.x - 16 - tip.offsetWidth, 0) : at.x + 16}px`;
  tip.style.top = `${at.y + 18}px`;
}

// How lanes are moved and looked at: by wheel, drag, click and keys.

import { giverOf, isWait, movedTo } from "./chain";
import { GUTTER } from "./layout";
import { originOf } from "./overlay";
import type { LaneView } from "./view";
import { type Stretch, stretchAt } from "./window";

const STEP = 0.2;
const CLICK = 4;
/** In how many parts of what is seen the first selection is looked for. */
const MOST_PARTS = 128;

/** `hover` is called with where the pointer is; null: nowhere. */
export function listen(view: LaneView, hover: (at: { x: number; y: number } | null) => void): void {
  const { canvas } = view;
  canvas.addEventListener("keydown", (event) => {
    if (onKey(view, event)) event.preventDefault();
  });
  canvas.addEventListener(
    "wheel",
    (event) => {
      // Without the focus the wheel scrolls the page, as anywhere.
      if (!event.ctrlKey && document.activeElement !== canvas) return;
      event.preventDefault();
      const isSideways = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
      if (isSideways) view.pan(Math.sign(event.deltaX || event.deltaY) * 0.1);
      else view.zoom(2 ** Math.max(Math.min(event.deltaY / 250, 1), -1), view.timeAt(event.offsetX));
    },
    { passive: false },
  );
  drag(view, hover);
  canvas.addEventListener("dblclick", (event) => {
    const stretch = stretchUnder(view, event.offsetX, event.offsetY);
    if (stretch !== null) view.show(stretch);
  });
}

export function stretchUnder(view: LaneView, x: number, y: number): Stretch | null {
  const row = view.rowAt(y);
  return row === null || x < GUTTER ? null : view.at(row.process, row.lane, view.timeAt(x));
}

/** Drag moves the window, with shift it zooms to what was marked; a press without a move selects. */
function drag(view: LaneView, hover: (at: { x: number; y: number } | null) => void): void {
  const { canvas } = view;
  let from: { x: number; y: number; low: number; high: number; scrolled: number; isZoom: boolean } | null = null;
  let isMoved = false;
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    canvas.setPointerCapture(event.pointerId);
    const { low, high, scrolled } = view;
    from = { x: event.offsetX, y: event.offsetY, low, high, scrolled, isZoom: event.shiftKey };
    isMoved = false;
  });
  canvas.addEventListener("pointermove", (event) => {
    if (from === null) return hover({ x: event.offsetX, y: event.offsetY });
    const [x, y] = [event.offsetX - from.x, event.offsetY - from.y];
    if (!isMoved && Math.abs(x) < CLICK && Math.abs(y) < CLICK) return;
    isMoved = true;
    hover(null);
    if (from.isZoom) return;
    const by = (-x / view.width) * (from.high - from.low);
    view.scroll(from.scrolled - y - view.scrolled);
    view.setWindow(from.low + by, from.high + by);
  });
  canvas.addEventListener("pointerup", (event) => {
    if (from === null) return;
    if (!isMoved) view.select(stretchUnder(view, event.offsetX, event.offsetY));
    else if (from.isZoom) {
      const times = [view.timeAt(from.x), view.timeAt(event.offsetX)];
      view.setWindow(Math.min(...times), Math.max(...times));
    }
    from = null;
  });
  canvas.addEventListener("pointerleave", () => hover(null));
}

/** Arrows go from stretch to stretch and lane to lane, with shift they move the window. */
function onKey(view: LaneView, event: KeyboardEvent): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey) return false;
  const selected = view.selection?.stretch ?? null;
  const middle = selected === null ? undefined : (selected.begin + selected.end) / 2 + originOf(selected.process);
  const around = middle !== undefined && middle > view.low && middle < view.high ? middle : undefined;
  if (onArrow(view, event)) return true;
  if (event.key === "+" || event.key === "=") view.zoom(0.5, around);
  else if (event.key === "-") view.zoom(2, around);
  else if (event.key === "0") view.setWindow(0, view.end);
  else if (event.key === "Enter" && selected !== null) view.show(selected);
  else if (event.key === "g" && selected !== null) goToGiver(view, selected);
  else if (event.key === "Escape") {
    view.choose(null);
    view.select(null);
  } else return false;
  return true;
}

function onArrow(view: LaneView, event: KeyboardEvent): boolean {
  const sideways = { ArrowLeft: -1, ArrowRight: 1 }[event.key] ?? 0;
  const upwards = { ArrowUp: -1, ArrowDown: 1 }[event.key] ?? 0;
  if (sideways && event.shiftKey) view.pan(sideways * STEP);
  else if (upwards && event.shiftKey) view.scroll(upwards * 60);
  else if (sideways) nextStretch(view, sideways);
  else if (upwards) nextLane(view, upwards);
  return sideways !== 0 || upwards !== 0;
}

/** Selects; where that is out of sight, the window moves there. */
export function go(view: LaneView, stretch: Stretch | null): void {
  if (stretch === null) return;
  const origin = originOf(stretch.process),
    width = view.high - view.low;
  if (stretch.end + origin < view.low || stretch.begin + origin > view.high)
    view.setWindow(stretch.begin + origin - width / 2, stretch.begin + origin + width / 2);
  view.select(stretch);
}

function nextStretch(view: LaneView, way: number): void {
  const selected = view.selection?.stretch;
  if (selected === undefined) return first(view);
  const at = way > 0 ? selected.end : selected.begin - 1;
  go(view, view.at(selected.process, selected.lane, at + originOf(selected.process)));
}

function nextLane(view: LaneView, way: number): void {
  const selected = view.selection?.stretch;
  if (selected === undefined) return first(view);
  const lanes = view.layout.rows.filter((row) => row.lane >= 0);
  const now = lanes.findIndex((row) => row.process === selected.process && row.lane === selected.lane);
  const origin = originOf(selected.process);
  const time = Math.min(Math.max((selected.begin + selected.end) / 2 + origin, view.low), view.high);
  for (let at = now + way; at >= 0 && at < lanes.length; at += way) {
    const stretch = view.at(lanes[at]!.process, lanes[at]!.lane, time);
    if (stretch !== null) return view.select(stretch);
  }
}

/** Without a selection: what a lane does in the middle of what is seen, or, where none does anything then, near it. */
function first(view: LaneView): void {
  const rows = view.layout.rows.filter((row) => row.lane >= 0);
  for (let parts = 2; parts <= MOST_PARTS; parts *= 2)
    for (let part = 1; part < parts; part += 2) {
      const time = view.low + ((view.high - view.low) * part) / parts;
      for (const row of rows) {
        const stretch = view.at(row.process, row.lane, time);
        if (stretch !== null) return view.select(stretch);
      }
    }
}

function goToGiver(view: LaneView, selected: Stretch): void {
  const wait = isWait(selected) ? selected : view.selection?.before;
  if (!wait) return;
  const giver = giverOf(wait);
  const time = isWait(selected) ? (wait.begin + wait.end) / 2 : wait.end - 1;
  if (giver === null || !view.processes.includes(giver.process)) return;
  go(view, stretchAt(view.store, giver.process, giver.lane, movedTo(giver.process, time, wait.process)));
}

// What is drawn over the lanes: names, the axis of time, labels of wide stretches, the selection with its arrows.

import { resolved } from "../colors";
import { placeName, shortened } from "../format";
import { AXIS, GUTTER, type Row } from "./layout";
import { classOf } from "./chain";
import { type LaneProcess, subjectOf } from "./model";
import type { Stretch } from "./window";

export interface Frame {
  context: CanvasRenderingContext2D;
  /** In pixels of the style sheet, without the names on the left. */
  width: number;
  height: number;
  /** What is seen, ns of the page's axis. */
  low: number;
  high: number;
  /** How far the rows are scrolled. */
  scrolled: number;
}
const FONT = "11px system-ui, sans-serif";
const LEAST_LABEL = 46;

export const xOf = (frame: Frame, time: number): number =>
  GUTTER + ((time - frame.low) / (frame.high - frame.low)) * frame.width;
const yOf = (frame: Frame, row: Row): number => AXIS + row.y - frame.scrolled;

export function drawNames(frame: Frame, rows: Row[]): void {
  const { context } = frame;
  context.fillStyle = resolved("var(--bg)");
  context.fillRect(0, 0, GUTTER, frame.height);
  context.font = FONT;
  context.textBaseline = "middle";
  context.textAlign = "left";
  let lastY = -Infinity;
  for (const row of rows) {
    const y = yOf(frame, row) + row.height / 2;
    if (y < AXIS || y > frame.height) continue;
    const isHead = row.lane < 0;
    // Lanes may be lower than a line of text: then not each of them has its name.
    if (!isHead && y - lastY < 12) continue;
    lastY = y;
    context.font = isHead ? `600 ${FONT}` : FONT;
    context.fillStyle = resolved(isHead ? "var(--fg)" : "var(--soft)");
    const words = isHead ? row.process.name : row.process.lanes[row.lane]!;
    context.fillText(shortened(words, isHead ? 160 : 24), 2, y);
  }
}

/** Distances of ticks: 1, 2 or 5 times a power of ten. */
export function ticksOf(low: number, high: number, most: number): { step: number; times: number[] } {
  const rough = (high - low) / Math.max(most, 1);
  const power = 10 ** Math.floor(Math.log10(Math.max(rough, 1)));
  const step = Math.max(1, power * (rough <= power ? 1 : rough <= 2 * power ? 2 : rough <= 5 * power ? 5 : 10));
  const times: number[] = [];
  for (let time = Math.ceil(low / step) * step; time <= high && times.length < 100; time += step) times.push(time);
  return { step, times };
}

/** A time with as many digits as distinguish ticks. */
export function timeLabel(ns: number, step: number): string {
  const [unit, name] = ns >= 1e9 ? [1e9, "s"] : ns >= 1e6 ? [1e6, "ms"] : ns >= 1e3 ? [1e3, "\u00b5s"] : [1, "ns"];
  const decimals = Math.max(0, Math.min(9, Math.ceil(Math.log10(unit / step) - 1e-9)));
  return ns === 0 ? "0" : `${(ns / unit).toFixed(decimals)} ${name}`;
}

export function drawAxis(frame: Frame): void {
  const { context } = frame;
  context.fillStyle = resolved("var(--bg)");
  context.fillRect(0, 0, GUTTER + frame.width, AXIS);
  context.fillStyle = context.strokeStyle = resolved("var(--soft)");
  context.font = FONT;
  context.textBaseline = "middle";
  context.textAlign = "center";
  const { step, times } = ticksOf(frame.low, frame.high, frame.width / 110);
  context.lineWidth = 1;
  context.beginPath();
  for (const time of times) {
    const x = Math.round(xOf(frame, time)) + 0.5;
    if (x > GUTTER + 20 && x < GUTTER + frame.width - 30) context.fillText(timeLabel(time, step), x, AXIS / 2);
    context.moveTo(x, AXIS - 5);
    context.lineTo(x, AXIS);
  }
  context.stroke();
}

/** The name of what a lane does, where it is wide enough to be read. */
export function drawLabel(frame: Frame, row: Row, stretch: Stretch, states: string[]): void {
  const begin = Math.max(xOf(frame, stretch.begin + originOf(stretch.process)), GUTTER),
    end = Math.min(xOf(frame, stretch.end + originOf(stretch.process)), GUTTER + frame.width);
  if (end - begin < LEAST_LABEL || row.height < 12) return;
  const each = classOf(stretch);
  const name = each.cause === null ? subjectOf(stretch.process, each.subject)?.name : undefined;
  const words = placeName(name || states[each.state] || "", Math.floor((end - begin - 8) / 6));
  const { context } = frame;
  context.font = FONT;
  const width = Math.min(context.measureText(words).width, end - begin - 8);
  const y = yOf(frame, row) + row.height / 2;
  context.fillStyle = resolved("var(--bg)");
  context.globalAlpha = 0.78;
  context.fillRect(begin + 3, y - 7, width + 4, 14);
  context.globalAlpha = 1;
  context.fillStyle = resolved("var(--fg)");
  context.textAlign = "left";
  context.textBaseline = "middle";
  context.fillText(words, begin + 5, y + 0.5, end - begin - 8);
}

/** When a process began on the axis that is shown. */
let origins: (process: LaneProcess) => number = (process) => process.begin;
export function setOrigins(to: (process: LaneProcess) => number): void {
  origins = to;
}
export const originOf = (process: LaneProcess): number => origins(process);

/** A frame around a stretch, at least a pixel wide inside. */
export function drawBox(frame: Frame, row: Row, stretch: Stretch, isMain: boolean): void {
  const { context } = frame;
  const begin = Math.max(xOf(frame, stretch.begin + originOf(stretch.process)), GUTTER - 2),
    end = Math.min(xOf(frame, stretch.end + originOf(stretch.process)), GUTTER + frame.width + 2);
  if (end < GUTTER || begin > GUTTER + frame.width) return;
  context.strokeStyle = resolved("var(--fg)");
  context.lineWidth = isMain ? 2.5 : 1.5;
  context.setLineDash(isMain ? [] : [4, 2]);
  context.strokeRect(begin - 1, yOf(frame, row) - 1, Math.max(end - begin, 1) + 2, row.height + 2);
  context.setLineDash([]);
}

/** An arrow from a moment of one lane to a moment of another. */
export function drawArrow(frame: Frame, from: Row, fromTime: number, to: Row, toTime: number, isDashed = false): void {
  const { context } = frame;
  const x0 = clamped(frame, xOf(frame, fromTime)),
    x1 = clamped(frame, xOf(frame, toTime));
  const y0 = yOf(frame, from) + from.height / 2,
    y1 = yOf(frame, to) + (x0 === x1 || from === to ? to.height / 2 : y0 < yOf(frame, to) ? 0 : to.height);
  const bend = Math.max(Math.abs(x1 - x0) * 0.35, 14);
  for (const [color, width] of [
    ["var(--bg)", 4.5],
    ["var(--accent)", 2],
  ] as const) {
    context.strokeStyle = context.fillStyle = resolved(color);
    context.lineWidth = width;
    context.setLineDash(isDashed ? [5, 3] : []);
    context.beginPath();
    context.moveTo(x0, y0);
    if (x0 === x1) context.lineTo(x1, y1);
    else context.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1, y1);
    context.stroke();
    context.setLineDash([]);
    context.beginPath();
    const way = y1 > y0 ? -1 : 1;
    context.moveTo(x1, y1);
    context.lineTo(x1 - 5, y1 + 8 * way);
    context.lineTo(x1 + 5, y1 + 8 * way);
    context.fill();
  }
}

const clamped = (frame: Frame, x: number): number => Math.min(Math.max(x, GUTTER - 20), GUTTER + frame.width + 20);

// Colours and patterns of what lanes do: work in the colour of its subject, waits in that of their state, with a pattern.

import { resolved } from "../colors";
import type { Chosen, LaneClass, LaneProcess } from "./model";

/** By class of a process. */
export interface Inks {
  ink: Uint32Array;
  second: Uint32Array;
  pattern: Uint8Array;
  /** What lies below what. */
  rank: Uint8Array;
  isWait: Uint8Array;
}
interface Look {
  color: string;
  pattern: number;
}

/** By state, as python/trimtab/analysis/stretches.py numbers them. */
export const LOOKS: readonly Look[] = [
  { color: "var(--work)", pattern: 0 },
  { color: "var(--alone)", pattern: 7 },
  { color: "var(--runtime)", pattern: 8 },
  { color: "var(--barrier-wait)", pattern: 1 },
  { color: "var(--lock-wait)", pattern: 2 },
  { color: "var(--starved)", pattern: 3 },
  { color: "var(--unattributed)", pattern: 4 },
  { color: "var(--arrival)", pattern: 5 },
  { color: "var(--run-delay)", pattern: 6 },
  { color: "var(--serial)", pattern: 7 },
  { color: "var(--line)", pattern: 0 },
];
export const lookOf = (state: number): Look => LOOKS[state] ?? { color: "var(--others)", pattern: 0 };
const WORK = 0;
/** How much of a class that nobody asked for is left. */
export const DIMMED = 0.16;

export type Rgb = [number, number, number];

export function rgb(color: string): Rgb {
  const [, r = "80", g = "80", b = "80"] = /^#(\w\w)(\w\w)(\w\w)/.exec(resolved(color)) ?? [];
  return [parseInt(r, 16), parseInt(g, 16), parseInt(b, 16)];
}
export const between = (one: Rgb, other: Rgb, part: number): Rgb =>
  one.map((each, at) => Math.round(each + (other[at]! - each) * part)) as Rgb;
/** As the bytes of a picture have it, on machines with the low byte first (all that browsers run on). */
export const packedColor = ([r, g, b]: Rgb): number => ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;

/** The looks of a process's classes; with `chosen`, all others keep this share of their colour: 0 hides them. */
export function inksOf(
  process: LaneProcess,
  color: (name: string) => string,
  chosen: Chosen | null,
  others = DIMMED,
): Inks {
  const count = process.classes.length;
  const inks: Inks = {
    ink: new Uint32Array(count),
    second: new Uint32Array(count),
    pattern: new Uint8Array(count),
    rank: new Uint8Array(count),
    isWait: new Uint8Array(count),
  };
  const panel = rgb("var(--panel)"),
    bright = rgb("var(--bg)");
  process.classes.forEach((each, at) => {
    const base = rgb(colorOf(process, each, color));
    const left = chosen === null || chosen(each, process) ? 1 : others;
    inks.ink[at] = packedColor(between(panel, base, left));
    inks.second[at] = packedColor(between(panel, between(base, bright, 0.55), left));
    inks.pattern[at] = lookOf(each.state).pattern;
    inks.rank[at] = each.state;
    inks.isWait[at] = each.cause === null ? 0 : 1;
  });
  return inks;
}

export function colorOf(process: LaneProcess, each: LaneClass, color: (name: string) => string): string {
  const subject = process.subjects[each.subject];
  return each.state === WORK && subject !== undefined ? color(subject.name) : lookOf(each.state).color;
}

// From counters as they were sampled to lines that can be drawn.

import type { CounterSeries } from "./report";

export interface Line {
  label: string;
  t: number[];
  v: number[];
  /** A rate holds for the time since the point before it; a level for its moment. */
  isRate: boolean;
}

/** A chart shows no more than this, and noise of single samples would hide the rest. */
const MOST_POINTS = 400;

/** Growth per second. Samples can come in bursts: spans much shorter than others, or than a chart shows, are joined. */
export function rate(counter: CounterSeries, label: string, scale = 1): Line {
  const { t_s: times, values } = counter;
  const line: Line = { label, t: [], v: [], isRate: true };
  const first = times[0],
    last = times[times.length - 1];
  if (first === undefined || last === undefined || last <= first) return line;
  const spans = times
    .slice(1)
    .map((time, at) => time - times[at]!)
    .sort((a, b) => a - b);
  const least = Math.max((last - first) / MOST_POINTS, spans[spans.length >> 1]! / 3);
  const kept = [0];
  for (let at = 1; at < times.length; at++) {
    const isEnd = at === times.length - 1;
    const span = times[at]! - times[kept[kept.length - 1]!]!;
    // A short rest at the end joins the span before it.
    if (isEnd && span < least && kept.length > 1) kept.pop();
    if (isEnd || span >= least) kept.push(at);
  }
  for (let n = 1; n < kept.length; n++) {
    const from = kept[n - 1]!,
      to = kept[n]!;
    const value = ((values[to]! - values[from]!) / (times[to]! - times[from]!)) * scale;
    if (n === 1) {
      line.t.push(times[from]!);
      line.v.push(value);
    }
    line.t.push(times[to]!);
    line.v.push(value);
  }
  return line;
}

export function level(counter: CounterSeries, label: string): Line {
  return { label, t: counter.t_s, v: counter.values, isRate: false };
}

/** The value that `line` has at `time`; null outside its points. */
export function valueAt(line: Line, time: number): number | null {
  const { t, v } = line;
  if (!t.length || time < t[0]! || time > t[t.length - 1]!) return null;
  let low = 0,
    high = t.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (t[middle]! < time) low = middle + 1;
    else high = middle;
  }
  if (line.isRate || low === 0) return v[low]!;
  return time - t[low - 1]! < t[low]! - time ? v[low - 1]! : v[low]!;
}

export const isQuiet = (line: Line): boolean => line.v.every((value) => value === 0);
export const highest = (lines: Line[]): number =>
  lines.reduce((top, line) => line.v.reduce((a, b) => Math.max(a, b), top), 0);

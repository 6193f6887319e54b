// Pixels of a lane: in each column the classes on top of each other, work below, waits above, each with its pattern.

import { type Mix, SLOTS } from "./mix";
import type { Inks } from "./palette";

/** A picture's pixels, 4 bytes each. */
export interface Pixels {
  data: Uint32Array;
  stride: number;
}

const order = new Uint8Array(SLOTS);
const heights = new Float64Array(SLOTS);

/** Draws the columns of `mix` at (x, y), `height` pixels high. */
export function drawLane(pixels: Pixels, mix: Mix, inks: Inks, x: number, y: number, height: number): void {
  for (let column = 0; column < mix.width; column++) {
    const used = mix.used[column]!;
    if (used === 0) continue;
    const base = column * SLOTS;
    const shown = used === 1 && mix.ns[base]! > 0.995 ? whole(height) : stacked(mix, inks, base, used, height);
    let bottom = y + height;
    for (let at = 0; at < shown; at++) {
      const kind = mix.kind[base + order[at]!]!;
      const top = Math.max(bottom - heights[at]!, y);
      paint(pixels, inks, kind, x + column, top, bottom);
      bottom = top;
    }
  }
}

function whole(height: number): number {
  order[0] = 0;
  heights[0] = height;
  return 1;
}

/** How high each class is, from below; a wait that is there takes at least a pixel. */
function stacked(mix: Mix, inks: Inks, base: number, used: number, height: number): number {
  for (let at = 0; at < used; at++) {
    let place = at;
    const rank = inks.rank[mix.kind[base + at]!]!;
    for (; place > 0 && inks.rank[mix.kind[base + order[place - 1]!]!]! > rank; place--)
      order[place] = order[place - 1]!;
    order[place] = at;
  }
  let sum = 0,
    before = 0,
    room = height;
  for (let at = used - 1; at >= 0; at--) {
    // From above, so that what takes at least a pixel takes it from the work below.
    const kind = mix.kind[base + order[at]!]!;
    sum += mix.ns[base + order[at]!]!;
    const until = Math.round(Math.min(sum, 1) * height);
    const least = inks.isWait[kind] ? 1 : 0;
    heights[at] = Math.min(Math.max(until - before, least), room);
    before = until;
    room -= heights[at]!;
  }
  return used;
}

function paint({ data, stride }: Pixels, inks: Inks, kind: number, x: number, top: number, bottom: number): void {
  const ink = inks.ink[kind]!,
    second = inks.second[kind]!,
    pattern = inks.pattern[kind]!;
  for (let y = top, at = top * stride + x; y < bottom; y++, at += stride)
    data[at] = pattern !== 0 && isSecond(pattern, x, y) ? second : ink;
}

/** Patterns distinguish kinds of waiting where colours do not. */
export function isSecond(pattern: number, x: number, y: number): boolean {
  switch (pattern) {
    case 1:
      return (x + y) % 6 < 2; // rising lines
    case 2:
      return (x - y + 6000) % 6 < 2 || (x + y) % 6 < 2; // crossing lines
    case 3:
      return y % 4 === 0; // lying lines
    case 4:
      return x % 8 === 0 && y % 4 === 0; // few dots
    case 5:
      return (x - y + 6000) % 6 < 2; // falling lines
    case 6:
      return ((x >> 2) + (y >> 2)) % 2 === 0; // squares
    case 7:
      return x % 4 === 0; // standing lines
    case 8:
      return x % 4 === 0 && y % 4 === 0; // many dots
    default:
      return false;
  }
}

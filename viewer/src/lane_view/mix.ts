// What a lane did in each column of pixels. The cost is one step for each stretch or bucket, and one for each column.

import type { StretchTile } from "./tiles";
import { firstFrom, type Shown } from "./window";

/** Classes that a column distinguishes; what comes later is added to the last one. */
export const SLOTS = 8;

export class Mix {
  kind: Uint16Array;
  ns: Float64Array;
  used: Uint8Array;

  constructor(readonly width: number) {
    this.kind = new Uint16Array(width * SLOTS);
    this.ns = new Float64Array(width * SLOTS);
    this.used = new Uint8Array(width);
  }

  /** The lane in the window [low, low + width * perPixel). */
  fill(shown: Shown, lane: number, low: number, perPixel: number): void {
    this.used.fill(0);
    if (shown.what === "stretches") {
      let until = -Infinity;
      for (const tile of shown.tiles) until = this.#stretches(tile, lane, low, perPixel, until);
      return;
    }
    const bucket = 2 ** shown.shift;
    const high = low + this.width * perPixel;
    for (const tile of shown.tiles) {
      const end = tile.first[lane + 1]!;
      let at = firstFrom(tile.bucket, tile.first[lane]!, end, Math.floor(low / bucket));
      for (; at < end; at++) {
        const begin = tile.bucket[at]! * bucket;
        if (begin >= high) break;
        this.#add((begin - low) / perPixel, (begin + bucket - low) / perPixel, tile.kind[at]!, tile.ns[at]! / bucket);
      }
    }
  }

  #stretches(tile: StretchTile, lane: number, low: number, perPixel: number, until: number): number {
    const end = tile.first[lane + 1]!;
    const high = low + this.width * perPixel;
    let at = Math.max(firstFrom(tile.begin, tile.first[lane]!, end, low) - 1, tile.first[lane]!);
    for (; at < end; at++) {
      const begin = tile.begin[at]!;
      if (begin >= high) break;
      if (begin < until) continue;
      until = begin + tile.length[at]!;
      this.#add((begin - low) / perPixel, (until - low) / perPixel, tile.kind[at]!, 1);
    }
    return until;
  }

  /** `density` of class `kind` from column `from` to `to`, which need not be whole. */
  #add(from: number, to: number, kind: number, density: number): void {
    from = Math.max(from, 0);
    to = Math.min(to, this.width);
    if (to <= from) return;
    const first = Math.floor(from),
      last = Math.min(Math.ceil(to), this.width) - 1;
    for (let column = first; column <= last; column++)
      this.#put(column, kind, density * (Math.min(to, column + 1) - Math.max(from, column)));
  }

  #put(column: number, kind: number, part: number): void {
    const base = column * SLOTS,
      used = this.used[column]!;
    for (let slot = base; slot < base + used; slot++)
      if (this.kind[slot] === kind) {
        this.ns[slot] = this.ns[slot]! + part;
        return;
      }
    if (used === SLOTS) {
      this.ns[base + SLOTS - 1] = this.ns[base + SLOTS - 1]! + part;
      return;
    }
    this.kind[base + used] = kind;
    this.ns[base + used] = part;
    this.used[column] = used + 1;
  }
}

// What a lane did in each column of pixels. The cost is one step for each stretch or bucket, and one for each column.

import type { StretchTile } from "./tiles";
import { firstFrom, type Shown } from "./window";

/** Classes that a column distinguishes. Of more, work shares a class, so that waits keep theirs. */
export const SLOTS = 8;

export class Mix {
  kind: Uint16Array;
  ns: Float64Array;
  used: Uint8Array;

  /** By class. */
  #isWait: ArrayLike<number> = [];

  constructor(readonly width: number) {
    this.kind = new Uint16Array(width * SLOTS);
    this.ns = new Float64Array(width * SLOTS);
    this.used = new Uint8Array(width);
  }

  /** The lane in the window [low, low + width * perPixel). */
  fill(shown: Shown, lane: number, low: number, perPixel: number, isWait: ArrayLike<number>): void {
    this.#isWait = isWait;
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
    if (used === SLOTS) return this.#putIntoFull(base, kind, part);
    this.kind[base + used] = kind;
    this.ns[base + used] = part;
    this.used[column] = used + 1;
  }

  #putIntoFull(base: number, kind: number, part: number): void {
    const [least, next] = this.#smallestWork(base);
    if (!this.#isWait[kind] || next < 0) {
      const shared = least < 0 ? base + SLOTS - 1 : least;
      this.ns[shared] = this.ns[shared]! + part;
      return;
    }
    this.ns[next] = this.ns[next]! + this.ns[least]!;
    this.kind[least] = kind;
    this.ns[least] = part;
  }

  /** The slots of the two classes of work with least time; -1: none. */
  #smallestWork(base: number): [number, number] {
    const isLess = (slot: number, than: number): boolean => than < 0 || this.ns[slot]! < this.ns[than]!;
    let least = -1,
      next = -1;
    for (let slot = base; slot < base + SLOTS; slot++) {
      if (this.#isWait[this.kind[slot]!]) continue;
      if (isLess(slot, least)) [least, next] = [slot, least];
      else if (isLess(slot, next)) next = slot;
    }
    return [least, next];
  }
}

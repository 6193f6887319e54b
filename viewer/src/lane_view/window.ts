// Which tiles show a window of time at a given width, and what lies where in them.

import type { LaneProcess } from "./model";
import { type LevelTile, type StretchTile, TILE_BUCKETS, type TileStore } from "./tiles";

/** More tiles of single stretches than these take too long to draw; levels of detail show the same. */
const MOST_STRETCH_TILES = 4;

/** What is drawn of one process: single stretches, or buckets of a level. */
export type Shown =
  | { what: "stretches"; tiles: StretchTile[] }
  | { what: "buckets"; shift: number; tiles: LevelTile[]; isCoarse: boolean };

/** One stretch of a lane. */
export interface Stretch {
  process: LaneProcess;
  lane: number;
  begin: number;
  end: number;
  kind: number;
  /** By its place among the lanes of all processes; -1: none. */
  giver: number;
}

/** Of a process in [low, high): the best that is there now. What is better is asked for, and comes later. */
export function shownOf(store: TileStore, process: LaneProcess, low: number, high: number, pixels: number): Shown {
  const wanted = stretchTiles(process, low, high);
  if (wanted.length <= MOST_STRETCH_TILES && wanted.every((tile) => store.has(`${process.at}.s.${tile}`))) {
    const tiles = wanted.map((tile) => store.stretches(process, tile)).filter((tile) => tile !== null);
    if (tiles.length === wanted.length) return { what: "stretches", tiles };
  }
  const width = (high - low) / pixels;
  let best = process.levels.findIndex((level) => 2 ** level.shift <= width);
  if (best < 0) best = process.levels.length - 1;
  while (best > 0 && !store.hasLevel(process, best)) best--;
  for (let level = best; level > 0; level--) {
    const found = levelTiles(store, process, level, low, high);
    if (found !== null) return bucketsOf(process, level, found, width);
  }
  return bucketsOf(process, 0, levelTiles(store, process, 0, low, high) ?? [], width);
}

const bucketsOf = (process: LaneProcess, level: number, tiles: LevelTile[], width: number): Shown => {
  const shift = process.levels[level]?.shift ?? 0;
  return { what: "buckets", shift, tiles, isCoarse: 2 ** shift > width * 2 };
};

function levelTiles(
  store: TileStore,
  process: LaneProcess,
  level: number,
  low: number,
  high: number,
): LevelTile[] | null {
  const { shift, tiles } = process.levels[level] ?? { shift: 0, tiles: 0 };
  const length = TILE_BUCKETS * 2 ** shift;
  const first = Math.max(Math.floor(low / length), 0),
    last = Math.min(Math.ceil(high / length), tiles);
  const found: LevelTile[] = [];
  let isWhole = true;
  for (let tile = first; tile < last; tile++) {
    const one = store.level(process, level, tile);
    if (one === null) isWhole = false;
    else found.push(one);
  }
  return isWhole ? found : null;
}

function stretchTiles(process: LaneProcess, low: number, high: number): number[] {
  const found: number[] = [];
  for (let tile = 0; tile + 1 < process.bounds.length; tile++)
    if (process.bounds[tile]! < high && process.bounds[tile + 1]! > low) found.push(tile);
  return found;
}

/** The first place in [from, to) whose value is at least `wanted`; `to` where there is none. */
export function firstFrom(values: ArrayLike<number>, from: number, to: number, wanted: number): number {
  while (from < to) {
    const middle = (from + to) >> 1;
    if (values[middle]! < wanted) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** The stretch of a lane at a moment; null: none, or not among the tiles that are there. */
export function stretchAt(store: TileStore, process: LaneProcess, lane: number, time: number): Stretch | null {
  for (const number of stretchTiles(process, time, time + 1)) {
    if (!store.has(`${process.at}.s.${number}`)) continue;
    const tile = store.stretches(process, number);
    if (tile === null) continue;
    const at = firstFrom(tile.begin, tile.first[lane]!, tile.first[lane + 1]!, time + 0.5) - 1;
    if (at >= tile.first[lane]! && tile.begin[at]! + tile.length[at]! > time) return stretchOf(process, lane, tile, at);
  }
  return null;
}

export function stretchOf(process: LaneProcess, lane: number, tile: StretchTile, at: number): Stretch {
  const begin = tile.begin[at]!;
  return { process, lane, begin, end: begin + tile.length[at]!, kind: tile.kind[at]!, giver: tile.giver[at]! - 1 };
}

/** How long a lane did what in [low, high), by class: exact in single stretches, by share of the buckets in levels. */
export function timeByClass(shown: Shown, lane: number, low: number, high: number): Map<number, number> {
  const sums = new Map<number, number>();
  const add = (kind: number, ns: number): void => void (ns > 0 && sums.set(kind, (sums.get(kind) ?? 0) + ns));
  let until = -Infinity;
  if (shown.what === "stretches") {
    for (const tile of shown.tiles)
      for (let at = tile.first[lane]!; at < tile.first[lane + 1]!; at++) {
        // What lies in two tiles is in both.
        if (tile.begin[at]! < until) continue;
        until = tile.begin[at]! + tile.length[at]!;
        add(tile.kind[at]!, Math.min(until, high) - Math.max(tile.begin[at]!, low));
      }
    return sums;
  }
  const width = 2 ** shown.shift;
  for (const tile of shown.tiles) {
    const end = tile.first[lane + 1]!;
    for (let at = firstFrom(tile.bucket, tile.first[lane]!, end, Math.floor(low / width)); at < end; at++) {
      const begin = tile.bucket[at]! * width;
      if (begin >= high) break;
      add(tile.kind[at]!, (tile.ns[at]! * (Math.min(begin + width, high) - Math.max(begin, low))) / width);
    }
  }
  return sums;
}

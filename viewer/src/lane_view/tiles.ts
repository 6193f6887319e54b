// Tiles of lanes over time: those inside the page, and, if it was served, those of its server.

import { bytesOf, type Numbers, unpacked } from "./columns";
import type { LaneModel, LaneProcess } from "./model";

export const TILE_BUCKETS = 4096;
/** Decoded tiles that are kept. */
const MOST_KEPT = 96;

/** A part of a level of detail: entries by lane and bucket. `first` is each lane's first entry, and one behind the last. */
export interface LevelTile {
  first: Uint32Array;
  bucket: Uint32Array;
  kind: Numbers;
  ns: Numbers;
}
/** Single stretches by lane and begin, and arrows between tasks. */
export interface StretchTile {
  first: Uint32Array;
  begin: Float64Array;
  length: Numbers;
  kind: Numbers;
  /** Lane + 1; 0: none. */
  giver: Numbers;
  links: { fromLane: Numbers; from: Numbers; toLane: Numbers; to: Numbers };
}

export class TileStore {
  readonly #levels = new Map<string, LevelTile>();
  readonly #stretches = new Map<string, StretchTile>();
  readonly #pending = new Set<string>();
  readonly #failed = new Set<string>();
  /** Called whenever a tile has come. */
  arrived: () => void = () => undefined;

  constructor(readonly model: LaneModel) {}

  /** Whether a tile can be had: at once, or later. */
  has(name: string): boolean {
    return !this.#failed.has(name) && (this.model.isServed || document.getElementById(`tile-${name}`) !== null);
  }
  hasLevel(process: LaneProcess, level: number): boolean {
    return this.has(`${process.at}.${level}.0`);
  }

  /** The tile, or null until it has come. */
  level(process: LaneProcess, level: number, tile: number): LevelTile | null {
    const name = `${process.at}.${level}.${tile}`;
    return this.#kept(this.#levels, name, (columns) => levelTile(columns, tile * TILE_BUCKETS));
  }
  stretches(process: LaneProcess, tile: number): StretchTile | null {
    return this.#kept(this.#stretches, `${process.at}.s.${tile}`, stretchTile);
  }

  get isBusy(): boolean {
    return this.#pending.size > 0;
  }
  /** Until nothing is under way. */
  async settled(): Promise<void> {
    while (this.#pending.size) await new Promise((done) => setTimeout(done, 5));
  }

  #kept<Tile>(kept: Map<string, Tile>, name: string, made: (columns: Numbers[]) => Tile): Tile | null {
    const tile = kept.get(name);
    if (tile !== undefined) {
      kept.delete(name);
      kept.set(name, tile);
      return tile;
    }
    if (!this.#pending.has(name) && this.has(name)) void this.#load(kept, name, made);
    return null;
  }

  async #load<Tile>(kept: Map<string, Tile>, name: string, made: (columns: Numbers[]) => Tile): Promise<void> {
    this.#pending.add(name);
    try {
      kept.set(name, made(await unpacked(await this.#bytes(name))));
      for (const oldest of kept.keys()) {
        if (kept.size <= MOST_KEPT) break;
        kept.delete(oldest);
      }
    } catch (error) {
      this.#failed.add(name);
      console.error(`tile ${name}:`, error);
    } finally {
      this.#pending.delete(name);
    }
    this.arrived();
  }

  async #bytes(name: string): Promise<Uint8Array> {
    const inside = document.getElementById(`tile-${name}`);
    if (inside !== null) return bytesOf(inside.textContent ?? "");
    const answer = await fetch(`tile/${name}`);
    if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
    return new Uint8Array(await answer.arrayBuffer());
  }
}

function firsts(counts: Numbers): Uint32Array {
  const first = new Uint32Array(counts.length + 1);
  for (let at = 0; at < counts.length; at++) first[at + 1] = first[at]! + counts[at]!;
  return first;
}

export function levelTile(columns: Numbers[], origin: number): LevelTile {
  const [counts, steps, kind, ns] = columns as [Numbers, Numbers, Numbers, Numbers];
  const first = firsts(counts);
  const bucket = new Uint32Array(steps.length);
  for (let lane = 0; lane < counts.length; lane++) {
    let now = origin;
    for (let at = first[lane]!; at < first[lane + 1]!; at++) bucket[at] = now += steps[at]!;
  }
  return { first, bucket, kind, ns };
}

export function stretchTile(columns: Numbers[]): StretchTile {
  const [counts, firstBegin, gap, length, kind, giver] = columns as [
    Numbers,
    Numbers,
    Numbers,
    Numbers,
    Numbers,
    Numbers,
  ];
  const [fromLane, from, toLane, to] = columns.slice(6) as [Numbers, Numbers, Numbers, Numbers];
  const first = firsts(counts);
  const begin = new Float64Array(gap.length);
  for (let lane = 0; lane < counts.length; lane++) {
    let now = firstBegin[lane]!;
    for (let at = first[lane]!; at < first[lane + 1]!; at++) {
      begin[at] = now += gap[at]!;
      now += length[at]!;
    }
  }
  return { first, begin, length, kind, giver, links: { fromLane, from, toLane, to } };
}

// Why a lane waits: from lane to lane, each waiting for the next one, down to the one that does not wait.

import { placeName, seconds, shortened } from "../format";
import { type LaneProcess, type Place, placeOf, subjectOf } from "./model";
import type { StretchTile, TileStore } from "./tiles";
import { firstFrom, type Stretch, stretchAt, stretchOf } from "./window";

const LONGEST_NAME = 60;
const MOST_RELEASED = 12;

/** Why a chain ends. */
export type ChainEnd = "culprit" | "unknown" | "absent" | "circle";
export interface Chain {
  /** The wait itself comes first; each waits for the next one. */
  links: Stretch[];
  end: ChainEnd;
  /** When they were looked at. */
  time: number;
}

export const isWait = (stretch: Stretch): boolean => stretch.giver >= 0;
export const classOf = (stretch: Stretch): LaneProcess["classes"][number] => stretch.process.classes[stretch.kind]!;

/** The lane that ends a wait, maybe of another process. */
export const giverOf = (wait: Stretch): Place | null => placeOf(wait.process.all, wait.giver);
/** A moment of one process on the clock of another one. */
export const movedTo = (process: LaneProcess, time: number, from: LaneProcess): number =>
  Math.floor(time + from.begin - process.begin);

/** Who a wait waited for at its middle; its time is of the process that waits. */
export function chainOf(store: TileStore, wait: Stretch): Chain {
  const time = Math.floor((wait.begin + wait.end) / 2);
  const links = [wait];
  const seen = new Set([wait.process.firstLane + wait.lane]);
  for (let last = wait; isWait(last);) {
    if (seen.has(last.giver)) return { links, end: "circle", time };
    const giver = giverOf(last);
    const next = giver && stretchAt(store, giver.process, giver.lane, movedTo(giver.process, time, wait.process));
    if (next === null) return { links, end: "absent", time };
    seen.add(last.giver);
    links.push(next);
    last = next;
  }
  return { links, end: links.length > 1 ? "culprit" : "unknown", time };
}

/** The name of a lane, with its process if that is another one than `here`. */
export function laneName({ process, lane }: Place, here: LaneProcess = process): string {
  return process === here ? process.lanes[lane]! : `${process.lanes[lane]} of ${shortened(process.name, LONGEST_NAME)}`;
}

/** `thread 1 waits at a barrier of "loop" for 1.2 ms`. */
export function sentence(stretch: Stretch, here: LaneProcess = stretch.process): string {
  const each = classOf(stretch);
  const subject = subjectOf(stretch.process, each.subject);
  const name = subject === null ? "" : ` ${placeName(subject.name, LONGEST_NAME) || "(no name)"}`;
  // "outside of regions" and the like name no place.
  const words = subject === null ? each.words.replace(/ (in|of)$/, "") : each.words;
  return `${laneName(stretch, here)} ${words}${name} for ${seconds((stretch.end - stretch.begin) * 1e-9)}`;
}

/** The whole name of what a lane does; empty: it has none. */
export const fullName = (stretch: Stretch): string => subjectOf(stretch.process, classOf(stretch).subject)?.name ?? "";

/** What idle time is charged to; empty: it is work. */
export function charge(stretch: Stretch): string {
  const { cause, blamed } = classOf(stretch);
  if (cause === null) return "";
  const subject = subjectOf(stretch.process, blamed);
  return `Charged to: ${cause}${subject === null ? "" : ` at ${placeName(subject.name, LONGEST_NAME)}`}.`;
}

export const ENDS: Record<ChainEnd, string> = {
  culprit: "",
  unknown: "Who ends this wait is not known.",
  absent: "What that lane did then is not recorded, or not inside this page.",
  circle: "These lanes wait for each other.",
};

/** What came before a stretch on its lane, if it follows at once and was a wait: what the stretch waited for. */
export function waitBefore(store: TileStore, stretch: Stretch): Stretch | null {
  for (let at = stretch, steps = 0; steps < 3; steps++) {
    const before = at.begin > 0 ? stretchAt(store, at.process, at.lane, at.begin - 1) : null;
    if (before === null || classOf(before).cause === null) return null;
    if (isWait(before)) return before;
    at = before;
  }
  return null;
}

/** Waits of other lanes that this stretch ended: those for this lane that end while it lasts, or with it. */
export function released(store: TileStore, stretch: Stretch): Stretch[] {
  const ended = stretch.process.all.flatMap((process) => releasedIn(store, process, stretch));
  return ended.sort((one, other) => other.end - other.begin - (one.end - one.begin)).slice(0, MOST_RELEASED);
}

function releasedIn(store: TileStore, process: LaneProcess, stretch: Stretch): Stretch[] {
  const own = stretch.process.firstLane + stretch.lane;
  const begin = movedTo(process, stretch.begin, stretch.process),
    end = movedTo(process, stretch.end, stretch.process);
  const ended = new Map<string, Stretch>();
  for (let number = 0; number + 1 < process.bounds.length; number++) {
    if (process.bounds[number]! > end || process.bounds[number + 1]! < begin) continue;
    const tile = store.has(`${process.at}.s.${number}`) ? store.stretches(process, number) : null;
    for (let lane = 0; tile !== null && lane < process.lanes.length; lane++) {
      if (process === stretch.process && lane === stretch.lane) continue;
      for (const each of endedOn(tile, process, lane, own, begin, end)) ended.set(`${lane} ${each.begin}`, each);
    }
  }
  return [...ended.values()];
}

/** Of one lane the waits for `own` that end in [begin, end]. */
function endedOn(
  tile: StretchTile,
  process: LaneProcess,
  lane: number,
  own: number,
  begin: number,
  end: number,
): Stretch[] {
  const first = tile.first[lane]!,
    behind = tile.first[lane + 1]!;
  const ended: Stretch[] = [];
  let at = Math.max(firstFrom(tile.begin, first, behind, begin) - 1, first);
  for (; at < behind && tile.begin[at]! <= end; at++) {
    const until = tile.begin[at]! + tile.length[at]!;
    // A wait is cut where what it is charged to changes: only its last piece is ended.
    const goesOn = at + 1 < behind && tile.begin[at + 1]! === until && tile.giver[at + 1]! === tile.giver[at]!;
    if (tile.giver[at]! - 1 === own && until > begin && until <= end + 1 && !goesOn)
      ended.push(stretchOf(process, lane, tile, at));
  }
  return ended;
}

/** Arrows between tasks that begin or end in a stretch. */
export interface Arrow {
  fromLane: number;
  from: number;
  toLane: number;
  to: number;
}
export function arrows(store: TileStore, stretch: Stretch): { entering: Arrow[]; leaving: Arrow[] } {
  const { process, lane, begin, end } = stretch;
  const entering: Arrow[] = [],
    leaving: Arrow[] = [];
  for (let number = 0; number + 1 < process.bounds.length; number++) {
    if (process.bounds[number]! > end || process.bounds[number + 1]! < begin) continue;
    const tile = store.has(`${process.at}.s.${number}`) ? store.stretches(process, number) : null;
    for (let at = 0; tile !== null && at < tile.links.from.length; at++) {
      const arrow = {
        fromLane: tile.links.fromLane[at]!,
        from: tile.links.from[at]!,
        toLane: tile.links.toLane[at]!,
        to: tile.links.to[at]!,
      };
      // Times of both ends are rounded by themselves.
      if (arrow.toLane === lane && Math.abs(arrow.to - begin) <= 1) entering.push(arrow);
      else if (arrow.fromLane === lane && arrow.from >= begin - 1 && arrow.from <= end + 1) leaving.push(arrow);
      if (entering.length + leaving.length >= 4 * MOST_RELEASED) return { entering, leaving };
    }
  }
  return { entering, leaving };
}

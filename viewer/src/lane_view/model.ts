// What there is to show of lanes over time. Times in nanoseconds since the process began; the page adds when that was.

import { amount, dict, dicts, figures, text, texts } from "../values";

/** What stretches have in common: what a lane does where, and what that time is charged to. */
export interface LaneClass {
  /** By its place in `states`. */
  state: number;
  words: string;
  /** By their place in `subjects`; -1: none. */
  subject: number;
  blamed: number;
  /** null: it works. */
  cause: string | null;
}
export interface Subject {
  name: string;
  key: string;
}
/** One of the longest stretches of its class. */
export interface Longest {
  lane: number;
  begin: number;
  end: number;
  kind: number;
}
export interface LaneProcess {
  /** By its place in `processes`. */
  at: number;
  id: string;
  name: string;
  begin: number;
  span: number;
  lanes: string[];
  /** The place of its first lane among those of all processes, as givers have it. */
  firstLane: number;
  /** All processes of the page. */
  all: LaneProcess[];
  subjects: Subject[];
  classes: LaneClass[];
  levels: { shift: number; tiles: number }[];
  bounds: number[];
  longest: Longest[];
  /** Which of several runs it is of. */
  run: string;
}
export interface LaneModel {
  processes: LaneProcess[];
  states: string[];
  isServed: boolean;
  leftOut: number;
}

export function readModel(value: unknown): LaneModel {
  const from = dict(value);
  const processes: LaneProcess[] = [];
  dicts(from["processes"]).forEach((each, at) => processes.push(processOf(each, at, processes)));
  return {
    processes,
    states: texts(from["states"]),
    isServed: from["served"] === true,
    leftOut: amount(from["left_out"]),
  };
}

function processOf(from: Record<string, unknown>, at: number, all: LaneProcess[]): LaneProcess {
  const longest = Array.isArray(from["longest"]) ? from["longest"].map(figures) : [];
  return {
    at,
    id: text(from["id"]),
    name: text(from["name"]),
    begin: amount(from["begin_ns"]),
    span: amount(from["span_ns"]),
    lanes: texts(from["lanes"]),
    firstLane: amount(from["first_lane"]),
    all,
    subjects: dicts(from["subjects"]).map((each) => ({ name: text(each["name"]), key: text(each["key"]) })),
    classes: dicts(from["classes"]).map((each) => ({
      state: amount(each["state"]),
      words: text(each["words"]),
      subject: amount(each["subject"]),
      blamed: amount(each["blamed"]),
      cause: each["cause"] === null || each["cause"] === undefined ? null : text(each["cause"]),
    })),
    levels: dicts(from["levels"]).map((each) => ({ shift: amount(each["shift"]), tiles: amount(each["tiles"]) })),
    bounds: figures(from["bounds"]),
    longest: longest.map(([lane = 0, begin = 0, end = 0, kind = 0]) => ({ lane, begin, end, kind })),
    run: text(from["run"]),
  };
}

/** A lane of a process. */
export interface Place {
  process: LaneProcess;
  lane: number;
}
/** The lane that has a place among those of all processes; null: none that the page has. */
export function placeOf(processes: LaneProcess[], place: number): Place | null {
  for (const process of processes) {
    const lane = place - process.firstLane;
    if (lane >= 0 && lane < process.lanes.length) return { process, lane };
  }
  return null;
}

export const subjectOf = (process: LaneProcess, at: number): Subject | null => process.subjects[at] ?? null;

/** Which classes a reader means, and what the reader calls them. */
export type Chosen = (each: LaneClass, process: LaneProcess) => boolean;

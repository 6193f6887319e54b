// From the report to the lanes: the longest stretch that a finding, a row of blame or a search means.

import type { Blamed } from "../report";
import type { Chosen, LaneModel, LaneProcess, Longest } from "./model";
import { subjectOf } from "./model";
import type { Stretch } from "./window";

/** All known long stretches of these classes, longest first. */
export function longestOf(processes: LaneProcess[], chosen: Chosen): Stretch[] {
  const found: Stretch[] = [];
  for (const process of processes)
    for (const each of process.longest) {
      const own = process.classes[each.kind];
      if (own !== undefined && chosen(own, process)) found.push(stretchFrom(process, each));
    }
  return found.sort((one, other) => other.end - other.begin - (one.end - one.begin));
}

/** Without its giver, which only the tile knows. */
const stretchFrom = (process: LaneProcess, each: Longest): Stretch => ({ process, ...each, giver: -1 });

/** What a row of the blame table is charged for. */
export function ofBlame(row: Blamed): Chosen {
  return (each, process) =>
    each.cause === row.cause && (subjectOf(process, each.blamed)?.key ?? "") === (row.key ?? "");
}

/** The work that such a row is charged to. */
export function culpritOf(row: Blamed): Chosen {
  return (each, process) => each.cause === null && !!row.key && subjectOf(process, each.subject)?.key === row.key;
}

/** Time that is lost at a subject; where none is, the work in it. */
export function ofSubject(model: LaneModel, name: string): Chosen {
  const lost: Chosen = (each, process) =>
    each.cause !== null &&
    (subjectOf(process, each.blamed)?.name === name || subjectOf(process, each.subject)?.name === name);
  const isLost = model.processes.some((process) => process.classes.some((each) => lost(each, process)));
  return isLost ? lost : (each, process) => subjectOf(process, each.subject)?.name === name;
}

/** Classes whose subject, state or cause has these words in it. */
export function ofWords(model: LaneModel, words: string): Chosen {
  const wanted = words.toLowerCase();
  return (each, process) =>
    [subjectOf(process, each.subject)?.name, model.states[each.state], each.cause].some(
      (text) => text?.toLowerCase().includes(wanted) ?? false,
    );
}

/** `0-3, main`: numbers and ranges of a lane's place, or parts of its name; empty: all. */
export function lanesOf(words: string): (process: LaneProcess, lane: number) => boolean {
  const parts = words
    .toLowerCase()
    .split(",")
    .map((each) => each.trim())
    .filter(Boolean);
  const tests = parts.map((part): ((process: LaneProcess, lane: number) => boolean) => {
    const range = /^(\d+)(?:-(\d+))?$/.exec(part);
    if (range === null) return (process, lane) => process.lanes[lane]!.toLowerCase().includes(part);
    const [low, high] = [Number(range[1]), Number(range[2] ?? range[1])];
    return (process, lane) => {
      const number = Number(/\d+/.exec(process.lanes[lane]!)?.[0] ?? lane);
      return low <= number && number <= high;
    };
  });
  return (process, lane) => !tests.length || tests.some((test) => test(process, lane));
}

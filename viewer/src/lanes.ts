// What each thread did in one region: bars for a team that fits, thin columns for hundreds of threads.

import { h } from "./dom";
import { count, seconds, shortened } from "./format";
import type { Bucket, RegionLane } from "./report";

const MOST_BARS = 32;
const PARTS = [
  ["work_s", "work", "var(--work)"],
  ["wait_s", "wait", "var(--barrier-wait)"],
  ["arrival_s", "arrival", "var(--arrival)"],
] as const;

const total = (lane: RegionLane): number => lane.work_s + lane.wait_s + lane.arrival_s;
type Name = (lane: RegionLane) => string;
/** A thread by its number, with its process where several have the region. */
function namesOf(lanes: RegionLane[]): Name {
  const isOne = new Set(lanes.map((lane) => lane.process)).size < 2;
  return (lane) => (isOne ? `thread ${lane.lane}` : `process ${shortened(lane.process, 24)}, thread ${lane.lane}`);
}
const words = (lane: RegionLane, name: Name): string =>
  `${name(lane)}: work ${seconds(lane.work_s)}, wait ${seconds(lane.wait_s)}, arrival ${seconds(lane.arrival_s)}, ${count(lane.calls)} calls`;

export function laneBars(lanes: RegionLane[]): HTMLElement {
  const longest = Math.max(...lanes.map(total)) || 1;
  const name = namesOf(lanes);
  const key = h(
    "div",
    { class: "keys" },
    ...PARTS.map(([, name, color]) =>
      h("span", { class: "key" }, h("i", { class: "dot", style: { background: color } }), name),
    ),
  );
  if (lanes.length > MOST_BARS) return h("div", {}, key, columns(lanes, longest, name), extremes(lanes, name));
  return h(
    "div",
    {},
    key,
    h(
      "div",
      { class: "lanes" },
      ...lanes.flatMap((lane) => [
        h("span", { class: "soft" }, name(lane)),
        h(
          "div",
          { class: "bar", role: "img", "aria-label": words(lane, name), title: words(lane, name) },
          ...PARTS.map(([part, , color]) =>
            h("span", { class: "piece", style: { width: `${(lane[part] / longest) * 100}%`, background: color } }),
          ),
        ),
        h("span", { class: "n soft" }, seconds(lane.work_s)),
      ]),
    ),
  );
}

/** One element a thread, its three parts a gradient with hard stops. */
function columns(lanes: RegionLane[], longest: number, name: Name): HTMLElement {
  return h(
    "div",
    { class: "columns", role: "img", "aria-label": `work, wait and arrival of ${lanes.length} threads` },
    ...lanes.map((lane) => {
      const stops: string[] = [];
      let at = 0;
      for (const [part, , color] of PARTS) {
        const next = at + (lane[part] / longest) * 100;
        stops.push(`${color} ${at}% ${next}%`);
        at = next;
      }
      return h("i", {
        title: words(lane, name),
        style: { background: `linear-gradient(to top, ${stops.join(", ")}, transparent ${at}%)` },
      });
    }),
  );
}

function extremes(lanes: RegionLane[], name: Name): HTMLElement {
  const sorted = [...lanes].sort((a, b) => b.work_s - a.work_s);
  const most = sorted[0]!,
    least = sorted[sorted.length - 1]!;
  return h(
    "p",
    { class: "note" },
    `${count(lanes.length)} threads, one column each. Most work: ${name(most)} with ${seconds(most.work_s)}; least: ${name(least)} with ${seconds(least.work_s)}.`,
  );
}

/** Calls by how long they took; each bucket is twice as wide as the one before it. */
export function histogram(buckets: Bucket[]): HTMLElement {
  const top = Math.max(...buckets.map((each) => each.count)) || 1;
  const first = buckets[0]!,
    last = buckets[buckets.length - 1]!;
  return h(
    "div",
    {},
    h(
      "div",
      { class: "columns short", role: "img", "aria-label": `calls by duration, up to ${seconds(last.le_ns * 1e-9)}` },
      ...buckets.map((each) =>
        h("i", {
          title: `${seconds((each.le_ns * 1e-9) / 2)} to ${seconds(each.le_ns * 1e-9)}: ${count(each.count)} calls`,
          style: { background: `linear-gradient(to top, var(--r0) ${(each.count / top) * 100}%, transparent 0)` },
        }),
      ),
    ),
    h(
      "div",
      { class: "ends soft" },
      h("span", {}, seconds((first.le_ns * 1e-9) / 2)),
      h("span", {}, seconds(last.le_ns * 1e-9)),
    ),
  );
}

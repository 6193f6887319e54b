// Which charts the counters of a report make.

import type { CounterSeries, Report } from "./report";
import { highest, isQuiet, level, type Line, rate } from "./rates";

/** A line with its place in the panel, drawn or not: its colour does not depend on what else was recorded. */
export interface Drawn extends Line {
  at: number;
}
export interface Panel {
  title: string;
  explain: string;
  unit: string;
  lines: Drawn[];
  /** A horizontal line: what there is of it. */
  limit?: { value: number; label: string };
}

interface Plan {
  title: string;
  explain: string;
  unit: string;
  of: [counter: string, label: string][];
  scale?: number;
}

const PLANS: Plan[] = [
  {
    title: "CPUs in use",
    unit: "CPUs",
    explain: "by this program, by others on the CPUs it may use, and taken by the host of a virtual machine",
    of: [
      ["process cpu", "this program"],
      ["cpu load of others", "other programs"],
      ["cpu stolen", "stolen by the host"],
    ],
  },
  {
    title: "Threads waiting for a CPU",
    unit: "threads",
    explain: "runnable, and no CPU was free for them",
    of: [
      ["run delay", "waiting"],
      ["preempted time", "of these after a preemption"],
    ],
  },
  {
    title: "Preemptions",
    unit: "/s",
    explain: "a thread lost its CPU although it could have run on",
    of: [["preemptions", "preemptions"]],
  },
  { title: "Memory of the program", unit: "B", explain: "resident set", of: [["resident memory", "resident"]] },
  {
    title: "Memory available",
    unit: "B",
    explain: "what the machine could still give without swapping",
    of: [["memory available", "available"]],
  },
  {
    title: "Page faults from disk",
    unit: "/s",
    explain: "the program waited for a disk",
    of: [["major page faults", "major faults"]],
  },
  {
    title: "Disk traffic of the program",
    unit: "B",
    explain: "bytes a second that disks read and wrote for it",
    of: [
      ["disk read", "read"],
      ["disk written", "written"],
    ],
  },
  {
    title: "Network traffic",
    unit: "B",
    explain: "bytes a second, of everything that uses these interfaces",
    of: [
      ["network received", "received"],
      ["network sent", "sent"],
      ["loopback traffic", "within this machine"],
    ],
  },
  {
    title: "Pressure on the machine",
    unit: "%",
    scale: 100,
    explain: "share of the time in which some task was held up",
    of: [
      ["pressure cpu some", "for a CPU"],
      ["pressure memory some", "for memory"],
      ["pressure io some", "for I/O"],
    ],
  },
  {
    title: "Throttled by the quota",
    unit: "CPUs",
    explain: "the control group was stopped because its quota was spent",
    of: [["time throttled", "throttled"]],
  },
  {
    title: "Cache misses",
    unit: "/s",
    explain: "of the last level, in user mode",
    of: [["cache misses", "cache misses"]],
  },
];
/** Counters that say the same in another way, or are parts of a figure elsewhere: at hand, but folded away. */
const FURTHER =
  /^(cpu busy|machine disk .*|process run delay|switch records lost|quota periods|.*pressure .*|cycles|instructions)/;
const LEAST_POINTS = 3;
const POWER = /^energy /;
/** Figures of task runtimes by path: what of whom, such as /threads{locality#0/worker-thread#1}/idle-rate. */
const PATH = /^\/(?<object>[^{/]+)\{(?:[^}]*\/)?(?<who>[^}/]+)\}\/(?<figure>.+)$/;
const WORKERS_FIGURES = ["idle-rate", "length"];

export interface Panels {
  main: Panel[];
  further: Panel[];
  /** Of the main ones: what was zero all the time, and what had too few samples to draw. */
  quiet: string[];
  short: string[];
}

function line(counter: CounterSeries, label: string, scale?: number): Line {
  return counter.is_cumulative ? rate(counter, label, scale) : level(counter, label);
}

function alone(counter: CounterSeries): Panel {
  const unit = !counter.is_cumulative
    ? counter.unit
    : counter.unit === "1"
      ? "/s"
      : counter.unit === "s"
        ? "s per s"
        : `${counter.unit}/s`;
  return {
    title: counter.name,
    explain:
      counter.source === "program" ? "reported by the program itself" : `from ${counter.source || "an unknown source"}`,
    unit,
    lines: [{ ...line(counter, counter.name), at: 0 }],
  };
}

/** Instructions per cycle from the two counters, where both were sampled together. */
function perCycle(counters: Map<string, CounterSeries>): Panel[] {
  const cycles = counters.get("cycles"),
    instructions = counters.get("instructions");
  if (!cycles || !instructions || cycles.t_s.join() !== instructions.t_s.join()) return [];
  const below = rate(cycles, ""),
    above = rate(instructions, "");
  const v = above.v.map((value, at) => (below.v[at] ? value / below.v[at]! : 0));
  return [
    {
      title: "Instructions per cycle",
      explain: "in user mode",
      unit: "",
      lines: [{ ...above, label: "instructions per cycle", v, at: 0 }],
    },
  ];
}

/** The chief figures of a task runtime's workers, a panel a figure with a line a worker; all others stand alone. */
function ofWorkers(counters: CounterSeries[]): { panel: Panel; names: string[] }[] {
  return WORKERS_FIGURES.flatMap((figure) => {
    const mine = counters.filter((each) => {
      const path = PATH.exec(each.name)?.groups;
      return path?.figure === figure && path.who !== "total";
    });
    if (!mine.length) return [];
    const title = figure === "length" ? "Tasks in queues" : "Idle rate of workers";
    const lines = mine.map((each, at) => ({ ...line(each, PATH.exec(each.name)!.groups!.who!), at }));
    const panel = { title, explain: "by worker, as its runtime counts", unit: mine[0]!.unit, lines };
    return [{ panel, names: mine.map((each) => each.name) }];
  });
}

export function panels(report: Report): Panels {
  const counters = new Map(report.counters.map((each) => [each.name, each]));
  const made: Panels = { main: [], further: [], quiet: [], short: [] };
  const used = new Set<string>();
  const keep = (into: Panel[], panel: Panel): void => {
    const named = (each: Line): string => (panel.lines.length === 1 ? panel.title : `${panel.title} (${each.label})`);
    const drawn = panel.lines.filter((each) => each.t.length >= LEAST_POINTS);
    const lines = drawn.filter((each) => !isQuiet(each));
    if (into === made.main) {
      made.short.push(...panel.lines.filter((each) => each.t.length < LEAST_POINTS).map(named));
      made.quiet.push(...drawn.filter(isQuiet).map(named));
    }
    if (lines.length) into.push({ ...panel, lines });
  };
  for (const plan of PLANS) {
    const found = plan.of.flatMap(([name, label], at) => {
      const counter = counters.get(name);
      used.add(name);
      return counter ? [{ ...line(counter, label, plan.scale), at }] : [];
    });
    if (!found.length) continue;
    const panel: Panel = { title: plan.title, explain: plan.explain, unit: plan.unit, lines: found };
    if (plan.unit === "CPUs" && report.cpus_available !== null && highest(found) > report.cpus_available / 8) {
      panel.limit = { value: report.cpus_available, label: "available" };
    }
    keep(made.main, panel);
  }
  const energy = report.counters.filter((each) => POWER.test(each.name));
  if (energy.length) {
    const lines = energy.map((each, at) => ({ ...rate(each, each.name.replace(POWER, "")), at }));
    keep(made.main, { title: "Power", explain: "of the whole machine", unit: "W", lines });
  }
  for (const panel of perCycle(counters)) keep(made.main, panel);
  for (const { panel, names } of ofWorkers(report.counters)) {
    for (const name of names) used.add(name);
    keep(made.main, panel);
  }
  for (const counter of report.counters) {
    if (used.has(counter.name) || POWER.test(counter.name)) continue;
    if (PATH.test(counter.name)) {
      keep(made.further, alone(counter));
      continue;
    }
    keep(FURTHER.test(counter.name) ? made.further : made.main, alone(counter));
  }
  return made;
}

// The report as `trimtab report --json` writes it (docs/reference/metrics.md). Everything is read with a default: a key that is
// missing, or of another type, shows as "not recorded" and breaks nothing.

import { type Share, SHARES } from "./enumerations";

export interface Finding {
  cause: string;
  subject: string;
  evidence: string;
  action: string;
  gain_s: number | null;
  processes: string[];
}
export interface Decision {
  process: string;
  time_s: number;
  subject: string;
  changes: { knob: string; from: string; to: string }[];
  outcome: string;
  policy: string;
  reason: string;
  evidence: [string, number][];
  gain: number | null;
  uncertainty: number | null;
}
export interface Missing {
  what: string;
  why: string;
  remedy: string;
}
export interface RegionLane {
  process: string;
  lane: number;
  calls: number;
  work_s: number;
  wait_s: number;
  arrival_s: number;
}
export interface Bucket {
  le_ns: number;
  count: number;
}
export interface Loop {
  name: string;
  schedule: string;
  chunk: number | null;
  iterations: number | null;
  executed: number | null;
  chunks: number | null;
  executions: number | null;
}
/** What a region did in one process. */
export interface RegionPart {
  process: string;
  calls: number;
  threads: number;
  wall_s: number;
  work_s: number;
  wait_s: number;
  arrival_s: number;
  imbalance: number | null;
}
/** A figure over the processes that have a region. */
export interface Spread {
  least: number;
  median: number;
  most: number;
}
export interface Region {
  name: string;
  file: string;
  line: number | null;
  function: string;
  runtime: string;
  nested: boolean;
  calls: number;
  threads: number;
  wall_s: number;
  work_s: number;
  wait_s: number;
  arrival_s: number;
  imbalance: number | null;
  schedule: string;
  chunk: number | null;
  iterations: number | null;
  loops: Loop[];
  waits: [string, number][];
  lock_wait_s: number;
  lock_held_s: number;
  lanes: RegionLane[];
  lanesOmitted: boolean;
  processes: RegionPart[];
  spread: Record<string, Spread>;
  histogram: Bucket[];
}
export interface Series {
  name: string;
  lanes: number[];
}
export interface Timeline {
  dt_s: number;
  from_s: number;
  series: Series[];
  waiting: number[];
  isComplete: boolean;
}
export interface Counter {
  process: string;
  name: string;
  unit: string;
  source: string;
  isCumulative: boolean;
  lanes: number | null;
  t_s: number[];
  values: number[];
}
export interface Lane {
  process: string;
  lane: number;
  name: string;
  tid: number | null;
  run_s: number;
  run_delay_s: number;
  voluntary: number;
  involuntary: number;
  migrations: number | null;
}
export interface Tally {
  name: string;
  count: number;
  total_s: number | null;
  mean_s: number | null;
  created: number | null;
  longest_s: number | null;
  suspended: number | null;
  includesInner: boolean;
}
export interface Worker {
  process: string;
  name: string;
  runtime: string;
  work_s: number;
  looking_s: number;
  starved_s: number;
  idle_s: number;
  capped_s: number;
  parks: number | null;
  tasks: number | null;
  created: number | null;
}
export interface Process {
  id: string;
  pid: number | null;
  host: string;
  rank: number | null;
  begin_s: number;
  takesPart: boolean;
  cpus: number | null;
  threads: number | null;
  efficiency: number | null;
  time: Record<Share, number> | null;
  timeline: Timeline | null;
  command: string[];
  wall_s: number;
  cpu_s: number | null;
  lanes: number;
  regions: number;
  calls: number;
  complete: boolean;
}
export interface Report {
  trimtab: string;
  program: string;
  command: string[];
  level: string;
  started_ms: number | null;
  machine: [string, string][];
  complete: boolean;
  code: number | null;
  signal: string;
  wall_s: number | null;
  observed_s: number | null;
  capacity_s: number | null;
  cpus: number | null;
  threads: number | null;
  efficiency: number | null;
  time: Record<Share, number> | null;
  regions: Region[];
  tasks: Tally[];
  workers: Worker[];
  scopes: Tally[];
  os: Record<string, number | null>;
  overhead: Record<string, number | null>;
  unavailable: Missing[];
  findings: Finding[];
  decisions: Decision[];
  lanes: Lane[];
  timeline: Timeline | null;
  counters: Counter[];
  processes: Process[];
}

type Dict = Record<string, unknown>;
const dict = (value: unknown): Dict =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Dict) : {};
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const dicts = (value: unknown): Dict[] => list(value).map(dict);
const figure = (value: unknown): number | null => (typeof value === "number" && Number.isFinite(value) ? value : null);
const amount = (value: unknown): number => figure(value) ?? 0;
const amounts = (value: unknown): number[] => list(value).map(amount);
const text = (value: unknown): string =>
  value === null || value === undefined ? "" : typeof value === "object" ? JSON.stringify(value) : String(value);
const texts = (value: unknown): string[] => list(value).map(text);
const figures = (value: unknown): Record<string, number | null> =>
  Object.fromEntries(Object.entries(dict(value)).map(([key, each]) => [key, figure(each)]));

const regionPart = (from: Dict): RegionPart => ({
  process: text(from.process),
  calls: amount(from.calls),
  threads: amount(from.threads),
  wall_s: amount(from.wall_s),
  work_s: amount(from.work_s),
  wait_s: amount(from.wait_s),
  arrival_s: amount(from.arrival_s),
  imbalance: figure(from.imbalance),
});

const spread = (value: unknown): Record<string, Spread> =>
  Object.fromEntries(
    Object.entries(dict(value)).map(([name, each]) => {
      const from = dict(each);
      return [name, { least: amount(from.least), median: amount(from.median), most: amount(from.most) }];
    }),
  );

const region = (from: Dict): Region => ({
  name: text(from.name),
  file: text(from.file),
  line: figure(from.line),
  function: text(from.function),
  runtime: text(from.runtime),
  nested: from.nested === true,
  calls: amount(from.calls),
  threads: amount(from.threads),
  wall_s: amount(from.wall_s),
  work_s: amount(from.work_s),
  wait_s: amount(from.wait_s),
  arrival_s: amount(from.arrival_s),
  imbalance: figure(from.imbalance),
  schedule: text(from.schedule),
  chunk: figure(from.chunk),
  iterations: figure(from.iterations),
  loops: dicts(from.loops).map((each) => ({
    name: text(each.name),
    schedule: text(each.schedule),
    chunk: figure(each.chunk),
    iterations: figure(each.iterations),
    executed: figure(each.executed),
    chunks: figure(each.chunks),
    executions: figure(each.executions),
  })),
  waits: Object.entries(dict(from.waits)).map(([kind, seconds]) => [kind, amount(seconds)]),
  lock_wait_s: amount(from.lock_wait_s),
  lock_held_s: amount(from.lock_held_s),
  lanes: dicts(from.lanes).map((each) => ({
    process: text(each.process),
    lane: amount(each.lane),
    calls: amount(each.calls),
    work_s: amount(each.work_s),
    wait_s: amount(each.wait_s),
    arrival_s: amount(each.arrival_s),
  })),
  lanesOmitted: from.lanes_omitted === true,
  processes: dicts(from.processes).map(regionPart),
  spread: spread(from.spread),
  histogram: dicts(from.histogram).map((each) => ({ le_ns: amount(each.le_ns), count: amount(each.count) })),
});

const tally = (from: Dict): Tally => ({
  name: text(from.name),
  count: amount(from.count),
  total_s: figure(from.total_s),
  mean_s: figure(from.mean_s),
  created: figure(from.created),
  longest_s: figure(from.longest_s),
  suspended: figure(from.suspended),
  includesInner: from.includes_inner === true,
});

const worker = (from: Dict): Worker => ({
  process: text(from.process),
  name: text(from.name),
  runtime: text(from.runtime),
  work_s: amount(from.work_s),
  looking_s: amount(from.looking_s),
  starved_s: amount(from.starved_s),
  idle_s: amount(from.idle_s),
  capped_s: amount(from.capped_s),
  parks: figure(from.parks),
  tasks: figure(from.tasks),
  created: figure(from.created),
});

function timeline(value: unknown): Timeline | null {
  const from = dict(value);
  const dt_s = amount(from.dt_s);
  const series = dicts(from.series).map((each) => ({ name: text(each.name), lanes: amounts(each.lanes) }));
  if (dt_s <= 0 || !series.length || !series[0]?.lanes.length) return null;
  return {
    dt_s,
    series,
    from_s: amount(from.from_s),
    waiting: amounts(from.waiting),
    isComplete: from.source === "all events",
  };
}

/** Points with a time that does not run backwards: what charts need. */
function counter(from: Dict): Counter {
  const times = list(from.t_s),
    values = list(from.values);
  const t_s: number[] = [],
    kept: number[] = [];
  for (let at = 0; at < Math.min(times.length, values.length); at++) {
    const t = figure(times[at]),
      value = figure(values[at]);
    if (t === null || value === null || t <= (t_s[t_s.length - 1] ?? -Infinity)) continue;
    t_s.push(t);
    kept.push(value);
  }
  return {
    process: text(from.process),
    name: text(from.name),
    unit: text(from.unit),
    source: text(from.source),
    isCumulative: from.is_cumulative === true,
    lanes: figure(from.lanes),
    t_s,
    values: kept,
  };
}

function shares(value: unknown): Record<Share, number> | null {
  const from = dict(value);
  if (!SHARES.some((name) => figure(from[name]) !== null)) return null;
  return Object.fromEntries(SHARES.map((name) => [name, amount(from[name])])) as Record<Share, number>;
}

/** Read parsed JSON of any version as a report. */
export function read(value: unknown): Report {
  const from = dict(value),
    exit = dict(from.exit),
    started = figure(from.started_real_ns);
  return {
    trimtab: text(from.trimtab),
    program: text(from.program),
    command: texts(from.command),
    level: text(from.level),
    started_ms: started === null ? null : started / 1e6,
    machine: Object.entries(dict(from.machine)).map(([key, each]) => [key, text(each)]),
    complete: from.complete === true,
    code: figure(exit.code),
    signal: text(exit.signal),
    wall_s: figure(from.wall_s),
    observed_s: figure(from.observed_s),
    capacity_s: figure(from.capacity_s),
    cpus: figure(from.cpus_available),
    threads: figure(from.threads),
    efficiency: figure(from.efficiency),
    time: shares(from.time),
    regions: dicts(from.regions).map(region),
    tasks: dicts(from.tasks).map(tally),
    workers: dicts(from.workers).map(worker),
    scopes: dicts(from.scopes).map(tally),
    os: figures(from.os),
    overhead: figures(from.overhead),
    unavailable: dicts(from.unavailable).map((each) => ({
      what: text(each.what),
      why: text(each.why),
      remedy: text(each.remedy),
    })),
    findings: dicts(from.findings).map((each) => ({
      cause: text(each.cause),
      subject: text(each.subject),
      evidence: text(each.evidence),
      action: text(each.action),
      gain_s: figure(each.gain_s),
      processes: texts(each.processes),
    })),
    decisions: dicts(from.decisions).map((each) => ({
      process: text(each.process),
      time_s: amount(each.time_s),
      subject: text(each.subject),
      changes: dicts(each.changes).map((its) => ({ knob: text(its.knob), from: text(its.from), to: text(its.to) })),
      outcome: text(each.outcome),
      policy: text(each.policy),
      reason: text(each.reason),
      evidence: Object.entries(dict(each.evidence)).map(([name, value]) => [name, amount(value)]),
      gain: figure(each.gain),
      uncertainty: figure(each.uncertainty),
    })),
    lanes: dicts(from.lanes).map((each) => ({
      process: text(each.process),
      lane: amount(each.lane),
      name: text(each.name),
      tid: figure(each.tid),
      run_s: amount(each.run_s),
      run_delay_s: amount(each.run_delay_s),
      voluntary: amount(each.voluntary),
      involuntary: amount(each.involuntary),
      migrations: figure(each.migrations),
    })),
    timeline: timeline(from.timeline),
    counters: dicts(from.counters).map(counter),
    processes: dicts(from.processes).map((each) => ({
      id: text(each.id),
      pid: figure(each.pid),
      host: text(each.host),
      rank: figure(each.rank),
      begin_s: amount(each.begin_s),
      takesPart: each.takes_part === true,
      cpus: figure(each.cpus_available),
      threads: figure(each.threads),
      efficiency: figure(each.efficiency),
      time: shares(each.time),
      timeline: timeline(each.timeline),
      command: texts(each.command),
      wall_s: amount(each.wall_s),
      cpu_s: figure(each.cpu_s),
      lanes: amount(each.lanes),
      regions: amount(each.regions),
      calls: amount(each.calls),
      complete: each.complete === true,
    })),
  };
}

import assert from "node:assert/strict";
import test from "node:test";
import { timeTicks } from "../src/axis";
import { panels } from "../src/panels";
import { read } from "../src/read";
import { stacked } from "../src/stack";

const cumulative = (name: string, values: number[], more = {}): object => ({
  name,
  unit: "s",
  source: "x",
  is_cumulative: true,
  t_s: values.map((_, at) => at),
  values,
  ...more,
});

test("anything at all reads as a report", () => {
  for (const value of [
    null,
    undefined,
    3,
    "x",
    [],
    {},
    { regions: 3, time: [], counters: [null, 1, {}], exit: "no" },
  ]) {
    const report = read(value);
    assert.equal(report.efficiency, null);
    assert.equal(report.time, null);
    assert.equal(report.timeline, null);
    assert.deepEqual(report.regions, []);
  }
});

test("decisions are read with what they lack", () => {
  const changes = [{ knob: "threads", from: "4", to: 3 }];
  const report = read({ decisions: [{ time_s: 1.32, subject: "mandel.c:48", changes, gain: 0.22 }, null] });
  assert.deepEqual(report.decisions[0]?.changes, [{ knob: "threads", from: "4", to: "3" }]);
  assert.equal(report.decisions[0]?.gain, 0.22);
  assert.equal(report.decisions[0]?.uncertainty, null);
  assert.deepEqual(report.decisions[1]?.changes, []);
  assert.deepEqual(report.decisions[1]?.evidence, {});
});

test("points without a figure, and times that run backwards, are left out", () => {
  const t_s = [0, 1, 1, 0.5, null, 3, 4];
  const report = read({ counters: [{ name: "c", t_s, values: [1, 2, 3, 4, 5, null, 7] }] });
  assert.deepEqual(report.counters[0]?.t_s, [0, 1, 4]);
  assert.deepEqual(report.counters[0]?.values, [1, 2, 7]);
});

test("counters make the panels that tell something; zeros and single samples are named", () => {
  const report = read({
    cpus_available: 4,
    counters: [
      cumulative("process cpu", [0, 2, 4, 6]),
      cumulative("cpu stolen", [0, 0, 0, 0]),
      cumulative("run delay", [0]),
      cumulative("pressure cpu some", [0, 0.5, 1, 1.5]),
      cumulative("cgroup pressure cpu some", [0, 0.5, 1, 1.5]),
      cumulative("time to solution", [5, 4, 3, 2], { is_cumulative: false, unit: "h", source: "program" }),
    ],
  });
  const made = panels(report);
  assert.deepEqual(
    made.main.map((panel) => panel.title),
    ["CPUs in use", "Pressure on the machine", "time to solution"],
  );
  assert.equal(made.main[0]?.limit?.value, 4);
  assert.deepEqual(made.main[1]?.lines[0]?.v, [50, 50, 50, 50]);
  assert.deepEqual(made.quiet, ["CPUs in use (stolen by the host)"]);
  assert.deepEqual(made.short, ["Threads waiting for a CPU"]);
  assert.deepEqual(
    made.further.map((panel) => panel.title),
    ["cgroup pressure cpu some"],
  );
});

test("figures of a task runtime by path make a panel for its workers; all others are at hand", () => {
  const levels = { is_cumulative: false, unit: "1", source: "runtime" };
  const made = panels(
    read({
      counters: [
        cumulative("/threads{locality#0/worker-thread#0}/idle-rate", [0.1, 0.2, 0.3], levels),
        cumulative("/threads{locality#0/worker-thread#1}/idle-rate", [0.4, 0.5, 0.6], levels),
        cumulative("/threads{locality#0/total}/idle-rate", [0.2, 0.3, 0.4], levels),
        cumulative("/threads{locality#0/total}/count/cumulative", [1, 2, 3]),
      ],
    }),
  );
  assert.deepEqual(
    made.main.map((panel) => [panel.title, panel.lines.map((each) => each.label)]),
    [["Idle rate of workers", ["worker-thread#0", "worker-thread#1"]]],
  );
  assert.deepEqual(made.main[0]?.lines[1]?.v, [0.4, 0.5, 0.6]);
  assert.deepEqual(
    made.further.map((panel) => panel.title),
    ["/threads{locality#0/total}/idle-rate", "/threads{locality#0/total}/count/cumulative"],
  );
});

test("instructions per cycle come from two counters of the same samples", () => {
  const made = panels(
    read({ counters: [cumulative("cycles", [0, 100, 300]), cumulative("instructions", [0, 50, 450])] }),
  );
  const line = made.main.find((panel) => panel.title === "Instructions per cycle")?.lines[0];
  assert.deepEqual(line?.v, [0.5, 0.5, 2]);
});

test("series stand on those that are shown, and the last bin is drawn to its end", () => {
  const line = read({
    timeline: { dt_s: 1, series: [{ lanes: [1, 2] }, { lanes: [3, 4] }, { lanes: [5] }], source: "all events" },
  }).timeline!;
  assert.deepEqual(stacked(line, [true, true, true]), [
    [1, 2, 2],
    [4, 6, 6],
    [9, 6, 6],
  ]);
  assert.deepEqual(stacked(line, [false, true, true])[1], [3, 4, 4]);
});

test("ticks of time can be told apart", () => {
  assert.deepEqual(timeTicks([0, 0.5, 1]), ["0.0 s", "0.5 s", "1.0 s"]);
  assert.deepEqual(timeTicks([0, 0.001, 0.002]), ["0 ms", "1 ms", "2 ms"]);
  assert.deepEqual(timeTicks([0.75, 1, 1.25]), ["0.75 s", "1.00 s", "1.25 s"]);
  const near = timeTicks([10, 10.00001, 10.00002]);
  assert.equal(new Set(near).size, 3);
});

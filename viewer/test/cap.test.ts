import assert from "node:assert/strict";
import test from "node:test";
import { capOverTime, powerOverTime } from "../src/cap";
import { read } from "../src/read";

const decision = (time_s: number, from: string, to: string, fields: object = {}) => ({
  process: "a",
  subject: "runtime 1",
  time_s,
  changes: [{ knob: "workers", from, to }],
  ...fields,
});
const cap = (...decisions: object[]) => capOverTime(read({ decisions }), [0, 1, 2, 3]);

test("the cap is what the last decision made it", () => {
  const found = cap(decision(1, "8", "4"), decision(1.5, "4", "5"));
  assert.deepEqual(found, { label: "cap of workers", values: [8, 4, 5, 5] });
});

test("threads of teams have a cap, too", () => {
  const changes = [
    { knob: "threads_if_bad", from: "0", to: "1" },
    { knob: "threads", from: "2", to: "1" },
  ];
  const found = cap(decision(2.5, "", "", { subject: "threads of teams", changes }));
  assert.deepEqual(found, { label: "threads that a team may have", values: [2, 2, 2, 1] });
});

test("without decisions, of single regions and of several runtimes there is none", () => {
  assert.equal(cap(), null);
  assert.equal(cap(decision(1, "2", "1", { subject: "loop.c:7 (main)" })), null);
  assert.equal(cap(decision(1, "2", "1"), decision(2, "2", "1", { subject: "runtime 2" })), null);
  assert.equal(cap(decision(1, "as written", "1")), null);
});

const meter = (name: string, values: number[], process = "a") => ({
  process,
  name,
  unit: "J",
  is_cumulative: true,
  t_s: values.map((_, at) => at),
  values,
});
const power = (...counters: object[]) =>
  powerOverTime(read({ counters, energy: { meters: ["energy package-0", "energy package-1"] } }), [0, 1, 2], 1);

test("the power is that of all packages, in the middle of each bin", () => {
  const packages = [meter("energy package-0", [0, 10, 30]), meter("energy package-1", [0, 5, 5])];
  assert.deepEqual(power(...packages, meter("energy 0 core", [0, 9, 9])), [15, 20, null]);
});

test("without a meter, or of several processes, there is no power", () => {
  assert.equal(power(), null);
  assert.equal(power(meter("energy package-0", [0, 1]), meter("energy package-1", [0, 1], "b")), null);
});

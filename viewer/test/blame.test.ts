import assert from "node:assert/strict";
import test from "node:test";
import { efficiencies, what } from "../src/blame";
import { read } from "../src/read";

const pop = (fields: object) =>
  read({
    pop: { lanes: 4, parallel_efficiency: 0.5, load_balance: 0.8, serialization: 0.625, scheduling: 1, ...fields },
  }).pop!;

test("efficiencies are factors of the parallel efficiency", () => {
  assert.equal(
    efficiencies(pop({})),
    "Parallel efficiency of 4 lanes 50.0 % = serialization 62.5 % \u00d7 load balance 80.0 % \u00d7 scheduling 100 %.",
  );
});

test("lanes that wait for messages of other processes have a communication efficiency", () => {
  assert.match(efficiencies(pop({ communication: 0.625 })), /\. Communication efficiency 62\.5 %\.$/);
  assert.doesNotMatch(efficiencies(pop({})), /ommunication/);
});

test("a path without work has no serialization", () => {
  assert.doesNotMatch(efficiencies(pop({ serialization: null })), /serialization/);
});

test("what of the critical path has no cause was work", () => {
  const { critical_path: path } = read({ critical_path: [{ cause: null, time_s: 1 }, { cause: "preemption" }] });
  assert.deepEqual(path.map(what), ["work", "preemption"]);
});

test("a report without events has no path", () => {
  assert.deepEqual(read({}).critical_path, []);
  assert.equal(read({}).pop, null);
});

import assert from "node:assert/strict";
import test from "node:test";
import { read } from "../src/read";
import { most, summary, word } from "../src/spark";

const report = read({
  spark: { version: "4.0.0", executors: 2, slots: 8, replay_error: 0.012, replay_trusted: true, time: { gc: 0.5 } },
  stages: [{ id: 3, attempt: 1, place: "map at program.py:7", time: { gc: 2 } }],
});

test("a report of another program has no part of Spark", () => {
  assert.equal(read({}).spark, null);
  assert.deepEqual(read({}).stages, []);
});

test("the error of the replay comes with the summary", () => {
  assert.equal(
    summary(report.spark!),
    "Spark 4.0.0, 2 executors with 8 core slots; the unchanged replay is 1.2 % off.",
  );
  assert.match(summary({ ...report.spark!, replay_trusted: false }), /no what-if/);
});

test("stages are read with what they lack", () => {
  assert.equal(report.stages[0]?.id, 3);
  assert.deepEqual(report.stages[0]?.operators, []);
});

test("the largest parts come first, in words", () => {
  assert.equal(
    most({ gc: 1, failed: 3, spill: 2, driver: 0.5 }),
    "failed tasks 3 s, spill 2 s, garbage collection 1 s",
  );
  assert.equal(word("scheduler_delay"), "scheduler delay");
});

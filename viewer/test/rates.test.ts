import assert from "node:assert/strict";
import test from "node:test";
import { level, rate, valueAt } from "../src/rates";
import type { CounterSeries } from "../src/report";

const counter = (t_s: number[], values: number[]): CounterSeries => ({
  process: "1-0",
  name: "c",
  unit: "s",
  source: "",
  is_cumulative: true,
  lanes: null,
  t_s,
  values,
});

test("a rate is growth over time, and holds for the time before its point", () => {
  const line = rate(counter([0, 1, 2, 4], [0, 2, 2, 8]), "r", 10);
  assert.deepEqual(line.t, [0, 1, 2, 4]);
  assert.deepEqual(line.v, [20, 20, 0, 30]);
  assert.deepEqual(
    [-1, 0, 0.5, 1, 1.5, 4, 5].map((time) => valueAt(line, time)),
    [null, 20, 20, 20, 0, 30, null],
  );
});

test("samples in a burst are one span, and a short rest joins the last one", () => {
  const line = rate(counter([0, 1, 1.001, 2, 3, 3.01], [0, 1, 5, 6, 7, 8]), "r");
  assert.deepEqual(line.t, [0, 1, 2, 3.01]);
  // Nothing of the growth is lost: rate times time gives all of it.
  const grown = line.v.slice(1).reduce((sum, value, at) => sum + value * (line.t[at + 1]! - line.t[at]!), 0);
  assert.ok(Math.abs(grown - 8) < 1e-9);
  assert.ok(Math.max(...line.v) < 6);
});

test("however many samples, a line has at most some 400 points", () => {
  const times = Array.from({ length: 5000 }, (_, at) => at);
  const line = rate(counter(times, times), "r");
  assert.ok(line.t.length <= 402 && line.t.length > 200);
  assert.ok(line.v.every((value) => Math.abs(value - 1) < 1e-9));
});

test("one sample, or none, makes no rate", () => {
  assert.deepEqual(rate(counter([], []), "r").t, []);
  assert.deepEqual(rate(counter([1], [5]), "r").t, []);
});

test("a level is that of the nearest sample", () => {
  const line = level(counter([0, 10], [1, 2]), "l");
  assert.deepEqual(
    [0, 4, 6, 10].map((time) => valueAt(line, time)),
    [1, 1, 2, 2],
  );
});

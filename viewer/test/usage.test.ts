import assert from "node:assert/strict";
import test from "node:test";
import { read } from "../src/read";
import { certainShare } from "../src/usage";

const use = (fields: object) =>
  read({ counter_use: [{ counter: "cycles", unit: "1", name: "a", ...fields }] }).counter_use[0]!;

test("a report without all events has no uses", () => {
  assert.deepEqual(read({}).counter_use, []);
  assert.equal(read({}).energy, null);
});

test("the certain share is of what was counted", () => {
  assert.equal(certainShare(use({ value: 8, certain: 2 })), 0.25);
  assert.equal(certainShare(use({ value: 0, certain: 0 })), 0);
});

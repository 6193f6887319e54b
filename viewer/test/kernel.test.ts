import assert from "node:assert/strict";
import test from "node:test";
import { summary } from "../src/kernel";
import { read } from "../src/read";

const kernel = (fields: object) => read({ kernel: { running_s: 4, waiting_s: 1, complete: true, ...fields } }).kernel!;

test("a report without a recording has no scheduler", () => {
  assert.equal(read({}).kernel, null);
});

test("the summary has the share of the running time", () => {
  const text = summary(kernel({ recorder_s: 0.01 }));
  assert.match(text, /without a CPU for 1[^;]*s \(25\.0 % of their running time\)\. Recording took/);
  assert.doesNotMatch(text, /lost|idle|known|order/);
});

test("the summary names what is missing", () => {
  const text = summary(kernel({ lost: 3, complete: false, idle_though_ready_s: 0.25, unknown_s: 0.125 }));
  for (const part of ["3 events were lost", "did not end in order", "idle in 250 ms", "not known for 125 ms"])
    assert.ok(text.includes(part), `${part} in ${text}`);
});

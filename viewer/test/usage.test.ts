import assert from "node:assert/strict";
import test from "node:test";
import { read } from "../src/read";
import { certainShare, cpuUseRows } from "../src/usage";

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

test("many processes of one program are one row, and a process with regions keeps its own", () => {
  const plain = ["1", "2", "3", "4"].map((process) => ({ process, name: "all", cpu_s: 0.5, error_s: 0.1 }));
  const worker = ["all", "loop"].map((name) => ({ process: "5", name, cpu_s: 3 }));
  const few = [{ process: "6", name: "all", cpu_s: 1 }];
  const commands = { "1": "sed", "2": "/bin/sed", "3": "sed", "4": "sed", "5": "sed", "6": "cat" };
  const report = read({
    cpu_use: [...plain, ...worker, ...few],
    processes: Object.entries(commands).map(([id, name]) => ({ id, command: [name, id] })),
  });
  const rows = cpuUseRows(report.cpu_use, report.processes);
  assert.deepEqual(
    rows.map((row) => [row.program, row.process, row.cpu_s]),
    [
      ["sed", "4 processes", 2],
      ["sed", "5", 3],
      ["sed", "5", 3],
      ["cat", "6", 1],
    ],
  );
  assert.equal(rows[0]!.error_s, Math.sqrt(4 * 0.1 ** 2));
});

import assert from "node:assert/strict";
import test from "node:test";
import { localities, phaseTitle, sizes, summary } from "../src/network";
import { read } from "../src/read";

const flow = (from: number, to: number): object => ({
  from,
  to,
  count: 20,
  bytes: 160,
  messages: 5,
  sizes: [
    { below: 16, count: 12 },
    { below: 2048, count: 8 },
  ],
  actions: [{ action: "solve", key: null, count: 20, bytes: 160, sizes: [] }],
});
const report = read({
  network: { parcels: 40, messages: 10, overhead: 0.25, queued_wait_s: 0, flows: [flow(2, 0), flow(0, 2)] },
});

test("a report without messages has no network", () => {
  assert.equal(read({}).network, null);
});

test("flows are read with what they lack", () => {
  assert.equal(report.network?.flows[0]?.queued_wait_s, 0);
  assert.equal(report.network?.flows[0]?.actions[0]?.action, "solve");
});

test("the matrix has each locality once, in order", () => {
  assert.deepEqual(localities(report.network!.flows), [0, 2]);
});

test("the summary says how parcels travelled", () => {
  assert.equal(summary(report.network!), "40 parcels in 10 messages (4 each); network overhead 25.0 %.");
});

test("phases are named as the program does, else by their time", () => {
  const phase = (name: string | null): object => ({ name, begin_s: 0.5, end_s: 1.5, flows: [flow(0, 2)] });
  const all = read({ network: { phases: [phase("rotation"), phase(null)] } }).network!;
  assert.deepEqual(all.phases.map(phaseTitle), ["rotation", "500 ms to 1.5 s"]);
  assert.equal(all.phases[0]?.flows[0]?.count, 20);
});

test("communication servers are read with what they lack", () => {
  const all = read({ network: { servers: [{ locality: 1, servers: [{ server: 0, messages: 7 }] }] } }).network!;
  assert.equal(all.servers[0]?.servers[0]?.messages, 7);
  assert.equal(all.servers[0]?.servers[0]?.busy_share, 0);
});

test("sizes are named by their class", () => {
  assert.equal(sizes(report.network!.flows[0]!.sizes), "parcels by size: 12 below 16 B, 8 below 2 KiB");
});

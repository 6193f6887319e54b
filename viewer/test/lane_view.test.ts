import assert from "node:assert/strict";
import { deflateSync } from "node:zlib";
import test from "node:test";
import { belowAxis } from "../src/below";
import { read } from "../src/read";
import type { BlameCause } from "../src/report";
import { unpacked } from "../src/lane_view/columns";
import { lanesOf, longestOf, ofBlame, ofWords } from "../src/lane_view/find";
import { layoutOf } from "../src/lane_view/layout";
import { Mix, SLOTS } from "../src/lane_view/mix";
import { type LaneProcess, readModel } from "../src/lane_view/model";
import { ticksOf, timeLabel } from "../src/lane_view/overlay";
import { drawLane } from "../src/lane_view/raster";
import { levelTile, stretchTile } from "../src/lane_view/tiles";
import { firstFrom, type Shown, timeByClass } from "../src/lane_view/window";

/** As python/trimtab/report/columns.py packs them. */
function packed(columns: number[][]): Uint8Array {
  const widths = columns.map(
    (each) => Math.ceil(Math.max(0, ...each).toString(2).length / 8) * Number(each.some(Boolean)),
  );
  const head = new Uint32Array(2 * (columns.length + 1));
  head[0] = columns.length;
  const bytes: number[] = [];
  columns.forEach((column, at) => {
    head.set([column.length, widths[at]!], 2 * (at + 1));
    for (let plane = 0; plane < widths[at]!; plane++)
      bytes.push(...column.map((each) => Math.floor(each / 256 ** plane) % 256));
  });
  return new Uint8Array(deflateSync(Buffer.concat([Buffer.from(head.buffer), Buffer.from(bytes)])));
}

test("columns come out as they went in", async () => {
  const columns = [[], [0, 0], [1, 255, 256], [2 ** 40 + 7, 3], [2 ** 32 - 1]];
  const found = await unpacked(packed(columns));
  assert.deepEqual(
    found.map((each) => [...each]),
    columns,
  );
});

test("a tile that is cut off is refused", async () => {
  const head = new Uint32Array([1, 0, 100, 4]);
  await assert.rejects(
    unpacked(new Uint8Array(deflateSync(Buffer.from(head.buffer)))),
    /column 0: the tile is cut off/,
  );
});

const u = (...values: number[]): Uint32Array => Uint32Array.from(values);
const model = (): LaneProcess =>
  readModel({
    states: ["work", "wait"],
    processes: [
      {
        lanes: ["thread 0 main", "thread 1", "worker 12"],
        subjects: [{ name: "solve", key: "k" }],
        classes: [
          { state: 0, words: "works in", subject: 0, cause: null, blamed: -1 },
          { state: 1, words: "waits for", subject: 0, cause: "imbalance", blamed: 0 },
        ],
        longest: [
          [0, 0, 10, 0],
          [1, 5, 8, 1],
          [2, 0, 9, 1],
        ],
      },
    ],
  }).processes[0]!;

test("tiles of stretches and levels say when and how long", () => {
  const tile = stretchTile([
    u(2, 0, 1),
    u(5, 0, 100),
    u(0, 3, 0),
    u(10, 4, 7),
    u(0, 1, 0),
    u(0, 3, 0),
    u(),
    u(),
    u(),
    u(),
  ]);
  assert.deepEqual([...tile.begin], [5, 18, 100]);
  assert.deepEqual([...tile.first], [0, 2, 2, 3]);
  const level = levelTile([u(3, 1), u(1, 0, 2, 4), u(0, 1, 0, 0), u(3, 1, 4, 4)], 4096);
  assert.deepEqual([...level.bucket], [4097, 4097, 4099, 4100]);
});

test("time by class is that of the window", () => {
  const tile = stretchTile([u(3), u(0), u(0, 0, 0), u(10, 5, 5), u(0, 1, 0), u(0, 2, 0), u(), u(), u(), u()]);
  // What reaches into two tiles is in both, and counts once.
  const shown: Shown = {
    what: "stretches",
    tiles: [tile, stretchTile([u(1), u(15), u(0), u(5), u(0), u(0), u(), u(), u(), u()])],
  };
  assert.deepEqual(
    [...timeByClass(shown, 0, 4, 18)],
    [
      [0, 9],
      [1, 5],
    ],
  );
  const level: Shown = {
    what: "buckets",
    shift: 2,
    isCoarse: false,
    tiles: [levelTile([u(3), u(0, 0, 1), u(0, 1, 0), u(3, 1, 2)], 0)],
  };
  assert.deepEqual(
    [...timeByClass(level, 0, 0, 8)],
    [
      [0, 5],
      [1, 1],
    ],
  );
  assert.deepEqual([...timeByClass(level, 0, 4, 6)], [[0, 1]]);
});

const inks = {
  ink: u(100, 200),
  second: u(101, 201),
  pattern: new Uint8Array(2),
  rank: new Uint8Array([0, 3]),
  isWait: new Uint8Array([0, 1]),
};
function column(tile: Shown, x: number, height: number): number[] {
  const mix = new Mix(4);
  mix.fill(tile, 0, 0, 1000, inks.isWait);
  const data = new Uint32Array(4 * height);
  drawLane({ data, stride: 4 }, mix, inks, 0, 0, height);
  return Array.from({ length: height }, (_, y) => data[y * 4 + x]!);
}

test("a wait that is there takes at least a pixel, on top of the work", () => {
  const stretches = (lengths: number[]): Shown => ({
    what: "stretches",
    tiles: [
      stretchTile([
        u(lengths.length),
        u(0),
        u(...lengths.map(() => 0)),
        u(...lengths),
        u(...lengths.map((_, at) => at % 2)),
        u(...lengths.map(() => 0)),
        u(),
        u(),
        u(),
        u(),
      ]),
    ],
  });
  assert.deepEqual(column(stretches([999, 1, 3000]), 0, 4), [200, 100, 100, 100]);
  assert.deepEqual(column(stretches([500, 500]), 0, 4), [200, 200, 100, 100]);
  assert.deepEqual(column(stretches([500, 500]), 1, 4), [0, 0, 0, 0]);
  const level: Shown = {
    what: "buckets",
    shift: 10,
    isCoarse: false,
    tiles: [levelTile([u(2), u(0, 0), u(0, 1), u(1023, 1)], 0)],
  };
  assert.deepEqual(column(level, 0, 4), [200, 100, 100, 100]);
});

test("a column keeps all time, however many classes it has", () => {
  const count = 3 * SLOTS;
  const each = Array.from({ length: count }, (_, at) => at);
  const tile = stretchTile([
    u(count),
    u(0),
    u(...each.map(() => 0)),
    u(...each.map(() => 10)),
    u(...each),
    u(...each.map(() => 0)),
    u(),
    u(),
    u(),
    u(),
  ]);
  const mix = new Mix(1);
  mix.fill({ what: "stretches", tiles: [tile] }, 0, 0, 10 * count, []);
  assert.ok(Math.abs(mix.ns.reduce((sum, one) => sum + one, 0) - 1) < 1e-9);
});

test("a wait that comes when a column is full of work keeps its class", () => {
  const kinds = [...Array(SLOTS).keys(), SLOTS];
  const length = kinds.map((kind) => (kind === 3 ? 5 : 10));
  const none = kinds.map(() => 0);
  const tile = stretchTile([
    u(kinds.length),
    u(0),
    u(...none),
    u(...length),
    u(...kinds),
    u(...none),
    u(),
    u(),
    u(),
    u(),
  ]);
  const mix = new Mix(1);
  const isWait = kinds.map((kind) => Number(kind === SLOTS));
  mix.fill({ what: "stretches", tiles: [tile] }, 0, 0, 85, isWait);
  assert.ok([...mix.kind].includes(SLOTS));
  assert.ok(Math.abs(mix.ns[[...mix.kind].indexOf(SLOTS)]! - 10 / 85) < 1e-9);
  assert.ok(Math.abs(mix.ns.reduce((sum, part) => sum + part, 0) - 1) < 1e-9);
});

test("rows of reports and searches find the longest stretch that they mean", () => {
  const process = model();
  const all = { processes: [process], states: ["work", "wait"], isServed: false, leftOut: 0 };
  const row = {
    cause: "imbalance" as BlameCause,
    subject: "solve",
    key: "k",
    lane_time_s: 1,
    share: 1,
    basis: "events",
    reason: "",
  };
  assert.deepEqual(
    longestOf([process], ofBlame(row)).map((each) => [each.lane, each.begin]),
    [
      [2, 0],
      [1, 5],
    ],
  );
  assert.equal(longestOf([process], ofBlame({ ...row, key: "" })).length, 0);
  assert.equal(longestOf([process], ofWords(all, "SOL")).length, 3);
  assert.equal(longestOf([process], ofWords(all, "imba")).length, 2);
});

test("lanes are chosen by number, range and name", () => {
  const process = model();
  const shown = (words: string): number[] =>
    process.lanes.map((_, lane) => lane).filter((lane) => lanesOf(words)(process, lane));
  assert.deepEqual(shown(""), [0, 1, 2]);
  assert.deepEqual(shown("1-12"), [1, 2]);
  assert.deepEqual(shown("main, 12"), [0, 2]);
  assert.deepEqual(shown("<script>"), []);
});

test("every lane has its row, below the name of its process where there are several", () => {
  const [one, other] = [model(), model()];
  assert.deepEqual(
    layoutOf([one], () => true).rows.map((row) => row.lane),
    [0, 1, 2],
  );
  const rows = layoutOf([one, other], (_, lane) => lane !== 1).rows;
  assert.deepEqual(
    rows.map((row) => row.lane),
    [-1, 0, 2, -1, 0, 2],
  );
  rows.slice(1).forEach((row, at) => assert.ok(row.y >= rows[at]!.y + rows[at]!.height));
});

test("times have as many digits as distinguish ticks", () => {
  assert.equal(timeLabel(1_500_000_000, 1e8), "1.5 s");
  assert.equal(timeLabel(1_500_000_002, 1), "1.500000002 s");
  assert.equal(timeLabel(12_300, 100), "12.3 \u00b5s");
  const { step, times } = ticksOf(95, 1005, 10);
  assert.deepEqual([step, times[0], times.length], [100, 100, 10]);
});

test("a place among ascending values", () => {
  assert.deepEqual(
    [0, 1, 2, 3, 9].map((wanted) => firstFrom([1, 2, 2, 5], 0, 4, wanted)),
    [0, 0, 1, 3, 4],
  );
});

test("what waits lies below the axis, what has no inputs below the rest", () => {
  const line = (eligible: number[], ineligible: number[]) =>
    read({ timeline: { dt_s: 1, series: [{ name: "a", lanes: [1, 1] }], waiting: [0, 0], eligible, ineligible } })
      .timeline!;
  assert.deepEqual(belowAxis(line([1, 2], [3, 0])), {
    values: [
      [-4, -2, -2],
      [-1, -2, -2],
    ],
    most: 4.2,
  });
  assert.equal(belowAxis(line([], [])), null);
  assert.equal(belowAxis(line([0, 0], [0, 0])), null);
});

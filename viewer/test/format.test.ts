import assert from "node:assert/strict";
import test from "node:test";
import { bytes, count, percent, placeName, quantity, seconds, shellWords, shortened, shortName } from "../src/format";

test("times have three digits and the unit that fits", () => {
  const cases: [number | null, string][] = [
    [0, "0 s"],
    [1234.5, "1\u202f235 s"],
    [1.2345, "1.23 s"],
    [0.9999, "1 s"],
    [0.0123, "12.3 ms"],
    [0.00099999, "1 ms"],
    [4.5e-5, "45 \u00b5s"],
    [9e-9, "9 ns"],
    [3e-10, "0.3 ns"],
    [8.24e-17, "0 s"],
    [-0.5, "-500 ms"],
    [null, "\u2013"],
  ];
  for (const [value, expected] of cases) assert.equal(seconds(value), expected);
});

test("per cent never claims all or nothing for what is not", () => {
  const cases: [number, string][] = [
    [0, "0 %"],
    [1, "100 %"],
    [0.0001, "< 0.1 %"],
    [0.99999, "> 99.9 %"],
    [0.123, "12.3 %"],
  ];
  for (const [value, expected] of cases) assert.equal(percent(value), expected);
});

test("counts, bytes and units", () => {
  assert.equal(count(1234567), "1\u202f234\u202f567");
  assert.equal(count(2.5), "2.5");
  assert.equal(bytes(1536), "1.5 KiB");
  assert.equal(bytes(25276510208), "23.5 GiB");
  assert.equal(quantity(3, "W"), "3 W");
  assert.equal(quantity(0.02, "s"), "20 ms");
});

test("long names keep both ends and no half characters", () => {
  assert.equal(shortened("abcdefghij", 5), "ab\u2026ij");
  assert.equal(shortened("short", 5), "short");
  const faces = "\u{1f600}".repeat(100);
  const cut = shortened(faces, 9);
  assert.equal(Array.from(cut).length, 9);
  assert.ok(Array.from(cut).every((each) => each === "\u{1f600}" || each === "\u2026"));
});

test("a command can be put into a shell as it is shown", () => {
  assert.equal(shellWords(["./app", "-n=3", "two words", "it's", ""]), "./app -n=3 'two words' 'it'\\''s' ''");
});

test("long names lose what template arguments say, as in the tables of the command", () => {
  const cases: [string, string][] = [
    [
      "pr.cc:41 (PageRankPullGS(CSRGraph<int, int, true> const&, int, double, bool))",
      "pr.cc:41 (PageRankPullGS(CSRGraph<\u2026> const&, int, double, bool))",
    ],
    ["f<int>", "f<int>"],
    [`${"a".repeat(40)} operator<<`, `${"a".repeat(40)} operator<<`],
    ["std::vector<std::pair<int, std::less<int>>, std::allocator<int>>::push_back", "std::vector<\u2026>::push_back"],
    [`${"b".repeat(40)}> <c>`, `${"b".repeat(40)}> <c>`],
    [`${"b".repeat(40)} <c`, `${"b".repeat(40)} <c`],
  ];
  for (const [name, expected] of cases) assert.equal(shortName(name), expected);
  assert.equal(placeName(`run<${"int, ".repeat(20)}int>`, 20), "run<\u2026>");
  assert.equal(placeName("c".repeat(30), 11), "ccccc\u2026ccccc");
});

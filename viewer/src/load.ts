// The system under the program while it ran.

import uPlot from "uplot";
import type { TimeCharts } from "./charts";
import { regionColor, resolved } from "./colors";
import { type Child, empty, folded, h, note, section } from "./dom";
import { bytes, count, quantity, seconds, shortened } from "./format";
import { drawLimit } from "./marks";
import { type Drawn, type Panel, panels } from "./panels";
import { highest, valueAt } from "./rates";
import type { LaneSummary, Report } from "./report";
import { type Column, processColumn, Table } from "./table";

const BYTE_STEPS = Array.from({ length: 50 }, (_, at) => 2 ** at);
const LINE_COLORS = ["var(--r0)", "var(--r3)", "var(--r2)"];
const lineColor = ({ at }: Drawn): string => LINE_COLORS[at] ?? regionColor(at + 1);

export function load(report: Report, charts: TimeCharts): HTMLElement {
  const { main, further, quiet, short } = panels(report);
  const parts: Child[] = [tiles(report)];
  if (main.length) parts.push(grid(main, charts));
  else if (report.processes.filter((each) => each.takes_part).length > 1)
    parts.push(note("Figures over time are of one process each: choose one above."));
  else
    parts.push(empty("No counter over time: the run was shorter than the sampler\u2019s period, or no probe was on."));
  if (quiet.length) parts.push(note(`Zero all the time: ${listed(quiet)}.`));
  if (short.length) parts.push(note(`Too few samples to draw: ${listed(short)}.`));
  if (further.length) parts.push(folded(`Further counters (${further.length})`, () => grid(further, charts)));
  if (report.lanes.length) {
    const title = titleOf(report.lanes);
    parts.push(folded(`${title} (${count(report.lanes.length)})`, () => lanes(report.lanes, title)));
  }
  return section("system", "Load of the system", ...parts);
}

const listed = (names: string[]): string => names.map((name) => shortened(name, 60)).join(", ");

function tiles(report: Report): HTMLElement {
  const { os } = report;
  const rss = os.max_rss_kb;
  const figures: [string, string, string][] = [
    [
      "run delay",
      seconds(os.run_delay_s ?? null),
      "time that threads were runnable without a CPU, all threads together",
    ],
    ["CPU time", seconds(os.cpu_s ?? null), "user and system, all threads"],
    ["preemptions", count(os.preemptions ?? null), "times a thread lost its CPU while it could have run on"],
    [
      "switches, own will",
      count(os.switches_voluntary ?? null),
      "context switches because a thread waited for something",
    ],
    ["switches, forced", count(os.switches_involuntary ?? null), "context switches because another thread got the CPU"],
    ["migrations", count(os.migrations ?? null), "times a thread went on on another CPU"],
    ["peak memory", rss === null || rss === undefined ? "\u2013" : bytes(rss * 1024), "largest resident set"],
  ];
  if (report.energy !== null) {
    const simulated = report.energy.meters.some((each) => each.includes("simulated")) ? ", simulated" : "";
    figures.push([
      `energy${simulated}`,
      quantity(report.energy.joules, "J"),
      "of the whole machine while the run lasted",
    ]);
    figures.push([`power${simulated}`, quantity(report.energy.watts, "W"), "of the whole machine, in the mean"]);
  }
  return h(
    "dl",
    { class: "tiles" },
    ...figures.map(([name, value, help]) => h("div", { title: help }, h("dt", {}, name), h("dd", {}, value))),
  );
}

function grid(all: Panel[], charts: TimeCharts): HTMLElement {
  return h(
    "div",
    { class: "grid" },
    ...all.map((panel) => {
      const host = h("div", { class: "chart" });
      queueMicrotask(() => draw(host, panel, charts));
      return h(
        "figure",
        {},
        h(
          "figcaption",
          {},
          h("b", {}, shortened(panel.title, 80)),
          panel.unit && panel.unit !== "B" && panel.unit !== "1"
            ? h("span", { class: "soft" }, ` ${shortened(panel.unit, 20)}`)
            : null,
          h("small", { class: "soft" }, shortened(panel.explain, 160)),
        ),
        host,
        (panel.lines.length > 1 || panel.lines[0]!.at > 0) &&
          h(
            "div",
            { class: "keys" },
            ...panel.lines.map((line) =>
              h(
                "span",
                { class: "key" },
                h("i", { class: "dot", style: { background: lineColor(line) } }),
                shortened(line.label, 80),
              ),
            ),
          ),
      );
    }),
  );
}

function draw(host: HTMLElement, panel: Panel, charts: TimeCharts): void {
  const { lines, unit, limit } = panel;
  const stepped = uPlot.paths.stepped!({ align: -1 }),
    straight = uPlot.paths.linear!();
  const shown = (value: number): string => (unit === "/s" ? `${quantity(value, "")}/s` : quantity(value, unit));
  charts.add(host, {
    label: `${panel.title} over time`,
    height: 150,
    data: uPlot.join(lines.map((line) => [line.t, line.v] as uPlot.AlignedData)),
    top: (Math.max(highest(lines), limit?.value ?? 0) || 1) * 1.1,
    axis: (value) => (unit === "B" ? bytes(value) : String(Number(value.toPrecision(3)))),
    ...(unit === "B" ? { steps: BYTE_STEPS } : {}),
    tip: (time) =>
      lines.flatMap((line) => {
        const value = valueAt(line, time);
        return value === null
          ? []
          : [{ color: lineColor(line), label: shortened(line.label, 60), value: shown(value) }];
      }),
    series: lines.map((line, at) => ({
      paths: line.isRate ? stepped : straight,
      points: { show: false },
      width: 1.75,
      spanGaps: true,
      stroke: () => resolved(lineColor(line)),
      ...(at === 0 ? { fill: () => `${resolved(lineColor(line))}26` } : {}),
    })),
    ...(limit ? { draw: (plot: uPlot) => drawLimit(plot, limit.value, `${limit.value} ${limit.label}`) } : {}),
  });
}

const areThreads = (lanes: LaneSummary[]): boolean => lanes.every((lane) => lane.kind === "thread");
const titleOf = (lanes: LaneSummary[]): string =>
  areThreads(lanes) ? "Threads" : "Threads, CPUs, servers and executors";

/** What the lanes are, where some are not threads. */
function kindColumn(lanes: LaneSummary[]): Column<LaneSummary>[] {
  return areThreads(lanes) ? [] : [{ title: "kind", key: (lane) => lane.kind, cell: (lane) => lane.kind }];
}

function lanes(rows: LaneSummary[], caption: string): HTMLElement {
  return new Table<LaneSummary>({
    caption,
    rows,
    sortBy: 0,
    words: (lane) => `${lane.process} ${lane.kind} ${lane.lane} ${lane.name} ${lane.tid || ""}`,
    columns: [
      ...processColumn(rows),
      ...kindColumn(rows),
      {
        title: areThreads(rows) ? "thread" : "number",
        key: (lane) => lane.lane,
        cell: (lane) => `${lane.lane}`,
        isNumber: false,
        help: "Trimtab\u2019s number of the thread\u2019s place",
      },
      { title: "name", key: (lane) => lane.name, cell: (lane) => h("code", {}, shortened(lane.name, 40)) },
      {
        title: "id",
        key: (lane) => lane.tid,
        cell: (lane) => (lane.tid === 0 ? "\u2013" : String(lane.tid)),
        isNumber: true,
        help: "the kernel\u2019s number of the thread",
      },
      { title: "on a CPU", key: (lane) => lane.run_s, cell: (lane) => seconds(lane.run_s), isNumber: true },
      {
        title: "run delay",
        key: (lane) => lane.run_delay_s,
        cell: (lane) => seconds(lane.run_delay_s),
        isNumber: true,
        help: "runnable without a CPU",
      },
      {
        title: "switches, own will",
        key: (lane) => lane.voluntary,
        cell: (lane) => count(lane.voluntary),
        isNumber: true,
      },
      { title: "forced", key: (lane) => lane.involuntary, cell: (lane) => count(lane.involuntary), isNumber: true },
      { title: "migrations", key: (lane) => lane.migrations, cell: (lane) => count(lane.migrations), isNumber: true },
    ],
  }).root;
}

// How many threads were in which region over time.

import uPlot from "uplot";
import { type Cap, capOverTime, powerOverTime } from "./cap";
import type { Spec, TimeCharts, TipRow } from "./charts";
import { resolved } from "./colors";
import { empty, h, note, section } from "./dom";
import { percent, placeName, quantity, seconds } from "./format";
import { drawLimit, drawUnknown } from "./marks";
import { isComplete } from "./read";
import type { Report, Timeline } from "./report";
import { type Below, belowAxis, SHARE_BELOW } from "./below";
import { stacked } from "./stack";

const TIP_ROWS = 9;

/** Lines on top of the stacked threads. */
interface Overlay {
  cap: Cap | null;
  watts: (number | null)[] | null;
  below: Below | null;
}

export function concurrency(report: Report, charts: TimeCharts, color: (name: string) => string): HTMLElement {
  const line = report.timeline;
  if (line === null) {
    return section(
      "over-time",
      "Concurrency over time",
      empty(
        "Not recorded: no region was entered, or its events were not kept (",
        h("code", {}, "trimtab run --trace"),
        " keeps all of them).",
      ),
    );
  }
  const isShown = line.series.map(() => true);
  const colors = line.series.map((series) => color(series.name));
  const edges = edgesOf(line);
  const overlay: Overlay = {
    cap: capOverTime(report, edges),
    watts: powerOverTime(report, edges, line.dt_s),
    below: belowAxis(line),
  };
  const host = h("div", { class: "chart" });
  const range = h("span", { class: "soft", role: "status" });
  const all = h("button", { type: "button", on: { click: () => charts.reset() } }, "All");
  const tools = h(
    "div",
    { class: "tools" },
    range,
    tool("\u2212", "Zoom out", () => charts.zoom(2)),
    tool("+", "Zoom in", () => charts.zoom(0.5)),
    tool("\u2190", "Earlier", () => charts.pan(-0.25)),
    tool("\u2192", "Later", () => charts.pan(0.25)),
    all,
  );
  charts.onRange(() => {
    const [low, high] = charts.range;
    range.textContent = charts.isWhole ? "" : `${seconds(low)} to ${seconds(high)}`;
    all.disabled = charts.isWhole;
  });
  all.disabled = true;
  let plot: uPlot | null = null;
  const legend = h(
    "div",
    { class: "keys" },
    ...line.series.map((series, at) => {
      const button = h(
        "button",
        { type: "button", "aria-pressed": "true", title: series.name },
        h("i", { class: "dot", style: { background: colors[at]! } }),
        placeName(series.name, 60) || "(no name)",
      );
      button.addEventListener("click", () => {
        isShown[at] = !isShown[at];
        button.setAttribute("aria-pressed", String(isShown[at]));
        plot?.setData(aligned(line, isShown, overlay), false);
        plot?.redraw();
      });
      return button;
    }),
    line.waiting.some((value) => value > 0) &&
      h("span", { class: "key" }, h("i", { class: "dash" }), "of these waiting inside"),
    overlay.below !== null && keyBelow("var(--eligible)", "below: tasks that could run, without a worker"),
    overlay.below !== null && keyBelow("var(--ineligible)", "below: tasks whose inputs were missing"),
    overlay.cap && h("span", { class: "key" }, h("i", { class: "stroke" }), overlay.cap.label),
    overlay.watts &&
      h(
        "span",
        { class: "key" },
        h("i", { class: "dots" }),
        `power of the machine, 0 to ${watts(most(overlay.watts))}`,
      ),
  );
  // A chart needs its width: drawn once it is in the document.
  queueMicrotask(() => (plot = charts.add(host, spec(report, line, isShown, colors, overlay))));
  return section(
    "over-time",
    "Concurrency over time",
    h(
      "div",
      { class: "row" },
      note(
        report.workers.length
          ? "Threads at each kind of task or in each region. "
          : "Threads inside each parallel region. ",
        overlay.below !== null &&
          `Below the axis: tasks that wait, up to ${String(Number(overlay.below.most.toPrecision(3)))}. `,
        report.workers.length > 0 &&
          report.time !== null &&
          `The runtime's own work is left out; it took ${percent(report.time.runtime)} of the core time. `,
        h("span", { class: "hint" }, "Drag to zoom, double-click for all; by key: arrows, + and \u2212, 0."),
      ),
      tools,
    ),
    host,
    legend,
    !isComplete(line) &&
      h(
        "div",
        { class: "row" },
        note(
          `Only the last events of each thread were kept: complete from ${seconds(line.from_s)} on. `,
          h("code", {}, "trimtab run --trace"),
          " keeps all.",
        ),
        h(
          "div",
          { class: "tools" },
          h(
            "button",
            { type: "button", on: { click: () => charts.setRange(line.from_s, charts.end) } },
            "Zoom to these",
          ),
        ),
      ),
  );
}

function tool(sign: string, name: string, act: () => void): HTMLElement {
  return h("button", { type: "button", "aria-label": name, title: name, on: { click: act } }, sign);
}

function keyBelow(color: string, words: string): HTMLElement {
  return h("span", { class: "key" }, h("i", { class: "dot", style: { background: color } }), words);
}

function belowRows(line: Timeline, bin: number): TipRow[] {
  const row = (color: string, label: string, value = 0): TipRow => ({ color, label, value: value.toFixed(2) });
  return [
    row("var(--eligible)", "tasks without a worker", line.eligible[bin]),
    row("var(--ineligible)", "tasks without their inputs", line.ineligible[bin]),
  ];
}

function edgesOf(line: Timeline): number[] {
  return Array.from({ length: line.series[0]!.lanes.length + 1 }, (_, at) => at * line.dt_s);
}

const most = (values: (number | null)[]): number => Math.max(...values.map((value) => value ?? 0));
const watts = (value: number): string => quantity(value, "W");

function aligned(line: Timeline, isShown: boolean[], { cap, watts, below }: Overlay): uPlot.AlignedData {
  const bins = line.series[0]!.lanes.length;
  const edges = edgesOf(line);
  // Where nothing waited there is no line, rather than one along the axis.
  const waiting = edges.map((_, at) => line.waiting[Math.min(at, bins - 1)] || null);
  return [
    edges,
    ...stacked(line, isShown),
    waiting,
    ...(cap ? [cap.values] : []),
    ...(watts ? [watts] : []),
    ...(below ? below.values : []),
  ];
}

function spec(report: Report, line: Timeline, isShown: boolean[], colors: string[], overlay: Overlay): Spec {
  const count = line.series.length,
    bins = line.series[0]!.lanes.length;
  const stepped = uPlot.paths.stepped!({ align: 1 });
  const data = aligned(line, isShown, overlay);
  const cap = overlay.cap;
  const peak = Math.max(...(data[count] as number[]), ...(cap ? cap.values : []));
  const isCpuNear = report.cpus_available !== null && report.cpus_available <= peak * 4;
  const top = Math.max(peak, isCpuNear ? report.cpus_available! : 0, 1) * 1.08;
  const tip = (time: number): TipRow[] => {
    const bin = Math.min(Math.max(Math.floor(time / line.dt_s), 0), bins - 1);
    if (time < line.from_s) return [{ color: "transparent", label: "events not kept", value: "" }];
    const rows = line.series
      .map((series, at) => ({ at, value: series.lanes[bin] ?? 0 }))
      .filter(({ at, value }) => isShown[at] && value > 0.0005)
      .sort((a, b) => b.value - a.value);
    const shown = rows.slice(0, TIP_ROWS).map(({ at, value }) => ({
      color: colors[at]!,
      label: placeName(line.series[at]!.name, 48),
      value: value.toFixed(2),
    }));
    if (rows.length > TIP_ROWS)
      shown.push({ color: "transparent", label: `and ${rows.length - TIP_ROWS} more`, value: "" });
    const waiting = line.waiting[bin] ?? 0;
    if (waiting > 0.0005)
      shown.push({ color: "var(--wait-line)", label: "of these waiting inside", value: waiting.toFixed(2) });
    if (cap) shown.push({ color: "var(--fg)", label: cap.label, value: String(cap.values[bin]) });
    if (overlay.below !== null) shown.push(...belowRows(line, bin));
    const power = overlay.watts?.[bin];
    if (power !== null && power !== undefined)
      shown.push({ color: "var(--soft)", label: "power of the machine", value: watts(power) });
    return shown.length ? shown : [{ color: "transparent", label: "no parallel region", value: "" }];
  };
  return {
    label: "Threads inside parallel regions over time",
    height: 280,
    data,
    tip,
    top,
    ...(overlay.below ? { bottom: -SHARE_BELOW * top } : {}),
    axis: (value) => (value < 0 ? "" : String(Number(value.toPrecision(3)))),
    series: [
      ...colors.map((color, at): uPlot.Series => ({
        paths: stepped,
        points: { show: false },
        width: 0,
        ...(at === 0 ? { fill: () => resolved(color) } : {}),
      })),
      {
        paths: stepped,
        points: { show: false },
        width: 1.5,
        dash: [5, 3],
        stroke: () => resolved("var(--wait-line)"),
      },
      ...(cap ? [{ paths: stepped, points: { show: false }, width: 2, stroke: () => resolved("var(--fg)") }] : []),
      ...(overlay.watts
        ? [
            {
              paths: stepped,
              points: { show: false },
              width: 1.5,
              dash: [2, 3],
              scale: "power",
              stroke: () => resolved("var(--soft)"),
            },
          ]
        : []),
      ...(overlay.below ? ["var(--ineligible)", "var(--eligible)"] : []).map((color) => ({
        paths: stepped,
        points: { show: false },
        width: 0,
        scale: "below",
        fill: () => resolved(color),
      })),
    ],
    scales: {
      ...(overlay.watts ? { power: { range: [0, Math.max(most(overlay.watts), 1) * 1.08] } } : {}),
      // Both axes have their 0 at the same height.
      ...(overlay.below ? { below: { range: [-overlay.below.most, overlay.below.most / SHARE_BELOW] } } : {}),
    },
    bands: colors.slice(1).map((color, at) => ({ series: [at + 2, at + 1], fill: () => resolved(color) })),
    draw: (plot) => {
      if (!isComplete(line) && line.from_s > 0) drawUnknown(plot, line.from_s);
      if (isCpuNear)
        drawLimit(
          plot,
          report.cpus_available!,
          `${report.cpus_available} CPU${report.cpus_available === 1 ? "" : "s"}`,
        );
    },
  };
}

// Charts over time that share one range: what is zoomed in one is zoomed in all.

import uPlot from "uplot";
import { timeTicks } from "./axis";
import { resolved } from "./colors";
import { type Child, h } from "./dom";

export interface TipRow {
  color: string;
  label: string;
  value: string;
}
export interface Spec {
  label: string;
  height: number;
  data: uPlot.AlignedData;
  series: uPlot.Series[];
  /** Of series that do not share the vertical axis. */
  scales?: uPlot.Scales;
  bands?: uPlot.Band[];
  top: number;
  /** Where the vertical axis begins; 0 without it. */
  bottom?: number;
  axis: (value: number) => string;
  /** Distances that ticks of the vertical axis may have, where powers of ten would look odd. */
  steps?: number[];
  tip: (time: number) => TipRow[];
  draw?: (plot: uPlot) => void;
}
interface Shown {
  plot: uPlot;
  host: HTMLElement;
  height: number;
}

/** What an upright page of A4 or Letter has room for, within the style sheet's margins. */
const PRINT_WIDTH = 680;
const PRINT_GAP = 24;
const STEP = 0.2;
/** Lanes show single events. */
const LEAST_S = 1e-7;

export class TimeCharts {
  readonly #shown: Shown[] = [];
  readonly #listeners: (() => void)[] = [];
  #low = 0;
  #high: number;

  readonly #closed = new AbortController();

  constructor(readonly end: number) {
    this.#high = end;
    const { signal } = this.#closed;
    addEventListener("beforeprint", () => this.#fit((host) => printWidth(host)), { signal });
    addEventListener("afterprint", () => this.#fit((host) => host.clientWidth), { signal });
  }

  /** Lets go of all charts; others will take their place. */
  close(): void {
    this.#closed.abort();
    for (const { plot } of this.#shown) plot.destroy();
    this.#shown.length = 0;
  }

  get range(): [number, number] {
    return [this.#low, this.#high];
  }
  get isWhole(): boolean {
    return this.#low <= 0 && this.#high >= this.end;
  }
  onRange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  setRange(low: number, high: number): void {
    const least = Math.min(this.end * 1e-5, LEAST_S);
    const width = Math.min(Math.max(high - low, least), this.end);
    this.#low = Math.min(Math.max(low, 0), this.end - width);
    this.#high = this.#low + width;
    for (const { plot } of this.#shown) plot.setScale("x", { min: this.#low, max: this.#high });
    for (const listener of this.#listeners) listener();
  }
  zoom(factor: number, around = (this.#low + this.#high) / 2): void {
    this.setRange(around - (around - this.#low) * factor, around + (this.#high - around) * factor);
  }
  pan(part: number): void {
    const by = (this.#high - this.#low) * part;
    this.setRange(this.#low + by, this.#high + by);
  }
  reset(): void {
    this.setRange(0, this.end);
  }
  redraw(): void {
    for (const { plot } of this.#shown) plot.redraw(false, true);
  }

  #fit(room: (host: HTMLElement) => number): void {
    for (const { plot, host, height } of this.#shown) {
      const width = room(host);
      if (width > 0) plot.setSize({ width, height });
    }
    this.redraw();
  }

  /** Draws into `host`, which must be in the document. */
  add(host: HTMLElement, spec: Spec): uPlot | null {
    if (this.#closed.signal.aborted) return null;
    const tip = h("div", { class: "tip", role: "status" });
    tip.hidden = true;
    let isMine = false;
    const plot = new uPlot(
      {
        width: Math.max(host.clientWidth, 200),
        height: spec.height,
        legend: { show: false },
        padding: [10, 24, 0, 0],
        cursor: {
          y: false,
          points: { show: false },
          drag: { x: true, y: false, setScale: false },
          sync: { key: "time", scales: ["x", null] },
          bind: { dblclick: () => () => (this.reset(), null) },
        },
        scales: {
          x: { time: false, range: () => this.range },
          y: { range: () => [spec.bottom ?? 0, spec.top] },
          ...spec.scales,
        },
        axes: [
          axis({ values: (_, splits) => timeTicks(splits), space: 80, size: 30 }),
          axis({
            values: (_, splits) => splits.map(spec.axis),
            size: 64,
            space: 36,
            ...(spec.steps ? { incrs: spec.steps } : {}),
          }),
        ],
        series: [{}, ...spec.series],
        ...(spec.bands ? { bands: spec.bands } : {}),
        hooks: {
          draw: spec.draw ? [spec.draw] : [],
          setSelect: [
            (self) => {
              const { left, width } = self.select;
              if (width > 3) this.setRange(self.posToVal(left, "x"), self.posToVal(left + width, "x"));
              self.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
            },
          ],
          setCursor: [
            (self) => {
              const left = self.cursor.left ?? -1;
              tip.hidden = !isMine || left < 0;
              if (!tip.hidden) showTip(tip, self, left, spec.tip);
            },
          ],
        },
      },
      spec.data,
      host,
    );
    plot.over.append(tip);
    plot.over.addEventListener("pointerenter", () => (isMine = true));
    plot.over.addEventListener("pointerleave", () => {
      isMine = false;
      tip.hidden = true;
    });
    host.tabIndex = 0;
    host.setAttribute("role", "group");
    host.setAttribute("aria-label", spec.label);
    host.addEventListener("blur", () => {
      isMine = false;
      tip.hidden = true;
    });
    host.addEventListener("keydown", (event) => {
      isMine = true;
      if (this.#key(event, plot)) event.preventDefault();
    });
    this.#shown.push({ plot, host, height: spec.height });
    new ResizeObserver(() => {
      if (host.clientWidth > 0 && !matchMedia("print").matches) {
        plot.setSize({ width: host.clientWidth, height: spec.height });
      }
    }).observe(host);
    return plot;
  }

  /** Arrows move the cursor, with shift the range; + and - zoom; 0 shows all. */
  #key(event: KeyboardEvent, plot: uPlot): boolean {
    if (event.ctrlKey || event.metaKey || event.altKey) return false;
    const way = event.key === "ArrowLeft" ? -1 : event.key === "ArrowRight" ? 1 : 0;
    const at = plot.cursor.left !== undefined && plot.cursor.left >= 0 ? plot.cursor.left : plot.over.clientWidth / 2;
    if (way && event.shiftKey) this.pan(way * STEP);
    else if (way) plot.setCursor({ left: Math.min(Math.max(at + way * 4, 0), plot.over.clientWidth - 1), top: 10 });
    else if (event.key === "+" || event.key === "=") this.zoom(0.5, plot.posToVal(at, "x"));
    else if (event.key === "-") this.zoom(2, plot.posToVal(at, "x"));
    else if (event.key === "0" || event.key === "Escape") this.reset();
    else return false;
    return true;
  }
}

const printWidth = (host: HTMLElement): number =>
  host.clientWidth === 0 ? 0 : host.closest(".grid") ? (PRINT_WIDTH - PRINT_GAP) / 2 : PRINT_WIDTH;

function axis(more: uPlot.Axis): uPlot.Axis {
  const line = (): string => resolved("var(--line)");
  return {
    stroke: () => resolved("var(--soft)"),
    font: "12px system-ui, sans-serif",
    grid: { stroke: line, width: 1 },
    ticks: { stroke: line, width: 1, size: 5 },
    ...more,
  };
}

function showTip(tip: HTMLElement, plot: uPlot, left: number, rows: (time: number) => TipRow[]): void {
  const time = plot.posToVal(left, "x");
  const made: Child[] = [h("b", {}, timeTicks([time, time * 1.001 + 1e-9])[0])];
  for (const row of rows(time)) {
    made.push(
      h(
        "div",
        {},
        h("i", { class: "dot", style: { background: row.color } }),
        h("span", {}, row.label),
        h("em", {}, row.value),
      ),
    );
  }
  tip.replaceChildren(...(made as Node[]));
  const room = plot.over.clientWidth;
  const width = tip.offsetWidth;
  tip.style.left = `${left + 14 + width > room ? Math.max(left - 14 - width, 4) : left + 14}px`;
}

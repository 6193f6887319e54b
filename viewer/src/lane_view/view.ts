// The lanes of all processes over time, drawn on a canvas. What it costs is bounded by lanes x pixels.

import { h } from "../dom";
import { arrows, type Chain, chainOf, giverOf, isWait, movedTo, released, waitBefore } from "./chain";
import { AXIS, GUTTER, type Layout, layoutOf, MOST_HEIGHT, type Row, rowOf } from "./layout";
import { Mix } from "./mix";
import type { Chosen, LaneModel, LaneProcess, Place } from "./model";
import { drawArrow, drawAxis, drawBox, drawLabel, drawNames, type Frame, originOf, setOrigins } from "./overlay";
import { DIMMED, type Inks, inksOf, packedColor, rgb } from "./palette";
import { drawLane } from "./raster";
import type { TileStore } from "./tiles";
import { firstFrom, type Shown, shownOf, type Stretch, stretchAt, stretchOf } from "./window";

const LEAST_WINDOW = 20;

/** What is selected, with all that explains it. */
export interface Selection {
  stretch: Stretch;
  chain: Chain | null;
  before: Stretch | null;
  released: Stretch[];
  arrows: ReturnType<typeof arrows>;
}

export class LaneView {
  readonly canvas = h("canvas", { class: "lane-canvas", tabindex: "0", role: "application" });
  /** What is seen, ns of the page's axis. */
  low = 0;
  high: number;
  scrolled = 0;
  selection: Selection | null = null;
  layout: Layout;
  /** Called after the window or what is shown has changed. */
  changed: () => void = () => undefined;
  selected: () => void = () => undefined;

  readonly #context: CanvasRenderingContext2D;
  #inks = new Map<LaneProcess, Inks>();
  #shown = new Map<LaneProcess, Shown>();
  #chosen: Chosen | null = null;
  #others = DIMMED;
  #isShown: (process: LaneProcess, lane: number) => boolean = () => true;
  #mix = new Mix(1);
  #image: ImageData | null = null;
  #asked = 0;

  constructor(
    readonly model: LaneModel,
    readonly store: TileStore,
    readonly end: number,
    readonly processes: LaneProcess[],
    readonly color: (name: string) => string,
    isOfOne: boolean,
  ) {
    setOrigins((process) => (isOfOne ? 0 : process.begin));
    this.high = end;
    this.layout = layoutOf(processes, this.#isShown);
    const context = this.canvas.getContext("2d");
    if (context === null) throw new Error("this browser has no 2D canvas");
    this.#context = context;
    store.arrived = () => this.redraw();
    new ResizeObserver(() => this.redraw()).observe(this.canvas);
  }

  get width(): number {
    return Math.max(this.canvas.clientWidth - GUTTER, 50);
  }
  get height(): number {
    return Math.min(this.layout.height, MOST_HEIGHT) + AXIS + 2;
  }
  get isWhole(): boolean {
    return this.low <= 0 && this.high >= this.end;
  }

  setWindow(low: number, high: number): void {
    const width = Math.min(Math.max(high - low, LEAST_WINDOW), this.end);
    this.low = Math.min(Math.max(low, 0), this.end - width);
    this.high = this.low + width;
    this.redraw();
    this.changed();
  }
  zoom(factor: number, around = (this.low + this.high) / 2): void {
    this.setWindow(around - (around - this.low) * factor, around + (this.high - around) * factor);
  }
  pan(part: number): void {
    const by = (this.high - this.low) * part;
    this.setWindow(this.low + by, this.high + by);
  }
  scroll(by: number): void {
    this.scrolled = Math.min(Math.max(this.scrolled + by, 0), Math.max(this.layout.height - MOST_HEIGHT, 0));
    this.redraw();
  }

  /** Lets only some lanes be seen. */
  filter(isShown: (process: LaneProcess, lane: number) => boolean): void {
    this.#isShown = isShown;
    this.layout = layoutOf(
      this.processes.filter((process) => process.lanes.some((_, lane) => isShown(process, lane))),
      isShown,
    );
    this.scrolled = 0;
    this.redraw();
    this.changed();
  }
  /** Dims or hides all that is not chosen; null: nothing is. */
  choose(chosen: Chosen | null): void {
    this.#chosen = chosen;
    this.recolor();
  }
  /** Whether what is not chosen is hidden, and not only dim. */
  hideOthers(isHidden: boolean): void {
    this.#others = isHidden ? 0 : DIMMED;
    this.recolor();
  }
  get chosen(): Chosen | null {
    return this.#chosen;
  }
  recolor(): void {
    this.#inks.clear();
    this.redraw();
  }

  /** The tiles that show what is seen of a process. */
  shown(process: LaneProcess): Shown {
    const origin = originOf(process);
    return shownOf(this.store, process, this.low - origin, this.high - origin, this.width);
  }

  /** The lane at a height of the canvas. */
  rowAt(y: number): Row | null {
    const at = y - AXIS + this.scrolled;
    return (
      this.layout.rows.find((row) => row.lane >= 0 && row.y <= at && at < row.y + row.height + 1 && y > AXIS) ?? null
    );
  }
  timeAt(x: number): number {
    return this.low + ((x - GUTTER) / this.width) * (this.high - this.low);
  }

  select(stretch: Stretch | null): void {
    this.#select(stretch);
    // Who was waited for may be in a tile of another process that has to come first.
    if (stretch !== null && this.store.isBusy)
      void this.store.settled().then(() => {
        if (this.selection?.stretch === stretch) this.#select(stretch);
      });
  }

  #select(stretch: Stretch | null): void {
    this.selection =
      stretch === null
        ? null
        : {
            stretch,
            chain: isWait(stretch) ? chainOf(this.store, stretch) : null,
            before: isWait(stretch) ? null : waitBefore(this.store, stretch),
            released: released(this.store, stretch),
            arrows: arrows(this.store, stretch),
          };
    if (stretch !== null) this.#bringIntoView(stretch);
    this.redraw();
    this.selected();
  }
  /** The stretch of a lane at a moment of the page's axis, null where single stretches are not there. */
  at(process: LaneProcess, lane: number, time: number): Stretch | null {
    return stretchAt(this.store, process, lane, Math.floor(time - originOf(process)));
  }
  /** Shows a stretch with as much around it on both sides as it is long. */
  show(stretch: Stretch): void {
    const origin = originOf(stretch.process),
      around = Math.max((stretch.end - stretch.begin) * 1, 10);
    this.setWindow(stretch.begin + origin - around, stretch.end + origin + around);
  }

  redraw(): void {
    if (this.#asked) return;
    this.#asked = requestAnimationFrame(() => {
      this.#asked = 0;
      this.draw();
    });
  }

  draw(): void {
    if (this.canvas.clientWidth === 0) return;
    const began = performance.now();
    const ratio = Math.min(devicePixelRatio || 1, 2);
    this.canvas.style.height = `${this.height}px`;
    const [width, height] = [Math.round((this.width + GUTTER) * ratio), Math.round(this.height * ratio)];
    if (this.canvas.width !== width || this.canvas.height !== height) {
      this.canvas.width = width;
      this.canvas.height = height;
    }
    this.#drawLanes(ratio);
    this.#drawOver(ratio);
    performance.measure("lanes", { start: began, end: performance.now() });
  }

  #drawLanes(ratio: number): void {
    const width = Math.round(this.width * ratio),
      height = Math.max(Math.round((this.height - AXIS) * ratio), 1);
    if (this.#image?.width !== width || this.#image.height !== height) this.#image = new ImageData(width, height);
    if (this.#mix.width !== width) this.#mix = new Mix(width);
    const data = new Uint32Array(this.#image.data.buffer);
    data.fill(packedColor(rgb("var(--bg)")));
    const panel = packedColor(rgb("var(--panel)"));
    const perPixel = (this.high - this.low) / width;
    this.#shown.clear();
    for (const row of this.layout.rows) {
      const y = Math.round((row.y - this.scrolled) * ratio),
        rowHeight = Math.round(row.height * ratio);
      if (row.lane < 0 || y < 0 || y + rowHeight > height) continue;
      if (!this.#shown.has(row.process)) this.#shown.set(row.process, this.shown(row.process));
      data.fill(panel, y * width, (y + rowHeight) * width);
      const inks = this.#inksOf(row.process);
      this.#mix.fill(this.#shown.get(row.process)!, row.lane, this.low - originOf(row.process), perPixel, inks.isWait);
      drawLane({ data, stride: width }, this.#mix, inks, 0, y, rowHeight);
    }
    this.#context.putImageData(this.#image, Math.round(GUTTER * ratio), Math.round(AXIS * ratio));
  }

  #inksOf(process: LaneProcess): Inks {
    let inks = this.#inks.get(process);
    if (inks === undefined) this.#inks.set(process, (inks = inksOf(process, this.color, this.#chosen, this.#others)));
    return inks;
  }

  #drawOver(ratio: number): void {
    const context = this.#context;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const frame: Frame = {
      context,
      width: this.width,
      height: this.height,
      low: this.low,
      high: this.high,
      scrolled: this.scrolled,
    };
    this.#drawLabels(frame);
    if (this.selection !== null) this.#drawSelection(frame, this.selection);
    drawNames(frame, this.layout.rows);
    drawAxis(frame);
    context.setTransform(1, 0, 0, 1, 0, 0);
  }

  #drawLabels(frame: Frame): void {
    const least = ((this.high - this.low) / this.width) * 46;
    for (const row of this.layout.rows) {
      const shown = this.#shown.get(row.process);
      if (row.lane < 0 || shown?.what !== "stretches") continue;
      const low = this.low - originOf(row.process),
        high = this.high - originOf(row.process);
      for (const tile of shown.tiles) {
        const end = tile.first[row.lane + 1]!;
        let at = Math.max(firstFrom(tile.begin, tile.first[row.lane]!, end, low) - 1, tile.first[row.lane]!);
        for (; at < end && tile.begin[at]! < high; at++)
          if (tile.length[at]! >= least)
            drawLabel(frame, row, stretchOf(row.process, row.lane, tile, at), this.model.states);
      }
    }
  }

  #drawSelection(frame: Frame, { stretch, chain, before, released, arrows }: Selection): void {
    const row = (each: Place): Row | null => rowOf(this.layout, each.process, each.lane);
    const box = (each: Stretch, isMain: boolean): void => {
      const own = row(each);
      if (own !== null) drawBox(frame, own, each, isMain);
    };
    const arrow = (from: Place, begin: number, to: Place, end: number, isDashed = false): void => {
      const one = row(from),
        other = row(to);
      if (one && other)
        drawArrow(frame, one, begin + originOf(from.process), other, end + originOf(to.process), isDashed);
    };
    const onClockOf = (to: Place, time: number, from: Place = stretch): number =>
      movedTo(to.process, time, from.process);
    const links = chain?.links ?? [];
    for (const link of links.slice(1)) box(link, false);
    links.slice(1).forEach((link, at) => {
      const from = links[at]!;
      arrow(from, onClockOf(from, chain!.time), link, onClockOf(link, chain!.time), true);
    });
    const giver = before === null ? null : giverOf(before);
    if (before !== null) box(before, false);
    if (before !== null && giver !== null) arrow(giver, onClockOf(giver, before.end), stretch, stretch.begin);
    for (const each of released)
      arrow(stretch, Math.min(onClockOf(stretch, each.end, each), stretch.end), each, each.end);
    const { process } = stretch;
    for (const each of [...arrows.entering, ...arrows.leaving].slice(0, 24))
      arrow({ process, lane: each.fromLane }, each.from, { process, lane: each.toLane }, each.to);
    box(stretch, true);
  }

  #bringIntoView(stretch: Stretch): void {
    const row = rowOf(this.layout, stretch.process, stretch.lane);
    if (row === null) return;
    if (row.y < this.scrolled) this.scrolled = row.y;
    if (row.y + row.height > this.scrolled + MOST_HEIGHT) this.scrolled = row.y + row.height - MOST_HEIGHT;
  }
}

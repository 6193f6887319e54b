// What is drawn over a chart, on its canvas.

import type uPlot from "uplot";
import { resolved } from "./colors";

/** A dashed horizontal line with a word at its right end. */
export function drawLimit(plot: uPlot, value: number, label: string): void {
  const { ctx, bbox } = plot,
    y = plot.valToPos(value, "y", true),
    ratio = devicePixelRatio;
  ctx.save();
  ctx.strokeStyle = ctx.fillStyle = resolved("var(--soft)");
  ctx.setLineDash([5 * ratio, 4 * ratio]);
  ctx.lineWidth = ratio;
  ctx.beginPath();
  ctx.moveTo(bbox.left, y);
  ctx.lineTo(bbox.left + bbox.width, y);
  ctx.stroke();
  ctx.font = `${11 * ratio}px system-ui, sans-serif`;
  ctx.textAlign = "right";
  ctx.textBaseline = "bottom";
  ctx.fillText(label, bbox.left + bbox.width - 4 * ratio, y - 2 * ratio);
  ctx.restore();
}

/** Hides what the flight recorder no longer had. */
export function drawUnknown(plot: uPlot, until: number): void {
  const { ctx, bbox } = plot,
    right = Math.min(plot.valToPos(until, "x", true), bbox.left + bbox.width);
  if (right <= bbox.left) return;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, right - bbox.left, bbox.height);
  ctx.clip();
  ctx.fillStyle = resolved("var(--panel)");
  ctx.fillRect(bbox.left, bbox.top, right - bbox.left, bbox.height);
  ctx.strokeStyle = resolved("var(--line)");
  ctx.lineWidth = devicePixelRatio;
  const step = 9 * devicePixelRatio;
  ctx.beginPath();
  for (let x = bbox.left - bbox.height; x < right; x += step) {
    ctx.moveTo(x, bbox.top + bbox.height);
    ctx.lineTo(x + bbox.height, bbox.top);
  }
  ctx.stroke();
  ctx.fillStyle = resolved("var(--soft)");
  ctx.textAlign = "left";
  ctx.textBaseline = "middle";
  ctx.font = `${12 * devicePixelRatio}px system-ui, sans-serif`;
  ctx.fillText("events not kept", bbox.left + 8 * devicePixelRatio, bbox.top + bbox.height / 2);
  ctx.restore();
}

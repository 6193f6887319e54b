// Labels of axes.

/** Ticks of a time axis in one unit, with as many decimals as tell them apart. */
export function timeTicks(splits: number[]): string[] {
  const last = Math.max(...splits.map(Math.abs)),
    step = splits.length > 1 ? splits[1]! - splits[0]! : last;
  const [scale, unit] = last >= 1 ? [1, "s"] : last >= 1e-3 ? [1e3, "ms"] : [1e6, "\u00b5s"];
  const whole = Math.max(0, Math.min(6, -Math.floor(Math.log10(step * scale + 1e-12) + 1e-9)));
  // Distances of a quarter need one place more than their size tells.
  const scaled = step * scale * 10 ** whole;
  const isQuarter = splits.length > 2 && Math.abs((scaled % 1) - 0.5) < 1e-3;
  const decimals = whole + (isQuarter ? 1 : 0);
  return splits.map((each) => `${(each * scale).toFixed(decimals)} ${unit}`);
}

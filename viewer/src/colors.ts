// Colours are custom properties of the style sheet, so that light, dark and print need no code; canvases look them up.

import type { Share } from "./enumerations";

export const REGION_COLORS = 12;

export const shareColor = (share: Share): string => `var(--${share.replace("_", "-")})`;
/** What can be read on it. */
export const shareInk = (share: Share): string => `var(--on-${share.replace("_", "-")})`;
export const regionColor = (at: number): string => (at < REGION_COLORS ? `var(--r${at})` : "var(--others)");

/** The value that a `var(--name)` has now. */
export function resolved(color: string): string {
  const name = /^var\((--[\w-]+)\)$/.exec(color)?.[1];
  return name === undefined ? color : getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** Which colour a region has everywhere on the page: by its place in the timeline, else in the table. */
export function regionPalette(names: string[]): (name: string) => string {
  const places = new Map<string, number>();
  for (const name of names) if (!places.has(name)) places.set(name, places.size);
  return (name) => regionColor(places.get(name) ?? REGION_COLORS);
}

// What is above and below the lanes: search, filters, buttons, and the key of colours and patterns.

import { append, h } from "../dom";
import { count, seconds } from "../format";
import { resolved } from "../colors";
import { lanesOf, longestOf, ofWords } from "./find";
import { between, lookOf, rgb } from "./palette";
import { isSecond } from "./raster";
import type { LaneView } from "./view";
import type { Chosen } from "./model";
import type { Stretch } from "./window";

export function tools(view: LaneView): { root: HTMLElement; update: () => void } {
  const range = h("span", { class: "soft", role: "status" });
  const button = (sign: string, name: string, act: () => void): HTMLButtonElement =>
    h("button", { type: "button", "aria-label": name, title: name, on: { click: act } }, sign);
  const all = button("All", "Show all", () => view.setWindow(0, view.end));
  const root = h(
    "div",
    { class: "tools" },
    range,
    button("\u2212", "Zoom out", () => view.zoom(2)),
    button("+", "Zoom in", () => view.zoom(0.5)),
    button("\u2190", "Earlier", () => view.pan(-0.25)),
    button("\u2192", "Later", () => view.pan(0.25)),
    all,
  );
  const update = (): void => {
    all.disabled = view.isWhole;
    range.textContent = view.isWhole
      ? ""
      : `${seconds((view.high - view.low) * 1e-9)} from ${seconds(view.low * 1e-9)} on`;
  };
  update();
  return { root, update };
}

/** A search for kinds of work and waits, and filters of processes and lanes. */
export function filters(view: LaneView, jump: (stretch: Stretch, chosen: Chosen) => void): HTMLElement {
  const found = h("span", { class: "soft", role: "status" });
  const search = h("input", {
    type: "search",
    placeholder: "Search regions, tasks, waits",
    "aria-label": "Search lanes",
  });
  let place = -1;
  search.addEventListener("input", () => {
    place = -1;
    const chosen = search.value ? ofWords(view.model, search.value) : null;
    view.choose(chosen);
    found.textContent = chosen === null ? "" : matches(view, chosen);
  });
  search.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !search.value) return;
    const chosen = ofWords(view.model, search.value);
    const all = longestOf(view.processes, chosen);
    if (all.length) jump(all[(place = (place + 1) % all.length)]!, chosen);
  });
  const hide = h(
    "button",
    { type: "button", "aria-pressed": "false", title: "Hide what is not chosen" },
    "Hide others",
  );
  hide.addEventListener("click", () => {
    const isHidden = hide.getAttribute("aria-pressed") !== "true";
    hide.setAttribute("aria-pressed", String(isHidden));
    view.hideOthers(isHidden);
  });
  const lanes = h("input", { type: "search", placeholder: "Lanes: 0-3, main", "aria-label": "Filter lanes" });
  const process = h("select", { "aria-label": "Process of the lanes" });
  append(
    process,
    ...["all processes", ...view.processes.map((each) => each.name)].map((name) => h("option", {}, name)),
  );
  const apply = (): void => {
    const isLane = lanesOf(lanes.value);
    const one = process.selectedIndex - 1;
    view.filter((each, lane) => (one < 0 || view.processes[one] === each) && isLane(each, lane));
  };
  lanes.addEventListener("input", apply);
  process.addEventListener("change", apply);
  return h("div", { class: "lane-filters" }, search, hide, lanes, view.processes.length > 1 && process, found);
}

function matches(view: LaneView, chosen: Chosen): string {
  const kinds = view.processes.flatMap((process) => process.classes.filter((each) => chosen(each, process)));
  return kinds.length
    ? `${count(kinds.length)} kinds; Enter shows the longest, then the next`
    : "nothing has this name";
}

/** A button for each state that there is: the others become dim, or are hidden. */
export function key(view: LaneView): HTMLElement {
  const there = new Set(
    view.processes.flatMap((process) => process.longest.map((each) => process.classes[each.kind]?.state)),
  );
  let only: number | null = null;
  const buttons = view.model.states.map((name, state) => {
    if (!there.has(state)) return null;
    const button = h("button", { type: "button", "aria-pressed": "false" }, swatch(state), name);
    button.addEventListener("click", () => {
      only = only === state ? null : state;
      view.choose(only === null ? null : (each) => each.state === only);
      for (const each of buttons) each?.setAttribute("aria-pressed", String(each === button && only !== null));
    });
    return button;
  });
  const work = h("span", { class: "soft" }, "Work has the colour of its region or kind of task.");
  return h("div", { class: "keys lane-keys" }, ...buttons, work);
}

/** A sample of a state's colour and pattern. */
function swatch(state: number): HTMLCanvasElement {
  const canvas = h("canvas", { class: "swatch", "aria-hidden": "true" });
  canvas.width = canvas.height = 14;
  const context = canvas.getContext("2d");
  if (context === null) return canvas;
  const look = lookOf(state);
  const base = rgb(look.color);
  const second = between(base, rgb("var(--bg)"), 0.55);
  context.fillStyle = resolved(look.color);
  context.fillRect(0, 0, 14, 14);
  context.fillStyle = `rgb(${second.join(",")})`;
  for (let x = 0; x < 14; x++)
    for (let y = 0; y < 14; y++) if (isSecond(look.pattern, x, y)) context.fillRect(x, y, 1, 1);
  return canvas;
}

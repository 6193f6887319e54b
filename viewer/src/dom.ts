// Elements are made one by one and text is always a text node: nothing of the program's is ever parsed as markup.

import { count, placeName, shortened } from "./format";

export type Child = Node | string | number | null | undefined | false;

export interface Attributes {
  class?: string;
  title?: string | undefined;
  /** Custom properties and others, set through the object model: the page's policy allows no style attributes. */
  style?: Record<string, string>;
  on?: Partial<{ [K in keyof HTMLElementEventMap]: (event: HTMLElementEventMap[K]) => void }>;
  [attribute: `aria-${string}` | `data-${string}`]: string | undefined;
  id?: string;
  href?: string;
  role?: string;
  type?: string;
  scope?: string;
  tabindex?: string;
  colspan?: string;
  placeholder?: string;
}

/** A tooltip longer than this helps nobody. */
const LONGEST_TITLE = 1000;

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined) continue;
    if (name === "style") {
      for (const [property, each] of Object.entries(value as Record<string, string>)) {
        made.style.setProperty(property, each);
      }
    } else if (name === "on") {
      for (const [event, listener] of Object.entries(value as Record<string, EventListener>)) {
        made.addEventListener(event, listener);
      }
    } else {
      made.setAttribute(name, String(value).slice(0, name === "title" ? LONGEST_TITLE : undefined));
    }
  }
  append(made, ...children);
  return made;
}

export function append(parent: Node, ...children: Child[]): void {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    parent.appendChild(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

/** Text that may be very long: its ends, and all of it on request. */
export function longText(value: string, most = 500): Child {
  const cut = shortened(value, most);
  if (cut === value) return value;
  const shown = h("span", { class: "long" }, cut);
  const button = h("button", { type: "button", class: "link" }, `all ${count(value.length)} characters`);
  button.addEventListener("click", () => {
    shown.textContent = value;
    button.remove();
  });
  return h("span", {}, shown, " ", button);
}

/** The name of a region or a kind of task; pointed at, it says all of it. */
export function place(name: string, most: number): Child {
  const shown = placeName(name, most);
  return shown === name ? name : h("span", { title: name }, shown);
}

/** A section of the page with its heading; the link in the navigation leads to `id`. */
export function section(id: string, heading: string, ...children: Child[]): HTMLElement {
  const title = h("h2", { id: `${id}-title` }, heading);
  return h("section", { id, "aria-labelledby": `${id}-title` }, title, ...children);
}

export const empty = (...words: Child[]): HTMLElement => h("p", { class: "empty" }, ...words);
export const note = (...words: Child[]): HTMLElement => h("p", { class: "note" }, ...words);

/** A folded part whose content is made when it is first opened: cheap for what nobody looks at. */
export function folded(summary: Child, fill: () => Child): HTMLDetailsElement {
  const details = h("details", { class: "fold" }, h("summary", {}, summary));
  details.addEventListener("toggle", () => append(details, fill()), { once: true });
  return details;
}

// Light or dark: as the system has it, until the reader chooses. Print is always light.

import { h } from "./dom";

const root = document.documentElement;
const system = matchMedia("(prefers-color-scheme: dark)");

/** A button that switches; `changed` redraws what the style sheet does not draw. */
export function themeButton(changed: () => void): HTMLButtonElement {
  let isDark = system.matches;
  const button = h("button", { type: "button", class: "theme" });
  const apply = (dark: boolean): void => {
    root.dataset.theme = dark ? "dark" : "light";
    changed();
  };
  const choose = (dark: boolean): void => {
    isDark = dark;
    button.textContent = dark ? "Light" : "Dark";
    button.title = `Switch to ${dark ? "light" : "dark"} colours`;
    apply(dark);
  };
  button.addEventListener("click", () => choose(!isDark));
  system.addEventListener("change", () => choose(system.matches));
  addEventListener("beforeprint", () => apply(false));
  addEventListener("afterprint", () => apply(isDark));
  choose(isDark);
  return button;
}

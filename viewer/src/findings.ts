// What holds the program back, largest expected gain first.

import { append, empty, h, longText, note, section } from "./dom";
import { percent, placeName, seconds } from "./format";
import type { LaneJumps } from "./lane_view/section";
import type { Finding, Report } from "./report";

const SHOWN = 12;

export function findings(
  report: Report,
  openRegion: (name: string) => boolean,
  jumps: LaneJumps | null = null,
): HTMLElement {
  const all = report.findings;
  if (report.time === null)
    return section("findings", "Findings", empty("Nothing could be measured that a finding could rest on."));
  if (!all.length) {
    return section("findings", "Findings", empty("Nothing found that would give back 1 % of the time or more."));
  }
  const cards = h(
    "div",
    { class: "cards" },
    ...all.slice(0, SHOWN).map((each) => card(each, report, openRegion, jumps)),
  );
  const part = section(
    "findings",
    "Findings",
    note(
      "Each gain is of the remedy by itself: gains do not add up. By replay: what the recorded run would have saved; otherwise what could be saved at best.",
    ),
    cards,
  );
  if (all.length > SHOWN) {
    const rest = h("button", { type: "button" }, `Show ${all.length - SHOWN} more`);
    rest.addEventListener("click", () => {
      append(cards, ...all.slice(SHOWN).map((each) => card(each, report, openRegion, jumps)));
      rest.remove();
    });
    part.append(h("div", { class: "more" }, rest));
  }
  return part;
}

function card(
  finding: Finding,
  report: Report,
  openRegion: (name: string) => boolean,
  jumps: LaneJumps | null,
): HTMLElement {
  const share = finding.gain_s !== null && report.observed_s ? Math.min(finding.gain_s / report.observed_s, 1) : null;
  const region = report.regions.some((each) => each.name === finding.subject);
  const label = placeName(finding.subject, 120);
  const subject = region
    ? h(
        "button",
        {
          type: "button",
          class: "link code",
          title: finding.subject,
          on: { click: () => void openRegion(finding.subject) },
        },
        label,
      )
    : h("span", { class: "code", title: finding.subject }, label);
  return h(
    "article",
    { class: "card" },
    h(
      "div",
      { class: "what" },
      h("h3", {}, longText(sentence(finding.cause), 120)),
      finding.subject ? subject : null,
      jumps !== null && (finding.subject || finding.longest_wait !== null)
        ? h(
            "button",
            { type: "button", class: "link to-lanes", on: { click: () => void showWhere(finding, jumps) } },
            "show where",
          )
        : null,
      h("p", { class: "soft" }, longText(sentence(finding.evidence))),
      finding.chain.length > 0 && chain(finding.chain),
      h("p", { class: "action" }, h("span", { "aria-hidden": "true" }, "\u2192 "), longText(sentence(finding.action))),
    ),
    finding.gain_s !== null &&
      h(
        "div",
        { class: "gain" },
        h("small", {}, finding.gain_low_s ? "saves, by replay" : "could save"),
        h("b", {}, seconds(finding.gain_s)),
        share !== null && h("span", {}, `${percent(share)} of the run`),
        share !== null && h("div", { class: "meter" }, h("i", { style: { width: `${share * 100}%` } })),
      ),
  );
}

/** The longest wait for it; where that is not known, the time that is lost at its subject. */
function showWhere(finding: Finding, jumps: LaneJumps): boolean {
  const hasShown = finding.longest_wait !== null && jumps.wait(finding.longest_wait);
  return hasShown || (!!finding.subject && jumps.subject(finding.subject));
}

/** How the longest wait for it came about. */
function chain(sentences: string[]): HTMLElement {
  const rows = sentences.map((each) => h("li", {}, longText(each)));
  return h("details", {}, h("summary", {}, "The longest wait for it"), h("ol", {}, ...rows));
}

const sentence = (text: string): string => {
  const [first = "", ...rest] = Array.from(text);
  return first.toUpperCase() + rest.join("");
};

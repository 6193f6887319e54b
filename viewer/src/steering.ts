// What was changed while the program ran, and what became of it.

import { type Child, h, longText, note, section } from "./dom";
import { OUTCOME_MEANINGS } from "./enumerations";
import { percent, placeName, shortened } from "./format";
import type { Decision, Report } from "./report";
import { processColumn, Table } from "./table";

const MEANING: Record<string, string> = OUTCOME_MEANINGS;

const change = (each: Decision): string =>
  each.changes.map(({ knob, from, to }) => `${knob} ${from} \u2192 ${to}`).join(", ");
const to = (each: Decision): string => each.changes.map((turned) => `${turned.knob} ${turned.to}`).join(", ");
// The policy that applies what earlier runs found.
const HISTORY = "history";
const gain = (each: Decision): string =>
  each.gain === null ? "" : `${percent(each.gain)} \u00b1 ${percent(each.uncertainty ?? 0)}`;

export function steering(report: Report): HTMLElement {
  const count = (outcome: string): number => report.decisions.filter((each) => each.outcome === outcome).length;
  const tried = new Set(
    report.decisions.filter((each) => each.outcome === "trial").map((each) => `${each.subject} ${to(each)}`),
  );
  const known = report.decisions.filter((each) => each.outcome === "set" && each.policy === HISTORY).length;
  const byRules = count("set") - known;
  return section(
    "steering",
    "Steering",
    note(
      `${count("kept")} kept, ${tried.size} tried${known ? `, ${known} from earlier runs` : ""}${byRules ? `, ${byRules} set by rules` : ""}. A change that did not help was undone.`,
    ),
    new Table<Decision>({
      caption: "Decisions",
      rows: report.decisions,
      sortBy: 0,
      words: (each) => `${each.subject} ${change(each)} ${each.outcome} ${each.reason} ${each.policy}`,
      detail: (each): Child => h("p", {}, longText(each.reason || "no reason was told"), evidence(each)),
      columns: [
        { title: "at", key: (each) => -each.time_s, cell: (each) => `${each.time_s.toFixed(2)} s`, isNumber: true },
        {
          title: "subject",
          key: (each) => each.subject,
          cell: (each) => h("span", { class: "code", title: each.subject }, placeName(each.subject, 100)),
        },
        { title: "change", key: change, cell: (each) => shortened(change(each), 120) },
        {
          title: "outcome",
          key: (each) => each.outcome,
          cell: (each) => h("span", { title: MEANING[each.outcome] ?? "" }, shortened(each.outcome, 20)),
        },
        { title: "gain", key: (each) => each.gain, cell: gain, isNumber: true, help: "share of the subject's time" },
        ...processColumn(report.decisions),
        { title: "policy", key: (each) => each.policy, cell: (each) => shortened(each.policy, 40) },
      ],
    }).root,
  );
}

function evidence(each: Decision): string {
  const figures = Object.entries(each.evidence).map(([name, value]) => `${name} ${value}`);
  return figures.length ? ` (${figures.join(", ")})` : "";
}

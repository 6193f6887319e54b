// What ran, and where the time of its cores went.

import { shareColor, shareInk } from "./colors";
import { empty, h, longText, note, section } from "./dom";
import { type Share, SHARE_LABELS, SHARE_MEANINGS, SHARES } from "./enumerations";
import { count, moment, percent, seconds, shellWords, shortened } from "./format";
import type { Report } from "./report";

const LONGEST_COMMAND = 600;
/** CPUs of several processes are a mean over time. */
const rounded = (value: number | null): number | null => (value === null ? null : Math.round(value * 100) / 100);

export function heading(report: Report): HTMLElement {
  const command = shellWords(report.command.length ? report.command : [report.program]);
  const facts: [string, string][] = [["took", seconds(report.wall_s)]];
  facts.push(
    report.exit.signal
      ? ["killed by", report.exit.signal]
      : report.exit.code === null
        ? report.spark !== null
          ? ["end", "not in the log"]
          : ["exit status", "unknown: the launcher was killed"]
        : ["exit code", String(report.exit.code)],
  );
  if (report.threads !== null) facts.push(["threads", count(report.threads)]);
  if (report.cpus_available !== null) facts.push(["CPUs", count(rounded(report.cpus_available))]);
  if (report.level) facts.push(["recorded", report.level === "trace" ? "every event" : report.level]);
  if (report.started_real_ns !== null) facts.push(["on", moment(report.started_real_ns / 1e6)]);
  return h(
    "header",
    { class: "head" },
    h("h1", {}, longText(command, LONGEST_COMMAND)),
    h(
      "ul",
      { class: "facts" },
      ...facts.map(([name, value]) => h("li", {}, `${name} `, h("b", {}, shortened(value, 60)))),
    ),
    !report.complete &&
      h(
        "p",
        { class: "warning" },
        report.exit.signal
          ? `The program was killed by ${report.exit.signal}: everything up to that instant is here.`
          : "The end of the program was not recorded: everything up to the last sign of it is here.",
      ),
  );
}

export function verdict(report: Report): HTMLElement {
  const { time } = report;
  if (time === null || report.efficiency === null) {
    const why = report.unavailable[report.unavailable.length - 1]?.why;
    return section(
      "verdict",
      "Verdict",
      empty("Not recorded", why ? ": " : null, why ? longText(why) : null, ". What is known is below."),
    );
  }
  const capacity =
    report.capacity_s ?? (report.cpus_available !== null ? report.cpus_available * (report.observed_s ?? 0) : null);
  const marks = new Map<Share, HTMLElement[]>();
  const mark = (share: Share, is: boolean): void => {
    for (const each of marks.get(share) ?? []) each.classList.toggle("on", is);
    bar.classList.toggle("dim", is);
  };
  const listen = (share: Share) => ({ pointerenter: () => mark(share, true), pointerleave: () => mark(share, false) });
  const present = SHARES.filter((share) => time[share] > 0);
  const bar = h("div", {
    class: "bar big-bar",
    role: "img",
    "aria-label": present.map((share) => `${SHARE_LABELS[share]} ${percent(time[share])}`).join(", "),
  });
  for (const share of present) {
    const [name, meaning] = [SHARE_LABELS[share], SHARE_MEANINGS[share]];
    const piece = h(
      "span",
      {
        class: `piece ${share}`,
        title: `${name} ${percent(time[share])}: ${meaning}`,
        style: { "flex-grow": String(time[share]), background: shareColor(share), color: shareInk(share) },
        on: listen(share),
      },
      time[share] >= 0.07 && h("span", { class: "in" }, percent(time[share])),
    );
    bar.append(piece);
    marks.set(share, [piece]);
  }
  const rows = SHARES.map((share) => {
    const [name, meaning] = [SHARE_LABELS[share], SHARE_MEANINGS[share]];
    const row = h(
      "tr",
      { class: time[share] > 0 ? "" : "none", on: listen(share) },
      h("th", { scope: "row" }, h("i", { class: `dot ${share}`, style: { background: shareColor(share) } }), name),
      h("td", { class: "n" }, percent(time[share])),
      h("td", { class: "n soft" }, capacity === null ? "" : seconds(time[share] * capacity)),
      h("td", { class: "soft meaning" }, meaning),
    );
    marks.get(share)?.push(row);
    return row;
  });
  const whole = Math.round(report.efficiency * 100);
  return h(
    "section",
    { id: "verdict", "aria-labelledby": "verdict-title" },
    h(
      "div",
      { class: "verdict" },
      h("div", { class: "number" }, `${whole}`, h("small", {}, "%")),
      h(
        "h2",
        { id: "verdict-title" },
        `of the time of ${count(rounded(report.cpus_available))} CPU${report.cpus_available === 1 ? "" : "s"} over ${seconds(report.observed_s)} was work`,
      ),
    ),
    bar,
    h(
      "table",
      { class: "legend" },
      h("caption", {}, "Where the available core time went"),
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          h("th", { scope: "col" }, "state"),
          h("th", { scope: "col", class: "n" }, "share"),
          h("th", { scope: "col", class: "n" }, "core time"),
          h("th", { scope: "col", class: "meaning" }, "meaning"),
        ),
      ),
      h("tbody", {}, ...rows),
    ),
    note(`Shares of the time of all CPUs that the program could use; they add up to 100 %.`),
  );
}

// Messages between the localities of a job: who sends how much to whom, as a matrix and by action.

import { h, note, section } from "./dom";
import { bytes, count, percent, placeName, seconds, shortened } from "./format";
import type {
  ActionFlow,
  CommunicationServer,
  Flow,
  LocalityServers,
  Network,
  NetworkPhase,
  SizeClass,
} from "./report";
import { type Column, Table } from "./table";

/** A larger matrix cannot be read. */
const MOST_LOCALITIES = 64;
const LONGEST_NAME = 160;

const MEASURES: [name: string, value: (flow: Flow) => number, shown: (value: number) => string][] = [
  ["bytes", (flow) => flow.bytes, bytes],
  ["parcels", (flow) => flow.count, count],
  ["messages", (flow) => flow.messages, count],
  ["waited", (flow) => flow.queued_wait_s, seconds],
];

export function network(all: Network): HTMLElement {
  const parts = [note(summary(all)), flows(all)];
  if (all.servers.length > 0) parts.push(servers(all.servers));
  return section("network", "Messages", ...parts);
}

export function summary(all: Network): string {
  const together = all.messages > 0 ? ` (${count(Number((all.parcels / all.messages).toPrecision(3)))} each)` : "";
  const parts = [`${count(all.parcels)} parcels in ${count(all.messages)} messages${together}`];
  if (all.overhead !== null) parts.push(`network overhead ${percent(all.overhead)}`);
  if (all.queued_wait_s > 0) parts.push(`${seconds(all.queued_wait_s)} waited for queued parcels`);
  return `${parts.join("; ")}.`;
}

export const localities = (flows: Flow[]): number[] =>
  [...new Set(flows.flatMap((flow) => [flow.from, flow.to]))].sort((a, b) => a - b);

/** The matrix and the table of one phase, or of all. */
function flows(all: Network): HTMLElement {
  const place = h("div");
  const choice = h("select", { "aria-label": "Phase of the messages" });
  choice.append(h("option", {}, "the whole run"));
  for (const phase of all.phases) choice.append(h("option", {}, phaseTitle(phase)));
  const draw = (): void => {
    const shown = all.phases[choice.selectedIndex - 1]?.flows ?? all.flows;
    place.replaceChildren(matrix(shown), actions(shown));
  };
  choice.addEventListener("change", draw);
  draw();
  return all.phases.length > 0 ? h("div", {}, h("p", {}, "Sent in: ", choice), place) : place;
}

/** Its name, or the part of the run. */
export const phaseTitle = (phase: NetworkPhase): string =>
  phase.name || `${seconds(phase.begin_s)} to ${seconds(phase.end_s)}`;

/** A row for each sender and a column for each receiver; the darker a cell, the more. */
function matrix(flows: Flow[]): HTMLElement {
  const numbers = localities(flows);
  if (numbers.length > MOST_LOCALITIES)
    return note(`A matrix of ${count(numbers.length)} localities would be too large to read: the table has all flows.`);
  const place = h("div", { class: "wide" });
  const choice = h("select", { "aria-label": "What the matrix shows" });
  for (const [name] of MEASURES) choice.append(h("option", {}, name));
  const draw = (): void => place.replaceChildren(cells(flows, numbers, choice.selectedIndex));
  choice.addEventListener("change", draw);
  draw();
  return h("div", {}, h("p", {}, "From (row) to (column): ", choice), place);
}

function cells(flows: Flow[], numbers: number[], measure: number): HTMLTableElement {
  const [name, value, shown] = MEASURES[measure] ?? MEASURES[0]!;
  const byPair = new Map(flows.map((flow) => [`${flow.from} ${flow.to}`, flow]));
  const most = Math.max(...flows.map(value)) || 1;
  const cell = (from: number, to: number): HTMLElement => {
    const flow = byPair.get(`${from} ${to}`);
    if (!flow) return h("td", { class: "n" });
    // In steps of one per cent: nothing finer can be seen.
    const share = Math.round((value(flow) / most) * 60);
    const background = `color-mix(in srgb, var(--accent) ${share}%, transparent)`;
    return h("td", { class: "n", title: sizes(flow.sizes), style: { background } }, shown(value(flow)));
  };
  return h(
    "table",
    {},
    h("caption", {}, `Flows: ${name}`),
    h("thead", {}, h("tr", {}, h("th", {}), ...numbers.map((to) => h("th", { scope: "col", class: "n" }, count(to))))),
    h(
      "tbody",
      {},
      ...numbers.map((from) =>
        h("tr", {}, h("th", { scope: "row" }, count(from)), ...numbers.map((to) => cell(from, to))),
      ),
    ),
  );
}

/** `parcels by size: 20 below 16 B, 3 below 64 B`. */
export const sizes = (classes: SizeClass[]): string =>
  `parcels by size: ${classes.map((each) => `${count(each.count)} below ${bytes(each.below)}`).join(", ")}`;

interface Row {
  flow: Flow;
  action: ActionFlow;
}

function actions(flows: Flow[]): HTMLElement {
  const rows = flows.flatMap((flow) => flow.actions.map((action) => ({ flow, action })));
  const figure = (
    title: string,
    key: (row: Row) => number | null,
    shown: (value: number | null) => string,
    help: string,
  ): Column<Row> => ({ title, key, cell: (row) => shown(key(row)), isNumber: true, help });
  return new Table<Row>({
    caption: "Parcels by action",
    rows,
    sortBy: 4,
    words: (row) => `${row.flow.from} ${row.flow.to} ${row.action.action}`,
    columns: [
      {
        title: "action",
        key: (row) => row.action.action,
        cell: (row) =>
          h("span", { class: "code", title: row.action.action }, placeName(row.action.action, LONGEST_NAME)),
      },
      figure("from", (row) => row.flow.from, count, "number of the locality that sends"),
      figure("to", (row) => row.flow.to, count, "number of the locality that receives"),
      figure("parcels", (row) => row.action.count, count, "that were sent"),
      figure("bytes", (row) => row.action.bytes, bytes, "of their arguments"),
      figure("each", ({ action }) => (action.count ? action.bytes / action.count : null), bytes, "bytes per parcel"),
      {
        title: "sizes",
        key: (row) => row.action.sizes.length,
        cell: (row) => shortened(sizes(row.action.sizes).replace(/^.*: /, ""), LONGEST_NAME),
      },
    ],
  }).root;
}

interface ServerRow {
  locality: LocalityServers;
  server: CommunicationServer;
}

function servers(all: LocalityServers[]): HTMLElement {
  const rows = all.flatMap((locality) => locality.servers.map((server) => ({ locality, server })));
  const figure = (
    title: string,
    key: (row: ServerRow) => number | null,
    shown: (value: number | null) => string,
    help: string,
  ): Column<ServerRow> => ({ title, key, cell: (row) => shown(key(row)), isNumber: true, help });
  return new Table<ServerRow>({
    caption: "Communication servers",
    rows,
    sortBy: 5,
    words: (row) => `${row.locality.locality} ${row.server.server}`,
    columns: [
      figure("locality", (row) => row.locality.locality, count, "number of the locality"),
      figure("server", (row) => row.server.server, count, "number within the locality"),
      figure("messages", (row) => row.server.messages, count, "that it has sent"),
      figure("bytes", (row) => row.server.bytes, bytes, "of these messages"),
      figure("busy", (row) => row.server.busy_share, percent, "share of its life in which it sent"),
      figure(
        "saturated",
        (row) => row.server.saturated_s,
        seconds,
        "it sent without a pause while senders were refused",
      ),
      figure("queue full", (row) => row.server.full_queue, count, "attempts to send that its queue had no room for"),
      figure(
        "held for flow",
        (row) => row.locality.held_for_flow,
        count,
        "attempts of the locality that flow control held",
      ),
      figure(
        "sent directly",
        (row) => row.locality.sent_directly,
        count,
        "messages that the locality's senders sent themselves",
      ),
    ],
  }).root;
}

// A table that sorts, filters, unfolds rows and shows a page of them at a time.

import { append, type Child, h } from "./dom";
import { count, shortened } from "./format";

export interface Column<Row> {
  title: string;
  /** What the figure means: shown on hovering the head. */
  help?: string;
  /** Numbers stand right and sort largest first. */
  isNumber?: boolean;
  key: (row: Row) => number | string | null;
  cell: (row: Row) => Child;
  class?: string;
}
export interface Options<Row> {
  caption: string;
  columns: Column<Row>[];
  rows: Row[];
  sortBy: number;
  pageSize?: number;
  /** With it, a row can be opened. */
  detail?: (row: Row) => Child;
  /** With it, rows can be searched. */
  words?: (row: Row) => string;
}

/** Which process a row is of; nothing where all are of one. */
export function processColumn<Row extends { process: string }>(rows: Row[]): Column<Row>[] {
  if (new Set(rows.map((each) => each.process)).size < 2) return [];
  return [{ title: "process", key: (row) => row.process, cell: (row) => shortened(row.process, 40) }];
}

const FILTER_FROM = 9;

export class Table<Row> {
  readonly root: HTMLElement;
  readonly #options: Options<Row>;
  readonly #body = h("tbody");
  readonly #heads: HTMLTableCellElement[] = [];
  readonly #more = h("div", { class: "more" });
  readonly #size: number;
  #order: Row[] = [];
  #shown = 0;
  #by: number;
  #isUp: boolean;
  #words = "";

  constructor(options: Options<Row>) {
    this.#options = options;
    this.#size = options.pageSize ?? 50;
    this.#by = options.sortBy;
    this.#isUp = !options.columns[options.sortBy]?.isNumber;
    const head = h("tr", {}, ...options.columns.map((column, at) => this.#head(column, at)));
    const table = h("table", {}, h("caption", {}, options.caption), h("thead", {}, head), this.#body);
    this.root = h("div", { class: "sheet" }, this.#filter(), h("div", { class: "wide" }, table), this.#more);
    this.#refresh();
  }

  /** Brings a row into view and opens it; false when there is no such row. */
  open(is: (row: Row) => boolean): boolean {
    const at = this.#order.findIndex(is);
    if (at < 0) return false;
    if (at >= this.#shown) this.#grow(at + 1);
    const line = this.#body.querySelector<HTMLTableRowElement>(`tr[data-at="${at}"]`);
    const button = line?.querySelector<HTMLButtonElement>("button[aria-expanded]");
    if (button?.getAttribute("aria-expanded") === "false") button.click();
    button?.focus({ preventScroll: true });
    line?.scrollIntoView({ block: "center" });
    return true;
  }

  #head(column: Column<Row>, at: number): HTMLTableCellElement {
    const button = h(
      "button",
      { type: "button", title: column.help, on: { click: () => this.#sort(at) } },
      column.title,
    );
    const cell = h("th", { scope: "col", class: column.isNumber ? "n" : (column.class ?? "") }, button);
    this.#heads.push(cell);
    return cell;
  }

  #filter(): HTMLElement | null {
    if (!this.#options.words || this.#options.rows.length < FILTER_FROM) return null;
    const input = h("input", {
      type: "search",
      placeholder: `Search ${count(this.#options.rows.length)} rows`,
      "aria-label": `Search ${this.#options.caption}`,
    });
    input.addEventListener("input", () => {
      this.#words = input.value.toLowerCase();
      this.#refresh();
    });
    return h("div", { class: "filter" }, input);
  }

  #sort(at: number): void {
    this.#isUp = at === this.#by ? !this.#isUp : !this.#options.columns[at]?.isNumber;
    this.#by = at;
    this.#refresh();
  }

  #refresh(): void {
    const { columns, rows, words } = this.#options,
      column = columns[this.#by]!,
      sign = this.#isUp ? 1 : -1;
    const found =
      this.#words && words ? rows.filter((row) => words(row).toLowerCase().includes(this.#words)) : [...rows];
    // What has no figure comes last whichever way the rest is sorted.
    this.#order = found
      .map((row) => ({ row, key: column.key(row) }))
      .sort((a, b) =>
        a.key === null
          ? b.key === null
            ? 0
            : 1
          : b.key === null
            ? -1
            : typeof a.key === "number" && typeof b.key === "number"
              ? sign * (a.key - b.key)
              : sign * String(a.key).localeCompare(String(b.key)),
      )
      .map((each) => each.row);
    this.#heads.forEach((cell, at) =>
      cell.setAttribute("aria-sort", at !== this.#by ? "none" : this.#isUp ? "ascending" : "descending"),
    );
    this.#body.replaceChildren();
    this.#shown = 0;
    this.#grow(this.#size);
  }

  #grow(to: number): void {
    const end = Math.min(to, this.#order.length);
    for (; this.#shown < end; this.#shown++) append(this.#body, this.#line(this.#order[this.#shown]!, this.#shown));
    const left = this.#order.length - this.#shown;
    this.#more.replaceChildren();
    if (left > 0) {
      const step = Math.min(left, this.#size * 2);
      append(
        this.#more,
        h(
          "button",
          { type: "button", on: { click: () => this.#grow(this.#shown + step) } },
          `Show ${count(step)} more`,
        ),
        left > step &&
          h(
            "button",
            { type: "button", on: { click: () => this.#grow(Infinity) } },
            `Show all ${count(this.#order.length)}`,
          ),
      );
    } else if (!this.#order.length) {
      append(this.#more, "No row matches.");
    }
  }

  #line(row: Row, at: number): HTMLTableRowElement {
    const { columns, detail } = this.#options;
    const line = h("tr", { "data-at": String(at) });
    columns.forEach((column, place) => {
      const content = column.cell(row);
      const cell = h("td", { class: column.isNumber ? "n" : (column.class ?? "") });
      append(cell, place === 0 && detail ? this.#opener(line, row, content, detail) : content);
      line.append(cell);
    });
    return line;
  }

  #opener(line: HTMLTableRowElement, row: Row, content: Child, detail: (row: Row) => Child): HTMLElement {
    let below: HTMLTableRowElement | null = null;
    const button = h("button", { type: "button", class: "opener", "aria-expanded": "false" }, content);
    const toggle = (): void => {
      const isOpen = below === null;
      button.setAttribute("aria-expanded", String(isOpen));
      line.classList.toggle("open", isOpen);
      if (below) {
        below.remove();
        below = null;
      } else {
        below = h("tr", { class: "below" }, h("td", { colspan: String(line.cells.length) }, detail(row)));
        line.after(below);
      }
    };
    button.addEventListener("click", toggle);
    return button;
  }
}

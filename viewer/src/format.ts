// Figures for people: three significant digits, unit chosen by size.

const NONE = "\u2013";

function digits(value: number): string {
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1000) return Math.round(value).toLocaleString("en-GB").replaceAll(",", "\u202f");
  return Number(value.toPrecision(3)).toString();
}

export function seconds(value: number | null): string {
  if (value === null) return NONE;
  // Rounded first, so that 0.9999 s is not "1000 ms".
  const size = Number(Math.abs(value).toPrecision(3));
  // Less than that is what is left of sums of rounded figures.
  if (size < 1e-12) return "0 s";
  if (size >= 1) return `${digits(value)} s`;
  if (size >= 1e-3) return `${digits(value * 1e3)} ms`;
  if (size >= 1e-6) return `${digits(value * 1e6)} \u00b5s`;
  return `${digits(value * 1e9)} ns`;
}

/** A share of 1 as per cent: one decimal below ten, and never "0 %" or "100 %" for what only nearly is. */
export function percent(value: number | null): string {
  if (value === null) return NONE;
  const hundredths = value * 100;
  if (hundredths > 0 && hundredths < 0.05) return "< 0.1 %";
  if (hundredths < 100 && hundredths >= 99.95) return "> 99.9 %";
  return `${hundredths === 0 || hundredths === 100 ? hundredths : hundredths.toFixed(1)} %`;
}

export function count(value: number | null): string {
  if (value === null) return NONE;
  return Number.isInteger(value) ? value.toLocaleString("en-GB").replaceAll(",", "\u202f") : digits(value);
}

const BYTES = ["B", "KiB", "MiB", "GiB", "TiB"];

export function bytes(value: number | null): string {
  if (value === null) return NONE;
  let at = 0;
  while (Math.abs(value) >= 1024 && at < BYTES.length - 1) {
    value /= 1024;
    at++;
  }
  return `${digits(value)} ${BYTES[at]}`;
}

export function ratio(value: number | null): string {
  return value === null ? NONE : value.toFixed(2);
}

/** A figure in a unit of a counter. */
export function quantity(value: number | null, unit: string): string {
  if (value === null) return NONE;
  if (unit === "s") return seconds(value);
  if (unit === "B") return bytes(value);
  if (unit === "%") return `${digits(value)} %`;
  return unit === "1" || unit === "" ? count(value) : `${digits(value)} ${unit}`;
}

/** Long text cut in the middle, so that both ends can be read. Whole code points only. */
export function shortened(value: string, most: number): string {
  if (value.length <= most) return value;
  const points = Array.from(value);
  if (points.length <= most) return value;
  const head = Math.ceil((most - 1) / 2);
  return `${points.slice(0, head).join("")}\u2026${points.slice(points.length - (most - 1 - head)).join("")}`;
}

const OPERATORS = ["operator<", "operator>", "operator-"];
const SHORT_NAME = 40;

/** A long name without what template arguments say, as the tables of the command show it (python/trimtab/text/names.py). */
export function shortName(name: string): string {
  if (name.length <= SHORT_NAME || name.indexOf("<") < 1 || OPERATORS.some((word) => name.includes(word))) return name;
  let kept = "";
  let depth = 0;
  for (const letter of name) {
    if (letter === "<" && ++depth === 1) kept += "<\u2026";
    if (depth === 0 || (letter === ">" && depth === 1)) kept += letter;
    if (letter === ">" && --depth < 0) return name;
  }
  return depth === 0 ? kept : name;
}

/** The name of a region or a kind of task where there is room for `most` letters. */
export const placeName = (name: string, most: number): string => shortened(shortName(name), most);

/** The arguments as a shell would take them. */
export function shellWords(words: string[]): string {
  return words.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(" ");
}

/** A local date and time with its zone. */
export function moment(ms: number): string {
  return new Date(ms).toLocaleString("en-GB", {
    day: "numeric",
    month: "short",
    year: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    timeZoneName: "short",
  });
}

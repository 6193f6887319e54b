// JSON of any shape, read as what is expected there. What is missing, or of another type, is empty, null, or NaN in a list.

export type Dict = Record<string, unknown>;
export const dict = (value: unknown): Dict =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Dict) : {};
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
export const dicts = (value: unknown): Dict[] => list(value).map(dict);
export const figure = (value: unknown): number | null =>
  typeof value === "number" && Number.isFinite(value) ? value : null;
export const amount = (value: unknown): number => figure(value) ?? 0;
export const figures = (value: unknown): number[] => list(value).map((each) => figure(each) ?? NaN);
export const text = (value: unknown): string =>
  value === null || value === undefined ? "" : typeof value === "object" ? JSON.stringify(value) : String(value);
export const texts = (value: unknown): string[] => list(value).map(text);

/** null where there is no object to read. */
export const maybe = <Kind>(value: unknown, reader: (from: Dict) => Kind): Kind | null =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? reader(value as Dict) : null;

const mapped = <Kind>(value: unknown, reader: (value: unknown) => Kind): Record<string, Kind> =>
  Object.fromEntries(Object.entries(dict(value)).map(([name, each]) => [name, reader(each)]));
export const figureByName = (value: unknown): Record<string, number> => mapped(value, amount);
export const textByName = (value: unknown): Record<string, string> => mapped(value, text);

/** One number for each of the words; null where there is none at all. */
export function figureByWord<Word extends string>(value: unknown, words: readonly Word[]): Record<Word, number> | null {
  const from = dict(value);
  if (!words.some((word) => figure(from[word]) !== null)) return null;
  return Object.fromEntries(words.map((word) => [word, amount(from[word])])) as Record<Word, number>;
}

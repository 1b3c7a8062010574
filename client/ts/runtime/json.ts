import { PrecisionError } from "./errors.ts";

/** @internal Which values hold numbers that JSON.parse alone would get wrong, by their paths: `price`, and `lines` of which each has a `price` as `lines/+/price`. */
export interface NumberPaths {
  /** These are read as bigint. */
  readonly bigints?: readonly string[];
  /** These are doubles, so that many digits are no sign of an integer. */
  readonly doubles?: readonly string[];
}

/** @internal The same, of each resource if they are not all alike. */
export type NumbersOf = NumberPaths | ((resource: unknown) => NumberPaths);

const longIntegers = /"(?:[^"\\]|\\.)*"|-?\d{16,}(?![\d.eE])/g;

// An integer with more digits than a number can hold is not rounded: it becomes a bigint where
// the attribute is one, and an error elsewhere.
/** @internal The members of an answer or an event, of which `data` and `previous` have the numbers of resources. */
export function parseEnvelope(text: string, numbers: NumbersOf): Readonly<Record<string, unknown>> {
  if (typeof numbers !== "function" && numbers.bigints === undefined && !/\d{16}/.test(text)) return membersOf(JSON.parse(text));
  // No string of a server holds U+0000, so it can mark what was a number.
  const marked = text.replace(longIntegers, (token) =>
    token.startsWith('"') || Number.isSafeInteger(Number(token)) ? token : `"\\u0000${token}"`,
  );
  const members = Object.entries(membersOf(JSON.parse(marked))).map(([name, member]) => {
    const known = name === "data" || name === "previous" ? numbers : {};
    const whole = (resource: unknown) => settled(resource, "", typeof known === "function" ? known(resource) : known);
    return [name, Array.isArray(member) ? member.map(whole) : whole(member)] as const;
  });
  return Object.fromEntries(members);
}

/** @internal The data of an answer. */
export function parseData(text: string, numbers: NumbersOf): unknown {
  return parseEnvelope(text, numbers)["data"];
}

function membersOf(envelope: unknown): Readonly<Record<string, unknown>> {
  return typeof envelope === "object" && envelope !== null ? (envelope as Record<string, unknown>) : {};
}

/** The value with all of its numbers as what they are. */
function settled(value: unknown, path: string, numbers: NumberPaths): unknown {
  const digits = typeof value === "string" && value.startsWith("\0") ? value.slice(1) : undefined;
  if (digits !== undefined || typeof value === "number") {
    if (numbers.bigints?.includes(path)) return BigInt(digits ?? (value as number));
    if (digits === undefined) return value;
    if (numbers.doubles?.includes(path)) return Number(digits);
    throw new PrecisionError(`${path} is ${digits}, which a number cannot hold.`);
  }
  const within = (name: string) => (path === "" ? name : `${path}/${name}`);
  if (Array.isArray(value)) return value.map((item) => settled(item, within("+"), numbers));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, settled(member, within(name), numbers)]));
}

/** @internal Whether an integer may be another one than was meant, as a number holds no more than 53 bits of it. */
export function isRounded(value: number): boolean {
  return /^-?\d+$/.test(String(value)) && !Number.isSafeInteger(value);
}

/** Refuses integers that are rounded already, unless they are doubles by the schema. */
function refuseRounded(value: unknown, path: string, numbers: NumberPaths): void {
  if (typeof value === "number" && isRounded(value) && !numbers.doubles?.includes(path)) {
    throw new PrecisionError(`${path} is ${value}, which a number cannot hold.`);
  }
  if (typeof value !== "object" || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    const place = Array.isArray(value) ? "+" : name;
    refuseRounded(member, path === "" ? place : `${path}/${place}`, numbers);
  }
}

/** @internal JSON of a body. What JSON.stringify would turn into null without a word is an error, and a bigint is an integer. */
export function bodyText(body: object, numbers: NumberPaths): string {
  const integers: bigint[] = [];
  const mark = `bigint ${randomUUID()} `;
  const text = JSON.stringify(body, function (this: Record<string, unknown>, name, value: unknown) {
    if (typeof value === "number" && !Number.isFinite(value)) throw new TypeError(`${name} is ${value}, which JSON cannot hold.`);
    const original = this[name];
    if (original instanceof Date && Number.isNaN(original.getTime())) throw new TypeError(`${name} is an invalid Date.`);
    if (typeof value === "bigint") return mark + (integers.push(value) - 1);
    return value;
  });
  refuseRounded(body, "", numbers);
  return integers.length === 0 ? text : text.replace(new RegExp(`"${mark}(\\d+)"`, "g"), (_, at: string) => String(integers[Number(at)]));
}

/** @internal A random UUID, also in Node 18 and on pages without TLS, which have no crypto.randomUUID. */
export function randomUUID(): string {
  if (typeof globalThis.crypto?.randomUUID === "function") return globalThis.crypto.randomUUID();
  const digits = Array.from({ length: 32 }, (_, at) => {
    const digit = at === 12 ? 4 : Math.floor(Math.random() * 16);
    return (at === 16 ? 8 + (digit % 4) : digit).toString(16);
  }).join("");
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

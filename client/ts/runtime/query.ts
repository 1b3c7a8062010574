import { PrecisionError } from "./errors.ts";
import { isRounded, type NumberPaths } from "./json.ts";

/** What every field can be tested for, and the only thing that objects and arrays can. */
export interface NullCondition {
  null?: boolean;
}

/** Conditions on a value that is equal or not. All that are given must hold. */
export interface EqualOperators<V> extends NullCondition {
  eq?: V;
  /** Also holds where there is no value. */
  ne?: V;
  /** Any of these; not of none. */
  in?: readonly V[];
  /** None of these; also holds where there is no value. */
  not_in?: readonly V[];
}

/** Conditions on a value that has an order. */
export interface OrderedOperators<V> extends EqualOperators<V> {
  lt?: V;
  lte?: V;
  gt?: V;
  gte?: V;
}

/** Conditions on text. */
export interface TextOperators<V extends string> extends OrderedOperators<V> {
  contains?: string;
  starts_with?: string;
}

/** A value to be equal to, several of which one must be, or operators. */
export type EqualCondition<V> = V | readonly V[] | EqualOperators<V>;
/** The same, of values with an order. */
export type OrderedCondition<V> = V | readonly V[] | OrderedOperators<V>;
/** The same, of text. */
export type TextCondition<V extends string = string> = V | readonly V[] | TextOperators<V>;

/** A range: `limit` resources from `offset` or `cursor` on; a negative limit counts backwards from there, or from the end. */
export interface ListRange {
  /** A position from 0 on. */
  offset?: number;
  /** The id of the resource at which the range starts. */
  cursor?: string;
  limit?: number;
  /** The id of a resource to leave out. Where a page goes on without a link of the server's, the one at the cursor has come before. */
  known?: string;
}

/** What restricts and orders a collection. All filters must hold. */
export interface ListSelection<F, K extends string> {
  filter?: F;
  /** `-` in front is downwards: `["-created_at", "name"]`. */
  sort?: SortKey<K> | readonly SortKey<K>[];
}

/** A field to sort by, downwards with a minus in front. */
export type SortKey<K extends string> = K | `-${K}`;

type FilterScalar = string | number | bigint | boolean | Date;

/** @internal The query string of a list, `?` included, or nothing. */
export function queryText(range: ListRange, selection: ListSelection<object, string>, numbers: NumberPaths): string {
  if (range.offset !== undefined && range.cursor !== undefined) {
    throw new TypeError("Give either a cursor or an offset: both say where the range starts.");
  }
  const query = new URLSearchParams();
  for (const [field, condition] of Object.entries(selection.filter ?? {})) addCondition(query, field, condition, numbers);
  const { sort } = selection;
  if (sort !== undefined) query.append("sort", typeof sort === "string" ? sort : sort.join(","));
  for (const name of ["offset", "cursor", "limit"] as const) {
    const value = range[name];
    if (value !== undefined) query.append(name, String(value));
  }
  const text = query.toString();
  return text === "" ? "" : `?${text}`;
}

function addCondition(query: URLSearchParams, field: string, condition: unknown, numbers: NumberPaths): void {
  const name = `filter[${field}]`;
  const valueText = (value: unknown, parameter: string): string => {
    if (typeof value === "number" && isRounded(value) && !numbers.doubles?.includes(field)) {
      throw new PrecisionError(`${parameter} is ${value}, which a number cannot hold.`);
    }
    return scalarText(value, parameter);
  };
  if (condition === undefined) return;
  if (Array.isArray(condition)) {
    for (const value of atLeastOne(condition, name)) query.append(name, valueText(value, name));
    return;
  }
  if (typeof condition !== "object" || condition === null || condition instanceof Date) {
    query.append(name, valueText(condition, name));
    return;
  }
  for (const [operator, operand] of Object.entries(condition)) {
    if (operand === undefined) continue;
    const parameter = `${name}[${operator}]`;
    query.append(parameter, Array.isArray(operand) ? listText(operand, parameter, valueText) : valueText(operand, parameter));
  }
}

function atLeastOne(values: readonly unknown[], parameter: string): readonly unknown[] {
  if (values.length === 0) throw new TypeError(`${parameter} needs at least one value.`);
  return values;
}

/** Values with commas in between; a comma within a value has a backslash in front of it. */
function listText(values: readonly unknown[], parameter: string, valueText: (value: unknown, parameter: string) => string): string {
  const texts = atLeastOne(values, parameter).map((value) => valueText(value, parameter).replaceAll(",", "\\,"));
  // A backslash at the end of a value would be taken for that of the comma behind it.
  texts.sort((a, b) => Number(a.endsWith("\\")) - Number(b.endsWith("\\")));
  if (texts.slice(0, -1).some((text) => text.endsWith("\\"))) {
    throw new TypeError(`${parameter} can have one value that ends with a backslash.`);
  }
  return texts.join(",");
}

function scalarText(value: unknown, parameter: string): string {
  if (value instanceof Date) return value.toISOString();
  if (["string", "number", "bigint", "boolean"].includes(typeof value)) return String(value as FilterScalar);
  throw new TypeError(`${parameter} cannot be ${value === null ? "null: use { null: true }" : typeof value}.`);
}

import { PrecisionError } from "./errors.ts";
import { isRounded } from "./json.ts";

/** What every field can be tested for, and the only thing that objects can. */
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

/** Conditions on text. `contains` and `starts_with` compare exactly. */
export interface TextOperators<V extends string> extends OrderedOperators<V> {
  contains?: string;
  starts_with?: string;
}

/** Conditions on text that the schema declares for search. */
export interface SearchedOperators<V extends string> extends TextOperators<V> {
  /** Words, each of which must be the beginning of a word, in any case. */
  search?: string;
}

/** A condition on a relation: whether there are related resources. */
export interface ExistsCondition {
  exists?: boolean;
}

/** Comparisons with a value. All that are given must hold. */
export interface Comparisons<V> {
  eq?: V;
  ne?: V;
  lt?: V;
  lte?: V;
  gt?: V;
  gte?: V;
}

/** Conditions on an array. */
export interface ArrayCondition<V> extends NullCondition {
  /** The array has this item, or one of these. */
  has?: V | readonly V[];
  /** The array has all of these items. */
  has_all?: readonly V[];
}

/** A value to be equal to, several of which one must be, or operators. */
export type EqualCondition<V> = V | readonly V[] | EqualOperators<V>;
/** The same, of values with an order. */
export type OrderedCondition<V> = V | readonly V[] | OrderedOperators<V>;
/** The same, of text. */
export type TextCondition<V extends string = string> = V | readonly V[] | TextOperators<V>;
/** The same, of text that can be searched. */
export type SearchedCondition<V extends string = string> = V | readonly V[] | SearchedOperators<V>;
/** A value to be equal to, or comparisons. */
export type Comparison<V> = V | Comparisons<V>;

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

/** What restricts and orders a collection. All filters must hold, and the search. */
export interface ListSelection<F, K extends string, W extends string> {
  filter?: F;
  /** Words, each of which must be the beginning of a word in the attributes that the schema declares for search. */
  search?: W;
  /** `-` in front is downwards: `["-created_at", "name"]`. */
  sort?: SortKey<K> | readonly SortKey<K>[];
}

/** A field to sort by, downwards with a minus in front. */
export type SortKey<K extends string> = K | `-${K}`;

type FilterScalar = string | number | bigint | boolean | Date;

/** @internal Whether the values of a field are doubles by the schema, so that many digits are no sign of a rounded integer. */
export type DoubleTest = (field: string) => boolean;

/** @internal The query string of a list, `?` included, or nothing. */
export function queryText(range: ListRange, selection: ListSelection<object, string, string>, isDouble: DoubleTest, more?: (query: URLSearchParams) => void): string {
  if (range.offset !== undefined && range.cursor !== undefined) {
    throw new TypeError("Give either a cursor or an offset: both say where the range starts.");
  }
  const query = new URLSearchParams();
  addFilter(query, "filter", selection.filter ?? {}, isDouble);
  if (selection.search !== undefined) query.append("search", selection.search);
  const { sort } = selection;
  if (sort !== undefined) query.append("sort", typeof sort === "string" ? sort : sort.join(","));
  more?.(query);
  for (const name of ["offset", "cursor", "limit"] as const) {
    const value = range[name];
    if (value !== undefined) query.append(name, String(value));
  }
  const text = query.toString();
  return text === "" ? "" : `?${text}`;
}

/** @internal Adds the conditions of a filter to a query: `filter[name]=…`, or with another prefix. */
export function addFilter(query: URLSearchParams, prefix: string, filter: object, isDouble: DoubleTest): void {
  for (const [field, condition] of Object.entries(filter)) {
    if (!["any", "some", "none"].includes(field)) {
      addCondition(query, `${prefix}[${field}]`, condition, isDouble(field));
    } else if (field === "any" && isAlternatives(condition)) {
      condition.forEach((alternative, at) => addTogether(query, `${prefix}[any][${at}]`, "", alternative, isDouble));
    } else if (field !== "any" && isRelated(condition)) {
      const numbered = Object.entries(condition).flatMap(([relation, each]) => [each ?? []].flat().map((conditions) => ({ relation, conditions })));
      numbered.forEach(({ relation, conditions }, at) => addTogether(query, `${prefix}[${field}][${at}]`, `${relation}.`, conditions, isDouble));
    } else if (condition !== undefined) {
      // filter[any], [some] and [none] begin several conditions, so that an attribute of this name has an operator in any case.
      addCondition(query, `${prefix}[${field}]`, isOperators(condition) ? condition : Array.isArray(condition) ? { in: condition } : { eq: condition }, isDouble(field));
    }
  }
}

/** Adds conditions that hold together, on the fields that a path leads to. */
function addTogether(query: URLSearchParams, prefix: string, path: string, together: object, isDouble: DoubleTest): void {
  const conditions = Object.entries(together).filter(([, condition]) => condition !== undefined);
  // It would hold for everything, and a query cannot say that.
  if (conditions.length === 0) throw new TypeError(`${prefix} needs at least one condition.`);
  for (const [field, condition] of conditions) addCondition(query, `${prefix}[${path}${field}]`, condition, isDouble(path + field));
}

function isOperators(condition: unknown): condition is object {
  return typeof condition === "object" && condition !== null && !Array.isArray(condition) && !(condition instanceof Date);
}

/** Whether these are conditions of which one must hold, and not the values of an attribute. */
function isAlternatives(condition: unknown): condition is readonly object[] {
  return Array.isArray(condition) && condition.length > 0 && condition.every(isOperators);
}

/** Whether these are conditions on related resources by their relations, and not operators of an attribute. */
function isRelated(condition: unknown): condition is Readonly<Record<string, object | readonly object[] | undefined>> {
  return isOperators(condition) && Object.values(condition).every((each) => each === undefined || isOperators(each) || isAlternatives(each));
}

function addCondition(query: URLSearchParams, name: string, condition: unknown, isDouble: boolean): void {
  const valueText = (value: unknown, parameter: string): string => {
    if (typeof value === "number" && isRounded(value) && !isDouble) {
      throw new PrecisionError(`${parameter} is ${value}, which a number cannot hold.`);
    }
    return scalarText(value, parameter);
  };
  if (condition === undefined) return;
  if (Array.isArray(condition)) {
    for (const value of atLeastOne(condition, name)) query.append(name, valueText(value, name));
    return;
  }
  if (!isOperators(condition)) {
    query.append(name, valueText(condition, name));
    return;
  }
  for (const [operator, operand] of Object.entries(condition)) {
    if (operand === undefined) continue;
    const parameter = `${name}[${operator}]`;
    if (operator === "has") {
      for (const value of atLeastOne(Array.isArray(operand) ? operand : [operand], parameter)) query.append(parameter, valueText(value, parameter));
    } else {
      query.append(parameter, Array.isArray(operand) ? listText(operand, parameter, valueText) : valueText(operand, parameter));
    }
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

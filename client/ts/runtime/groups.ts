import type { NumberPaths } from "./json.ts";
import { type DoubleTest, type ListRange, queryText, type SortKey } from "./query.ts";
import type { CallOptions } from "./transport.ts";

/** What resources can be grouped by, and what can be computed of them, with the types of the values. */
export interface GroupFields {
  by: object;
  sum: object;
  avg: object;
  min: object;
  max: object;
}

/** How resources are grouped, and what is computed of each group. */
export interface GroupQuery<F, W extends string, B extends string, Sum extends string, Avg extends string, Min extends string, Max extends string> extends CallOptions {
  /** Fields whose values make the groups; dates and date-times can be truncated: `created_at:month`. */
  by?: readonly B[];
  sum?: readonly Sum[];
  avg?: readonly Avg[];
  min?: readonly Min[];
  max?: readonly Max[];
  filter?: F;
  /** Words that the resources must have. */
  search?: W;
  /** By what `by` has, and by `count`, the number of resources: `["-count", "state"]`. */
  sort?: SortKey<NoInfer<B> | "count"> | readonly SortKey<NoInfer<B> | "count">[];
  offset?: number;
  limit?: number;
  /** Count all groups. */
  count?: "exact";
}

type Computed<Name extends string, Fields, K> = [K] extends [never] ? {} : { readonly [N in Name]: Pick<Fields, K & keyof Fields> };

/** Resources with the same values. */
export type Group<G extends GroupFields, B extends string, Sum extends string, Avg extends string, Min extends string, Max extends string> = {
  readonly id: string;
  readonly type: "groups";
  readonly by: Pick<G["by"], B & keyof G["by"]>;
  /** How many resources there are in the group. */
  readonly count: number;
} & Computed<"sum", G["sum"], Sum> & Computed<"avg", G["avg"], Avg> & Computed<"min", G["min"], Min> & Computed<"max", G["max"], Max>;

/** A range of groups, in their order. */
export interface GroupPage<R> {
  readonly data: R[];
  /** How many groups there are in all, if `count` asks for it. */
  readonly total: number | undefined;
  /** The range behind this one: `groups({ ...query, ...page.next })`. None at the end. */
  readonly next: ListRange | undefined;
  /** The range in front of this one. None at the beginning. */
  readonly prev: ListRange | undefined;
}

const functions = ["sum", "avg", "min", "max"] as const;

type AnyGroupQuery = GroupQuery<unknown, string, string, string, string, string, string>;

/** @internal The query string of groups, `?` included, or nothing. */
export function groupText(query: AnyGroupQuery, isDouble: DoubleTest): string {
  const { offset, limit, filter, search, sort } = query;
  const range: ListRange = { ...(offset !== undefined && { offset }), ...(limit !== undefined && { limit }) };
  const selection = { ...(filter !== undefined && { filter: filter as object }), ...(search !== undefined && { search }), ...(sort !== undefined && { sort: sort as string }) };
  const rest = queryText(range, selection, isDouble);
  const groups = new URLSearchParams();
  for (const name of ["by", ...functions] as const) {
    const fields = query[name];
    if (fields !== undefined && fields.length > 0) groups.append(name, fields.join(","));
  }
  const text = [groups.toString(), rest.slice(1)].filter((part) => part !== "").join("&");
  return text === "" ? "" : `?${text}`;
}

/** @internal The ranges beside one. Where the query is long, the server leaves links out, `first` too, and they follow from what came. */
export function groupsBeside(query: Pick<ListRange, "offset" | "limit">, length: number, links: Record<"first" | "next" | "prev", ListRange | undefined>): Pick<GroupPage<unknown>, "next" | "prev"> {
  const { offset, limit = length } = query;
  const size = Math.abs(limit);
  if (links.first !== undefined || length === 0 || (offset === undefined && limit < 0)) return { next: links.next, prev: links.prev };
  const start = limit < 0 ? (offset ?? 0) - length : (offset ?? 0);
  return {
    next: links.next ?? (length >= size || limit < 0 ? { offset: start + length, limit: size } : undefined),
    prev: links.prev ?? (start > 0 ? { offset: start, limit: -size } : undefined),
  };
}

/** @internal Where the numbers of a group are that JSON.parse alone would get wrong. */
export function groupNumbers(query: AnyGroupQuery, numbers: NumberPaths): NumberPaths {
  const within = (paths: readonly string[] = []) => paths.flatMap((path) => ["by", "sum", "min", "max"].map((name) => `${name}/${path}`));
  return { bigints: within(numbers.bigints), doubles: [...within(numbers.doubles), ...(query.avg ?? []).map((field) => `avg/${field}`)] };
}

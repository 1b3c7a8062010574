import type { NumberPaths } from "./json.ts";
import { addFilter, type Comparison, type ListRange, queryText, type SortKey } from "./query.ts";
import { addIncluded, type CheckedInclude, doublesOf, type EmbeddedOf, type FilterOf, type IncludeOf, isNumberField, numbersIncluding, type OneName, type RelatedShape } from "./relations.ts";
import type { CollectionShape, CollectionSpec, CollectionSpecs } from "./shape.ts";
import type { CallOptions } from "./transport.ts";

/** What resources can be grouped by, and what can be computed of them, with the types of the values. */
export interface GroupFields {
  by: object;
  sum: object;
  avg: object;
  min: object;
  max: object;
  distinct: object;
}

type OwnByName<S extends CollectionShape> = keyof S["groups"]["by"] & string;
type ByThroughName<S extends CollectionShape> = { [R in OneName<S>]: `${R}.${OwnByName<RelatedShape<S, R>>}` }[OneName<S>];
type ByThroughTwoName<S extends CollectionShape> = { [R in OneName<S>]: `${R}.${ByThroughName<RelatedShape<S, R>>}` }[OneName<S>];

/** The fields that resources can be grouped by: their own, and those that references lead to. */
export type ByName<S extends CollectionShape> = OwnByName<S> | ByThroughName<S> | ByThroughTwoName<S>;

type ByValue<S extends CollectionShape, N extends string> = N extends OwnByName<S> ? S["groups"]["by"][N & keyof S["groups"]["by"]]
  : N extends `${infer R}.${infer F}` ? (R extends OneName<S> ? ByValue<RelatedShape<S, R>, F> | null : never) : never;

/** The relations whose attributes are among what resources are grouped by. */
type GroupRelation<S extends CollectionShape, B extends string> = { [R in OneName<S>]: S["relations"][R] extends { readonly attribute: infer A } ? (A extends B ? R : never) : never }[OneName<S>];
type GroupInclude<S extends CollectionShape, B extends string, I> = I extends readonly unknown[]
  ? { readonly [K in keyof I]: GroupRelation<S, B> | `${GroupRelation<S, B>}.${string}` }
  : { readonly [R in keyof I]: R extends GroupRelation<S, B> ? unknown : never };

type ValueName<Sum extends string, Avg extends string, Min extends string, Max extends string, Distinct extends string> =
  "count" | `sum.${Sum}` | `avg.${Avg}` | `min.${Min}` | `max.${Max}` | `distinct.${Distinct}`;
type ValueOf<G extends GroupFields, N extends string> =
  N extends `${infer Of extends keyof GroupFields}.${infer F}` ? (F extends keyof G[Of] ? WrittenAs<NonNullable<G[Of][F]>> : never) : number;
type WrittenAs<V> = V extends bigint ? V | number : V;

/** How resources are grouped, and what is computed of each group. */
export interface GroupQuery<S extends CollectionShape, B extends string, Sum extends string, Avg extends string, Min extends string, Max extends string, Distinct extends string, I extends IncludeOf<S>> extends CallOptions {
  /** Fields whose values make the groups; dates and date-times can be truncated: `created_at:month`. */
  by?: readonly B[];
  sum?: readonly Sum[];
  avg?: readonly Avg[];
  min?: readonly Min[];
  max?: readonly Max[];
  /** Fields whose different values are counted. */
  distinct?: readonly Distinct[];
  /** Which groups there are, by `count` and what is computed: `{ "sum.price": { gte: 1000 } }`. */
  having?: { [N in ValueName<NoInfer<Sum>, NoInfer<Avg>, NoInfer<Min>, NoInfer<Max>, NoInfer<Distinct>>]?: Comparison<ValueOf<S["groups"], N>> };
  /** Resources that references in `by` lead to: `include: ["customer"]` with `by: ["customer_id"]`. */
  include?: I & CheckedInclude<S, I> & GroupInclude<S, NoInfer<B>, I>;
  filter?: FilterOf<S>;
  /** Words that the resources must have. */
  search?: S["search"];
  /** By what `by` has, by `count`, the number of resources, and by what is computed: `["-sum.price", "state"]`. */
  sort?: SortKey<NoInfer<B> | ValueName<NoInfer<Sum>, NoInfer<Avg>, NoInfer<Min>, NoInfer<Max>, NoInfer<Distinct>>> | readonly SortKey<NoInfer<B> | ValueName<NoInfer<Sum>, NoInfer<Avg>, NoInfer<Min>, NoInfer<Max>, NoInfer<Distinct>>>[];
  offset?: number;
  limit?: number;
  /** Count all groups. */
  count?: "exact";
}

type Computed<Name extends string, Fields, K> = [K] extends [never] ? {} : { readonly [N in Name]: Pick<Fields, K & keyof Fields> };

/** Resources with the same values. */
export type Group<S extends CollectionShape, B extends string, Sum extends string, Avg extends string, Min extends string, Max extends string, Distinct extends string, I> = {
  readonly id: string;
  readonly type: "groups";
  readonly by: { [N in B]: ByValue<S, N> };
  /** How many resources there are in the group. */
  readonly count: number;
} & Computed<"sum", S["groups"]["sum"], Sum> & Computed<"avg", S["groups"]["avg"], Avg> & Computed<"min", S["groups"]["min"], Min> & Computed<"max", S["groups"]["max"], Max>
  & Computed<"distinct", S["groups"]["distinct"], Distinct> & (I extends readonly [] ? {} : EmbeddedOf<S, I>);

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

/** @internal A query, whatever the collection is. */
interface AnyGroupQuery extends Partial<Record<"by" | "sum" | "avg" | "min" | "max" | "distinct", readonly string[]>>, Pick<ListRange, "offset" | "limit"> {
  having?: object;
  include?: unknown;
  filter?: object;
  search?: string;
  sort?: string | readonly string[];
}

/** @internal The query string of groups, `?` included, or nothing. */
export function groupText(query: AnyGroupQuery, specs: CollectionSpecs, spec: CollectionSpec): string {
  const { offset, limit, filter, search, sort, having = {}, include } = query;
  const range: ListRange = { ...(offset !== undefined && { offset }), ...(limit !== undefined && { limit }) };
  const selection = { ...(filter !== undefined && { filter }), ...(search !== undefined && { search }), ...(sort !== undefined && { sort: sort as string }) };
  const isDouble = doublesOf(specs, spec);
  const rest = queryText(range, selection, isDouble, (text) => addIncluded(text, include, undefined, specs, spec));
  const groups = new URLSearchParams();
  for (const name of ["by", "sum", "avg", "min", "max", "distinct"] as const) {
    const fields = query[name];
    if (fields !== undefined && fields.length > 0) groups.append(name, fields.join(","));
  }
  addFilter(groups, "having", having, (name) => name.startsWith("avg.") || isDouble(name.slice(name.indexOf(".") + 1)));
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
export function groupNumbers(query: AnyGroupQuery, specs: CollectionSpecs, spec: CollectionSpec): NumberPaths {
  const { by = [], avg = [], include } = query;
  const embedded = numbersIncluding(specs, { relations: spec.relations ?? {} }, include);
  const paths = (kind: "bigints" | "doubles") => [
    ...by.filter((field) => field.includes(".") && isNumberField(specs, spec, kind, field)).map((field) => `by/${field}`),
    ...(spec[kind] ?? []).flatMap((path) => ["by", "sum", "min", "max"].map((name) => `${name}/${path}`)),
    ...(embedded[kind] ?? []),
  ];
  return { bigints: paths("bigints"), doubles: [...paths("doubles"), ...avg.map((field) => `avg/${field}`)] };
}

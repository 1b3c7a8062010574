import type { CollectionShape, CollectionSpec, CollectionSpecs } from "./shape.ts";
import type { NumberPaths } from "./json.ts";
import { addFilter, type DoubleTest, type ExistsCondition, type OrderedOperators, type SortKey } from "./query.ts";

/** A relation to one resource, or to none, by an attribute with its id. */
export interface ToOne<S, A extends string> {
  readonly shape: S;
  readonly many: false;
  readonly attribute: A;
}

/** A relation to any number of resources. */
export interface ToMany<S> {
  readonly shape: S;
  readonly many: true;
}

/** The names of the relations of a collection. */
export type RelationName<S extends CollectionShape> = keyof S["relations"] & string;

/** The names of the relations to one resource. */
export type OneName<S extends CollectionShape> = { [R in RelationName<S>]: S["relations"][R] extends { readonly many: false } ? R : never }[RelationName<S>];

/** The names of the relations to any number of resources. */
export type ManyName<S extends CollectionShape> = Exclude<RelationName<S>, OneName<S>>;

/** The types of the collection that a relation leads to. */
export type RelatedShape<S extends CollectionShape, R extends RelationName<S>> = S["relations"][R] extends { readonly shape: infer T extends CollectionShape } ? T : never;

/** The names of the fields of a collection. */
export type FieldName<S extends CollectionShape> = keyof S["read"] & string;

/** What can be said of a related resource that is included. */
export interface OneIncluded<S extends CollectionShape> {
  /** Only these attributes, and `id` and `type`. */
  readonly fields?: readonly FieldName<S>[];
  /** Relations of the related resource. */
  readonly include?: IncludeOf<S>;
}

/** What can be said of related resources that are included. */
export interface ManyIncluded<S extends CollectionShape> extends OneIncluded<S> {
  /** How many; negative: the last ones. Default: the first 10. */
  readonly limit?: number;
  readonly sort?: SortKey<SortOf<S>> | readonly SortKey<SortOf<S>>[];
  readonly filter?: FilterOf<S>;
  /** Adds the number of all that match, such as `comments_total`. */
  readonly total?: boolean;
}

type IncludedOptions<S extends CollectionShape, R extends RelationName<S>> =
  S["relations"][R] extends { readonly many: true } ? ManyIncluded<RelatedShape<S, R>> : OneIncluded<RelatedShape<S, R>>;

/** Relations by their names, with options: `{ author: true, comments: { limit: 3, include: ["author"] } }`. */
export type IncludeTree<S extends CollectionShape> = { readonly [R in RelationName<S>]?: true | IncludedOptions<S, R> };

/** Which related resources are included: names and paths, `["author", "comments.author"]`, or names with options. */
export type IncludeOf<S extends CollectionShape> = readonly (RelationName<S> | `${RelationName<S>}.${string}`)[] | IncludeTree<S>;

/** @internal The paths that would be right in place of one. */
type PathLike<S extends CollectionShape, P extends string> =
  P extends `${infer R}.${infer Rest}` ? (R extends RelationName<S> ? `${R}.${PathLike<RelatedShape<S, R>, Rest>}` : RelationName<S>) : RelationName<S>;

/** What is included, with `never` in place of what does not exist. The compiler would let it pass, as the type of the result depends on what is included. */
export type CheckedInclude<S extends CollectionShape, I> = I extends readonly unknown[]
  ? { readonly [K in keyof I]: I[K] extends string ? PathLike<S, I[K]> : never }
  : { readonly [R in keyof I]: R extends RelationName<S> ? (I[R] extends true ? true : CheckedOptions<S, R, I[R]>) : never };

type CheckedOptions<S extends CollectionShape, R extends RelationName<S>, O> = {
  readonly [K in keyof O]: K extends "include" ? CheckedInclude<RelatedShape<S, R>, O[K]>
    : K extends "filter" ? { readonly [N in keyof O[K]]: N extends keyof FilterOf<RelatedShape<S, R>> ? O[K][N] : never }
    : K extends keyof IncludedOptions<S, R> ? O[K] : never;
};

/** A resource as it is read: all attributes, or only some fields, with what is included. */
export type ReadOf<S extends CollectionShape, I = readonly [], F extends string = never> = I extends readonly [] ? FieldsOf<S, F> : FieldsOf<S, F> & EmbeddedOf<S, I>;

type FieldsOf<S extends CollectionShape, F extends string> = [F] extends [never] ? S["read"] : Pick<S["read"], ("id" | "type" | F) & keyof S["read"]>;

/** The members that what is included becomes. */
export type EmbeddedOf<S extends CollectionShape, I> = I extends readonly (infer P extends string)[]
  ? { readonly [R in FirstOf<P> & RelationName<S>]: EmbeddedAs<S, R, ReadOf<RelatedShape<S, R>, IncludeBehind<P, R>>> }
  : { readonly [R in keyof I & RelationName<S>]: EmbeddedAs<S, R, ReadOf<RelatedShape<S, R>, OptionOf<I[R], "include", readonly []>, NamesOf<OptionOf<I[R], "fields", never>>>> }
    & { readonly [R in keyof I & RelationName<S> as I[R] extends { readonly total: true } ? `${R}_total` : never]: number };

type EmbeddedAs<S extends CollectionShape, R extends RelationName<S>, T> = S["relations"][R] extends { readonly many: true } ? T[] : T | null;
type FirstOf<P extends string> = P extends `${infer R}.${string}` ? R : P;
type RestOf<P extends string, R extends string> = P extends `${R}.${infer Rest}` ? Rest : never;
type IncludeBehind<P extends string, R extends string> = [RestOf<P, R>] extends [never] ? readonly [] : readonly RestOf<P, R>[];
type OptionOf<O, K extends string, Without> = O extends { readonly [N in K]: infer V } ? V : Without;
type NamesOf<L> = [L] extends [never] ? never : L extends readonly (infer N extends string)[] ? N : never;

type ThroughName<S extends CollectionShape> = { [R in RelationName<S>]: `${R}.${keyof RelatedShape<S, R>["filter"] & string}` }[RelationName<S>];
type ThroughTwoName<S extends CollectionShape> = { [R in RelationName<S>]: `${R}.${ThroughName<RelatedShape<S, R>>}` }[RelationName<S>];
type ThroughCondition<S extends CollectionShape, N> =
  N extends `${infer R}.${infer F}` ? (R extends RelationName<S> ? (F extends keyof RelatedShape<S, R>["filter"] ? RelatedShape<S, R>["filter"][F] : never) : never) : never;
type ThroughTwoCondition<S extends CollectionShape, N> =
  N extends `${infer R}.${infer F}` ? (R extends RelationName<S> ? ThroughCondition<RelatedShape<S, R>, F> : never) : never;

type ThroughOneFilter<S extends CollectionShape> = { [N in ThroughName<S>]?: ThroughCondition<S, N> };
type ExistsFilter<S extends CollectionShape> = { [R in RelationName<S>]?: ExistsCondition };
type ExistsThroughName<S extends CollectionShape> = { [R in RelationName<S>]: `${R}.${RelationName<RelatedShape<S, R>>}` }[RelationName<S>];

/** The names of the counts of related resources. An attribute or a relation with the name `count` is meant instead of them. */
export type CountName<S extends CollectionShape> = "count" extends FieldName<S> | RelationName<S> ? never : `count.${ManyName<S>}`;

/** Conditions on related resources: their fields, as `"author.country"` and `"lines.product.name"`, whether there are any, and how many. */
export type ThroughFilter<S extends CollectionShape> = ThroughOneFilter<S> & { [N in ThroughTwoName<S>]?: ThroughTwoCondition<S, N> }
  & ExistsFilter<S> & { [N in ExistsThroughName<S>]?: ExistsCondition } & { [N in CountName<S>]?: number | readonly number[] | Omit<OrderedOperators<number>, "null"> };

type TogetherOf<S extends CollectionShape> = S["filter"] & ThroughOneFilter<S> & ExistsFilter<S>;

/** Conditions that one related resource fulfils together, by the relation. */
export type RelatedConditions<S extends CollectionShape> = [ManyName<S>] extends [never] ? never : { [R in ManyName<S>]?: TogetherOf<RelatedShape<S, R>> | readonly TogetherOf<RelatedShape<S, R>>[] };

type AttributeNamed<F, N> = N extends keyof F ? F[N] : never;
type Conditions<F, More, Related> = Omit<F, "any" | "some" | "none"> & More & {
  /** Conditions of which one must hold: `any: [{ state: "open" }, { owner_id: { null: true } }]`. Those of one alternative must all hold. */
  any?: readonly (Omit<F, "any"> & More)[] | AttributeNamed<F, "any">;
  /** Conditions that one related resource fulfils together: `some: { lines: { quantity: { gte: 5 }, "product.name": "Chai" } }`. Of an array, each is fulfilled by one. */
  some?: Related | AttributeNamed<F, "some">;
  /** Conditions that no related resource fulfils together. */
  none?: Related | AttributeNamed<F, "none">;
};

/** What a collection can be filtered by: its own fields, and those of related resources. */
export type FilterOf<S extends CollectionShape> = Conditions<S["filter"], ThroughFilter<S>, RelatedConditions<S>>;

/** What a stream of a collection can be filtered by: its own fields. */
export type OwnFilterOf<S extends CollectionShape> = Conditions<S["filter"], unknown, never>;

type SortThroughName<S extends CollectionShape> = { [R in OneName<S>]: `${R}.${RelatedShape<S, R>["sort"]}` }[OneName<S>];
type SortThroughTwoName<S extends CollectionShape> = { [R in OneName<S>]: `${R}.${SortThroughName<RelatedShape<S, R>>}` }[OneName<S>];

/** What a collection can be sorted by: its own fields, those that references lead to, and counts of related resources. */
export type SortOf<S extends CollectionShape> = S["sort"] | SortThroughName<S> | SortThroughTwoName<S> | CountName<S>;

/** @internal An included relation, whatever the collection is. */
interface IncludedPart {
  readonly path: string;
  readonly options: Readonly<Record<string, unknown>>;
}

/** The included relations, those that lead to others first. */
function partsOf(include: unknown, prefix = ""): IncludedPart[] {
  if (Array.isArray(include)) return include.map((path) => ({ path: `${prefix}${path}`, options: {} }));
  return Object.entries(include ?? {}).flatMap(([name, given]) => {
    if (given === undefined) return [];
    const options = given === true ? {} : (given as Record<string, unknown>);
    const path = `${prefix}${name}`;
    return [{ path, options }, ...partsOf(options["include"] ?? [], `${path}.`)];
  });
}

/** @internal Adds what is included and which fields are shown to a query. */
export function addIncluded(query: URLSearchParams, include: unknown, fields: readonly string[] | undefined, specs: CollectionSpecs, spec: CollectionSpec): void {
  const parts = partsOf(include);
  if (parts.length > 0) query.append("include", parts.map(({ path }) => path).join(","));
  if (fields !== undefined) query.append("fields", fieldsText(fields, "fields"));
  for (const { path, options } of parts) {
    const { limit, sort, filter, total, fields } = options as ManyIncluded<CollectionShape>;
    const name = `include[${path}]`;
    if (limit !== undefined) query.append(`${name}[limit]`, String(limit));
    if (sort !== undefined) query.append(`${name}[sort]`, typeof sort === "string" ? sort : sort.join(","));
    if (filter !== undefined) addFilter(query, `${name}[filter]`, filter, doublesOf(specs, relatedSpec(specs, spec, path.split(".")).spec));
    if (total !== undefined) query.append(`${name}[total]`, String(total));
    if (fields !== undefined) query.append(`fields[${path}]`, fieldsText(fields, `fields[${path}]`));
  }
}

/** Names of fields. None at all would be another type than it seems: `["id"]` is the least. */
function fieldsText(fields: readonly string[], parameter: string): string {
  if (fields.length === 0) throw new TypeError(`${parameter} needs at least one name: ["id"] gives only id and type.`);
  return fields.join(",");
}

/** What is known of the collection that relations lead to, and where its resources are in an answer. */
function relatedSpec(specs: CollectionSpecs, spec: CollectionSpec, names: readonly string[]): { spec: CollectionSpec; place: string } {
  let [current, place] = [spec, ""];
  for (const name of names) {
    const [to = "", many] = current.relations?.[name] ?? [];
    current = specs[to] ?? {};
    place += many === true ? `${name}/+/` : `${name}/`;
  }
  return { spec: current, place };
}

/** @internal The numbers of a resource with all that is included in it. */
export function numbersIncluding(specs: CollectionSpecs, spec: CollectionSpec, include: unknown): NumberPaths {
  const parts = partsOf(include);
  if (parts.length === 0) return spec;
  const paths = new Set(parts.flatMap(({ path }) => path.split(".").map((_, at, names) => names.slice(0, at + 1).join("."))));
  const all = [{ spec, place: "" }, ...[...paths].map((path) => relatedSpec(specs, spec, path.split(".")))];
  const within = (name: "bigints" | "doubles") => all.flatMap((each) => (each.spec[name] ?? []).map((path) => each.place + path));
  const bigints = within("bigints");
  return { ...(bigints.length > 0 && { bigints }), doubles: within("doubles") };
}

/** @internal Which fields of a collection are doubles, with those inside objects and arrays and of related resources. */
export function doublesOf(specs: CollectionSpecs, spec: CollectionSpec): DoubleTest {
  return (field) => isNumberField(specs, spec, "doubles", field);
}

/** @internal Whether a field, also of related resources, is among the numbers of a kind. */
export function isNumberField(specs: CollectionSpecs, spec: CollectionSpec, kind: "bigints" | "doubles", field: string): boolean {
  const names = field.split(".");
  let current = spec;
  while (names.length > 1 && Object.hasOwn(current.relations ?? {}, names[0] ?? "")) {
    current = relatedSpec(specs, current, names.splice(0, 1)).spec;
  }
  const path = names.join("/");
  return [path, `${path}/+`].some((each) => current[kind]?.includes(each));
}

import type { NumberPaths } from "./json.ts";
import { type ItemResult, itemOf, pageOf, type PageResult } from "./page.ts";
import { type EqualCondition, type OrderedCondition, queryText, type TextCondition } from "./query.ts";
import { type ResourceReference, uuid } from "./resource.ts";
import type { CallOptions, HttpTransport } from "./transport.ts";
import { walk } from "./walk.ts";
import { behind, followList, type WatchOptions } from "./watch.ts";

/** A change in the change log, with the resource before and after it. */
export interface Change<R extends ResourceReference> {
  readonly id: string;
  readonly type: "changes";
  readonly kind: "created" | "updated" | "deleted";
  readonly resource: { readonly id: string; readonly type: R["type"] };
  readonly revision: number;
  /** Who made it; null without access control. */
  readonly by: string | null;
  /** Former values of what was changed; all attributes if the resource was deleted, or is hidden since. Null if it was created, or was hidden before. */
  readonly previous: Partial<R> | null;
  /** The resource after the change; null if it was deleted, or is hidden. */
  readonly data: R | null;
  readonly created_at: string;
}

/** What changes can be filtered by. */
export interface ChangeFilter<N extends string> {
  collection?: EqualCondition<N>;
  "resource.id"?: OrderedCondition<string>;
  kind?: EqualCondition<"created" | "updated" | "deleted">;
  by?: TextCondition;
  created_at?: OrderedCondition<string | Date>;
}

/** A range of changes. A negative limit counts backwards from where it starts, or from the end. */
export interface ChangeRange {
  /** The id of the change at which the range starts. */
  cursor?: string;
  /** The position of a page or an event, or the id of a change, behind which the range starts. */
  since?: string | undefined;
  limit?: number;
  /** The id of a change to leave out. */
  known?: string;
}

/** What can be said of a list of changes. */
export interface ChangeQuery<N extends string> extends ChangeRange, CallOptions {
  filter?: ChangeFilter<N>;
  /** Count them. */
  count?: "exact";
}

/** What can be said of a walk through changes. Without a limit it ends with the latest. */
export interface ChangeWalkQuery<N extends string> extends ChangeRange, CallOptions {
  filter?: ChangeFilter<N>;
  /** How many changes are asked for at once. Default: 500. */
  pageSize?: number;
}

/** What can be said of a watch of changes. */
export interface ChangeWatchQuery<N extends string> extends WatchOptions {
  filter?: ChangeFilter<N>;
}

/** A range of changes, in the order of the change log. */
export interface ChangePage<R extends ResourceReference> extends Omit<PageResult<Change<R>>, "next" | "prev"> {
  /** The range behind this one: `list({ ...query, ...page.next })`. None at the end. */
  readonly next: ChangeRange | undefined;
  /** The range in front of this one. None at the beginning. */
  readonly prev: ChangeRange | undefined;
}

/** What a watch of changes tells: those that there are as `listed`, then `synced`, and then every further one as `created`. See WatchEvent. */
export type ChangeEvent<R extends ResourceReference> =
  | { readonly kind: "listed"; readonly data: Change<R> }
  | { readonly kind: "created"; readonly data: Change<R>; readonly position: string }
  | { readonly kind: "synced" | "bookmark"; readonly position: string }
  | { readonly kind: "reset" };

/** The changes of all collections, or of one resource, in their order. Reading them needs the access verb `changes`. */
export class ChangeLog<R extends ResourceReference> {
  readonly #transport: HttpTransport;
  readonly #path: string;
  readonly #numbers: (change: unknown) => NumberPaths;

  /** @internal */
  constructor(transport: HttpTransport, specs: Readonly<Record<string, NumberPaths>>, path = "changes") {
    this.#transport = transport;
    this.#path = path;
    this.#numbers = (change) => numbersOfChange(specs, change as Partial<Change<R>> | null);
  }

  /** One change by its id. */
  async get(id: string, options: CallOptions = {}): Promise<ItemResult<Change<R>>> {
    if (!uuid.test(id)) throw new TypeError(`An id is a UUID, but this is ${JSON.stringify(id)}.`);
    return itemOf<Change<R>>(await this.#transport.send({ method: "GET", path: `changes/${id}` }, options), this.#numbers);
  }

  /** One range of the changes: the oldest hundred, unless it says otherwise. */
  async list(query: ChangeQuery<R["type"]> = {}): Promise<ChangePage<R>> {
    const { cursor, since, limit, known, filter, count } = query;
    if (cursor !== undefined && since !== undefined) throw new TypeError("Give either a cursor or since: both say where the range starts.");
    const range = { ...(cursor !== undefined && { cursor }), ...(limit !== undefined && { limit }), ...(known !== undefined && { known }) };
    const headers: Record<string, string> = count === undefined ? {} : { Prefer: `count=${count}` };
    const path = behind(this.#path + queryText(range, filter === undefined ? {} : { filter }, () => false), since);
    const page = pageOf<Change<R>>(range, await this.#transport.send({ method: "GET", path, headers, long: true }, query), this.#numbers);
    const { next, prev } = page;
    return { ...page, next: next && { ...next, since: undefined }, prev: prev && { ...prev, since: undefined } };
  }

  /** Every change of a range, in order, page by page; with a negative limit backwards, from the latest or the one in front of `cursor`. */
  async *all(query: ChangeWalkQuery<R["type"]> = {}): AsyncGenerator<Change<R>, void, undefined> {
    yield* this.#walk(query, (query.limit ?? 0) < 0);
  }

  /** The same backwards, whatever the sign of the limit. */
  async *backward(query: ChangeWalkQuery<R["type"]> = {}): AsyncGenerator<Change<R>, void, undefined> {
    yield* this.#walk(query, true);
  }

  #walk(query: ChangeWalkQuery<R["type"]>, backwards: boolean): AsyncGenerator<Change<R>, void, undefined> {
    const { filter, since, signal } = query;
    if (query.cursor !== undefined && since !== undefined) throw new TypeError("Give either a cursor or since: both say where the range starts.");
    const selection = { ...(filter && { filter }), ...(signal && { signal }) };
    return walk<Change<R>>((range) => this.list({ ...selection, ...(range.cursor === undefined && { since }), ...range }), query, backwards, this.#transport);
  }

  /** Follows the changes: those that there are, then `synced`, and then every further one, in order, none twice and none left out. See `watch` of a collection. */
  async *watch(query: ChangeWatchQuery<R["type"]> = {}): AsyncGenerator<ChangeEvent<R>, void, undefined> {
    const { filter } = query;
    const path = (range: { limit?: number }) => this.#path + queryText(range, filter === undefined ? {} : { filter }, () => false);
    yield* followList<Change<R>>(this.#transport, path, this.#numbers, query) as AsyncGenerator<unknown> as AsyncGenerator<ChangeEvent<R>, void, undefined>;
  }
}

/** The numbers of a change are those of its resource. */
function numbersOfChange(specs: Readonly<Record<string, NumberPaths>>, change: Partial<Change<ResourceReference>> | null): NumberPaths {
  const spec = specs[change?.resource?.type ?? ""] ?? {};
  const within = (paths: readonly string[] = []) => paths.flatMap((path) => [`data/${path}`, `previous/${path}`]);
  return { bigints: within(spec.bigints), doubles: within(spec.doubles) };
}

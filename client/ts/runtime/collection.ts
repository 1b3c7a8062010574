import { sendInArrays } from "./arrays.ts";
import { ChangeLog } from "./changes.ts";
import { errorOf, PluralError, ProtocolError, type ApiProblem } from "./errors.ts";
import { bodyText, parseData } from "./json.ts";
import { type ByName, type Group, type GroupPage, type GroupQuery, groupNumbers, groupsBeside, groupText } from "./groups.ts";
import { affectedBy, type ItemResult, itemOf, linked, type ManyResult, pageOf, type PageResult, type WriteResult } from "./page.ts";
import { queryText, type ListRange, type ListSelection } from "./query.ts";
import { addIncluded, type CheckedInclude, doublesOf, type FieldName, type FilterOf, type IncludeOf, numbersIncluding, type OwnFilterOf, type ReadOf, type SortOf } from "./relations.ts";
import { type ResourceReference, uuid } from "./resource.ts";
import type { ChangeOptions, CollectionShape, CollectionSpec, CollectionSpecs, WriteOptions } from "./shape.ts";
import { conflictText, keyOf, TransactionSteps } from "./transaction.ts";
import { type CallOptions, type HttpAnswer, type HttpCall, type HttpTransport, sleep } from "./transport.ts";
import { walk } from "./walk.ts";
import { beginning, behind, follow, followList, type WatchEvent, type WatchOptions } from "./watch.ts";

/** What is shown of each resource. */
export interface ShownParts<S extends CollectionShape, I extends IncludeOf<S>, F extends string> {
  /** Related resources, which become members of the resource: `["author", "comments.author"]`, or with options `{ comments: { limit: 3 } }`. */
  include?: I & CheckedInclude<S, I>;
  /** Only these attributes, and `id` and `type`. */
  fields?: readonly F[];
}

/** What can be said of reading one resource. */
export interface ItemQuery<S extends CollectionShape, I extends IncludeOf<S> = readonly [], F extends string = never> extends ShownParts<S, I, F>, CallOptions {}

/** What can be said of a list. */
export interface ListQuery<S extends CollectionShape, I extends IncludeOf<S> = readonly [], F extends string = never>
  extends ListRange, ListSelection<FilterOf<S>, SortOf<S>, S["search"]>, ShownParts<S, I, F>, CallOptions {
  /** Count also what a filter selects. */
  count?: "exact";
}

/** What can be said of a walk through a collection. Without a limit it ends where the collection does. */
export interface WalkQuery<S extends CollectionShape, I extends IncludeOf<S> = readonly [], F extends string = never>
  extends ListRange, ListSelection<FilterOf<S>, SortOf<S>, S["search"]>, ShownParts<S, I, F>, CallOptions {
  /** How many resources are asked for at once. Default: 500. */
  pageSize?: number;
}

/** Which resources are counted. */
export interface TotalQuery<S extends CollectionShape> extends Pick<ListSelection<FilterOf<S>, S["sort"], S["search"]>, "filter" | "search">, CallOptions {}

/** Which resources are changed or deleted at once. Without a limit, all that match. */
export interface RangeQuery<S extends CollectionShape> extends ListRange, ListSelection<FilterOf<S>, SortOf<S>, S["search"]> {}

/** A resource that was created or changed. */
export interface UpsertResult<R> extends WriteResult<R> {
  readonly created: boolean;
}

/** What can be said of a watch. */
export interface WatchQuery<S extends CollectionShape, F extends string = never>
  extends Pick<ListSelection<OwnFilterOf<S>, S["sort"], S["search"]>, "filter" | "search">, Pick<ShownParts<S, readonly [], F>, "fields">, WatchOptions {}

/** The options of a change as the last argument, which can be left out if all of them can. */
export type ChangeArguments<S extends CollectionShape> = {} extends S["change"] ? [options?: S["change"]] : [options: S["change"]];

/** What can be said of a change that is done later: it is no dry run. */
export interface LaterOptions extends Omit<ChangeOptions, "dryRun"> {}

/** The same of a change that is done later. */
export type LaterArguments<S extends CollectionShape> = {} extends S["change"] ? [options?: LaterOptions] : [options: LaterOptions & { ifMatch: string }];

/** A collection that can only be read. */
export class ReadCollection<S extends CollectionShape> {
  /** @internal */
  protected readonly transport: HttpTransport;
  /** @internal */
  protected readonly specs: CollectionSpecs;
  /** @internal */
  protected readonly spec: CollectionSpec;
  /** @internal */
  protected readonly path: string;

  /** @internal */
  constructor(transport: HttpTransport, specs: CollectionSpecs, name: string, path = name) {
    this.transport = transport;
    this.specs = specs;
    this.spec = specs[name] ?? {};
    this.path = path;
  }

  /** One resource by its id. */
  async get<const I extends IncludeOf<S> = readonly [], const F extends FieldName<S> = never>(id: string, query: ItemQuery<S, I, F> = {}): Promise<ItemResult<ReadOf<S, I, F>>> {
    const path = this.itemPath(id) + queryText({}, {}, () => false, (text) => this.#addParts(text, query));
    return itemOf<ReadOf<S, I, F>>(await this.transport.send({ method: "GET", path, long: query.include !== undefined }, query), numbersIncluding(this.specs, this.spec, query.include));
  }

  /** One range of the collection: the first hundred, unless it says otherwise. */
  async list<const I extends IncludeOf<S> = readonly [], const F extends FieldName<S> = never>(query: ListQuery<S, I, F> = {}): Promise<PageResult<ReadOf<S, I, F>>> {
    const headers: Record<string, string> = query.count === undefined ? {} : { Prefer: `count=${query.count}` };
    const path = this.path + this.queryText(query, query, (text) => this.#addParts(text, query));
    const answer = await this.transport.send({ method: "GET", path, headers, long: true }, query);
    return pageOf<ResourceReference>(query, answer, numbersIncluding(this.specs, this.spec, query.include)) as PageResult<unknown> as PageResult<ReadOf<S, I, F>>;
  }

  /** How many resources there are, or how many a filter or a search selects. */
  async total(query: TotalQuery<S> = {}): Promise<number> {
    const { total } = await this.list({ ...query, limit: 0, count: "exact" } as ListQuery<S>);
    if (total === undefined) throw new ProtocolError("The answer has no X-Total-Count.");
    return total;
  }

  /**
   * Groups of resources with the same values, and what is computed of each: `groups({ by: ["state"], sum: ["price"] })`.
   * Without `by` all resources are one group.
   */
  async groups<
    const B extends ByName<S> = never,
    const Sum extends keyof S["groups"]["sum"] & string = never,
    const Avg extends keyof S["groups"]["avg"] & string = never,
    const Min extends keyof S["groups"]["min"] & string = never,
    const Max extends keyof S["groups"]["max"] & string = never,
    const Distinct extends keyof S["groups"]["distinct"] & string = never,
    const I extends IncludeOf<S> = readonly [],
  >(query: GroupQuery<S, B, Sum, Avg, Min, Max, Distinct, I> = {}): Promise<GroupPage<Group<S, B, Sum, Avg, Min, Max, Distinct, I>>> {
    if (this.path.includes("/")) throw new TypeError("Groups are of a whole collection: filter by the parent.");
    const headers: Record<string, string> = query.count === undefined ? {} : { Prefer: `count=${query.count}` };
    const answer = await this.transport.send({ method: "GET", path: `-/groups/${this.path}${groupText(query, this.specs, this.spec)}`, headers, long: true }, query);
    const data = parseData(answer.text, groupNumbers(query, this.specs, this.spec));
    if (!Array.isArray(data)) throw new ProtocolError("The answer has no array as its data.");
    const total = answer.headers.get("X-Total-Count");
    const links = { first: linked(answer.headers, "first"), next: linked(answer.headers, "next"), prev: linked(answer.headers, "prev") };
    const { next, prev } = groupsBeside(query, data.length, links);
    return { data: data as Group<S, B, Sum, Avg, Min, Max, Distinct, I>[], total: total === null ? undefined : Number(total), next, prev };
  }

  /**
   * Every resource of a range, in order: from the offset or cursor on, or from the beginning, page by
   * page. With a negative limit it goes backwards: from the one in front of the offset or
   * cursor, or from the last.
   */
  async *all<const I extends IncludeOf<S> = readonly [], const F extends FieldName<S> = never>(query: WalkQuery<S, I, F> = {}): AsyncGenerator<ReadOf<S, I, F>, void, undefined> {
    yield* this.#walk<ReadOf<S, I, F>>(query, (query.limit ?? 0) < 0);
  }

  /** The same backwards, whatever the sign of the limit. */
  async *backward<const I extends IncludeOf<S> = readonly [], const F extends FieldName<S> = never>(query: WalkQuery<S, I, F> = {}): AsyncGenerator<ReadOf<S, I, F>, void, undefined> {
    yield* this.#walk<ReadOf<S, I, F>>(query, true);
  }

  #walk<R>(query: ListRange & { pageSize?: number; signal?: AbortSignal }, backwards: boolean): AsyncGenerator<R, void, undefined> {
    const { offset, cursor, limit, known, pageSize, ...selection } = query;
    const list = (range: ListRange) => this.list({ ...selection, ...range } as ListQuery<S>);
    return walk<ResourceReference>(list, query, backwards, this.transport) as AsyncGenerator<unknown> as AsyncGenerator<R, void, undefined>;
  }

  /** @internal */
  protected queryText(range: ListRange, selection: ListSelection<object, string, string>, more?: (query: URLSearchParams) => void): string {
    return queryText(range, selection, doublesOf(this.specs, this.spec), more);
  }

  #addParts(text: URLSearchParams, parts: { include?: unknown; fields?: readonly string[] }): void {
    addIncluded(text, parts.include, parts.fields, this.specs, this.spec);
  }

  /** @internal */
  protected itemPath(id: string): string {
    // Anything else could lead to the collection, or out of it.
    if (!uuid.test(id)) throw new TypeError(`An id is a UUID, but this is ${JSON.stringify(id)}.`);
    return `${this.path}/${id}`;
  }

  /** @internal */
  protected item<R>(answer: HttpAnswer): WriteResult<R> {
    return { ...itemOf<R>(answer, this.spec), ...affectedBy(answer) };
  }
}

/** A collection. Writes have a key each, so that sending them again does them once. */
export class Collection<S extends CollectionShape> extends ReadCollection<S> {
  /** The writes of this collection as steps of a transaction: `api.$transaction([api.users.step.create({ … })])`. */
  get step(): TransactionSteps<S> {
    return new TransactionSteps<S>(this.path, (id) => this.itemPath(id), this.spec);
  }

  /** The states that can follow each state of the attributes with a lifecycle: `api.posts.transitions.state.draft`. */
  get transitions(): S["transitions"] {
    return this.spec.transitions ?? {};
  }

  /** Creates a resource. */
  async create(body: S["create"], options: WriteOptions = {}): Promise<WriteResult<S["read"]>> {
    return this.#write({ method: "POST", path: this.path, body: this.#text(body) }, options);
  }

  /**
   * Creates any number of resources, in arrays of up to a thousand, or of as many as the server takes, each of which
   * is created as a whole or not at all. If one fails, `created` of the error has the resources of those
   * ahead of it, and its places count from the first body: `/1207/email`.
   */
  async createMany(bodies: readonly S["create"][], options: WriteOptions = {}): Promise<ManyResult<S["read"]>> {
    return this.#arrays(this.path, bodies, options);
  }

  /**
   * Changes the attributes that are given of all resources that a query selects, in one transaction: all of them or
   * none. A filter, a search or a range is required.
   */
  async updateMany(query: RangeQuery<S>, body: S["patch"], options: WriteOptions = {}): Promise<ManyResult<S["read"]>> {
    return this.#range({ method: "PATCH", path: this.path + this.queryText(query, query), body: this.#text(body) }, options);
  }

  /** Deletes all resources that a query selects, in one transaction, and gives them as they last were. A filter, a search or a range is required. */
  async deleteMany(query: RangeQuery<S>, options: WriteOptions = {}): Promise<ManyResult<S["read"]>> {
    return this.#range({ method: "DELETE", path: this.path + this.queryText(query, query) }, options);
  }

  /**
   * Creates a resource, or changes the one that has the same values of a unique attribute, or of all attributes of a unique group:
   * then only what is given is changed. `created` tells which of the two has happened.
   */
  async upsert(onConflict: S["unique"], body: S["create"] | S["patch"], options: WriteOptions = {}): Promise<UpsertResult<S["read"]>> {
    const answer = await this.#send({ method: "POST", path: this.path + conflictText(onConflict), body: this.#text(body) }, options, undefined);
    return { ...this.item<S["read"]>(answer), created: answer.status === 201 };
  }

  /** The same with any number of resources, in arrays as those of `createMany`. */
  async upsertMany(onConflict: S["unique"], bodies: readonly (S["create"] | S["patch"])[], options: WriteOptions = {}): Promise<ManyResult<S["read"]>> {
    return this.#arrays(this.path + conflictText(onConflict), bodies, options);
  }

  /** Replaces all attributes of a resource. What is left out goes to its default, else to null. */
  async replace(id: string, body: S["replace"], ...[options]: ChangeArguments<S>): Promise<WriteResult<S["read"]>> {
    return this.#write({ method: "PUT", path: this.itemPath(id), body: this.#text(body) }, options);
  }

  /** Changes the attributes that are given, and no others. */
  async update(id: string, body: S["patch"], ...[options]: ChangeArguments<S>): Promise<WriteResult<S["read"]>> {
    return this.#write({ method: "PATCH", path: this.itemPath(id), body: this.#text(body) }, options);
  }

  /** Deletes a resource, and gives it as it last was. */
  async delete(id: string, ...[options]: ChangeArguments<S>): Promise<WriteResult<S["deleted"]>> {
    return this.#write({ method: "DELETE", path: this.itemPath(id) }, options);
  }

  /**
   * Follows the collection, or what a filter leaves of it: the resources that there are, then `synced`, and then every change, in
   * order, none twice and none left out. It lasts until the loop is left, the signal aborts it or the server refuses it. When a connection is
   * lost, or the server ends or restarts, it connects again and continues behind the last event. If that happens within
   * a snapshot, `reset` is given and the snapshot begins again.
   */
  async *watch<const F extends FieldName<S> = never>(query: WatchQuery<S, F> = {}): AsyncGenerator<WatchEvent<ReadOf<S, readonly [], F>>, void, undefined> {
    const { filter, search, fields } = query;
    const selection = { ...(filter !== undefined && { filter }), ...(search !== undefined && { search }) };
    const path = (range: ListRange) => this.path + this.queryText(range, selection, (text) => addIncluded(text, undefined, fields, this.specs, this.spec));
    yield* followList<ReadOf<S, readonly [], F>>(this.transport, path, this.spec, query);
  }

  /** Follows one resource as `watch` does, and ends when it was deleted or is no longer visible: `deleted` or `left` is the last event. */
  async *watchOne(id: string, options: WatchOptions = {}): AsyncGenerator<WatchEvent<S["read"]>, void, undefined> {
    const path = this.itemPath(id);
    const target = { path: (at: string | undefined) => behind(path, at), numbers: this.spec, one: true, since: beginning(options), skipping: options.fromNow === true };
    yield* follow<S["read"]>(this.transport, target, options.signal);
  }

  /**
   * The changes of one resource, also after it was deleted. Below a parent it needs that parent to exist; the history of a resource whose
   * parent was deleted is that of its own collection: `posts.history(id)`.
   */
  history(id: string): ChangeLog<S["read"]> {
    return new ChangeLog<S["read"]>(this.transport, this.specs, `${this.itemPath(id)}/changes`);
  }

  /** Has a resource created later: the answer comes once that is certain, and `wait` waits for it. */
  async createAsync(body: S["create"], options: Omit<WriteOptions, "dryRun"> = {}): Promise<AcceptedWrite<S["read"]>> {
    return this.#accept({ method: "POST", path: this.path, body: this.#text(body) }, options);
  }

  /** Has a resource replaced later. */
  async replaceAsync(id: string, body: S["replace"], ...[options]: LaterArguments<S>): Promise<AcceptedWrite<S["read"]>> {
    return this.#accept({ method: "PUT", path: this.itemPath(id), body: this.#text(body) }, options);
  }

  /** Has a resource changed later. */
  async updateAsync(id: string, body: S["patch"], ...[options]: LaterArguments<S>): Promise<AcceptedWrite<S["read"]>> {
    return this.#accept({ method: "PATCH", path: this.itemPath(id), body: this.#text(body) }, options);
  }

  /** Has a resource deleted later. */
  async deleteAsync(id: string, ...[options]: LaterArguments<S>): Promise<AcceptedWrite<ResourceReference>> {
    return this.#accept({ method: "DELETE", path: this.itemPath(id) }, options);
  }

  /** The collections below one resource: `users.of(id).posts`. */
  of(id: string): S["children"] {
    const children: Record<string, unknown> = {};
    for (const name of this.spec.children ?? []) {
      children[name] = new Collection(this.transport, this.specs, name, `${this.itemPath(id)}/${name}`);
    }
    return children;
  }

  async #write<R extends ResourceReference>(call: HttpCall, options: ChangeOptions = {}): Promise<WriteResult<R>> {
    // The server answers with the outcome if there is one within the time, as it does elsewhere.
    const prefer = this.spec.async?.includes(call.method) && options.dryRun !== true ? "respond-async, wait=30" : undefined;
    const answer = await this.#send(call, options, prefer);
    return answer.status === 202 ? this.#accepted<R>(call, answer).wait(options) : this.item<R>(answer);
  }

  async #range<R>(call: HttpCall, options: WriteOptions): Promise<ManyResult<R>> {
    const answer = await this.#send(call, options, undefined);
    const data = parseData(answer.text, this.spec);
    if (!Array.isArray(data)) throw new ProtocolError("The answer has no array as its data.");
    return { data: data as R[], ...affectedBy(answer) };
  }

  async #arrays(path: string, bodies: readonly object[], options: WriteOptions): Promise<ManyResult<S["read"]>> {
    const texts = bodies.map((body) => bodyText(body, this.spec));
    const data: S["read"][] = [];
    let effects: Pick<ManyResult<unknown>, "affected"> = {};
    try {
      await sendInArrays(texts, async (body, from, to) => {
        const whole = to - from === texts.length;
        // The second array of a dry run would not find what the first has not written.
        if (options.dryRun === true && !whole) throw new TypeError("A dry run is one request, and these resources are too many for one.");
        const { idempotencyKey, ...rest } = options;
        const part = whole ? "" : `-${from}-${to}`; // each array is a request of its own
        const keyed = idempotencyKey === undefined ? rest : { ...rest, idempotencyKey: idempotencyKey + part };
        const answer = await this.#send({ method: "POST", path, body }, keyed, undefined);
        const written = parseData(answer.text, this.spec);
        if (!Array.isArray(written) || written.length !== to - from) throw new ProtocolError(`The answer has no array of ${to - from} as its data.`);
        effects = affectedBy(answer);
        return written as S["read"][];
      }, data);
    } catch (error) {
      if (error instanceof PluralError) error.created = data;
      throw error;
    }
    return { data, ...effects };
  }

  async #accept<R extends ResourceReference>(call: HttpCall, options: ChangeOptions = {}): Promise<AcceptedWrite<R>> {
    return this.#accepted<R>(call, await this.#send(call, options, "respond-async"));
  }

  #text(body: object): string {
    return bodyText(body, this.spec);
  }

  #send(call: HttpCall, options: ChangeOptions, prefer: string | undefined): Promise<HttpAnswer> {
    const headers = keyOf(options);
    if (options.ifMatch !== undefined) headers["If-Match"] = options.ifMatch;
    if (prefer !== undefined) headers["Prefer"] = prefer;
    const path = options.dryRun === true ? `${call.path}${call.path.includes("?") ? "&" : "?"}dry_run=true` : call.path;
    return this.transport.send({ ...call, path, headers }, options);
  }

  #accepted<R extends ResourceReference>(call: HttpCall, answer: HttpAnswer): AcceptedWrite<R> {
    const operation = answer.headers.get("Location")?.split("/").at(-1);
    if (operation === undefined) throw new ProtocolError("The answer has no Location, so that its operation is not known.");
    const resource = this.item<ResourceReference>(answer).data;
    const read = call.method === "DELETE"
      ? async () => ({ data: resource as R, etag: undefined })
      : (options: CallOptions) => new ReadCollection(this.transport, this.specs, resource.type).get(resource.id, options) as Promise<ItemResult<R>>;
    return new AcceptedWrite<R>(this.transport, operation, resource, read);
  }
}

/** A write that the server will carry out, whatever happens to it or to us. */
export class AcceptedWrite<R> {
  /** The id of the operation, a resource of the collection `operations`. */
  readonly operation: string;
  /** The resource that it is about, which may not exist yet. */
  readonly resource: ResourceReference;
  readonly #transport: HttpTransport;
  readonly #read: (options: CallOptions) => Promise<ItemResult<R>>;

  /** @internal */
  constructor(transport: HttpTransport, operation: string, resource: ResourceReference, read: (options: CallOptions) => Promise<ItemResult<R>>) {
    this.#transport = transport;
    this.operation = operation;
    this.resource = resource;
    this.#read = read;
  }

  /**
   * Waits until it has taken effect, and gives the resource as it is then; of a deletion, its id and type. If it
   * failed, the error is the one that a request that waits would have got. The signal ends the waiting, and not the operation.
   */
  async wait(options: CallOptions = {}): Promise<ItemResult<R>> {
    const call: HttpCall = { method: "GET", path: `operations/${this.operation}` };
    for (let pause = 20; ; pause = Math.min(pause * 1.5, 2000)) {
      const answer = await this.#transport.send(call, options);
      const operation = parseData(answer.text, {}) as { status: string; errors: readonly ApiProblem[] | null };
      if (operation.status === "succeeded") return this.#read(options);
      if (operation.status === "failed") {
        const errors = operation.errors ?? [];
        throw errorOf({ status: errors[0]?.status ?? 500, errors, requestId: undefined, retryAfter: undefined, operation: this.operation });
      }
      await sleep(pause, options.signal);
    }
  }
}

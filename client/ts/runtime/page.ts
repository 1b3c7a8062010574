import { ProtocolError } from "./errors.ts";
import { type NumbersOf, parseData } from "./json.ts";
import type { ListRange } from "./query.ts";
import type { ResourceReference } from "./resource.ts";
import type { HttpAnswer } from "./transport.ts";

/** One resource, and the state that it was in. */
export interface ItemResult<R> {
  readonly data: R;
  /** For `ifMatch`. There is none of what is deleted, and none if a proxy took it away. */
  readonly etag: string | undefined;
}

/** How many resources of each collection a write would create, change or delete, with all that follows from it: `{ users: 1, posts: 12 }`. */
export type AffectedCounts = Readonly<Record<string, number>>;

/** One resource after a write. */
export interface WriteResult<R> extends ItemResult<R> {
  /** Of a dry run, and of no other write. */
  readonly affected?: AffectedCounts;
}

/** Several resources, in the order in which they were given or are in the collection. */
export interface ManyResult<R> {
  readonly data: R[];
  /** Of a dry run, and of no other write. */
  readonly affected?: AffectedCounts;
}

/** A range of a collection, in its order. */
export interface PageResult<R> {
  readonly data: R[];
  /** How many there are in all; with a filter, only if `count` asks for it. */
  readonly total: number | undefined;
  /** The range behind this one: `list({ ...query, ...page.next })`. None at the end. */
  readonly next: ListRange | undefined;
  /** The range in front of this one. None at the beginning. */
  readonly prev: ListRange | undefined;
  /**
   * For `since`: a watch with the same filter gives what changed after this list was read, and a list of changes continues behind
   * this one. Undefined if the query is too long for the server to say it.
   */
  readonly position: string | undefined;
}

/** @internal The resource of an answer. */
export function itemOf<R>(answer: HttpAnswer, numbers: NumbersOf): ItemResult<R> {
  const data = parseData(answer.text, numbers);
  const { id, type } = (data ?? {}) as Partial<ResourceReference>;
  if (typeof id !== "string" || typeof type !== "string") throw new ProtocolError("The answer has no resource as its data.");
  return { data: data as R, etag: answer.headers.get("ETag") ?? undefined };
}

/** @internal What a dry run says of its effects; nothing if the answer is that of a write. */
export function affectedBy(answer: HttpAnswer): { affected?: AffectedCounts } {
  const header = answer.headers.get("X-Affected");
  if (header === null) return {};
  const counts = header.split(",").map((part) => part.trim().split("=")).map(([name = "", count]) => [name, Number(count)] as const);
  return { affected: Object.fromEntries(counts) };
}

/** @internal The page of an answer. */
export function pageOf<R extends ResourceReference>(range: ListRange, answer: HttpAnswer, numbers: NumbersOf): PageResult<R> {
  const data = parseData(answer.text, numbers);
  if (!Array.isArray(data)) throw new ProtocolError("The answer has no array as its data.");
  const total = answer.headers.get("X-Total-Count");
  const resources = data as R[];
  return {
    data: range.known === undefined ? resources : resources.filter(({ id }) => id !== range.known),
    total: total === null ? undefined : Number(total),
    ...rangesBeside(range, resources, answer.headers),
    position: linkedQuery(answer.headers, "changes")?.get("since") ?? undefined,
  };
}

/** Up to this length of a range a server knows what is behind it when it sends the headers. */
const lengthWithLinks = 1000;

/** The ranges beside one. Where the query is long, the server leaves links out, and they follow from what came. */
function rangesBeside(range: ListRange, data: readonly ResourceReference[], headers: Headers): Pick<PageResult<unknown>, "next" | "prev"> {
  let next = linked(headers, "next");
  let prev = linked(headers, "prev");
  const whole = linked(headers, "first") !== undefined; // which is left out ahead of these
  const { offset, cursor, limit } = range;
  // Of a long range, the link is by offset or position, and may skip or repeat resources. Its last one is a better start.
  if (offset === undefined && next?.cursor === undefined) next = undefined;
  const length = Math.abs(limit ?? data.length);
  const first = data[0]?.id;
  const last = data.at(-1)?.id;
  if (first === undefined || last === undefined) return { next, prev };
  if (next === undefined && data.length >= length && (!whole || length > lengthWithLinks)) {
    const asked = Math.max(2, length); // one of them is known
    if (offset === undefined) next = { cursor: last, known: last, ...(limit !== undefined && { limit: asked }) };
    else next = { offset: (limit ?? 0) < 0 ? offset : offset + data.length, limit: length };
  }
  if (prev === undefined && !whole) {
    if (offset === undefined) prev = cursor === undefined && (limit ?? 0) >= 0 ? undefined : { cursor: first, limit: -length };
    else {
      const start = (limit ?? 0) < 0 ? offset - length : offset;
      if (start > 0) prev = { offset: start, limit: -length };
    }
  }
  return { next, prev };
}

/** @internal The range that a Link header leads to. */
export function linked(headers: Headers, rel: string): ListRange | undefined {
  const query = linkedQuery(headers, rel);
  if (query === undefined) return undefined;
  const range: ListRange = {};
  if (query.has("offset")) range.offset = Number(query.get("offset"));
  if (query.has("cursor")) range.cursor = query.get("cursor") ?? "";
  if (query.has("limit")) range.limit = Number(query.get("limit"));
  return range;
}

/** @internal The query that a Link header leads to. */
export function linkedQuery(headers: Headers, rel: string): URLSearchParams | undefined {
  const link = new RegExp(`<([^>]*)>; *rel="${rel}"`).exec(headers.get("Link") ?? "")?.[1];
  return link === undefined ? undefined : new URL(link, "http://localhost").searchParams;
}

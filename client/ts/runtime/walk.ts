import { ApiError } from "./errors.ts";
import type { ListRange } from "./query.ts";

// The last id that was given carries the walk from one page to the next, so that nothing is left out
// or given twice when other resources come and go.
/** @internal Every resource of a range, page by page. */
export async function* walk<R extends { readonly id: string }>(
  list: (range: ListRange & { count?: "exact" }) => Promise<{ readonly data: readonly R[]; readonly total: number | undefined }>,
  query: ListRange & { pageSize?: number; signal?: AbortSignal },
  backwards: boolean,
  server: { mostAtOnce: number },
): AsyncGenerator<R, void, undefined> {
  const { pageSize = 500, signal } = query;
  if (!Number.isInteger(pageSize) || pageSize < 1) throw new RangeError(`pageSize must be an integer from 1 on, but is ${pageSize}.`);
  let left = query.limit === undefined ? Infinity : Math.abs(query.limit);
  let start: ListRange = {};
  if (query.offset !== undefined) start.offset = query.offset;
  if (query.cursor !== undefined) start.cursor = query.cursor;
  let given: string[] = []; // ids of the page before
  let known = 0; // how many of them will come once more: going forwards, a range starts at its cursor

  while (left > 0) {
    const asked = Math.min(Math.max(1, Math.min(pageSize, server.mostAtOnce) - known), left) + known;
    let page: readonly R[];
    try {
      page = (await list({ ...start, limit: backwards ? -asked : asked })).data;
    } catch (error) {
      // The server has a max_limit. Half of it may do, if that is still one more than is known.
      if (error instanceof ApiError && error.code === "limit_too_large" && asked > known + 1) {
        server.mostAtOnce = Math.floor(asked / 2);
        continue;
      }
      // In a sorted collection, the place of a resource that is deleted goes with it. The one given before it will do.
      const cursor = given[given.indexOf(start.cursor ?? "") - 1];
      if (!(error instanceof ApiError) || error.code !== "unknown_cursor" || cursor === undefined) throw error;
      start = { cursor };
      known++;
      continue;
    }
    const { offset } = start;
    if (backwards && offset !== undefined && page.length < Math.min(asked, offset)) {
      // The offset is behind the end: what is in between counts, and is not there.
      const { total = offset } = await list({ limit: 0, count: "exact" });
      if (total < offset) {
        left -= offset - total;
        start = { offset: total };
        continue;
      }
    }
    const fresh = page.filter(({ id }) => !given.includes(id));
    if (backwards) fresh.reverse();
    for (const resource of fresh.slice(0, left)) {
      signal?.throwIfAborted(); // in the loop, when the page was here already
      yield resource;
    }
    left -= fresh.length;
    const cursor = fresh.at(-1)?.id;
    if (page.length < asked || cursor === undefined) return;
    given = fresh.map(({ id }) => id);
    start = { cursor };
    known = backwards ? 0 : 1;
  }
}

import { ApiError, errorOf } from "./errors.ts";

// An array has no more resources and bytes than a server takes by default. One that takes less says so, and gets less.
const mostItems = 1000;
const mostBytes = 1 << 20;

/** @internal Sends the texts of resources in arrays, in order, and gives what comes back for each. */
export async function sendInArrays<R>(
  texts: readonly string[],
  send: (body: string, from: number, to: number) => Promise<readonly R[]>,
  created: R[],
): Promise<void> {
  let most = mostItems;
  while (created.length < texts.length) {
    const from = created.length;
    const to = endOfArray(texts, from, most);
    try {
      created.push(...(await send(`[${texts.slice(from, to).join(",")}]`, from, to)));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.status !== 413 || to - from === 1) throw movedBy(error, from);
      most = Math.ceil((to - from) / 2);
    }
  }
}

/** Where an array ends that starts with one of the texts: behind as many as are allowed, and at least that one. */
function endOfArray(texts: readonly string[], from: number, most: number): number {
  let bytes = 2;
  for (let at = from; at < texts.length && at - from < most; at++) {
    bytes += new TextEncoder().encode(texts[at]).length + 1;
    if (bytes > mostBytes) return Math.max(at, from + 1);
  }
  return Math.min(texts.length, from + most);
}

/** The error with places that count from the first resource of all, and not of its array. */
function movedBy(error: ApiError, from: number): ApiError {
  const errors = error.errors.map((problem) => {
    const [, item, rest = ""] = /^\/(\d+)(.*)$/s.exec(problem.source?.pointer ?? "") ?? [];
    return item === undefined ? problem : { ...problem, source: { ...problem.source, pointer: `/${Number(item) + from}${rest}` } };
  });
  const { status, requestId, retryAfter, operation } = error;
  return errorOf({ status, errors, requestId, retryAfter, operation });
}

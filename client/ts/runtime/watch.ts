import { ApiError, ConnectionError, PluralError, ProtocolError } from "./errors.ts";
import { type NumbersOf, parseEnvelope } from "./json.ts";
import { linkedQuery } from "./page.ts";
import type { ResourceReference } from "./resource.ts";
import { type CallOptions, type HttpTransport, sleep } from "./transport.ts";

/** A change of a resource. */
export interface ResourceChange {
  /** That of the resource in the collection `changes`. */
  readonly id: string;
  /** Who made it; null if that is unknown or not shown. */
  readonly by: string | null;
  readonly at: string;
  readonly revision: number;
  /** The trace of the write (W3C Trace Context), if that was sampled. */
  readonly traceparent?: string;
}

/**
 * What a watch tells of a collection. A snapshot is any number of `listed`, and then `synced`; changes follow. `entered` and `left` are
 * resources that match the filter, or are visible, from now on or no longer. `bookmark` is nothing but a newer
 * position. `reset` makes everything void that was told before, and a snapshot follows.
 *
 * A watch that is begun with `since: event.position` continues behind the event. A snapshot has no position until it is complete.
 */
export type WatchEvent<R> =
  | { readonly kind: "listed"; readonly data: R }
  | { readonly kind: "synced" | "bookmark"; readonly position: string }
  | { readonly kind: "created" | "entered" | "deleted"; readonly data: R; readonly change: ResourceChange; readonly position: string }
  | { readonly kind: "updated"; readonly data: R; /** Former values of what was changed. */ readonly previous: Partial<R>; readonly change: ResourceChange; readonly position: string }
  | { readonly kind: "left"; readonly data: Pick<R, keyof R & keyof ResourceReference>; readonly position: string }
  | { readonly kind: "reset" };

/** Where a watch begins: with a snapshot, unless it says otherwise. */
export interface WatchOptions extends CallOptions {
  /** The position of an event or a page to continue behind. If the server no longer knows it, `reset` and a snapshot come first. */
  since?: string;
  /** Begin with the changes from now on: in place of the snapshot there is `synced` alone. */
  fromNow?: boolean;
}

/** @internal What is to be watched. */
export interface WatchTarget {
  /** The path with the query, behind a position if there is one. */
  readonly path: (since: string | undefined) => string;
  readonly numbers: NumbersOf;
  /** It is one resource, and ends with it. */
  readonly one: boolean;
  /** Where to begin; nothing: with a snapshot. */
  readonly since: string | undefined;
  /** The resources of the first snapshot are not wanted. */
  readonly skipping: boolean;
}

/** @internal The position that a watch is to begin behind. */
export function beginning({ since, fromNow }: WatchOptions): string | undefined {
  if (since !== undefined && fromNow === true) throw new TypeError("Give either since or fromNow: both say where the watch begins.");
  if (since === "") throw new TypeError("since is the position of an event, and never empty.");
  return since;
}

/** @internal A path with a position behind its query. */
export function behind(path: string, position: string | undefined): string {
  return position === undefined ? path : `${path}${path.includes("?") ? "&" : "?"}since=${encodeURIComponent(position)}`;
}

/** @internal The events of a list, whose path with a range is given. */
export async function* followList<R>(
  transport: HttpTransport, path: (range: { limit?: number }) => string, numbers: NumbersOf, options: WatchOptions,
): AsyncGenerator<WatchEvent<R>, void, undefined> {
  let since = beginning(options);
  if (options.fromNow === true) {
    const answer = await transport.send({ method: "GET", path: path({ limit: 0 }), long: true }, options);
    since = linkedQuery(answer.headers, "changes")?.get("since") ?? undefined;
    if (since !== undefined) yield { kind: "synced", position: since };
  }
  // Where the query is too long for the server to give a position, the snapshot is read, and not given.
  const skipping = options.fromNow === true && since === undefined;
  yield* follow<R>(transport, { path: (at) => behind(path({}), at), numbers, one: false, since, skipping }, options.signal);
}

// The first connection has as many attempts as any request. Afterwards the server is known to be there, and it is
// asked for as long as it takes.
/** @internal The events of one connection after another. */
export async function* follow<R>(
  transport: HttpTransport, target: WatchTarget, signal: AbortSignal | undefined,
): AsyncGenerator<WatchEvent<R>, void, undefined> {
  let { since: position, skipping } = target;
  let connected = false;
  let partial = false; // resources of a snapshot were given that is not complete
  let hint = 0; // the pause that the server asks for, in milliseconds
  for (let failures = 1; ; failures++) {
    let failure: PluralError;
    try {
      for await (const frame of framesOf(transport.stream({ method: "GET", path: target.path(position), long: true }, signal))) {
        if (frame === "connected") {
          connected = true;
          if (position !== undefined || !partial) continue;
          partial = false;
          yield { kind: "reset" };
          continue;
        }
        if (frame.retry !== undefined) hint = Math.min(frame.retry, transport.maxWait);
        if (frame.kind === undefined && frame.id === undefined) continue;
        failures = 1;
        if (frame.kind === "reset") position = undefined;
        position = frame.id ?? position;
        if (frame.kind === "listed" && skipping) continue;
        if (frame.kind === "synced" || frame.kind === "reset") skipping = false;
        if (frame.kind === "listed" || frame.kind === "synced" || frame.kind === "reset") partial = frame.kind === "listed";
        const event = eventOf<R>(frame, target.numbers);
        if (event === undefined) continue;
        yield event;
        if (target.one && (event.kind === "deleted" || event.kind === "left")) return;
      }
      failure = new ConnectionError("the stream has ended");
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof PluralError)) throw error;
      if (error instanceof ApiError && error.status === 410 && position !== undefined) {
        position = undefined; // the server no longer has it
        partial = false;
        yield { kind: "reset" };
        continue;
      }
      if (!error.temporary || (!connected && failures > transport.retries)) throw error;
      failure = error;
    }
    const asked = failure instanceof ApiError ? (failure.retryAfter ?? 0) * 1000 : 0;
    if (!connected && asked > transport.maxWait) throw failure;
    // At random, so that clients do not come back all at once.
    const longest = Math.min(Math.max(100, hint) * 2 ** Math.min(failures - 1, 30), transport.maxWait);
    await sleep(asked > 0 ? asked * (1 + Math.random() / 10) : hint + longest * Math.random(), signal);
  }
}

/** One event of a stream as it is sent. */
interface StreamFrame {
  kind?: string;
  id?: string;
  data?: string;
  retry?: number;
}

/** The event of a frame; nothing if this client does not know its kind. */
function eventOf<R>(frame: StreamFrame, numbers: NumbersOf): WatchEvent<R> | undefined {
  const { kind, id: position, data: text = "" } = frame;
  switch (kind) {
    case "reset":
      return { kind };
    case "synced":
    case "bookmark":
    case "created":
    case "updated":
    case "deleted":
    case "entered":
    case "left":
      if (position === undefined) throw new ProtocolError(`The event ${kind} has no position.`);
      break;
    case "listed":
      break;
    default:
      return undefined;
  }
  if (kind === "synced" || kind === "bookmark") return { kind, position: position as string };
  const envelope = envelopeOf(kind, text, numbers);
  const { id, type } = (envelope["data"] ?? {}) as Partial<ResourceReference>;
  if (typeof id !== "string" || typeof type !== "string") throw new ProtocolError(`The event ${kind} has no resource as its data.`);
  // The server is trusted with the rest, as in its other answers.
  return { kind, ...envelope, ...(position !== undefined && { position }) } as unknown as WatchEvent<R>;
}

function envelopeOf(kind: string, text: string, numbers: NumbersOf): Readonly<Record<string, unknown>> {
  try {
    return parseEnvelope(text, numbers);
  } catch (error) {
    throw error instanceof SyntaxError ? new ProtocolError(`The event ${kind} is not JSON.`) : error;
  }
}

/** The most characters of an event, so that memory is bounded whatever is sent. */
const mostOfAnEvent = 1 << 26;

// An event is complete with the empty line behind it. One that the stream ends within is not given.
/** The events of a stream (text/event-stream), behind a note that the connection is there. */
async function* framesOf(chunks: AsyncIterable<string>): AsyncGenerator<StreamFrame | "connected", void, undefined> {
  let parts: string[] = []; // of a line whose end has not come
  let length = 0; // of an event so far
  let frame: StreamFrame = {};
  let connected = false;
  for await (const chunk of chunks) {
    if (!connected) yield "connected";
    connected = true;
    let start = 0;
    for (let end: number; (end = chunk.indexOf("\n", start)) >= 0; start = end + 1) {
      const line = (parts.join("") + chunk.slice(start, end)).replace(/\r$/, "");
      parts = [];
      if (line === "") {
        yield frame;
        frame = {};
        length = 0;
      } else {
        addLine(frame, line);
        length += end - start;
      }
    }
    parts.push(chunk.slice(start));
    length += chunk.length - start;
    if (length > mostOfAnEvent) throw new ProtocolError("An event is too long.");
  }
}

/** Adds a line, which is a field and its value, or a comment, whose field has no name. */
function addLine(frame: StreamFrame, line: string): void {
  const [, field, value = ""] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
  if (field === "event") frame.kind = value;
  if (field === "id") frame.id = value;
  if (field === "data") frame.data = frame.data === undefined ? value : `${frame.data}\n${value}`;
  if (field === "retry" && /^\d{1,10}$/.test(value)) frame.retry = Number(value);
}

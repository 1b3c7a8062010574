import { ApiError, ConnectionError, errorOf, PluralError, ProtocolError, type ApiProblem } from "./errors.ts";

/** How to reach a server, and how patient to be. */
export interface ClientOptions {
  /** Where the server is, with the path that it is mounted under: `https://example.com/api`. */
  baseURL: string | URL;
  /** An API key or a token, or a function that gives one, which is asked before every attempt. */
  key?: string | (() => string | undefined | Promise<string | undefined>);
  /** Headers for every call. */
  headers?: Readonly<Record<string, string>>;
  /** Used instead of the global fetch. */
  fetch?: (url: string, init: RequestInit) => Promise<Response>;
  /** How often a request is sent again after 429, 5xx or no answer. Default: 4. */
  retries?: number;
  /** Milliseconds for each attempt. Default: 60,000. 0 is forever. */
  timeout?: number;
  /** The longest pause before another attempt, in milliseconds; if the server asks for a longer one, its error is thrown. Default: 30,000. */
  maxWait?: number;
}

/** What can be said of every call. */
export interface CallOptions {
  /** Gives up the call. What was sent may have been carried out nevertheless. */
  signal?: AbortSignal;
}

/** @internal A request, as it is sent and sent again. */
export interface HttpCall {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Below the base URL, without a slash in front, with the query. */
  readonly path: string;
  readonly headers?: Record<string, string>;
  /** JSON. */
  readonly body?: string;
  /** It is sent again only after 429, with which it was certainly not executed. */
  readonly once?: true;
  /** It may be sent by QUERY, whose answer has no ETag and no Link. */
  readonly long?: boolean;
}

/** @internal A success. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** @internal Sends requests, again if need be. */
export class HttpTransport {
  readonly #base: string;
  readonly #options: ClientOptions;
  readonly #version: number | undefined;
  /** The most resources that a list may ask for, as far as is known. */
  mostAtOnce = Infinity;
  /** A proxy or the server refuses QUERY. */
  #noQuery = false;

  constructor(options: ClientOptions, version?: number) {
    const base = new URL(options.baseURL);
    if (base.search !== "" || base.hash !== "") throw new TypeError("The base URL has a query or a fragment.");
    this.#base = base.href.endsWith("/") ? base.href : `${base.href}/`;
    this.#options = options;
    this.#version = version;
  }

  /** How often a request is sent again. */
  get retries(): number {
    return this.#options.retries ?? 4;
  }

  /** The longest pause before another attempt, in milliseconds. */
  get maxWait(): number {
    return this.#options.maxWait ?? 30_000;
  }

  /** The answer to a request, if it is a success. */
  async send(call: HttpCall, options: CallOptions): Promise<HttpAnswer> {
    for (let attempt = 0; ; attempt++) {
      options.signal?.throwIfAborted();
      try {
        return await this.#attempt(call, options.signal);
      } catch (error) {
        options.signal?.throwIfAborted();
        if (!(error instanceof PluralError) || !error.temporary || attempt >= this.retries) throw error;
        if (call.once && !(error instanceof ApiError && error.status === 429)) throw error;
        const asked = error instanceof ApiError ? (error.retryAfter ?? 0) * 1000 : 0;
        if (asked > this.maxWait) throw error;
        // Between half and all of 0.1 s, 0.2 s, 0.4 s and so on, so that clients do not come back all at once.
        const pause = Math.min(100 * 2 ** attempt, this.maxWait) * (0.5 + Math.random() / 2);
        await sleep(asked + pause, options.signal);
      }
    }
  }

  /** The text of a stream of events, piece by piece, from one attempt. The first piece is empty: it says that there is a connection. */
  async *stream(call: HttpCall, signal: AbortSignal | undefined): AsyncGenerator<string, void, undefined> {
    const init = await this.#init(call, "text/event-stream");
    const attempt = new HttpAttempt(call, signal);
    try {
      const response = await attempt.within(this.#timeout, (signal) => this.#fetch(call, { ...init, signal }));
      const { status, headers, body } = response;
      if (status !== 200 || headers.get("Content-Type")?.startsWith("text/event-stream") !== true || body === null) {
        checked({ status, headers, text: await attempt.within(this.#timeout, () => response.text()) });
        throw new ProtocolError("The answer is not a stream of events: does the server have them?");
      }
      yield "";
      const reader = body.getReader();
      const decoder = new TextDecoder();
      for (;;) {
        const { done, value } = await attempt.within(mostSilence, () => reader.read());
        if (done) return;
        yield decoder.decode(value, { stream: true });
      }
    } finally {
      attempt.end();
    }
  }

  async #attempt(call: HttpCall, signal: AbortSignal | undefined): Promise<HttpAnswer> {
    const init = await this.#init(call, "application/json");
    const attempt = new HttpAttempt(call, signal);
    try {
      return await attempt.within(this.#timeout, async (signal) => {
        const response = await this.#fetch(call, { ...init, signal });
        return checked({ status: response.status, headers: response.headers, text: await response.text() });
      });
    } finally {
      attempt.end();
    }
  }

  get #timeout(): number {
    return this.#options.timeout ?? 60_000;
  }

  async #fetch(call: HttpCall, init: RequestInit): Promise<Response> {
    const { fetch = (url: string, init: RequestInit) => globalThis.fetch(url, init) } = this.#options;
    const get = () => fetch(this.#base + call.path, init);
    const line = `GET ${new URL(this.#base).pathname}${call.path} HTTP/1.1`;
    if (call.long !== true || this.#noQuery || line.length <= maxLine) return get();
    const [path = "", ...parameters] = call.path.split("?");
    const headers = { ...(init.headers as Record<string, string>), "Content-Type": "application/x-www-form-urlencoded" };
    const queried = await fetch(this.#base + path, { ...init, method: "QUERY", headers, body: parameters.join("?") });
    if (!(await refusesQuery(queried))) return queried;
    await queried.body?.cancel();
    const answer = await get();
    // If the proxy refuses the GET as well, it was not because of the method.
    if (answer.ok || (await isOfServer(answer))) this.#noQuery = true;
    return answer;
  }

  async #init(call: HttpCall, accept: string): Promise<RequestInit> {
    const { key, headers } = this.#options;
    const sent: Record<string, string> = { Accept: accept };
    if (this.#version !== undefined) sent["API-Version"] = String(this.#version);
    Object.assign(sent, headers, call.headers);
    const secret = typeof key === "function" ? await key() : key;
    if (secret !== undefined) sent["Authorization"] = `Bearer ${secret.trim()}`;
    if (call.body !== undefined) sent["Content-Type"] = "application/json";
    for (const [name, value] of Object.entries(sent)) {
      // fetch would refuse it as well, and show it, although it may be a secret.
      if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) throw new TypeError(`The header ${name} has a character that no header can have, such as a line break.`);
    }
    const init: RequestInit = { method: call.method, headers: sent };
    if (call.body !== undefined) init.body = call.body;
    return init;
  }
}

/** The longest first line of a request that every proxy must be expected to accept (RFC 9112, section 3). The parameters of a longer read are sent by QUERY, in the body. */
const maxLine = 8000;

/** Whether a QUERY was refused because of its method: by a server that does not know it, or by a proxy, whose refusals have many statuses. */
async function refusesQuery(answer: Response): Promise<boolean> {
  if ([400, 403, 404].includes(answer.status)) return !(await isOfServer(answer));
  return answer.status === 405 || answer.status === 501;
}

/** Whether a refusal is one of a server, and not of a proxy. */
async function isOfServer(answer: Response): Promise<boolean> {
  const json = answer.headers.get("Content-Type")?.startsWith("application/json") === true;
  return json && problemsOf(await answer.clone().text()).length > 0;
}

/** How long a stream may be silent, in milliseconds. Servers send a comment every 15 seconds, so that a connection that is silent for longer is lost. */
const mostSilence = 60_000;

/** One attempt of a call, which a signal ends. */
class HttpAttempt {
  readonly #call: HttpCall;
  readonly #signal: AbortSignal | undefined;
  readonly #controller = new AbortController();
  readonly #abort = () => this.#controller.abort(this.#signal?.reason);

  constructor(call: HttpCall, signal: AbortSignal | undefined) {
    this.#call = call;
    this.#signal = signal;
    signal?.addEventListener("abort", this.#abort, { once: true });
    if (signal?.aborted) this.#abort(); // while the secret was asked for
  }

  /** Does a step of it within some milliseconds; 0 is forever. */
  async within<T>(milliseconds: number, step: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { signal } = this.#controller;
    const late = () => this.#controller.abort(new Error(`no answer within ${milliseconds} ms`));
    const timer = milliseconds > 0 ? setTimeout(late, milliseconds) : undefined;
    try {
      return await step(signal);
    } catch (error) {
      if (error instanceof PluralError) throw error;
      const cause: unknown = signal.aborted ? signal.reason : error;
      throw new ConnectionError(`${this.#call.method} ${this.#call.path}: ${reasons(cause)}`, { cause });
    } finally {
      clearTimeout(timer);
    }
  }

  /** Ends it, and with it an answer that is not read to its end. */
  end(): void {
    this.#signal?.removeEventListener("abort", this.#abort);
    this.#controller.abort();
  }
}

/** An error and what caused it, as fetch alone says only that it failed. */
function reasons(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message}: ${reasons(error.cause)}`;
}

/** A success, or the error that the answer is. */
function checked(answer: HttpAnswer): HttpAnswer {
  const { status, headers, text } = answer;
  const json = headers.get("Content-Type")?.startsWith("application/json") === true;
  if (status >= 200 && status < 300) {
    if (!json) throw new ProtocolError(`The answer with the status ${status} is not JSON: is the base URL that of a Plural server?`);
    return answer;
  }
  throw errorOf({
    status,
    errors: json ? problemsOf(text) : [],
    requestId: headers.get("X-Request-Id") ?? undefined,
    retryAfter: secondsOf(headers.get("Retry-After")),
    operation: undefined,
  });
}

function problemsOf(text: string): readonly ApiProblem[] {
  try {
    const { errors } = JSON.parse(text) as { errors?: unknown };
    return Array.isArray(errors) ? (errors as ApiProblem[]) : [];
  } catch {
    return []; // of a proxy that claims to send JSON
  }
}

/** Retry-After is a number of seconds, or a date. */
function secondsOf(header: string | null): number | undefined {
  if (header === null) return undefined;
  const seconds = /^\d+$/.test(header) ? Number(header) : (Date.parse(header) - Date.now()) / 1000;
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds);
}

/** @internal Waits for some milliseconds, or throws the reason of the signal. */
export function sleep(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", abort);
      resolve();
    }, milliseconds);
    signal?.addEventListener("abort", abort, { once: true });
    if (signal?.aborted) abort();
  });
}

import { ProtocolError } from "./errors.ts";
import { bodyText, parseData } from "./json.ts";
import type { CallOptions, HttpCall, HttpTransport } from "./transport.ts";

/** What access rules can grant. */
export type AccessVerb = "list" | "read" | "create" | "update" | "delete" | "changes";

/** How far something is allowed. `depends`: a rule decides about each resource. */
export type AccessExtent = "yes" | "no" | "depends";

/** Who calls, and what they may do. */
export interface AccessCaller {
  readonly id: string;
  readonly type: "callers";
  /** As in the change log: `key:` and the prefix of the API key, or `token:` and the subject. Null without credentials. */
  readonly caller: string | null;
  readonly role: string | null;
  readonly sub: string | null;
  /** The name of the API key. */
  readonly key_name: string | null;
  /** When the credentials expire. */
  readonly expires_at: string | null;
  /** Whether the caller may read the metrics. */
  readonly metrics: boolean;
  /** The roles whose API keys the caller may manage. */
  readonly keys: readonly string[];
  /** Agents may write on behalf of the caller. Left out: they only read. */
  readonly agent_writes?: true;
  /** The collections that the caller may use. */
  readonly collections: readonly {
    readonly name: string;
    readonly may: Readonly<Record<AccessVerb, AccessExtent>>;
    readonly visible: readonly string[];
    readonly writable: readonly string[];
  }[];
}

/** Asks what a caller may do. Without a collection or a verb it is about all of them. */
export interface AccessQuestion {
  role: string;
  /** What `auth.sub` is in rules. Default: the caller has none. */
  sub?: string;
  /** What `auth.claims` is in rules. */
  claims?: Readonly<Record<string, unknown>>;
  collection?: string;
  /** Default: resources in general. */
  resource_id?: string;
  verb?: AccessVerb;
}

/** The answer to a question for one verb in one collection. */
export interface AccessDecision {
  readonly id: string;
  readonly type: "decisions";
  readonly role: string;
  readonly sub: string | null;
  readonly collection: string;
  readonly resource_id: string | null;
  readonly verb: AccessVerb;
  readonly decision: AccessExtent;
  /** For people, in the order of evaluation. */
  readonly reasons: readonly string[];
}

/** An API key, without its secret. */
export interface ApiKey {
  readonly id: string;
  readonly type: "keys";
  /** Identifies it: what follows `plural_` in the key. */
  readonly prefix: string;
  readonly name: string;
  readonly role: string;
  readonly sub: string;
  readonly created_at: string;
  readonly expires_at: string | null;
  readonly revoked_at: string | null;
  /** Agents with the key may write what its role may write. Left out: they only read. */
  readonly agent_writes?: true;
}

/** What an API key is created from. */
export interface ApiKeyCreate {
  name: string;
  role: string;
  /** What `auth.sub` is in rules. Default: the prefix of the key. */
  sub?: string;
  /** Default: never. */
  expires_at?: string | Date;
  /** Whether agents with the key may write what its role may write. Default: they only read. */
  agent_writes?: boolean;
}

/** The API keys of the roles that the caller may grant. */
export class ApiKeys {
  readonly #transport: HttpTransport;

  /** @internal */
  constructor(transport: HttpTransport) {
    this.#transport = transport;
  }

  /** All of them, the oldest first, also revoked and expired ones. */
  async list(options: CallOptions = {}): Promise<{ readonly data: ApiKey[] }> {
    return { data: await listOf<ApiKey>(this.#transport, { method: "GET", path: "-/keys" }, options) };
  }

  /** One of them. */
  async get(prefix: string, options: CallOptions = {}): Promise<{ readonly data: ApiKey }> {
    return { data: await oneOf<ApiKey>(this.#transport, { method: "GET", path: keyPath(prefix) }, options) };
  }

  /** Creates one. The result has the key itself, which cannot be read again. If the answer is lost, it is not sent again, as that could create another: `list` shows whether there is one to revoke. */
  async create(key: ApiKeyCreate, options: CallOptions = {}): Promise<{ readonly data: ApiKey & { readonly key: string } }> {
    return { data: await oneOf(this.#transport, { method: "POST", path: "-/keys", body: bodyText(key, {}), once: true }, options) };
  }

  /** Revokes one: from then on it is refused. It stays in the list. */
  async revoke(prefix: string, options: CallOptions = {}): Promise<{ readonly data: ApiKey }> {
    return { data: await oneOf<ApiKey>(this.#transport, { method: "DELETE", path: keyPath(prefix) }, options) };
  }
}

/** The path of an API key. A whole key must not be sent or shown. */
function keyPath(prefix: string): string {
  if (!/^[a-z2-7]{10}$/.test(prefix)) throw new TypeError("An API key is named by its prefix, the ten characters after plural_.");
  return `-/keys/${prefix}`;
}

/** @internal Who calls. */
export async function whoAmI(transport: HttpTransport, options: CallOptions = {}): Promise<{ readonly data: AccessCaller }> {
  return { data: await oneOf<AccessCaller>(transport, { method: "GET", path: "-/me" }, options) };
}

/** What a caller may do. `$can` of a client calls it. */
export async function explainAccess(transport: HttpTransport, question: AccessQuestion, options: CallOptions = {}): Promise<{ readonly data: AccessDecision[] }> {
  return { data: await listOf<AccessDecision>(transport, { method: "POST", path: "-/can", body: bodyText(question, {}) }, options) };
}

async function oneOf<R>(transport: HttpTransport, call: HttpCall, options: CallOptions): Promise<R> {
  const data = parseData((await transport.send(call, options)).text, {});
  if (typeof data !== "object" || data === null || Array.isArray(data)) throw new ProtocolError("The answer has no object as its data.");
  return data as R;
}

async function listOf<R>(transport: HttpTransport, call: HttpCall, options: CallOptions): Promise<R[]> {
  const data = parseData((await transport.send(call, options)).text, {});
  if (!Array.isArray(data)) throw new ProtocolError("The answer has no array as its data.");
  return data as R[];
}

import type { CollectionShape, CollectionSpec, CollectionSpecs, WriteOptions } from "./shape.ts";
import { ProtocolError } from "./errors.ts";
import { bodyText, parseData, randomUUID } from "./json.ts";
import { affectedBy, type AffectedCounts } from "./page.ts";
import type { ResourceReference } from "./resource.ts";
import type { HttpTransport } from "./transport.ts";

declare const stepResult: unique symbol;

/** One write of a transaction, which gives a resource. Collections make them: `api.users.step.create({ … })`. */
export interface TransactionStep<R> {
  readonly method: "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  /** JSON. */
  readonly body?: string;
  readonly ifMatch?: string;
  /** For the compiler only. */
  readonly [stepResult]?: R;
}

/** The resources of a transaction, one for each of its steps. */
export interface TransactionResult<T extends readonly TransactionStep<unknown>[]> {
  readonly data: { -readonly [K in keyof T]: T[K] extends TransactionStep<infer R> ? R : never };
  /** Of a dry run, and of no other write. */
  readonly affected?: AffectedCounts;
}

/** The condition of a step as its last argument, which can be left out unless the collection requires it. */
export type StepArguments<S extends CollectionShape> = {} extends S["change"] ? [options?: { ifMatch?: string }] : [options: { ifMatch: string }];

/** Makes the steps of transactions, and sends nothing. */
export class TransactionSteps<S extends CollectionShape> {
  readonly #path: string;
  readonly #itemPath: (id: string) => string;
  readonly #spec: CollectionSpec;

  /** @internal */
  constructor(path: string, itemPath: (id: string) => string, spec: CollectionSpec) {
    this.#path = path;
    this.#itemPath = itemPath;
    this.#spec = spec;
  }

  /** Creates a resource. With an id of your own, later steps can refer to it. */
  create(body: S["create"]): TransactionStep<S["read"]> {
    return this.#step("POST", this.#path, body);
  }

  /** Creates a resource, or changes the one with the same unique values: see `upsert` of a collection. */
  upsert(onConflict: S["unique"], body: S["create"] | S["patch"]): TransactionStep<S["read"]> {
    return this.#step("POST", this.#path + conflictText(onConflict), body);
  }

  /** Replaces all attributes of a resource. */
  replace(id: string, body: S["replace"], ...[options]: StepArguments<S>): TransactionStep<S["read"]> {
    return this.#step("PUT", this.#itemPath(id), body, options);
  }

  /** Changes the attributes that are given, and no others. */
  update(id: string, body: S["patch"], ...[options]: StepArguments<S>): TransactionStep<S["read"]> {
    return this.#step("PATCH", this.#itemPath(id), body, options);
  }

  /** Deletes a resource, and gives it as it last was. */
  delete(id: string, ...[options]: StepArguments<S>): TransactionStep<S["read"]> {
    return this.#step("DELETE", this.#itemPath(id), undefined, options);
  }

  #step<R>(method: TransactionStep<R>["method"], path: string, body: object | undefined, options: { ifMatch?: string } = {}): TransactionStep<R> {
    const { ifMatch } = options;
    return { method, path: `/${path}`, ...(body !== undefined && { body: bodyText(body, this.#spec) }), ...(ifMatch !== undefined && { ifMatch }) };
  }
}

/** @internal The query of an upsert. */
export function conflictText(onConflict: string | readonly string[]): string {
  return `?on_conflict=${encodeURIComponent(typeof onConflict === "string" ? onConflict : onConflict.join(","))}`;
}

/** @internal The header that has a write done once, however often it is sent. A dry run does nothing, so that it needs none. */
export function keyOf({ idempotencyKey, dryRun }: WriteOptions): Record<string, string> {
  if (dryRun !== true) return { "Idempotency-Key": idempotencyKey ?? randomUUID() };
  if (idempotencyKey !== undefined) throw new TypeError("A dry run has no idempotencyKey: it changes nothing.");
  return {};
}

/** @internal Executes steps in their order, all or none. */
export async function runTransaction<const T extends readonly TransactionStep<unknown>[]>(
  transport: HttpTransport, specs: CollectionSpecs, steps: T, options: WriteOptions = {},
): Promise<TransactionResult<T>> {
  const texts = steps.map(({ method, path, body, ifMatch }) => {
    const rest = JSON.stringify({ method, path, if_match: ifMatch });
    return body === undefined ? rest : `${rest.slice(0, -1)},"body":${body}}`;
  });
  const path = `-/transaction${options.dryRun === true ? "?dry_run=true" : ""}`;
  const answer = await transport.send({ method: "POST", path, headers: keyOf(options), body: `[${texts.join(",")}]` }, options);
  const data = parseData(answer.text, (resource) => specs[(resource as Partial<ResourceReference> | null)?.type ?? ""] ?? {});
  if (!Array.isArray(data) || data.length !== steps.length) throw new ProtocolError(`The answer has no array of ${steps.length} as its data.`);
  return { data: data as unknown as TransactionResult<T>["data"], ...affectedBy(answer) };
}

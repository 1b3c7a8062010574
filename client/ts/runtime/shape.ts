import type { GroupFields } from "./groups.ts";
import type { NumberPaths } from "./json.ts";
import type { ResourceReference } from "./resource.ts";
import type { CallOptions } from "./transport.ts";

/** The types of a collection. */
export interface CollectionShape {
  read: ResourceReference;
  create: object;
  replace: object;
  patch: object;
  deleted: ResourceReference;
  /** What can, or must, be said of a change. */
  change: ChangeOptions;
  filter: object;
  sort: string;
  /** `string` if the collection can be searched, else `never`. */
  search: string;
  /** The unique attributes and groups of attributes, for upserts. */
  unique: string | readonly string[];
  /** What the resources are related to: ToOne or ToMany by name. */
  relations: object;
  groups: GroupFields;
  /** The states that can follow each state, by the attribute with a lifecycle. */
  transitions: object;
  children: object;
}

/** The types of a collection below a parent, whose id is in the path. */
export interface ChildOf<S extends CollectionShape, A extends keyof S["create"] & keyof S["replace"]> extends CollectionShape {
  read: S["read"];
  create: Omit<S["create"], A> & Partial<Pick<S["create"], A>>;
  replace: Omit<S["replace"], A> & Partial<Pick<S["replace"], A>>;
  patch: S["patch"];
  deleted: S["deleted"];
  change: S["change"];
  filter: S["filter"];
  sort: S["sort"];
  search: S["search"];
  unique: S["unique"];
  relations: S["relations"];
  groups: S["groups"];
  transitions: S["transitions"];
}

/** @internal What must be known of a collection to use it. */
export interface CollectionSpec extends NumberPaths {
  /** Methods that are always answered before they are done. */
  readonly async?: readonly string[];
  readonly children?: readonly string[];
  readonly transitions?: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;
  /** The collection that each relation leads to, and whether to any number of its resources. */
  readonly relations?: Readonly<Record<string, readonly [to: string, many?: true]>>;
}

/** @internal All collections by their names. */
export type CollectionSpecs = Readonly<Record<string, CollectionSpec>>;

/** What can be said of a write. */
export interface WriteOptions extends CallOptions {
  /** The write is done once, however often it is sent with this key. Default: a new one for each call. */
  idempotencyKey?: string;
  /** Only checks the write: the result is that of the write, with `affected`, and nothing is changed. */
  dryRun?: boolean;
}

/** What can be said of a change. */
export interface ChangeOptions extends WriteOptions {
  /** The ETag that the resource must still have; else the change is refused with PreconditionFailedError. */
  ifMatch?: string;
}

/** What must be said of a change where blind ones are refused: `require_if_match` in the schema. */
export interface ConditionalChangeOptions extends ChangeOptions {
  ifMatch: string;
}

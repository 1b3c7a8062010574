import type { ResourceReference } from "./resource.ts";

/** The place in a request that is to blame. */
export interface ErrorSource {
  /** A JSON Pointer into the body: `/email`, or `/2/email` in an array. */
  readonly pointer?: string;
  /** A query parameter, as it was sent: `filter[age]`. */
  readonly parameter?: string;
  /** A header. */
  readonly header?: string;
}

/** What kind of error it is, for programs. New codes may come, so a switch needs a default. */
export type ErrorCode = KnownErrorCode | (string & {});

/** The codes that there were when this client was written. */
export type KnownErrorCode =
  | "malformed_request" | "malformed_json" | "too_deep" | "unexpected_body" | "malformed_query" | "unknown_parameter"
  | "duplicate_parameter" | "invalid_parameter" | "conflicting_range" | "limit_too_large" | "too_many_values" | "unknown_cursor" | "filter_required"
  | "unknown_version" | "version_gone"
  | "unauthenticated" | "invalid_credentials" | "forbidden"
  | "not_found" | "method_not_allowed" | "not_acceptable"
  | "id_exists" | "not_unique" | "referenced" | "transition" | "conflict" | "idempotency_key_in_use"
  | "position_gone" | "precondition_failed" | "precondition_required"
  | "body_too_large" | "too_many_items" | "idempotency_full" | "unsupported_media_type"
  | "not_an_object" | "wrapped" | "unknown_attribute" | "read_only" | "required" | "too_many_words" | "type" | "out_of_range" | "precision" | "null_character"
  | "format" | "min_length" | "max_length" | "pattern" | "enum" | "minimum" | "maximum" | "multiple_of" | "min_items" | "max_items"
  | "unknown_reference" | "parent_mismatch" | "check" | "refused" | "idempotency_key_reused"
  | "too_many_requests" | "expectation_failed" | "misdirected" | "headers_too_large"
  | "internal" | "not_implemented" | "unavailable" | "storage_full" | "hook_timeout" | "backlog_full" | "overloaded" | "too_expensive"
  | "http_version";

/** One thing that is wrong, as the server says it. */
export interface ApiProblem {
  readonly status: number;
  readonly code: ErrorCode;
  /** The code in a few words. */
  readonly title: string;
  /** What is wrong here and what would be right, for people. */
  readonly detail: string;
  readonly source?: ErrorSource;
}

/** Everything that this client throws, but for abortion, which throws the reason of the signal. */
export class PluralError extends Error {
  override readonly name: string = "PluralError";
  /** Of `createMany`, the resources that were created nevertheless: those of the arrays ahead of the one that failed. */
  created: readonly ResourceReference[] = [];
  /** Whether the same request may succeed a moment later. It has been tried again then, as often as allowed. */
  get temporary(): boolean {
    return false;
  }
}

/** There was no complete answer: no network, no server, a connection that broke, or the time-out. */
export class ConnectionError extends PluralError {
  override readonly name: string = "ConnectionError";
  override get temporary(): boolean {
    return true;
  }
}

/** The answer is not one of a Plural server. */
export class ProtocolError extends PluralError {
  override readonly name: string = "ProtocolError";
}

/** An integer, in an answer or in what was to be sent, that a JavaScript number would round. `plural client ts --bigint` writes a client that holds it. */
export class PrecisionError extends PluralError {
  override readonly name: string = "PrecisionError";
}

/** What is known of an answer that is a refusal. */
export interface ApiRefusal {
  readonly status: number;
  readonly errors: readonly ApiProblem[];
  readonly requestId: string | undefined;
  /** Seconds. */
  readonly retryAfter: number | undefined;
  /** The id of the operation that failed, if the request was carried out later. */
  readonly operation: string | undefined;
}

/** The server refused the request. There is a class for each status that programs tell apart. */
export class ApiError extends PluralError implements ApiRefusal {
  override readonly name: string = "ApiError";
  readonly status: number;
  readonly errors: readonly ApiProblem[];
  readonly requestId: string | undefined;
  readonly retryAfter: number | undefined;
  readonly operation: string | undefined;

  constructor(refusal: ApiRefusal) {
    const { status, errors } = refusal;
    const details = errors.map((e) => [place(e.source), e.detail].filter(Boolean).join(": "));
    super(`${status} ${details.join(" ") || "without a reason"}`);
    this.status = status;
    this.errors = errors;
    this.requestId = refusal.requestId;
    this.retryAfter = refusal.retryAfter;
    this.operation = refusal.operation;
  }

  /** The code of the first error; `unknown` if the answer is not the server's own, but a proxy's. */
  get code(): ErrorCode {
    return this.errors[0]?.code ?? "unknown";
  }

  /** The place of the first error. */
  get source(): ErrorSource | undefined {
    return this.errors[0]?.source;
  }

  /** The errors at a place of the body: `error.at("/email")`. */
  at(pointer: string): readonly ApiProblem[] {
    return this.errors.filter((e) => e.source?.pointer === pointer);
  }

  override get temporary(): boolean {
    const { status } = this;
    return status === 429 || (status >= 500 && status !== 501 && status !== 505) || this.code === "idempotency_key_in_use";
  }
}

function place(source: ErrorSource | undefined): string | undefined {
  return source?.pointer ?? source?.parameter ?? source?.header;
}

/** 400: the request itself is malformed. */
export class BadRequestError extends ApiError {
  override readonly name = "BadRequestError";
}
/** 401: credentials are missing or not valid. */
export class UnauthenticatedError extends ApiError {
  override readonly name = "UnauthenticatedError";
}
/** 403: the caller may not do this. */
export class ForbiddenError extends ApiError {
  override readonly name = "ForbiddenError";
}
/** 404: there is no such resource, or none that the caller may see. */
export class NotFoundError extends ApiError {
  override readonly name = "NotFoundError";
}
/** 409: in conflict with what is stored. */
export class ConflictError extends ApiError {
  override readonly name = "ConflictError";
}
/** 412: the resource is not in the state that `ifMatch` names. Read it again, and decide again. */
export class PreconditionFailedError extends ApiError {
  override readonly name = "PreconditionFailedError";
}
/** 422: the body is not valid; `errors` has all that is wrong with it, each with its pointer. */
export class InvalidError extends ApiError {
  override readonly name = "InvalidError";
}
/** 428: changes of this collection must have `ifMatch`. */
export class PreconditionRequiredError extends ApiError {
  override readonly name = "PreconditionRequiredError";
}
/** 429: too many requests, also after waiting. */
export class TooManyRequestsError extends ApiError {
  override readonly name = "TooManyRequestsError";
}
/** 503: the server cannot serve now, also after waiting. */
export class UnavailableError extends ApiError {
  override readonly name = "UnavailableError";
}

const errorClasses: { readonly [status: number]: (new (refusal: ApiRefusal) => ApiError) | undefined } = {
  400: BadRequestError,
  401: UnauthenticatedError,
  403: ForbiddenError,
  404: NotFoundError,
  409: ConflictError,
  412: PreconditionFailedError,
  422: InvalidError,
  428: PreconditionRequiredError,
  429: TooManyRequestsError,
  503: UnavailableError,
};

/** @internal The error of the class that stands for the status. */
export function errorOf(refusal: ApiRefusal): ApiError {
  return new (errorClasses[refusal.status] ?? ApiError)(refusal);
}

/** The id and the type of a resource. */
export interface ResourceReference {
  readonly id: string;
  readonly type: string;
}

/** @internal Of ids. */
export const uuid = /^[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$/;

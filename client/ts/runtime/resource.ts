/** The id and the type of a resource. */
export interface ResourceReference {
  readonly id: string;
  readonly type: string;
}

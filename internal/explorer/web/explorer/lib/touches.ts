// Who wants to know that a resource was changed by anybody.

type Listener = (type: string, id: string) => void
const listeners = new Set<Listener>()

export const touches = {
  tell(type: string, id: string) {
    for (const each of listeners) each(type, id)
  },
  /** Returns a function that ends it. */
  listen(each: Listener): () => void {
    listeners.add(each)
    return () => void listeners.delete(each)
  },
}

/** The order of requests for the same thing: a response may come after that of a later request, and is outdated then. */
export class Order {
  #sent = 0
  #taken = 0

  /** Notes a request. What is returned takes its response: false if that of a later one was taken before. */
  send(): () => boolean {
    const number = ++this.#sent
    return () => {
      if (number < this.#taken) return false
      this.#taken = number
      return true
    }
  }
}

/** The order of requests for the same thing: a response may come after that of a later request, and is late then. */
export class Order {
  #sent = 0
  #taken = 0

  /** Notes a request. Only responses are taken, not errors: what an earlier request brings is better than nothing. */
  send() {
    const number = ++this.#sent
    const isLate = () => number < this.#taken
    const take = () => {
      if (isLate()) return false
      this.#taken = number
      return true
    }
    return { take, isLate }
  }
}

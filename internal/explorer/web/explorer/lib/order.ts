import { mayPass } from './api'

/** The order of requests for the same thing: a response may come after that of a later request, and is late then. */
export class Order {
  #sent = 0
  #taken = 0

  /** Notes a request. */
  send() {
    const number = ++this.#sent
    const isLate = () => number < this.#taken
    /** Takes its response, unless it is late. */
    const take = () => {
      if (isLate()) return false
      this.#taken = number
      return true
    }
    /** Whether its error counts. One that may pass is not taken: what an earlier request brings is better than nothing. */
    const fails = (error: unknown) => (mayPass(error) ? !isLate() : take())
    return { take, fails }
  }
}

// The current time, for texts such as "3 minutes ago": one timer, which runs as long as anything shows such a text.

import { createSubscriber } from 'svelte/reactivity'

const subscribe = createSubscriber((update) => {
  const timer = setInterval(update, 1000)
  return () => clearInterval(timer)
})

export const clock = {
  get now(): number {
    subscribe()
    return Date.now()
  },
}

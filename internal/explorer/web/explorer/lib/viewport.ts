// The visible part of a list of any length.
//
// A browser cannot make an element as high as a million rows would need (about 33 million
// pixels is the end in Chromium, and half of it in Firefox), so beyond MAX_HEIGHT the scrollbar stands for more than its own
// pixels. A small step of it still moves the rows by as many pixels, so that wheels and
// fingers feel the same; a large one moves it in proportion.

export const MAX_HEIGHT = 3_000_000

export interface Geometry {
  rows: number
  rowHeight: number
  height: number // of the window
}

export interface Place {
  scroll: number // of the scrollbar
  top: number // the pixel of the whole list that is at the top of the window
}

const whole = (g: Geometry) => g.rows * g.rowHeight
export const canvasHeight = (g: Geometry) => Math.min(whole(g), MAX_HEIGHT)
const lastScroll = (g: Geometry) => Math.max(0, canvasHeight(g) - g.height)
const lastTop = (g: Geometry) => Math.max(0, whole(g) - g.height)
const between = (low: number, value: number, high: number) => Math.min(Math.max(low, value), high)

/** The place for a pixel of the whole list. */
export function placeAt(g: Geometry, top: number): Place {
  top = between(0, top, lastTop(g))
  return { top, scroll: lastTop(g) === 0 ? 0 : Math.round((top / lastTop(g)) * lastScroll(g)) }
}

/** The place after the scrollbar has moved. */
export function scrolled(g: Geometry, from: Place, scroll: number): Place {
  if (whole(g) <= MAX_HEIGHT) return { scroll, top: between(0, scroll, lastTop(g)) }
  const step = scroll - from.scroll
  if (scroll <= 0) return { scroll, top: 0 }
  if (scroll >= lastScroll(g) - 1) return { scroll, top: lastTop(g) }
  const top = Math.abs(step) <= 2 * g.height ? from.top + step : (scroll / lastScroll(g)) * lastTop(g)
  return { scroll, top: between(0, top, lastTop(g)) }
}

/** Where the scrollbar should be when it has come to rest: small steps leave it behind. */
export const settled = (g: Geometry, at: Place) => placeAt(g, at.top)

/** The rows of the window, and some beyond it: [first, last). */
export function visible(g: Geometry, at: Place, beyond = 0): [number, number] {
  const first = Math.floor(at.top / g.rowHeight) - beyond
  const last = Math.ceil((at.top + g.height) / g.rowHeight) + beyond
  return [between(0, first, g.rows), between(0, last, g.rows)]
}

/** How far a row's own place is from where it is drawn; the same for all, and during small steps. */
export const shift = (at: Place) => at.scroll - at.top

/** The place in which a row is seen, moved as little as possible. */
export function reveal(g: Geometry, at: Place, row: number): Place {
  const top = row * g.rowHeight
  if (top < at.top) return placeAt(g, top)
  if (top + g.rowHeight > at.top + g.height) return placeAt(g, top + g.rowHeight - g.height)
  return at
}

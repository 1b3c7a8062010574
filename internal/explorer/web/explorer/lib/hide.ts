// What is shown for a moment, and hidden by a timer.

declare global {
  /** How many times longer everything is shown. The browser tests set it: a busy machine may be slower than the timer. */
  var shownLonger: number | undefined
}

/** Hides something after it was shown for some milliseconds. */
export function hideAfter(milliseconds: number, hide: () => void) {
  setTimeout(hide, milliseconds * (globalThis.shownLonger ?? 1))
}

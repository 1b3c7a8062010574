// Whether single-key shortcuts are on. Speech input sends letters that were not typed, so it
// must be possible to turn them off (WCAG 2.1.4).

const KEY = 'plural.shortcuts'
let on = $state(localStorage.getItem(KEY) !== 'off')

export const shortcuts = {
  get on() {
    return on
  },
  set on(value) {
    on = value
    localStorage.setItem(KEY, value ? 'on' : 'off')
  },
}

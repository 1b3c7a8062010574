// Points in time as people read them: in local time, with UTC in the title; and relative ones in filters.

const pad = (n: number) => String(n).padStart(2, '0')
const day = (d: Date) => `${d.getFullYear()}-${pad(d.getMonth() + 1)}-${pad(d.getDate())}`

/** A date-time in local time, to the second. */
export function moment(text: string): string {
  const d = new Date(text)
  return Number.isNaN(d.getTime()) ? text : `${day(d)} ${pad(d.getHours())}:${pad(d.getMinutes())}:${pad(d.getSeconds())}`
}

/** The same with the time zone, for where there is room. */
export function fullMoment(text: string): string {
  const d = new Date(text)
  return Number.isNaN(d.getTime()) ? text : `${moment(text)} ${zone(d)}`
}

/** The offset of the local time zone, as UTC+02:00. */
function zone(d: Date): string {
  const minutes = -d.getTimezoneOffset()
  const hours = Math.abs(minutes)
  return minutes === 0 ? 'UTC' : `UTC${minutes < 0 ? '-' : '+'}${pad(Math.floor(hours / 60))}:${pad(hours % 60)}`
}

const STEPS: [number, Intl.RelativeTimeFormatUnit][] = [
  [60, 'second'],
  [60, 'minute'],
  [24, 'hour'],
  [30, 'day'],
  [12, 'month'],
  [Infinity, 'year'],
]
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })

/** How long ago, such as "3 minutes ago". */
export function ago(text: string, now: number): string {
  let n = Math.round((new Date(text).getTime() - now) / 1000)
  for (const [size, unit] of STEPS) {
    if (Math.abs(n) < size) return relative.format(n, unit)
    n = Math.round(n / size)
  }
  return text
}

/** The value of <input type="datetime-local"> for a date-time, and back. */
export function toLocalInput(text: string): string {
  const d = new Date(text)
  if (Number.isNaN(d.getTime())) return ''
  const seconds = d.getSeconds() || d.getMilliseconds() ? `:${pad(d.getSeconds())}` : ''
  const fraction = d.getMilliseconds() ? `.${String(d.getMilliseconds()).padStart(3, '0')}` : ''
  return `${day(d)}T${pad(d.getHours())}:${pad(d.getMinutes())}${seconds}${fraction}`
}
/** A date-time in local time, as short as it can be written. */
export const localTime = (text: string) => toLocalInput(text).replace('T', ' ') || text

export function fromLocalInput(text: string): string {
  const d = new Date(text)
  return Number.isNaN(d.getTime()) ? text : d.toISOString()
}

// A relative date in a filter: -7d is seven days ago. The server knows only absolute ones, so
// the request has the date that it stands for when the list is loaded.
const RELATIVE = /^-(\d{1,4})([hdwmy])$/
export const UNITS: Record<string, string> = { h: 'hour', d: 'day', w: 'week', m: 'month', y: 'year' }

export const isRelative = (value: string) => RELATIVE.test(value)

/** "last 7 days" */
export function relativeWords(value: string): string {
  const [, n = '', unit = ''] = RELATIVE.exec(value) ?? []
  return n === '1' ? `last ${UNITS[unit]}` : `last ${n} ${UNITS[unit]}s`
}

/** The date or date-time that a relative one stands for; others are as they are. */
export function resolveTime(value: string, format: string | undefined, now = new Date()): string {
  const match = RELATIVE.exec(value)
  if (!match || !format?.startsWith('date')) return value
  const n = Number(match[1])
  const d = new Date(now)
  if (match[2] === 'h') d.setHours(d.getHours() - n)
  else if (match[2] === 'd') d.setDate(d.getDate() - n)
  else if (match[2] === 'w') d.setDate(d.getDate() - 7 * n)
  else if (match[2] === 'm') d.setMonth(d.getMonth() - n)
  else d.setFullYear(d.getFullYear() - n)
  return format === 'date' ? day(d) : d.toISOString()
}

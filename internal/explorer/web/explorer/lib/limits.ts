// The constraints of an attribute in words.

import { count, type Attribute } from './schema'

/** Such as "3 to 40 characters", "at least 0"; empty if there are none. */
export function limitsOf(a: Attribute): string {
  return [range(a.minLength, a.maxLength, 'characters'), range(a.minItems, a.maxItems, 'items'), range(a.minimum, a.maximum, ''), a.pattern && `matches ${a.pattern}`, a.write_once && 'cannot be changed later']
    .filter(Boolean)
    .join(', ')
}

function range(low: number | undefined, high: number | undefined, unit: string): string {
  const say = (text: string) => `${text} ${unit}`.trim()
  if (low !== undefined && high !== undefined) return say(low === high ? `exactly ${count(low)}` : `${count(low)} to ${count(high)}`)
  if (low !== undefined) return say(`at least ${count(low)}`)
  return high === undefined ? '' : say(`at most ${count(high)}`)
}

/** What an attribute holds, in a word or two. */
export const kindOf = (a: Attribute): string => (a.references ? `→ ${a.references}` : a.type === 'array' && a.items?.type ? `array of ${a.items.type}s` : (a.format ?? (a.contentMediaType === 'text/markdown' ? 'Markdown' : a.type)))

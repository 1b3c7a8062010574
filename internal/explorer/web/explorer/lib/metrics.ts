// Metrics in the format of Prometheus, as far as the explorer shows them.

export interface Sample {
  name: string
  labels: Record<string, string>
  value: number
}

export function readMetrics(text: string): Sample[] {
  return text.split('\n').flatMap((line) => {
    const match = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)/.exec(line)
    if (!match) return []
    const labels = Object.fromEntries([...(match[2] ?? '').matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, name, value]) => [name!, value!]))
    return [{ name: match[1]!, labels, value: Number(match[3]) }]
  })
}

export const sumOf = (samples: Sample[], name: string, only: (labels: Sample['labels']) => boolean = () => true): number =>
  samples.filter((each) => each.name === name && only(each.labels)).reduce((sum, { value }) => sum + value, 0)

/** A quantile of a histogram between two readings, in the unit of its buckets; null without any. */
export function quantile(before: Sample[], now: Sample[], name: string, q: number): number | null {
  const buckets = new Map<number, number>()
  for (const [samples, sign] of [[now, 1], [before, -1]] as const)
    for (const { name: of, labels, value } of samples)
      if (of === `${name}_bucket`) {
        const bound = labels.le === '+Inf' ? Infinity : Number(labels.le)
        buckets.set(bound, (buckets.get(bound) ?? 0) + sign * value)
      }
  const all = [...buckets].sort(([a], [b]) => a - b)
  const total = all[all.length - 1]?.[1] ?? 0
  if (!total) return null
  return all.find(([, count]) => count >= q * total)?.[0] ?? null
}

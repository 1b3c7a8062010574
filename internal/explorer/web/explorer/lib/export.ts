// A list as a file. The response is converted while it arrives, so it can have any length.

import { Refused, Unreachable } from './api'
import { root, session, version } from './app.svelte'
import { Elements, writerOf, type Format } from './formats'
import type { Field } from './schema'

interface Sink {
  write(text: string): Promise<void>
  close(): Promise<void>
}

type Saving = { showSaveFilePicker?: (options: { suggestedName: string }) => Promise<{ createWritable(): Promise<Sink> }> }

/** Where the file goes: to disk at once where the browser can, else to memory and then to the downloads. */
export async function sinkFor(name: string): Promise<Sink> {
  const picker = (window as Saving).showSaveFilePicker
  if (picker) return (await picker({ suggestedName: name })).createWritable()
  const parts: string[] = []
  return {
    async write(text) {
      parts.push(text)
    },
    async close() {
      const link = document.createElement('a')
      link.href = URL.createObjectURL(new Blob(parts))
      link.download = name
      link.click()
      setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
    },
  }
}

/** The requests for all rows of a list: one, unless the server limits a range. */
export function rangesOf(address: string, total: number, size: number): string[] {
  const mark = address.includes('?') ? '&' : '?'
  return Array.from({ length: Math.max(1, Math.ceil(total / size)) }, (_, i) => `${address}${mark}${i ? `offset=${i * size}&` : ''}limit=${size}`)
}

/** The requests for some resources. Their ids are in the address, which proxies limit. */
export function rangesOfIds(path: string, ids: string[], size = 150): string[] {
  return Array.from({ length: Math.ceil(ids.length / size) }, (_, i) => ids.slice(i * size, (i + 1) * size)).map((some) => `${path}?filter[id][in]=${some.join(',')}&limit=${some.length}`)
}

/** Writes the resources of some requests to one file. Tells how many are written. */
export async function exportTo(sink: Sink, paths: string[], format: Format, fields: Field[], signal: AbortSignal, progress: (count: number) => void): Promise<number> {
  const writer = writerOf(format, fields)
  let total = 0
  await sink.write(writer.start)
  for (const path of paths) {
    const elements = new Elements()
    const reader = (await open(path, signal)).pipeThrough(new TextDecoderStream()).getReader()
    for (;;) {
      const { value, done } = await reader.read()
      if (done) break
      const text = elements.push(value).map((element) => writer.each(element, total++)).join('')
      if (text) await sink.write(text)
      progress(total)
    }
  }
  await sink.write(writer.end)
  await sink.close()
  return total
}

async function open(path: string, signal: AbortSignal): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
  const response = await fetch(root + path, {
    headers: { Accept: 'application/json', ...version, ...(session.credential && { Authorization: `Bearer ${session.credential}` }) },
    signal,
    cache: 'no-store',
  }).catch((error) => {
    throw signal.aborted ? error : new Unreachable()
  })
  if (!response.ok) throw new Refused(response.status, ((await response.json()) as { errors: [] }).errors, response.headers)
  return response.body!
}

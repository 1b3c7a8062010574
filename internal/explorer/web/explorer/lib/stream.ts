// An event stream (text/event-stream) read by fetch, as EventSource cannot send credentials.

export interface StreamEvent {
  event: string
  id: string | null
  data: string
}

/** Splits the text of a stream into events. Comments are skipped. */
export class EventParser {
  private rest = ''
  private lines: string[] = []

  push(text: string): StreamEvent[] {
    const events: StreamEvent[] = []
    const lines = (this.rest + text).split(/\r\n|\n|\r(?!$)/)
    this.rest = lines.pop()!
    for (const line of lines) {
      if (line !== '') {
        this.lines.push(line)
        continue
      }
      const event = this.read()
      if (event) events.push(event)
    }
    return events
  }

  private read(): StreamEvent | null {
    const event: StreamEvent = { event: 'message', id: null, data: '' }
    const data: string[] = []
    for (const line of this.lines) {
      const [, name, value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? []
      if (name === 'event') event.event = value
      else if (name === 'id') event.id = value
      else if (name === 'data') data.push(value)
    }
    this.lines = []
    event.data = data.join('\n')
    return data.length ? event : null
  }
}

export class StreamRefused extends Error {
  constructor(readonly status: number) {
    super(`The stream was refused with ${status}.`)
  }
}

/** Reads a stream until it ends, is refused or is aborted. */
export async function readStream(url: string, version: Record<string, string>, credential: string | null, signal: AbortSignal, opened: () => void, heard: () => void, each: (event: StreamEvent) => void) {
  const response = await fetch(url, {
    headers: { Accept: 'text/event-stream', ...version, ...(credential && { Authorization: `Bearer ${credential}` }) },
    signal,
    cache: 'no-store',
    credentials: 'same-origin',
  })
  if (!response.ok || !response.headers.get('Content-Type')?.startsWith('text/event-stream')) throw new StreamRefused(response.status)
  opened()
  heard()
  const parser = new EventParser()
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  for (;;) {
    const { value, done } = await reader.read()
    if (done) return
    heard()
    for (const event of parser.push(value)) each(event)
  }
}

/** The position of a list in the change log, from its Link header. */
export function positionOf(headers: Headers): string | null {
  const link = /<[^>]*[?&]since=([^&>]+)[^>]*>; rel="changes"/.exec(headers.get('Link') ?? '')
  return link ? decodeURIComponent(link[1]!) : null
}

// Issues of people in projects, the same every time.

import { join } from 'node:path'
import { serve } from './harness.mjs'

export const schema = join(import.meta.dirname, 'workbench.schema.yaml')

/** Starts a server with `issues` issues, which belong to three people and two projects. */
export async function workbench(issues = 40, options = {}) {
  const server = await serve({ schema, ...options })
  const people = await server.ask('POST', '/people', ['Ada Lovelace', 'Grace Hopper', 'Édith Piaf'].map((name, i) => ({ name, email: `p${i}@example.com` })))
  const projects = await server.ask('POST', '/projects', [{ title: 'Engine' }, { title: 'Compiler' }])
  const made = await server.ask(
    'POST',
    '/issues',
    Array.from({ length: issues }, (_, i) => ({
      title: `Issue ${i + 1}`,
      state: ['open', 'doing', 'closed'][i % 3],
      priority: i % 6,
      tags: i % 4 ? ['ui', 'bug'].slice(0, i % 3) : null,
      due_on: `2026-11-${String((i % 28) + 1).padStart(2, '0')}`,
      seen_at: i % 2 ? '2026-11-15T09:30:00Z' : null,
      assignee_id: i % 5 === 4 ? null : people[i % 2].id,
      reporter_id: people[2].id,
      project_id: projects[i % 2].id,
    })),
  )
  return Object.assign(server, { people, projects, issues: made })
}

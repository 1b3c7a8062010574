// The reference: Swagger UI on the document of this server.

import SwaggerUIBundle from 'swagger-ui-dist/swagger-ui-es-bundle.js'
import 'swagger-ui-dist/swagger-ui.css'
import { forTrying } from './document'
import { unfoldFilters } from './filters'
import './style.css'

interface Sent {
  headers: Record<string, string>
}

const place = document.getElementById('reference')!

const dark = matchMedia('(prefers-color-scheme: dark)')
function followTheme() {
  const chosen = localStorage.getItem('plural.theme') // in the explorer
  document.documentElement.classList.toggle('dark-mode', chosen === 'dark' || (chosen !== 'light' && dark.matches))
}
followTheme()
dark.addEventListener('change', followTheme)

/** Uses the credential of the explorer in this tab, unless the user entered another one. */
function signed(request: Sent): Sent {
  const credential = sessionStorage.getItem('plural.credential')
  if (credential && !request.headers.Authorization) request.headers.Authorization = `Bearer ${credential}`
  return request
}

/** What is sent for a form. */
function tried(request: Sent & { url: string }): Sent {
  request.url = unfoldFilters(request.url)
  return signed(request)
}

async function show() {
  const response = await fetch(new URL('../openapi.json', document.baseURI), signed({ headers: { Accept: 'application/json' } }))
  if (!response.ok) throw new Error(`The server answered with ${response.status}.`)
  SwaggerUIBundle({
    spec: forTrying(await response.json()),
    domNode: place,
    deepLinking: true,
    displayRequestDuration: true,
    docExpansion: 'list',
    defaultModelsExpandDepth: 0,
    filter: true,
    tryItOutEnabled: true,
    syntaxHighlight: { activated: false }, // it takes longer than the request
    validatorUrl: null, // nothing is sent to anybody else
    requestInterceptor: tried,
  })
}

show().catch((error: Error) => {
  place.textContent = `The document cannot be read. ${error.message}`
})

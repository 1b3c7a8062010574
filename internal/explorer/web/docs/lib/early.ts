// The first request for the document. It is sent before the application is loaded, so this imports nothing.

export const base = new URL('.', document.baseURI) // ends with /-/docs/

/** The version in the address, as a query; empty: the one that the server chooses. */
export const version = /^\?version=\d+$/.exec(location.search)?.[0] ?? ''
export const documentURL = new URL('../openapi.json', base).pathname + version

export const KEY = 'plural.credential' // of the explorer too
export const keptCredential = () => sessionStorage.getItem(KEY) ?? localStorage.getItem(KEY)

export const askForDocument = (credential: string | null) =>
  fetch(documentURL, { headers: { Accept: 'application/json', ...(credential && { Authorization: `Bearer ${credential}` }) } })

let first: Promise<Response> | null = askForDocument(keptCredential())
first.catch(() => {}) // whoever takes it handles it

/** The first request, once: what is loaded later is asked for again. */
export function takeFirst() {
  const taken = first
  first = null
  return taken
}

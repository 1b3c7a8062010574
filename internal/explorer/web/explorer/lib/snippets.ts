// The requests of the page as commands and programs, to copy. They can be run as they are;
// a credential is never in them.

export interface Sent {
  method: string
  url: string
  headers: Record<string, string>
  body: string | null
  signedIn: boolean
}

export const LANGUAGES = ['curl', 'Go', 'TypeScript'] as const
export type Language = (typeof LANGUAGES)[number]

export function snippet(language: Language, request: Sent): string {
  return { curl, Go: go, TypeScript: typescript }[language](request)
}

const shell = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

function curl(r: Sent): string {
  const words = ['curl']
  if (r.url.includes('[')) words.push('-g')
  if (r.method !== 'GET' && !(r.method === 'POST' && r.body !== null)) words.push(r.method === 'HEAD' ? '-I' : `-X ${r.method}`)
  words.push(shell(r.url))
  const lines = [words.join(' ')]
  if (r.signedIn) lines.push('-H "Authorization: Bearer $PLURAL_KEY"')
  for (const [name, value] of Object.entries(r.headers)) lines.push(`-H ${shell(`${name}: ${value}`)}`)
  if (r.body !== null) lines.push(`-d ${shell(r.body)}`)
  return lines.join(' \\\n  ')
}

const quoted = (text: string) => JSON.stringify(text)
const raw = (text: string) => (text.includes('`') ? quoted(text) : `\`${text}\``)

function go(r: Sent): string {
  const imports = ['fmt', 'io', 'log', 'net/http', ...(r.signedIn ? ['os'] : []), ...(r.body === null ? [] : ['strings'])]
  const headers = Object.entries(r.headers).map(([name, value]) => `	request.Header.Set(${quoted(name)}, ${quoted(value)})`)
  if (r.signedIn) headers.unshift('	request.Header.Set("Authorization", "Bearer "+os.Getenv("PLURAL_KEY"))')
  return `package main

import (
${imports.map((name) => `	"${name}"`).join('\n')}
)

func main() {
	request, err := http.NewRequest(${quoted(r.method)}, ${quoted(r.url)}, ${r.body === null ? 'nil' : `strings.NewReader(${raw(r.body)})`})
	if err != nil {
		log.Fatal(err)
	}
${headers.map((line) => `${line}\n`).join('')}	response, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(response.Status, string(body))
}
`
}

function typescript(r: Sent): string {
  const headers = Object.entries(r.headers).map(([name, value]) => `    ${quoted(name)}: ${quoted(value)},`)
  if (r.signedIn) headers.unshift('    Authorization: `Bearer ${process.env.PLURAL_KEY}`,')
  const options = [
    ...(r.method === 'GET' ? [] : [`  method: ${quoted(r.method)},`]),
    ...(headers.length ? ['  headers: {', ...headers, '  },'] : []),
    ...(r.body === null ? [] : [`  body: ${quoted(r.body)},`]),
  ]
  const call = options.length ? `fetch(${quoted(r.url)}, {\n${options.join('\n')}\n})` : `fetch(${quoted(r.url)})`
  return `const response = await ${call}
const { data, errors } = await response.json()
if (errors) throw new Error(errors[0].detail)
console.log(data)
`
}

// Data that looks like data, the same every time.

const FIRST = ['Ada', 'Grace', 'Alan', 'Edsger', 'Barbara', 'Ken', 'Margaret', 'Donald', 'Radia', 'Tony', 'Frances', 'Niklaus', 'Hedy', 'Leslie', 'Karen', 'John', 'Sophie', 'Dennis', 'Shafi', 'Robin']
const LAST = ['Lovelace', 'Hopper', 'Turing', 'Dijkstra', 'Liskov', 'Thompson', 'Hamilton', 'Knuth', 'Perlman', 'Hoare', 'Allen', 'Wirth', 'Lamarr', 'Lamport', 'Jones', 'Backus', 'Wilson', 'Ritchie', 'Goldwasser', 'Milner']
const COUNTRIES = ['Austria', 'Denmark', 'France', 'Germany', 'Italy', 'Spain']
const CITIES = ['Vienna', 'Aarhus', 'Lyon', 'Bremen', 'Turin', 'Sevilla']

export function customer(i) {
  const [first, last] = [FIRST[i % 20], LAST[(i * 7 + Math.floor(i / 20)) % 20]]
  const place = (i * 5) % 6
  return {
    name: `${first} ${last}`,
    email: `${first}.${last}.${i}@example.com`.toLowerCase(),
    country: i % 11 === 5 ? null : COUNTRIES[place],
    active: i % 4 !== 3,
    credit: i % 7 === 2 ? null : ((i * 7919) % 500) * 100,
    address: i % 3 === 1 ? null : { street: `${(i * 13) % 90 + 1} Market Street`, city: CITIES[place] },
  }
}

/** Customers, products, and orders of some customers. */
export async function seed({ ask }, customers = 240) {
  const made = await ask('POST', '/customers', Array.from({ length: customers }, (_, i) => customer(i)))
  // As text, as JavaScript cannot hold the first serial number.
  const products = await ask(
    'POST',
    '/products',
    `[{"name":"Desk lamp","price":49.9,"serial":9007199254740993,"tags":["light","desk"]},
      {"name":"Bookshelf","price":189,"serial":2,"tags":["oak"]},
      {"name":"Armchair","price":420,"serial":3,"tags":[]}]`,
  )
  for (const [i, each] of made.slice(0, 3).entries())
    await ask(
      'POST',
      `/customers/${each.id}/orders`,
      Array.from({ length: 4 - i }, (_, n) => ({
        number: `2026-${String(100 + i * 10 + n)}`,
        status: ['draft', 'paid', 'shipped'][n % 3],
        amount: 49.9 * (n + 1),
        placed_on: `2026-1${n % 2}-0${n + 1}`,
        product_id: products[n % 3].id,
      })),
    )
  return { customers: made, products }
}

/** Many readings, a thousand at a time. */
export async function seedReadings({ ask }, count) {
  const start = Date.UTC(2026, 0, 1)
  for (let from = 0; from < count; from += 1000)
    await ask(
      'POST',
      '/readings',
      Array.from({ length: 1000 }, (_, i) => ({
        sensor: `s${(from + i) % 40}`,
        value: Math.round(Math.sin((from + i) / 50) * 10000) / 100,
        at: new Date(start + (from + i) * 60000).toISOString(),
      })),
    )
}

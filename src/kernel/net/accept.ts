// Tells a person at a browser, who gets pages, from a program, which gets JSON.

/** Does the sender show a page to a person: a browser that navigates, or one that names HTML before anything else? */
export function prefersHtml({ headers }: Request): boolean {
  if (headers.get('Sec-Fetch-Mode') === 'navigate') return true
  const [first] = (headers.get('Accept') ?? '')
    .toLowerCase()
    .split(',')
    .map((part) => part.trim().split(/\s*;\s*/))
    .map(([type, ...parameters]) => ({ type: type!, quality: qualityIn(parameters) }))
    .filter(({ type, quality }) => compared.has(type) && quality > 0)
    .sort((a, b) => b.quality - a.quality)
  return first?.type === 'text/html'
}

const compared: ReadonlySet<string> = new Set(['text/html', 'application/json', 'application/*', '*/*'])

/** RFC 9110, 12.4.2: 1 where none is given. */
function qualityIn(parameters: readonly string[]): number {
  const given = parameters.find((parameter) => parameter.startsWith('q='))
  return given === undefined ? 1 : Number(given.slice(2)) || 0
}

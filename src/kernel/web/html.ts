// Text is escaped unless it is already Html. There is no other way to make markup.
export class Html {
  constructor(readonly text: string) {}
  toString() {
    return this.text
  }
}

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
const escaped = (text: string) => (/[&<>"']/.test(text) ? text.replace(/[&<>"']/g, (c) => escapes[c]!) : text)

/** What may stand in a template: text and numbers are escaped, lists are joined, false, null and undefined are nothing. */
export type Content = Html | string | number | bigint | boolean | null | undefined | readonly Content[]

function put(value: Content): string {
  if (value instanceof Html) return value.text
  if (Array.isArray(value)) return value.map(put).join('')
  return value === null || value === undefined || value === false || value === true ? '' : escaped(String(value))
}

/** `html`<p>${name}</p>``. Attribute values must be quoted in the template. */
export const html = (strings: TemplateStringsArray, ...values: Content[]) =>
  new Html(strings.reduce((all, s, i) => all + put(values[i - 1]) + s))

/** An href that can only lead to the web or to this site; anything else (`javascript:`, `data:`) leads nowhere. */
export const href = (url: string) => (/^(https?:\/\/|\/(?!\/)|#|\?)/.test(url) ? url : '#')

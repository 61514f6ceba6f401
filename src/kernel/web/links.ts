// For views that still write links in `html` templates: links that would end in a refusal are taken out of the rendered body. JSX views
// use `Link`, which decides before it draws; this file goes with the last template.

/** Links do not stand inside links, and text from people holds no bare `<`. */
const links = /<a\b([^>]*)\bhref="(\/[^"]*)"([^>]*)>(.*?)<\/a>/gs

/** Where links lead; quicker to find than whole links. */
const hrefs = /<a\b[^>]*\bhref="(\/[^"]*)"/g

/** The same markup without links for which `leads` is false: a button goes, the words of any other link stay. */
export function onlyLeading(body: string, leads: (href: string) => boolean): string {
  if (body.matchAll(hrefs).every(([, href]) => leads(href!))) return body
  return body.replace(links, (whole, before: string, href: string, after: string, words: string) => {
    if (leads(href)) return whole
    const attributes = before + after
    if (/\bclass="[^"]*\bbtn\b/.test(attributes)) return ''
    return `<span${(attributes.match(/ (class|title)="[^"]*"/g) ?? []).join('')}>${words}</span>`
  })
}

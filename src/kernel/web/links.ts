// No link leads where its reader may not go. Views draw a link wherever there is something behind it; here those that would end in a
// refusal are taken out of the finished page: a button goes, and of any other link the words stay.
import { Html } from './html.ts'

/** Links do not stand inside links, and text from people holds no bare `<`. */
const links = /<a\b([^>]*)\bhref="(\/[^"]*)"([^>]*)>(.*?)<\/a>/gs

export const onlyLeading = (body: Html, leads: (href: string) => boolean): Html =>
  new Html(
    body.text.replace(links, (whole, before: string, href: string, after: string, words: string) => {
      if (leads(href)) return whole
      const attributes = before + after
      if (/\bclass="[^"]*\bbtn\b/.test(attributes)) return ''
      return `<span${(attributes.match(/ (class|title)="[^"]*"/g) ?? []).join('')}>${words}</span>`
    }),
  )

// The documents of docs/ as the controller serves them: as HTML, with links between them, and searched by words.
import { brotliDecompressSync } from 'node:zlib'
import type { AccountKind } from '../../kernel/api/access.ts'
import { contents, type DocumentEntry } from './contents.ts'
import { documentFiles } from './files.ts' with { type: 'macro' }

export const DOCUMENTS_ROOT = '/docs'
const compressed: Readonly<Record<string, string>> = documentFiles()

export const documentNames = (): string[] => Object.keys(compressed)
export const documentsFor = (kind: AccountKind): readonly DocumentEntry[] =>
  contents.filter(({ kinds }) => kinds.includes(kind))

/** The document as Markdown. */
const sourceOf = (name: string): string => brotliDecompressSync(Buffer.from(compressed[name]!, 'base64')).toString()

/** A heading of the second level, as a link on the page leads to it. */
export type Heading = { id: string; title: string }
export type ShownDocument = { title: string; html: string; headings: readonly Heading[] }

/** `imageAt`: the address of a picture of docs/ by its file name; undefined for one that is not served. */
export function shownDocument(name: string, imageAt: (file: string) => string | undefined): ShownDocument {
  const html = Bun.markdown.html(sourceOf(name), { headings: { ids: true } })
  const title = plain(/<h1[^>]*>(.*?)<\/h1>/s.exec(html)?.[1] ?? name)
  const headings = [...html.matchAll(/<h2 id="([^"]*)">(.*?)<\/h2>/gs)].map(([, id, text]) => ({
    id: id!,
    title: plain(text!),
  }))
  return { title, html: forPage(html, imageAt), headings }
}

/** Links lead to other documents of the site, and tables and blocks of code scroll by themselves, by keyboard too. */
const forPage = (html: string, imageAt: (file: string) => string | undefined): string =>
  html
    .replace(/<h1[^>]*>.*?<\/h1>\n?/s, '')
    .replaceAll(
      / href="([\w-]+)\.md(#[^"]*)?"/g,
      (_, name, anchor = '') => ` href="${DOCUMENTS_ROOT}/${name}${anchor}"`,
    )
    // Files of the repository are not served.
    .replaceAll(/<a href="(?!https?:|mailto:|#|\/docs\/)[^"]*">(.*?)<\/a>/gs, '$1')
    .replaceAll(/<img src="([^"]*)"/g, (_, file) => `<img loading="lazy" src="${imageAt(file) ?? ''}"`)
    .replaceAll('<table>', '<div class="frame" tabindex="0"><table class="t">')
    .replaceAll(/<thead>\s*<tr>(?:<th><\/th>)+<\/tr>\s*<\/thead>\s*/g, '')
    .replaceAll('<th></th>', '<td></td>')
    .replaceAll('</table>', '</table></div>')
    .replaceAll('<pre>', '<pre tabindex="0">')

/** The text of markup, for a place where it is text. */
const plain = (html: string): string =>
  html
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&')

/** A section that has every word of a question. `anchor` is empty for what stands before the first heading. */
export type DocumentHit = { name: string; title: string; section: string; anchor: string; excerpt: string }
const MOST_HITS = 30
const EXCERPT_LENGTH = 160

/** Sections in whose heading the words stand come first, then those that have the words side by side. */
export function searchDocuments(documents: readonly DocumentEntry[], question: string): DocumentHit[] {
  const words = question.toLowerCase().split(/\s+/).filter(Boolean)
  if (!words.length) return []
  const hits = documents.flatMap(({ name, title }) =>
    sectionsOf(name).flatMap(({ section, anchor, text }) => {
      const whole = `${title} ${section} ${text}`.toLowerCase()
      if (!words.every((word) => whole.includes(word))) return []
      const isInHeading = words.every((word) => `${title} ${section}`.toLowerCase().includes(word))
      const phrase = words.join(' ')
      const isPhrase = text.toLowerCase().includes(phrase)
      const excerpt = excerptOf(text, isPhrase ? phrase : words[0]!)
      return [{ hit: { name, title, section, anchor, excerpt }, rank: isInHeading ? 2 : isPhrase ? 1 : 0 }]
    }),
  )
  return hits
    .toSorted((a, b) => b.rank - a.rank)
    .slice(0, MOST_HITS)
    .map(({ hit }) => hit)
}

function sectionsOf(name: string): { section: string; anchor: string; text: string }[] {
  const html = Bun.markdown.html(sourceOf(name), { headings: { ids: true } })
  return html.split(/(?=<h[23] )/).map((part) => {
    const [heading = '', anchor = '', section = ''] = /^<h[23] id="([^"]*)">(.*?)<\/h[23]>/s.exec(part) ?? []
    return { section: plain(section), anchor, text: plain(part.slice(heading.length)).replaceAll(/\s+/g, ' ').trim() }
  })
}

function excerptOf(text: string, word: string): string {
  const at = Math.max(text.toLowerCase().indexOf(word), 0)
  const from = Math.max(0, at - EXCERPT_LENGTH / 3)
  const cut = text.slice(from, from + EXCERPT_LENGTH)
  return `${from ? '…' : ''}${cut}${from + EXCERPT_LENGTH < text.length ? '…' : ''}`
}

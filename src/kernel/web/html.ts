// Markup is Preact's: JSX in `.tsx` views, and the `html` template in views and mails that are not JSX. Both may hold each other.
import type { VNode } from 'preact'
import { jsxTemplate } from 'preact/jsx-runtime'
import { renderToString } from 'preact-render-to-string'

/** A piece of a page. Text in it is escaped when it is rendered; no text becomes markup by itself. */
export type Html = VNode<any>

/** What may stand in a template: text and numbers are escaped, lists are joined, booleans, null and undefined are nothing. */
export type Content = Html | string | number | bigint | boolean | null | undefined | readonly Content[]

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
const escaped = (text: string) => (/[&<>"']/.test(text) ? text.replace(/[&<>"']/g, (c) => escapes[c]!) : text)

/** Only Preact makes objects with this `constructor`: JSON and people's text cannot. */
const isNode = (value: object): value is Html => value.constructor === undefined

/** A list keeps its nodes; the renderer escapes the rest of it. Anything else is text. */
const slot = (value: Content): unknown =>
  value === null || value === undefined || typeof value === 'boolean'
    ? ''
    : typeof value === 'object' && (Array.isArray(value) || isNode(value as object))
      ? value
      : escaped(String(value))

/** `html`<p>${name}</p>``. Attribute values must be quoted in the template. */
export const html = (strings: TemplateStringsArray, ...values: Content[]): Html =>
  jsxTemplate(strings as unknown as string[], ...values.map(slot))

/** The text of a rendered page or part. Context that a parent would provide is missing here. */
export const rendered = (node: Html): string => renderToString(node)

/** Markup that is known to be ours: what `rendered` answered. */
export const markup = (text: string): Html => jsxTemplate([text])

/** An href that can only lead to the web or to this site; anything else (`javascript:`, `data:`) leads nowhere. */
export const href = (url: string) => (/^(https?:\/\/|\/(?!\/)|#|\?)/.test(url) ? url : '#')

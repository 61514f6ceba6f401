// Markup is Preact's: JSX in `.tsx` files, rendered to text on the server.
import type { VNode } from 'preact'
import { jsxTemplate } from 'preact/jsx-runtime'
import { renderToString } from 'preact-render-to-string'

/** A piece of a page. Text in it is escaped when it is rendered; no text becomes markup by itself. */
export type Html = VNode<any>

/** The text of a rendered page or part. Context that a parent would provide is missing here. */
export const rendered = (node: Html): string => renderToString(node)

/** Markup from text that our own code has rendered. The text is not escaped. */
export const markup = (text: string): Html => jsxTemplate([text])

/** An href that can only lead to the web or to this site; anything else (`javascript:`, `data:`) leads nowhere. */
export const href = (url: string) => (/^(https?:\/\/|\/(?!\/)|#|\?)/.test(url) ? url : '#')

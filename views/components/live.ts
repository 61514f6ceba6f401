// A part of a page that asks for itself again. It is morphed, so focus, open dialogs and what is being typed stay.
import { type Content, type Html, html } from '../../src/kernel/web/html.ts'
import type { At } from '../../src/kernel/web/page.ts'

export const here = (at: At) => {
  const query = new URLSearchParams(at.query).toString()
  return at.path + (query && `?${query}`)
}

/** `seconds` undefined: it has come to its end and does not ask again. */
export const live = (at: At, id: string, seconds: number | undefined, inner: Content, look = 'live'): Html =>
  html`<div id="${id}" class="${look}"${seconds !== undefined && html` hx-get="${here(at)}" hx-trigger="every ${seconds}s" hx-select="#${id}" hx-swap="outerMorph" hx-sync="drop"`}>${inner}</div>`

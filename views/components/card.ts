import { type Content, type Html, html } from '../../src/kernel/web/html.ts'
import { icon } from './icon.ts'

type Card = { id: string; title: string; count?: Content; actions?: Content; words?: Content }

/** What is inside brings its own padding: `inside`, or a table. */
export const card = ({ id, title, count, actions, words }: Card, inner: Content): Html => html`
  <section class="card" id="${id}" aria-labelledby="${id}-t"><header><div class="bar"><h2 id="${id}-t">${title}</h2>${count !== undefined && html`<span class="muted">${count}</span>`}</div>${actions && html`<div class="acts">${actions}</div>`}</header>${words && html`<p class="words">${words}</p>`}${inner}</section>`

export const inside = (inner: Content): Html => html`<div class="in">${inner}</div>`

/** Names and values. A value that is nothing leaves its name out. */
export const kv = (pairs: readonly (readonly [string, Content])[]): Html =>
  html`<dl class="kv">${pairs.map(([name, value]) => value !== null && value !== undefined && value !== false && value !== '' && html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`

/** One sentence, one button. */
export const empty = (words: Content, action?: Content): Html => html`<div class="empty"><p>${words}</p>${action}</div>`

export const notice = (level: 'bad' | 'warn' | 'info', inner: Content, action?: Content): Html => html`
  <div class="note ${level}">${icon(level === 'info' ? 'info' : 'bang')}<div>${inner}</div>${action}</div>`

/** Text with a button that copies it. */
export const copyable = (text: string, what: string): Html =>
  html`<span class="copyable"><code>${text}</code><button type="button" class="btn bare" data-copy="${text}" aria-label="Copy ${what}" title="Copy ${what}">${icon('copy')}</button></span>`

/** How full something is, said in words beside it. Amber from 75 %, red from 90 %. */
export const meter = (label: string, held: number, total: number, words: Content): Html => {
  const share = total > 0 ? Math.min(1, held / total) : 0
  return html`<div class="gauge"><span>${label}</span><span class="num">${words}</span><meter aria-label="${label}" min="0" max="1" low="0.75" high="0.9" optimum="0" value="${share.toFixed(3)}">${Math.round(share * 100)} %</meter></div>`
}

/** Figures in a row; each leads to what it counts. */
export const facts = (inner: Content): Html => html`<div class="facts">${inner}</div>`
export const fact = (href: string, n: number, words: string): Html =>
  html`<a href="${href}"><b>${n.toLocaleString('en')}</b><span>${words}</span></a>`

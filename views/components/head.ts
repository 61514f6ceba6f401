import { type Content, type Html, html } from '../../src/kernel/web/html.ts'

type Head = { title: Content; trail?: readonly [string, string][]; state?: Content; sub?: Content; actions?: Content }

/** The way here, what it is, and what can be done with it. */
export const head = ({ title, trail, state, sub, actions }: Head): Html => html`
  <div class="head">
    ${trail && html`<nav class="trail" aria-label="Breadcrumb"><ol role="list">${trail.map(([words, href]) => html`<li><a href="${href}">${words}</a></li>`)}<li aria-current="page">${title}</li></ol></nav>`}
    <div class="bar"><div class="bar"><h1>${title}</h1>${state}</div>${actions && html`<div class="acts">${actions}</div>`}</div>
    ${sub && html`<p class="muted">${sub}</p>`}
  </div>`

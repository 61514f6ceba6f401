import { h } from 'preact'
import { type Content, type Html, html } from '../../src/kernel/web/html.ts'
import { Meter, Stat, Stats } from '../components/figures.tsx'
import { Copyable, Empty, Facts, type Level, Note, Section } from '../components/section.tsx'

type Card = { id: string; title: string; count?: Content; actions?: Content; words?: Content }

/** What is inside brings its own padding: `inside`, or a table. */
export const card = (of: Card, inner: Content): Html => h(Section, { ...of, children: inner })
export const inside = (inner: Content): Html => html`<div class="in">${inner}</div>`
export const kv = (of: readonly (readonly [string, Content])[]): Html => h(Facts, { of })
export const empty = (words: Content, action?: Content): Html => h(Empty, { children: words, action })
export const notice = (level: Level, inner: Content, action?: Content): Html =>
  h(Note, { level, action, children: inner })
export const copyable = (text: string, what: string): Html => h(Copyable, { text, what })
export const meter = (label: string, value: number, total: number, words: Content): Html =>
  h(Meter, { label, value, total, words })
export const facts = (inner: Content): Html => h(Stats, { children: inner })
export const fact = (href: string, n: number, title: string): Html => h(Stat, { href, n, title })

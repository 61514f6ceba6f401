import { h } from 'preact'
import { type Content, type Html, html } from '../../src/kernel/web/html.ts'
import { Head } from '../components/head.tsx'

type Given = { title: Content; trail?: readonly [string, string][]; state?: Content; sub?: Content; actions?: Content }
export const head = ({ sub, ...of }: Given): Html => h(Head, { ...of, sub: sub && html`<p class="muted">${sub}</p>` })

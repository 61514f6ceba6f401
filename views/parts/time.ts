import { type Html, html } from '../../src/kernel/web/html.ts'

const units: [number, string][] = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1000, 's'],
]

export function span(ms: number): string {
  const [unit, word] = units.find(([u]) => ms >= u) ?? [1000, 's']
  return `${Math.max(0, Math.floor(ms / unit))} ${word}`
}

/** `21 Nov 2026, 14:03:22 UTC` */
export const absolute = (iso: string) =>
  `${new Date(iso).toLocaleString('en-GB', { day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit', second: '2-digit', timeZone: 'UTC' })} UTC`

const relative = (iso: string, now: number) => {
  const ms = now - Date.parse(iso)
  return Math.abs(ms) < 5000 ? 'just now' : ms < 0 ? `in ${span(-ms)}` : `${span(ms)} ago`
}

/** Relative, absolute on hover; public/panel/times.js keeps it going. */
export const time = (iso: string, { now }: { now: number }): Html =>
  html`<time datetime="${iso}" title="${absolute(iso)}" data-ago>${relative(iso, now)}</time>`

/** For a list of moments within a day or so, e.g. a log. */
export const clock = (iso: string) => html`<time datetime="${iso}" title="${absolute(iso)}">${iso.slice(11, 19)}</time>`

export function howLong(from: string, to: string | null, now: number): string {
  const ms = (to ? Date.parse(to) : now) - Date.parse(from)
  return ms < 1000 ? 'less than 1 s' : span(ms)
}

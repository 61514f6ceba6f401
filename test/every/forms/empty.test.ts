// A form that is sent empty says at once everything that is missing: nobody mends one field to learn of the next. Every
// form of every page that somebody can open is sent.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Everything, everything } from '../../support/world/everything.ts'
import type { Who } from '../../support/world/panel.ts'

let p: Everything
beforeAll(async () => void (p = await everything()), 60_000)
afterAll(() => p.close())

type Form = { op: string; method: string; path: string; body: Record<string, unknown>; required: string[] }
type Attributes = Record<string, string>
const attributesOf = (tag: string): Attributes =>
  Object.fromEntries(
    [...tag.matchAll(/([\w-]+)(?:="([^"]*)")?/g)].map(([, name, value = '']) => [
      name,
      value.replaceAll('&quot;', '"').replaceAll('&amp;', '&'),
    ]),
  )
function put(body: any, name: string, value: unknown) {
  const path = name.split('.')
  const last = path.pop()!
  let at = body
  for (const part of path) at = at[part] ??= {}
  at[last] = value
}

/** A select with the value of its first choice. */
const CONTROL = /<(input|textarea|select) ([^>]*)>(?:\s*<option(?: value="([^"]*)")?)?/g

/** The forms of a page as a browser sends them when nothing is typed. */
function formsOf(html: string): Form[] {
  return [...html.matchAll(/<form ([^>]*data-call="[^>]*)>([\s\S]*?)<\/form>/g)].map(([, tag, inside]) => {
    const form = attributesOf(tag!)
    const [method, path] = ['post', 'put', 'patch', 'delete'].map((m) => [m, form[`hx-${m}`]]).find(([, to]) => to)!
    const body = {}
    const required: string[] = []
    for (const [, list] of inside!.matchAll(/ data-list="([^"]+)"/g)) put(body, list!, [])
    for (const [, kind, text, first] of inside!.matchAll(CONTROL)) {
      const field = attributesOf(text!)
      if (!field['name'] || 'disabled' in field || (field['type'] === 'radio' && !('checked' in field))) continue
      if (field['data-as'] === 'json') put(body, field['name'], JSON.parse(field['value'] ?? 'null'))
      else if (field['type'] === 'radio') put(body, field['name'], field['value'])
      else if (kind === 'select') first && put(body, field['name'], first)
      else if ('required' in field) {
        put(body, field['name'], '')
        required.push(field['name'])
      }
    }
    return { op: form['data-call']!, method: method!.toUpperCase(), path: path!.replace('/api/v1', ''), body, required }
  })
}

/** The forms with required fields on the pages that one comes to from the start, each operation once. */
async function formsFor(who: Who, start: string): Promise<Form[]> {
  const forms = new Map<string, Form>()
  const paths = new Set([start])
  const shapes = new Set<string>()
  for (const path of paths) {
    const shape = path.replace(/[a-z]+_[0-9a-z]{26}/g, '{}').replace(/\?.*/, '')
    if (shapes.has(shape) && !path.endsWith(start)) continue
    shapes.add(shape)
    const answer = await p.controller.router.fetch(
      new Request(`http://localhost${path}`, { headers: { Cookie: `__Host-panel=${who.cookie}` } }),
    )
    if (answer.status !== 200) continue
    const html = await answer.text()
    for (const form of formsOf(html)) if (form.required.length) forms.set(`${form.op} ${form.required}`, form)
    for (const [, href] of html.matchAll(/<a\b[^>]*\bhref="(\/[^"#?]*)/g))
      if (!/^\/(api|assets|brand)\//.test(href!)) paths.add(href!)
  }
  return [...forms.values()]
}

const missingIn = (body: any): string[] => (body.error?.details?.fields ?? []).map(({ field }: any) => field)

describe('an empty form names every field that it needs, and does nothing', () => {
  for (const [kind, start, least] of [
    ['owner', '/admin', 15],
    ['reseller', '/reseller', 3],
    ['customer', '/', 3],
  ] as const)
    test(`for ${kind}s`, async () => {
      const who = kind === 'owner' ? p.owner : kind === 'reseller' ? p.people.reseller : p.people.customer
      const forms = await formsFor(who, start)
      expect(forms.length).toBeGreaterThanOrEqual(least)
      for (const { op, method, path, body, required } of forms) {
        const before = p.fingerprint()
        const answer = await p.call(who, method, path, body)
        const missing = missingIn(answer.body)
        expect([op, answer.status, required.filter((name) => !missing.includes(name))]).toEqual([op, 422, []])
        expect([op, p.fingerprint() === before]).toEqual([op, true])
      }
    }, 60_000)
})

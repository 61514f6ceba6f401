// The API as this account has it: nothing is listed that the gate would not let it call.
import { quoted } from '../../../agent/protocol/shell-quote.ts'
import { isScope, type Permission, type Scope } from '../../../src/kernel/api/access.ts'
import type { Actor } from '../../../src/kernel/api/actor.ts'
import type { Code } from '../../../src/kernel/api/errors.ts'
import { API_ROOT } from '../../../src/kernel/api/http.ts'
import { needsPerson, type Operation, queryOf } from '../../../src/kernel/api/operation.ts'
import { codesOf } from '../../../src/kernel/openapi/openapi.ts'
import type { Registry } from '../../../src/kernel/registry.ts'
import { type Html, html } from '../../../src/kernel/web/html.ts'
import { type At, noPage, page } from '../../../src/kernel/web/page.ts'
import { count } from '../../components/words.ts'
import { card, empty, kv } from '../../html/card.ts'
import { field } from '../../html/field.ts'
import { head } from '../../html/head.ts'
import { filters, filterText, table } from '../../html/table.ts'
import { type FieldRow, fieldRows } from './fields.ts'

/** Rooms whose id is not their name. */
const rooms: Record<string, string> = {
  'ssh-keys': 'SSH keys',
  pools: 'Address pools',
  setup: 'First account',
  totp: 'Authenticator app',
  host: "The controller's machine",
  'sign-in-links': 'Sign-in links',
  'sign-in-provider': 'Sign-in provider',
  reseller: 'As a reseller',
}
const roomOf = (op: Operation) => op.id.split('.')[0]!
const roomName = (room: string) => rooms[room] ?? (room[0]!.toUpperCase() + room.slice(1)).replaceAll('-', ' ')

const rightsOf = (op: Operation, actor: Actor): readonly (Scope | Permission)[] =>
  op.access === 'anyone' ? [] : (op.access[actor.kind] ?? [])
/** Does any token of this account get through? */
const byToken = (op: Operation, actor: Actor) => op.access === 'anyone' || !needsPerson(op, actor.kind)

/** To be pasted as it stands, once TOKEN and the ids of the path are set. */
export function curlFor(op: Operation, origin: string): string {
  const path = op.path.replace(/\{(\w+)\}/g, (_, name: string) => '$' + name.toUpperCase())
  return [
    `curl${op.method === 'GET' ? '' : ` -X ${op.method}`} "${origin}${API_ROOT}${path}"`,
    op.access !== 'anyone' && '-H "Authorization: Bearer $TOKEN"',
    op.idempotent && '-H "Idempotency-Key: $(uuidgen)"',
    op.body && "-H 'Content-Type: application/json'",
    op.body && `-d ${quoted(JSON.stringify(op.example ?? {}))}`,
  ]
    .filter(Boolean)
    .join(' \\\n  ')
}

const right = ({ scopes, permissions }: Registry, name: Scope | Permission): Html =>
  isScope(name)
    ? html`<li>${scopes[name].words} <code>${name}</code></li>`
    : html`<li>${permissions[name].words}, a permission of staff: a person only</li>`

function needs(op: Operation, { actor, registry }: At): Html {
  if (op.access === 'anyone') return html`Nothing: it is open to anyone.`
  const rights = rightsOf(op, actor)
  return html`${op.requiresSession && html`A person signed in, not a token. `}${rights.length > 1 && html`One of:`}<ul class="will">${rights.map((name) => right(registry, name))}</ul>`
}

/** Names between backticks, as documents write them. */
const prose = (words: string): Html =>
  html`${words.split('`').map((part, i) => (i % 2 ? html`<code>${part}</code>` : part))}`

/** What this call refuses with of its own, in words; what every call may answer is said once, at the top. */
const refusalTable = ({ errors }: Registry, list: readonly Code[]): Html =>
  table<Code>('Refusals', list, [
    { title: 'Refuses with', main: true, cell: (code) => html`${errors[code].status} <code>${code}</code>` },
    { title: 'When', cell: (code) => prose(errors[code].when) },
    { title: 'What to do', cell: (code) => prose(errors[code].remedy) },
  ])

const bodyTable = (rows: readonly FieldRow[]): Html =>
  table<FieldRow>('Fields of the body', rows, [
    { title: 'Field', main: true, cell: (f) => html`<code>${f.name}</code>` },
    { title: 'Type', cell: (f) => f.type },
    { title: 'Required', cell: (f) => (f.required ? 'Yes' : 'No') },
    { title: 'Rule', cell: (f) => f.rule },
  ])

type RequestContext = { description?: string; enum?: readonly string[]; type?: string; title?: string }
const queryTable = (query: Readonly<Record<string, RequestContext>>): Html =>
  table<[string, RequestContext]>('Query parameters', Object.entries(query), [
    { title: 'Query parameter', main: true, cell: ([name]) => html`<code>${name}</code>` },
    {
      title: 'Value',
      cell: ([, it]) => (it.enum ? choices(it.enum) : (it.title ?? (it.type === 'integer' ? 'whole number' : 'text'))),
    },
    { title: 'What it does', cell: ([, it]) => it.description },
  ])
/** Codes of refusals stand in tables of their own. */
const choices = (values: readonly string[]) => (values.length > 20 ? 'one word' : values.join(', '))

/** Asks in the page, with what the viewer may see; public/panel/calls/try.js shows the answer under it. */
function tryIt(op: Operation): Html | false {
  // A file is nothing to look at on a page.
  if (op.method !== 'GET' || op.produces) return false
  const ids = [...op.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!)
  const asked = Object.entries(queryOf(op))
  return html`<form class="try" data-try="${API_ROOT}${op.path}">
    ${(ids.length > 0 || asked.length > 0) && html`<div class="cols">${ids.map((name) => field(op.id, name, { label: `${name} of the ${op.on?.name ?? 'thing'}`, required: true, mono: true }))}${asked.map(([name]) => field(op.id, name, { label: name }))}</div>`}
    <div class="bar"><button class="btn">Try it<span class="sr"> (${op.id})</span></button><span class="muted">Runs it now, as you.</span></div>
    <pre class="answer" role="status" tabindex="0" aria-label="Answer of ${op.id}" hidden></pre></form>`
}

function entry(at: At, op: Operation, usual: ReadonlySet<Code>, open: boolean): Html {
  const curl = curlFor(op, at.origin)
  const rows = fieldRows(at.registry.complete(op.body))
  const query = at.registry.complete(queryOf(op))
  const own = codesOf(op).filter((code) => !usual.has(code))
  return html`<li id="${op.id}"><details${open && html` open`}><summary><strong class="mono">${op.method}</strong> <code>${op.path}</code> <span class="muted">${op.summary}</span></summary>
    <div class="open">
      ${kv([
        ['Operation', html`<code>${op.id}</code>`],
        ['Needs', needs(op, at)],
        ['Answers', `${op.status ?? 200}${op.produces ? `, as ${op.produces}` : ''}`],
        [
          'Repeats',
          op.idempotent &&
            html`With an <code>Idempotency-Key</code>, the same call within 24 hours answers what it answered.`,
        ],
      ])}
      ${byToken(op, at.actor) && html`<div class="bar"><pre class="secret grow">${curl}</pre><button type="button" class="btn" data-copy="${curl}">Copy<span class="sr"> the curl line of ${op.id}</span></button></div>`}
      ${rows.length > 0 && bodyTable(rows)}
      ${Object.keys(query).length > 0 && queryTable(query)}
      ${own.length > 0 && refusalTable(at.registry, own)}
      ${tryIt(op)}
    </div></details></li>`
}

/** What any call may answer, whatever it does. */
const usualCodes = ({ operations }: Registry): ReadonlySet<Code> =>
  new Set(operations.flatMap((op) => codesOf({ ...op, refuses: [], on: undefined })))

/** Every word of the question stands somewhere in what the call is, does and refuses with. */
function asksFor(question: string): (op: Operation) => boolean {
  const words = question.toLowerCase().split(/\s+/).filter(Boolean)
  return (op) => {
    const text = [op.id, op.method, op.path, op.summary, ...Object.values(op.access).flat(), ...(op.refuses ?? [])]
      .join(' ')
      .toLowerCase()
    return words.every((word) => text.includes(word))
  }
}

/** So few that they are what was looked for. */
const FEW = 3

function view({ at }: { at: At }): Html {
  const { operations, errors } = at.registry
  const usual = usualCodes(at.registry)
  const found = operations.filter(at.may).filter(asksFor((at.query['q'] ?? '').slice(0, 100)))
  const groups = [...Map.groupBy(found, roomOf)]
  return html`
    ${head({
      title: 'API reference',
      sub: html`What this account may call, at <code>${at.origin}${API_ROOT}</code>. In the lines for curl, <code>$TOKEN</code> is <a href="/account/api">a token of yours</a>.`,
      actions: html`<a class="btn" href="${API_ROOT}/openapi.json">All of it, as OpenAPI</a>`,
    })}
    <section class="sec">${filters(at, filterText(at, 'q', 'Search calls', 'Path, word, scope or code'), count(found.length, 'call'))}</section>
    ${groups.map(([room, list]) =>
      card(
        { id: `room-${room}`, title: roomName(room), count: count(list.length, 'call') },
        html`<ul role="list" class="ops">${list.map((op) => entry(at, op, usual, found.length <= FEW))}</ul>`,
      ),
    )}
    ${!groups.length && empty(html`No call of this account has that in its path, words, scopes or codes.`, html`<a class="btn" href="${at.path}">Show all</a>`)}
    ${card(
      { id: 'usual', title: 'What any call may answer' },
      refusalTable(
        at.registry,
        [...usual].toSorted((a, b) => errors[a].status - errors[b].status),
      ),
    )}`
}

const reference = { reads: {}, title: 'API reference', nav: 'reference' } as const

export const referencePage = page({
  ...reference,
  path: '/admin/api/reference',
  view: (data) => {
    if (data.at.actor.kind !== 'staff') throw noPage()
    return view(data)
  },
})

/** For everybody who is signed in; the API's own 404 leads here. */
export const ownReferencePage = page({ ...reference, path: '/api-reference', view })

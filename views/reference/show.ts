// The API as this account has it: nothing is listed that the gate would not let it call.
import { isScope, type Permission, permissions, type Scope, scopes } from '../../src/kernel/api/access.ts'
import type { Actor } from '../../src/kernel/api/actor.ts'
import { codes } from '../../src/kernel/api/errors.ts'
import { API_ROOT } from '../../src/kernel/api/http.ts'
import { codesOf } from '../../src/kernel/api/openapi.ts'
import { type Operation, queryOf } from '../../src/kernel/api/operation.ts'
import { type Html, html } from '../../src/kernel/web/html.ts'
import { type At, noPage, page } from '../../src/kernel/web/page.ts'
import { operations } from '../../src/operations.ts'
import { card, kv } from '../parts/card.ts'
import { head } from '../parts/head.ts'
import { table } from '../parts/table.ts'
import { count } from '../parts/words.ts'
import { type FieldRow, fieldRows } from './fields.ts'

/** Rooms whose id is not their name. */
const rooms: Record<string, string> = { 'ssh-keys': 'SSH keys', pools: 'Address pools', setup: 'First account' }
const roomOf = (op: Operation) => op.id.split('.')[0]!
const roomName = (room: string) => rooms[room] ?? (room[0]!.toUpperCase() + room.slice(1)).replaceAll('-', ' ')

const rightsOf = (op: Operation, actor: Actor): readonly (Scope | Permission)[] =>
  op.access === 'anyone' ? [] : (op.access[actor.kind] ?? [])
/** Does any token of this account get through? */
const byToken = (op: Operation, actor: Actor) => op.access === 'anyone' || (!op.inPerson && rightsOf(op, actor).some(isScope))

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`

/** To be pasted as it stands, once TOKEN and the ids of the path are set. */
export function curlFor(op: Operation, origin: string): string {
  const path = op.path.replace(/\{(\w+)\}/g, (_, name: string) => '$' + name.toUpperCase())
  return [
    `curl${op.method === 'GET' ? '' : ` -X ${op.method}`} "${origin}${API_ROOT}${path}"`,
    op.access !== 'anyone' && '-H "Authorization: Bearer $TOKEN"',
    op.remembers && '-H "Idempotency-Key: $(uuidgen)"',
    op.body && "-H 'Content-Type: application/json'",
    op.body && `-d ${quoted(JSON.stringify(op.example ?? {}))}`,
  ]
    .filter(Boolean)
    .join(' \\\n  ')
}

const right = (name: Scope | Permission): Html =>
  isScope(name)
    ? html`<li>${scopes[name]} <code>${name}</code></li>`
    : html`<li>${permissions[name].words}, a permission of staff: a person only</li>`

function needs(op: Operation, actor: Actor): Html {
  if (op.access === 'anyone') return html`Nothing: it is open to anyone.`
  const rights = rightsOf(op, actor)
  return html`${op.inPerson && html`A person signed in, not a token. `}${rights.length > 1 && html`One of:`}<ul class="will">${rights.map(right)}</ul>`
}

const refusals = (op: Operation): Html => {
  const byStatus = [...Map.groupBy(codesOf(op), (code) => codes[code])].sort(([a], [b]) => a - b)
  return html`<ul class="will">${byStatus.map(([status, list]) => html`<li>${status}: ${list.map((code, i) => html`${i > 0 && ', '}<code>${code}</code>`)}</li>`)}</ul>`
}

const bodyTable = (rows: readonly FieldRow[]): Html =>
  table<FieldRow>('Fields of the body', rows, [
    { title: 'Field', main: true, cell: (f) => html`<code>${f.name}</code>` },
    { title: 'Type', cell: (f) => f.type },
    { title: 'Required', cell: (f) => (f.required ? 'Yes' : 'No') },
    { title: 'Rule', cell: (f) => f.rule },
  ])

const queryTable = (query: Readonly<Record<string, string>>): Html =>
  table<[string, string]>('Query parameters', Object.entries(query), [
    { title: 'Query parameter', main: true, cell: ([name]) => html`<code>${name}</code>` },
    { title: 'What it does', cell: ([, words]) => words },
  ])

/** A read that needs no id can be opened as it is, by who is signed in. */
const tryIt = (op: Operation): Html | false =>
  op.method === 'GET' &&
  !op.path.includes('{') &&
  html`<div><a class="btn" href="${API_ROOT}${op.path}" target="_blank" rel="noopener">Try it<span class="sr"> (${op.id}, opens the answer in a new tab)</span></a></div>`

function entry(at: At, op: Operation): Html {
  const curl = curlFor(op, at.origin)
  const rows = fieldRows(op.body)
  return html`<li id="${op.id}"><details><summary><strong class="mono">${op.method}</strong> <code>${op.path}</code> <span class="muted">${op.summary}</span></summary>
    <div class="open">
      ${kv([
        ['Operation', html`<code>${op.id}</code>`],
        ['Needs', needs(op, at.actor)],
        ['Answers', `${op.status ?? 200}`],
        ['Repeats', op.remembers && html`With an <code>Idempotency-Key</code>, the same call within 24 hours answers what it answered.`],
        ['Refuses with', refusals(op)],
      ])}
      ${rows.length > 0 && bodyTable(rows)}
      ${Object.keys(queryOf(op)).length > 0 && queryTable(queryOf(op))}
      ${byToken(op, at.actor) && html`<div class="bar"><pre class="secret grow">${curl}</pre><button type="button" class="btn" data-copy="${curl}">Copy<span class="sr"> the curl line of ${op.id}</span></button></div>`}
      ${tryIt(op)}
    </div></details></li>`
}

function view({ at }: { at: At }): Html {
  const groups = [...Map.groupBy(operations.filter(at.may), roomOf)]
  return html`
    ${head({
      title: 'API reference',
      sub: html`What this account may call, at <code>${at.origin}${API_ROOT}</code>. In the lines for curl, <code>$TOKEN</code> is <a href="/account/api">a token of yours</a>.`,
      actions: html`<a class="btn" href="${API_ROOT}/openapi.json">All of it, as OpenAPI</a>`,
    })}
    ${groups.map(([room, list]) =>
      card(
        { id: `room-${room}`, title: roomName(room), count: count(list.length, 'call') },
        html`<ul role="list" class="ops">${list.map((op) => entry(at, op))}</ul>`,
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

// The history of an address as files: a spreadsheet, and a statement in words for an authority or an abuse desk.
import { operation, type ReadContext, stream } from '../../kernel/api/operation.ts'
import { moment, momentFrom } from '../../kernel/api/query.ts'
import { csvOf } from '../../kernel/csv.ts'
import { minuteText } from '../../kernel/db/clock.ts'
import { settingValue } from '../../kernel/setting.ts'
import { historyDays } from './keep.ts'
import type { ShownHolding } from './model.ts'
import { holdingsAsked, listAddressHistory } from './show.ts'

export const exportAddressHistory = csvOf(listAddressHistory, {
  id: 'addresses.export',
  path: '/admin/addresses/{address}/history.csv',
  summary: 'The same list as a spreadsheet',
  columns: {
    address: (row) => row.address,
    prefixLength: (row) => row.prefixLength,
    pool: (row) => row.pool.name,
    kind: (row) => row.kind,
    server: (row) => row.server?.hostname ?? null,
    serverId: (row) => row.server?.id ?? null,
    terminatedAt: (row) => row.server?.terminatedAt ?? null,
    floatingIp: (row) => row.floatingIp?.name ?? null,
    owner: (row) => row.owner.name,
    ownerId: (row) => row.owner.id,
    from: (row) => row.from,
    fromKnown: (row) => String(row.fromKnown),
    to: (row) => row.to,
    restedUntil: (row) => row.restedUntil,
    began: (row) => row.began?.action ?? null,
    beganBy: (row) => row.began?.by ?? null,
    beganJobId: (row) => row.began?.jobId ?? null,
    ended: (row) => row.ended?.action ?? null,
    endedBy: (row) => row.ended?.by ?? null,
    endedJobId: (row) => row.ended?.jobId ?? null,
  },
})

const MOST_STATED = 200

export const stateAddress = operation({
  id: 'addresses.statement',
  method: 'GET',
  path: '/admin/addresses/{address}/statement.txt',
  summary: `A statement in words of who had an address: at a time, or the newest ${MOST_STATED} of all`,
  access: listAddressHistory.access,
  query: { at: moment('Who had it at this time: nobody else is named.') },
  produces: 'text/plain',
  response: stream,
  refuses: ['address_not_found'],
  run(call) {
    const pages = { usual: MOST_STATED, most: MOST_STATED }
    const { data, total } = holdingsAsked({ ...call, pages })
    return [statementOf(call, data, total)]
  },
})

/** Times in UTC, a line for each fact, and a paragraph for each holding, newest first. */
function statementOf(call: ReadContext, holdings: readonly ShownHolding[], total: number): string {
  const { tx, clock, params, query, brandFor } = call
  const { at } = query
  const asked = at === undefined ? 'the whole time that is kept' : minuteText(momentFrom('at', at))
  const none =
    at === undefined
      ? 'Nobody had this address in the time that is kept.'
      : 'Nobody had this address at that time, as far as its history goes back.'
  const earlier = total - holdings.length
  const paragraphs = [
    `Statement of ${brandFor(tx, '').name} about an address`,
    facts([
      ['Address', params['address']!],
      ['Time asked for', asked],
      ['Written', minuteText(clock())],
    ]),
    ...(holdings.length ? holdings.map(wordsOf) : [none]),
    ...(earlier > 0 ? [`${earlier} earlier ones are left out.`] : []),
    `All times are in UTC. The history of an address is kept for ${settingValue(tx, historyDays)} days after it was ` +
      'given back.',
  ]
  return `${paragraphs.join('\n\n')}\n`
}

type Fact = readonly [name: string, words: string | null]
const WIDTH = 18
const facts = (all: readonly Fact[]): string =>
  all.flatMap(([name, words]) => (words === null ? [] : [`${`${name}:`.padEnd(WIDTH)}${words}`])).join('\n')

const kindWords = {
  primary: 'primary address of the server',
  extra: 'further address of the server',
  floating: 'floating address',
} as const

function wordsOf(h: ShownHolding): string {
  const { server } = h
  return facts([
    ['From', minuteText(Date.parse(h.from)) + (h.fromKnown ? '' : ', or before')],
    ['To', h.to === null ? 'still' : minuteText(Date.parse(h.to))],
    ['Owner', `${h.owner.name} (${h.owner.id})`],
    ['Server', server && `${server.hostname} (${server.id})`],
    ['Terminated', server?.terminatedAt ? minuteText(Date.parse(server.terminatedAt)) : null],
    ['Floating address', h.floatingIp && `${h.floatingIp.name} (${h.floatingIp.id})`],
    ['Held as', `${kindWords[h.kind]}, ${h.address}/${h.prefixLength} of the pool ${h.pool.name ?? h.pool.id}`],
    ['Began by', causeWords(h.began)],
    ['Ended by', causeWords(h.ended)],
  ])
}
const causeWords = (cause: ShownHolding['began']): string | null =>
  cause && [`${cause.action} by ${cause.by}`, ...(cause.jobId ? [cause.jobId] : [])].join(', ')

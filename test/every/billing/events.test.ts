// Every type of event × everybody: it reaches those whom its audience names, and nobody else. The audiences are written
// here once more, as the specification has them.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { features } from '../../../src/app/features.ts'
import { write } from '../../../src/kernel/db/open.ts'
import { type EventName, emit } from '../../../src/kernel/jobs/outbox.ts'
import { assemble } from '../../../src/kernel/registry.ts'
import { type Who, type World, world } from '../../support/world/panel.ts'

const { events, examples, complete } = assemble(features)
const toBoth = [
  ...['provisioned', 'suspended', 'unsuspended', 'terminated', 'reinstalled', 'resized', 'addresses_changed'].map(
    (name) => `server.${name}`,
  ),
  'alert.fired',
  'alert.recovered',
  'backup.failed',
  ...['ready', 'started', 'stopped', 'failed', 'image_changed', 'suspended', 'unsuspended', 'deleted'].map(
    (name) => `gpu_instance.${name}`,
  ),
]
const toResellers = [
  'server.created',
  'server.speed_changed',
  'floating_ip.created',
  'floating_ip.released',
  'customer.created',
  'gpu_instance.created',
  'quota.near_limit',
]
const toStaff = ['server.owner_changed', 'transfer.started', 'transfer.finished', 'transfer.failed']
/** Events that the specification does not know; docs/api.md lists them. */
const beyond: Record<string, 'staff' | 'reseller' | 'both'> = {
  'node.lost': 'staff',
  'node.away': 'staff',
  'node.back': 'staff',
  'storage.nearly_full': 'staff',
  'storage.has_room': 'staff',
  'roll_out.stopped': 'staff',
  'node.drain_started': 'staff',
  'node.drain_finished': 'staff',
  'server.adopted': 'staff',
  'placement_group.changed': 'reseller',
  'server.undeleted': 'reseller',
  'server.install_failed': 'both',
  'gpu_instance.undeleted': 'reseller',
  'brake.held': 'staff',
  'volume.created': 'reseller',
  'volume.resized': 'reseller',
  'volume.deleted': 'reseller',
}

let p: World
let people: Record<string, { id: string } & Who>
/** The id of the event of each type and of each account that it concerns. */
const ids = new Map<string, string>()
const concerned = ['customer', 'sibling', 'foreign', 'direct', 'reseller'] as const
const resellerOf: Record<string, string> = { customer: 'reseller', sibling: 'reseller', foreign: 'rival' }

beforeAll(async () => {
  p = await world()
  const [reseller, rival] = [p.account('reseller', 'Reseller'), p.account('reseller', 'Rival')]
  people = {
    owner: p.owner as { id: string } & Who,
    reader: p.staff(['api_webhooks']),
    reseller,
    rival,
    customer: p.account('customer', 'Customer', reseller.id),
    sibling: p.account('customer', 'Sibling', reseller.id),
    foreign: p.account('customer', 'Foreign', rival.id),
    direct: p.account('customer', 'Direct'),
  }
  for (const type of Object.keys(events) as EventName[])
    for (const of of concerned) {
      write(p.db, (tx) =>
        emit(
          tx,
          p.now(),
          type,
          {
            subject: { type: 'server', id: `srv_${of}` },
            customerId: people[of]!.id,
            resellerId: resellerOf[of] ? people[resellerOf[of]]!.id : null,
          },
          sampleOf(type, people[of]!.id) as never,
        ),
      )
      ids.set(
        `${type} ${of}`,
        p.db.$client.query<{ id: string }, []>('SELECT id FROM events ORDER BY seq DESC').get()!.id,
      )
    }
})
afterAll(() => p.close())

/** Data as the type declares it, about an account that there is. */
function sampleOf(type: string, accountId: string) {
  const data = examples.sample(complete(events[type]!.data), type.split('.')[0]!) as Record<string, any>
  for (const one of [data['previousOwner'], data['brake']?.actor]) if (one) one.id = accountId
  return data
}

/** The rule, from who owns what. */
function gets(who: string, type: string, of: string): boolean {
  if (who === 'owner' || who === 'reader') return true
  const level = toBoth.includes(type)
    ? 'both'
    : toResellers.includes(type)
      ? 'reseller'
      : toStaff.includes(type)
        ? 'staff'
        : beyond[type]
  if (level === undefined) throw new Error(`no audience is written down for ${type}`)
  if (level === 'staff') return false
  if (who === 'reseller' || who === 'rival') return of === who || resellerOf[of] === who
  return level === 'both' && of === who
}
const listed = async (who: Who) => {
  const all: string[] = []
  for (let cursor = ''; ; ) {
    const { status, body } = await p.call(who, 'GET', `/events?limit=40${cursor && `&cursor=${cursor}`}`)
    expect(status).toBe(200)
    all.push(...body.data.map((e: { id: string }) => e.id))
    if (!body.nextCursor) return { all, total: body.total as number }
    cursor = body.nextCursor
  }
}

describe('the table of events', () => {
  test('has every type of the specification, and of others only those that are written down', () => {
    expect(Object.keys(events).toSorted()).toEqual(
      [...toBoth, ...toResellers, ...toStaff, ...Object.keys(beyond)].toSorted(),
    )
  })
  test('gives every type words and a schema of its data', () => {
    for (const [type, { words, data }] of Object.entries(events)) {
      expect([type, words]).toEqual([type, expect.stringMatching(/^[A-Z].{8,}/)])
      expect((data as { type?: string }).type).toBe('object')
    }
  })
})

describe('every event reaches its audience and nobody else', () => {
  for (const who of ['owner', 'reader', 'reseller', 'rival', 'customer', 'sibling', 'foreign', 'direct'])
    test(`as ${who}`, async () => {
      const mine = [...ids].filter(([key]) => gets(who, ...(key.split(' ') as [string, string]))).map(([, id]) => id)
      const { all, total } = await listed(people[who]!)
      expect(all).toEqual(mine)
      expect(total).toBe(mine.length)
      for (const [key, id] of ids) {
        const { status, body } = await p.call(people[who], 'GET', `/events/${id}`)
        expect([key, status]).toEqual([key, mine.includes(id) ? 200 : 404])
        if (status === 404) expect(body.error.code).toBe('event_not_found')
      }
      const types = (await p.call(people[who], 'GET', '/event-types')).body.types.map((e: { type: string }) => e.type)
      expect(types.toSorted()).toEqual(
        Object.keys(events)
          .filter((type) => concerned.some((of) => gets(who, type, of === 'direct' ? who : of)))
          .toSorted(),
      )
    })
  test('and staff without the permission not at all', async () => {
    const { status } = await p.call(p.staff(['customers.read', 'servers.see_all']), 'GET', '/events')
    expect(status).toBe(403)
  })
})

// A right to infrastructure in a token's hand does not take a node's place, and nobody replaces a connected machine.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import {
  agentHeaders,
  agentPaths,
  type Facts,
  PROTOCOL,
  signedText,
  successorText,
} from '../../../agent/protocol/wire.ts'
import { minute } from '../../../src/kernel/db/clock.ts'
import { VERSION } from '../../../src/kernel/version.ts'
import { type Mailbox, mailbox } from '../../support/services/mailbox.ts'
import { type World, world } from '../../support/world/panel.ts'

let p: World
let url: string
let server: ReturnType<typeof Bun.serve>
let mails: Mailbox
beforeAll(async () => {
  p = await world()
  mails = await mailbox()
  await mails.serve(p)
  const { fetch, websocket } = p.controller
  server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: fetch as any, websocket: websocket as any })
  url = `http://127.0.0.1:${server.port}`
})
afterAll(async () => {
  await server.stop(true)
  mails.close()
  p.close()
})

const newKey = () => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  return { privateKey, publicKey: publicKey.export({ format: 'jwk' }).x! }
}
const facts: Facts = {
  ...{ hostname: 'strange', agentVersion: VERSION, fake: true, os: 'Fake', kernel: 'none', bootedAt: 0 },
  ...{ cpu: { model: 'Fake', threads: 16 }, memoryMb: 65_536, virtualisation: { kind: 'none', reason: 'fake' } },
  ...{ versions: {}, bridges: [], addresses: [] },
} as Facts
async function post(path: string, body: unknown) {
  p.turnClock(2000)
  const answer = await fetch(url + path, { method: 'POST', body: JSON.stringify(body) })
  return { status: answer.status, body: (await answer.json()) as any }
}
const enroll = (token: string, key = newKey(), more: object = {}) =>
  post(agentPaths.enroll, { token, protocol: PROTOCOL, publicKey: key.publicKey, facts, ...more })
const consent = (key: KeyObject, token: string, publicKey: string) =>
  sign(null, Buffer.from(successorText(token, publicKey)), key).toString('base64url')

type Machine = { nodeId: string; key: KeyObject }
async function connect({ nodeId, key }: Machine) {
  const { nonce } = (await post(agentPaths.challenge, { nodeId, protocol: PROTOCOL })).body
  const socket = new WebSocket(url.replace('http', 'ws') + agentPaths.connect, {
    headers: {
      [agentHeaders.node]: nodeId,
      [agentHeaders.nonce]: nonce,
      [agentHeaders.signature]: sign(null, Buffer.from(signedText(nodeId, nonce)), key).toString('base64url'),
      [agentHeaders.protocol]: String(PROTOCOL),
    },
  } as any)
  const closed = new Promise<number>((resolve) => socket.addEventListener('close', (e) => resolve(e.code)))
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener('message', () => resolve())
    socket.addEventListener('error', () => reject(new Error('refused')))
  })
  return { socket, closed }
}
async function machine(): Promise<Machine> {
  const { token } = await p.admin('POST', '/admin/node-enrollments', { locationId: p.location })
  const { privateKey, publicKey } = newKey()
  const { body } = await enroll(token, { privateKey, publicKey })
  return { nodeId: body.nodeId, key: privateKey }
}
const action = (nodeId: string, name: string) => `/admin/nodes/${nodeId}/actions/${name}`
const keyOf = (nodeId: string) =>
  p.db.$client.query<{ key: string }, [string]>('SELECT public_key AS key FROM nodes WHERE id = ?').get(nodeId)!.key

describe('S61: a token with every scope of infrastructure', () => {
  test('does not become a node, and neither takes nor loses one', async () => {
    const { nodeId } = await machine()
    const { name } = await p.admin('GET', `/admin/nodes/${nodeId}`)
    const token = p.token(p.owner.id, ['nodes:write', 'nodes:read', 'servers:terminate', 'settings:write'])
    const target = (await p.admin('POST', '/admin/backup-targets/local', { name: 'Held', address: '/srv/held' })).id
    const before = p.fingerprint(['tokens'])
    for (const [method, path, body] of [
      ['POST', action(nodeId, 'renew-enrollment')],
      ['POST', action(nodeId, 'revoke-credential')],
      ['POST', action(nodeId, 'declare-lost'), { name }],
      ['POST', action(nodeId, 'remove-with-workloads'), { name }],
      ['DELETE', `/admin/nodes/${nodeId}`],
      ['DELETE', `/admin/backup-targets/${target}?forgetBackups=true`],
    ] as const) {
      const answer = await p.call(token, method, path, body)
      expect([path, answer.status, answer.body.error?.code]).toEqual([path, 403, 'token_not_allowed'])
    }
    expect(p.fingerprint(['tokens'])).toBe(before)
  })
  test('still enrolls a new machine', async () => {
    const token = p.token(p.owner.id, ['nodes:write'])
    const made = await p.call(token, 'POST', '/admin/node-enrollments', { locationId: p.location })
    expect(made.status).toBe(201)
    expect((await enroll(made.body.token)).status).toBe(200)
  })
})

describe('S61: a person who renews the enrolment of a node', () => {
  const renew = async (nodeId: string): Promise<string> =>
    (await p.call(p.signIn(p.owner.id), 'POST', action(nodeId, 'renew-enrollment'))).body.token

  test('confirmed recently, and every owner is told', async () => {
    const { nodeId } = await machine()
    const other = p.staff()
    const late = p.signIn(p.owner.id)
    p.turnClock(11 * minute)
    expect((await p.call(late, 'POST', action(nodeId, 'renew-enrollment'))).body.error.code).toBe(
      'confirmation_required',
    )
    mails.taken.length = 0
    await renew(nodeId)
    await mails.deliver(p)
    const to = (id: string) =>
      p.db.$client.query<any, [string]>('SELECT email FROM accounts WHERE id = ?').get(id).email
    expect(mails.taken.map((mail) => mail.to).toSorted()).toEqual([to(p.owner.id), to(other.id)].toSorted())
    const { name } = await p.admin('GET', `/admin/nodes/${nodeId}`)
    expect(mails.taken[0]!.text).toContain(`can take the place of the node ${name}.`)
    expect(mails.taken[0]!.text).not.toContain('previous mail server')
  })
  test('puts no strange machine into the place of one that is connected, nor of one that just was', async () => {
    const old = await machine()
    const { socket, closed } = await connect(old)
    const token = await renew(old.nodeId)
    const stranger = newKey()
    const before = keyOf(old.nodeId)
    for (const more of [{}, { consent: consent(stranger.privateKey, token, stranger.publicKey) }]) {
      const { status, body } = await enroll(token, stranger, more)
      expect([status, body.error.code]).toEqual([409, 'node_connected'])
    }
    expect(keyOf(old.nodeId)).toBe(before)
    expect(await p.admin('GET', `/admin/nodes/${old.nodeId}`)).toMatchObject({ connected: true })
    socket.close()
    await closed
    expect((await enroll(token, stranger)).body.error.code).toBe('node_connected')
    // It is away for longer than a restart takes: the machine is broken, and the token was not used up.
    p.turnClock(2 * minute)
    expect((await enroll(token, stranger)).status).toBe(200)
    expect(keyOf(old.nodeId)).toBe(stranger.publicKey)
  })
  test('gives the machine a new key at once where its own key agrees, and only to that new key', async () => {
    const old = await machine()
    const { closed } = await connect(old)
    const token = await renew(old.nodeId)
    const [next, other] = [newKey(), newKey()]
    const agreed = consent(old.key, token, next.publicKey)
    expect((await enroll(token, other, { consent: agreed })).body.error.code).toBe('node_connected')
    expect((await enroll(token, next, { consent: agreed })).status).toBe(200)
    expect(await closed).toBe(4401)
    expect(keyOf(old.nodeId)).toBe(next.publicKey)
  })
  test('replaces a machine that hangs once its credential is revoked', async () => {
    const old = await machine()
    const { closed } = await connect(old)
    const token = await renew(old.nodeId)
    expect((await p.call(p.signIn(p.owner.id), 'POST', action(old.nodeId, 'revoke-credential'))).status).toBe(200)
    expect(await closed).toBe(4401)
    expect((await enroll(token)).status).toBe(200)
  })
})

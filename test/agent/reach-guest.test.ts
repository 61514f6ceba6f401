// How a vm is reached from its node, as the checks of an imported server ask for it.
import { expect, test } from 'bun:test'
import { reachGuest } from '../../agent/commands/vms/reach-guest.ts'
import { loggingTo } from '../../agent/controller-link/job-log.ts'
import { Failure } from '../../agent/failure.ts'
import type { Host } from '../../agent/host/host.ts'
import { workloadId } from './examples.ts'

const [FIRST, SECOND] = ['192.0.2.7', '2001:db8::7']
const asked = {
  ...{ workload: workloadId(1), tap: 'bth1', mac: '52:54:00:00:00:01' },
  addresses: [FIRST, SECOND],
  ports: [22, 3389],
}
const card = { name: 'eth0', mac: '52:54:00:00:00:01', addresses: ['192.0.2.7/24', 'fe80::1/64'] }
type Parts = { power?: string; network?: Partial<Host['network']>; guestAgent?: Partial<Host['guestAgent']> }
/** A host whose guest answers to everything, but for these parts. */
async function reach({ power = 'running', network, guestAgent }: Parts = {}) {
  const lines: string[] = []
  const host = {
    hypervisor: { power: async () => power },
    network: {
      pinged: async (addresses: readonly string[]) => [...addresses],
      answering: async (_: object, addresses: readonly string[]) => [...addresses],
      accepts: async (_: string, port: number) => port === 3389,
      ...network,
    },
    guestAgent: {
      ping: async () => true,
      info: async () => ({ osId: 'debian' }),
      interfaces: async () => [card],
      ...guestAgent,
    },
  } as unknown as Host
  const log = { line: (level: string, text: string) => void lines.push(`${level}: ${text}`), progress: () => {} }
  return { lines, seen: await loggingTo(log, () => reachGuest['reach.look'](asked, host)) }
}

test('each address is pinged, asked for at the tap, and tried at the ports, and the guest agent is heard', async () => {
  const { seen } = await reach({ network: { pinged: async () => [FIRST], answering: async () => [SECOND] } })
  expect(seen).toEqual({
    power: 'running',
    addresses: [
      { address: FIRST, pinged: true, answering: false, ports: [3389] },
      { address: SECOND, pinged: false, answering: true, ports: [3389] },
    ],
    inside: [FIRST, 'fe80::1'],
    os: 'linux',
  })
})

test('a vm that is off is asked for nothing: another machine may have its address', async () => {
  const refuse = async () => {
    throw new Error('it was asked')
  }
  const network = { pinged: refuse, answering: refuse, accepts: refuse }
  for (const power of ['stopped', 'absent', 'paused']) {
    const { seen } = await reach({ power, network, guestAgent: { ping: refuse } })
    const none = { pinged: false, answering: false, ports: [] }
    const addresses = [FIRST, SECOND].map((address) => ({ address, ...none }))
    expect(seen).toEqual({ power, addresses, inside: null, os: null } as never)
  }
})

test('a guest agent that is silent, or breaks off, leaves its words unknown', async () => {
  expect((await reach({ guestAgent: { ping: async () => false } })).seen).toMatchObject({ inside: null, os: null })
  const interfaces = () => Promise.reject(new Failure('guest_agent_silent', 'it went away'))
  expect((await reach({ guestAgent: { interfaces } })).seen).toMatchObject({ inside: null, os: null })
})

test('Windows is recognised by its guest agent', async () => {
  const info = async () => ({ osId: 'mswindows' }) as never
  expect((await reach({ guestAgent: { info } })).seen.os).toBe('windows')
})

test('a host that cannot ask at the tap says so, and pings still', async () => {
  const answering = () => Promise.reject(new Failure('announce_failed', 'no packet socket can be opened'))
  const { seen, lines } = await reach({ network: { answering } })
  expect(seen.addresses[0]).toMatchObject({ pinged: true, answering: false })
  expect(lines).toEqual(['warning: The host cannot ask the guest for its addresses: no packet socket can be opened'])
})

test('a host that cannot ping fails, and does not say that the guest is unreachable', async () => {
  const pinged = () => Promise.reject(new Failure('ping_failed', 'no socket'))
  expect(reach({ network: { pinged } })).rejects.toMatchObject({ code: 'ping_failed' })
})

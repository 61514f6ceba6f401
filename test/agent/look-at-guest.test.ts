// A look at a guest after its installation is a courtesy: what the host cannot ask, it does not know.
import { expect, test } from 'bun:test'
import { lookAtGuest } from '../../agent/commands/vms/look-at-guest.ts'
import { loggingTo } from '../../agent/controller-link/job-log.ts'
import { Failure } from '../../agent/failure.ts'
import type { Host } from '../../agent/host/host.ts'

const wanted = {
  tap: 'bt1',
  mac: '02:00:00:00:00:01',
  addresses: ['192.0.2.7'],
  names: ['web'],
  limitSeconds: 30,
}

test('a host that cannot ask for addresses says so once, and goes by the words of the guest agent', async () => {
  let pings = 0
  const host = {
    network: { answering: () => Promise.reject(new Failure('announce_failed', 'no packet socket can be opened')) },
    guestAgent: {
      readFile: () => Promise.reject(new Failure('guest_refused', 'no such file')),
      ping: async () => ++pings > 1,
      info: async () => ({ hostname: 'web' }),
      interfaces: async () => [{ name: 'eth0', mac: wanted.mac, addresses: ['192.0.2.7/24'] }],
      exec: async () => ({ code: 1, output: '', truncated: false }),
    },
  } as unknown as Host
  const lines: string[] = []
  const log = { line: (level: string, text: string) => void lines.push(`${level}: ${text}`), progress: () => {} }
  const seen = await loggingTo(log, () => lookAtGuest(host, 'srv_1', wanted))
  expect(pings).toBe(2)
  expect(seen).toEqual({ answering: [], inside: ['192.0.2.7'], hostname: 'web', signIn: null, ssh: false })
  expect(lines).toEqual(['warning: The host cannot ask the guest for its addresses: no packet socket can be opened'])
})

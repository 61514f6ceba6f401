// After an installation the node looks at what the guest has; the job and the server say what it saw.
import { describe, expect, test } from 'bun:test'
import { type World, world } from '../../support/world/panel.ts'

const PASSWORD_IN = 'permitrootlogin yes\npasswordauthentication yes\npubkeyauthentication yes\n'

async function ordered(p: World) {
  const { serverId, jobId } = await p.admin('POST', '/admin/servers', p.order)
  await p.settle()
  return { id: serverId as string, jobId: jobId as string }
}
const hostOf = (p: World) => p.node.agent.host
async function logOf(p: World, jobId: string) {
  const { lines } = (await p.call(p.owner, 'GET', `/jobs/${jobId}/log`)).body
  return (lines as { level: string; text: string }[]).map(({ level, text }) => `${level}: ${text}`)
}
const checkOf = async (p: World, id: string, who = p.customer) =>
  (await p.call(who, 'GET', `/servers/${id}/installation-check`)).body.check

async function withIpv6() {
  const p = await world()
  const v6 = { name: 'v6', network: '2001:db8::/40', gateway: 'fe80::1', nodeIds: [p.node.id] }
  await p.admin('POST', '/admin/ip-pools', v6)
  await p.admin('PATCH', `/admin/packages/${p.pack}`, { ipv6Prefix: 64 })
  return p
}

describe('an installation', () => {
  test('says that both addresses answer, the name and how root signs in', async () => {
    using p = await withIpv6()
    hostOf(p).guestAgent.exec = async () => ({ code: 0, output: PASSWORD_IN, truncated: false })
    const { id, jobId } = await ordered(p)
    const { ipv4, ipv6, hostname } = await p.admin('GET', `/servers/${id}`)
    expect(ipv6).toBeString()
    const log = await logOf(p, jobId)
    expect(log).toContain(`info: It answers at ${ipv4}, ${ipv6}.`)
    const [short] = hostname.split('.')
    expect(log).toContain(`info: It calls itself ${short}. Root signs in by password and SSH key.`)
    expect(log.filter((line) => line.startsWith('warning'))).toEqual([])
    expect(await checkOf(p, id)).toEqual({
      jobId,
      at: expect.any(String),
      addresses: [
        { address: ipv4, answers: true },
        { address: ipv6, answers: true },
      ],
      hostname: short,
      ssh: false,
      signIn: { password: true, keys: true },
      warnings: [],
    })
  })

  test('succeeds with a warning in its log, on the server and on its page, when the system has no IPv6', async () => {
    using p = await withIpv6()
    hostOf(p).network.answering = async (_vm, addresses) => addresses.filter((address) => !address.includes(':'))
    const sleep = Bun.sleep
    Bun.sleep = (ms) => sleep(typeof ms === 'number' ? Math.min(ms, 5) : ms)
    const clock = performance.now
    const began = clock.call(performance)
    // The minute for which the node looks passes in a moment.
    performance.now = () => began + (clock.call(performance) - began) * 300
    try {
      const { id, jobId } = await ordered(p)
      expect(p.job(jobId).state).toBe('succeeded')
      const { ipv6, status } = await p.admin('GET', `/servers/${id}`)
      expect(status).toBe('running')
      const warning = (await logOf(p, jobId)).find((line) => line.startsWith('warning'))
      expect(warning).toStartWith(`warning: ${ipv6} does not answer`)
      const { warnings, addresses } = await checkOf(p, id)
      expect(warnings).toHaveLength(1)
      expect(addresses[1]).toEqual({ address: ipv6, answers: false })
      const request = new Request(`http://localhost/servers/${id}`, {
        headers: { Cookie: `__Host-panel=${p.customer.cookie}` },
      })
      const page = await (await p.controller.router.fetch(request)).text()
      expect(page).toContain('After its installation')
      expect(page).toContain(`${ipv6} does not answer`)
    } finally {
      Bun.sleep = sleep
      performance.now = clock
    }
  })

  test('warns where SSH does not let root in as it was ordered', async () => {
    using p = await world()
    const output = 'permitrootlogin without-password\npasswordauthentication no\npubkeyauthentication yes\n'
    hostOf(p).guestAgent.exec = async () => ({ code: 0, output, truncated: false })
    const { id, jobId } = await ordered(p)
    expect(await logOf(p, jobId)).toContain(
      'warning: Its SSH server does not let root in by password, which was ordered. Allow it in the console.',
    )
    expect((await checkOf(p, id)).signIn).toEqual({ password: false, keys: true })
  })

  test('waits for the SSH server and for cloud-init, which are ready after the guest agent', async () => {
    using p = await world()
    const { network, guestAgent } = hostOf(p)
    let asked = 0
    network.sshAt = async () => (++asked < 2 ? 'closed' : 'greets')
    const read = guestAgent.readFile.bind(guestAgent)
    let stages = 0
    const finished = () => (stages < 4 ? null : 1767225600.5)
    guestAgent.readFile = async (workload, path) => {
      if (path !== '/run/cloud-init/status.json') return read(workload, path)
      stages++
      return new TextEncoder().encode(JSON.stringify({ v1: { 'modules-config': { finished: finished() } } }))
    }
    // Until then the settings are those of the image.
    guestAgent.exec = async () => ({
      code: 0,
      output: finished() ? PASSWORD_IN : PASSWORD_IN.replace('passwordauthentication yes', 'passwordauthentication no'),
      truncated: false,
    })
    const sleep = Bun.sleep
    Bun.sleep = (ms) => sleep(typeof ms === 'number' ? Math.min(ms, 5) : ms)
    try {
      const { id } = await ordered(p)
      expect(await checkOf(p, id)).toMatchObject({ ssh: true, signIn: { password: true, keys: true }, warnings: [] })
    } finally {
      Bun.sleep = sleep
    }
  })

  test('needs no guest agent, and no answer at all', async () => {
    using p = await world()
    hostOf(p).guestAgent.ping = async () => false
    const { id, jobId } = await ordered(p)
    expect(p.job(jobId).state).toBe('succeeded')
    expect(await logOf(p, jobId)).toContain(
      'info: No guest agent answered, so its name and how root signs in were not read.',
    )
    expect(await checkOf(p, id)).toMatchObject({ hostname: null, signIn: null, warnings: [] })
  })

  test('is installed too by an agent that does not look', async () => {
    using p = await world()
    p.node.agent.fault({ command: 'vm.await', mode: 'lie' })
    const { id, jobId } = await ordered(p)
    expect(p.job(jobId).state).toBe('succeeded')
    expect(await checkOf(p, id)).toBeNull()
  })
})

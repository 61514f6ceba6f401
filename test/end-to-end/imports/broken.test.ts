// A real guest whose import breaks: each program that takes part is killed at the steps where its guest is off, the
// network to its source is cut, its own panel starts it meanwhile, and its import is cancelled. What runs is counted
// without asking the product. All of it takes an hour: with BERTH_LONG alone.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { temporary } from '../../agent/temporary.ts'
import { note } from '../../drivers/tools.ts'
import { plan, SolusPanel, TOKEN, uuidOf } from '../../imports/simulators/solusvm2.ts'
import { beginCounting, counterIn, gapsIn, takeCounter } from '../../support/nodes/counting.ts'
import { type NodeName, nodeNames, noRealNodes, RealNodes } from '../../support/nodes/real-nodes.ts'
import { hypervisorBeside } from '../../support/source-hypervisors/beside-nodes.ts'
import { startGuest } from '../../support/source-hypervisors/guests.ts'
import { noSourceLab, ROOT_PASSWORD, type SourceHypervisor } from '../../support/source-hypervisors/lab.ts'
import { eventually } from '../../support/waiting/eventually.ts'

const HYPERVISOR = '10.78.0.30'
const ADDRESS = '10.78.0.15'
/** Its own: other tests run guests on this machine, too. */
const MAC = `02:00:5e:11:${hex(process.pid >> 8)}:${hex(process.pid)}`
const DOMAIN = uuidOf(1)
const DISK = '/var/lib/libvirt/images/1/0'
const KEPT = `/root/berth-import/${DOMAIN}.xml`
const MiB = 1 << 20
/** The disk takes some seconds, so that there is time to break something. */
const SLOW_MBPS = 40
const LIMIT_MS = 900_000
const SECONDS = 600
const HOME: NodeName = 'a'

function hex(n: number) {
  return (n & 255).toString(16).padStart(2, '0')
}
/** Of a process; undefined: it has ended. */
function commandOf(pid: string) {
  try {
    const [words, stat] = ['cmdline', 'stat'].map((name) => readFileSync(`/proc/${pid}/${name}`, 'utf8'))
    return { words: words!, parent: stat!.slice(stat!.lastIndexOf(')')).split(' ')[2]! }
  } catch {
    return undefined
  }
}
/** The processes on this machine that run the guest, whoever started them; each node and the source is a part of it. */
function processes() {
  const found = new Map<string, string>()
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    const { words = '', parent = '' } = commandOf(pid) ?? {}
    if (words.slice(0, words.indexOf('\0')).includes('qemu-system') && words.includes(MAC)) found.set(pid, parent)
  }
  // While one starts, it has a child for a moment.
  return [...found].filter(([, parent]) => !found.has(parent))
}

const reason = process.env['BERTH_LONG'] ? ((await noRealNodes()) ?? (await noSourceLab())) : 'BERTH_LONG is not set'
describe.skipIf(note(reason, 'imports that break'))('an import that breaks', () => {
  const nodes = new RealNodes('ib')
  const panel = new SolusPanel({ servers: 1, hypervisors: 1, ipv6: 'none' })
  const size = { disk: 1, ram: 128 * MiB, vcpu: 1 }
  panel.hypervisors[0]!['host'] = HYPERVISOR
  panel.packages.splice(0, 2, plan(7, 'KVM 2', { params: { ...size, swap: 0 } }))
  const block = { gateway: '10.78.0.1', netmask: '255.255.255.0', from: '10.78.0.10', to: '10.78.0.20' }
  panel.ranges.splice(0, 3, { ...panel.ranges[0], ...block })
  panel.addresses.clear()
  Object.assign(panel.servers[0]!, {
    specifications: size,
    ip_addresses: { ipv4: [{ id: 0, ip: ADDRESS, is_primary: true, issued_for: 'vm' }] },
  })
  let source: SourceHypervisor
  let served: Awaited<ReturnType<SolusPanel['serve']>>
  let id = ''
  let data = ''
  let hasBegun = false

  const must = async (method: string, path: string, body?: object) => {
    const answer = await nodes.api(method, path, body)
    if (answer.status > 299) throw new Error(`${path}: ${JSON.stringify(answer.body)}`)
    return answer.body
  }
  const api = (method: string, path: string, body?: object) => must(method, `/admin/migrations/${id}${path}`, body)
  const act = (move: any, action: string, body?: object) =>
    must('POST', `/admin/migration-servers/${move.serverId}/actions/${action}`, body)
  const theMove = async () => (await api('GET', '/moves')).data[0]
  /** The move when nothing is at work on it; a controller that is away is waited for. */
  const settled = () =>
    nodes.live.until(
      'the end of the move',
      async () => {
        const move = await theMove().catch(() => undefined)
        return move && !['waiting', 'moving', 'rolling_back'].includes(move.state) && move
      },
      SECONDS,
    )
  const idle = () =>
    nodes.live.until('the end of what the import does', async () => {
      const row = await api('GET', '')
      return !['discovering', 'checking'].includes(row.status) && row
    })

  beforeAll(async () => {
    await nodes.open()
    source = await hypervisorBeside(nodes, HYPERVISOR)
    const network = { address: `${ADDRESS}/24`, gateway: '10.78.0.1', mac: MAC }
    const disk = { path: DISK, format: 'qcow2', how: 'create' } as const
    await startGuest(source, { domain: DOMAIN, uuid: DOMAIN, ...network, publicKey: nodes.key.publicKey, ...disk })
    served = await panel.serve(temporary('panel'))
    await decide()
    await nodes.inGuest(ADDRESS, takeCounter, await counterIn(nodes.live.dir))
    await nodes.inGuest(ADDRESS, 'dd if=/dev/urandom of=/root/data bs=1M count=8 2>/dev/null; sync')
    data = await nodes.inGuest(ADDRESS, 'sha256sum /root/data')
    expect(data).toMatch(/^[0-9a-f]{64} /)
    await nodes.inGuest(ADDRESS, beginCounting)
  }, 400_000)
  afterAll(async () => {
    await served?.[Symbol.asyncDispose]()
    await source?.end()
    await nodes.close()
  }, 60_000)

  /** Reads the panel, decides everything, lets the nodes in, and runs the dry run. */
  async function decide() {
    const begun = { kind: 'solusvm2', address: served.address, credentials: { token: TOKEN } }
    id = (await nodes.api('POST', '/admin/migrations', begun)).body.id
    await api('POST', '/actions/discover')
    await api('POST', '/actions/trust', { sha256: (await idle()).asksFor.sha256 })
    await api('POST', '/actions/discover')
    await idle()
    const [{ id: locationId }] = (await nodes.live.admin('locations.list')).data
    const wanted = { hypervisors: 'copy', packages: 'like', ranges: 'pool', owners: 'create' } as const
    for (const [part, choice] of Object.entries(wanted)) {
      const rows = (await api('GET', `/mapping/${part}?limit=200`)).data.filter((row: any) => row.choice === null)
      const more = {
        ...(part === 'hypervisors' && { locationId }),
        ...(part === 'ranges' && { poolId: nodes.lan }),
      }
      const decided = rows.map((row: any) => ({ sourceId: row.sourceId, choice, ...more }))
      if (decided.length) await api('PATCH', '/mapping', { [part]: decided })
    }
    const ofNodes = async (name: string) =>
      (await api('GET', '/access')).data[0].nodes.map((node: any) => node[name]).join()
    await nodes.live.until('both nodes to have a key', async () => (await ofNodes('hasKey')) === 'true,true')
    const { jobId } = await api('POST', '/actions/add-keys', { hypervisorId: '1', password: ROOT_PASSWORD })
    expect((await nodes.ended(jobId)).state).toBe('succeeded')
    await nodes.live.until('both nodes to be let in', async () => (await ofNodes('login')) === 'works,works')
    await api('POST', '/actions/dry-run')
    expect(await idle()).toMatchObject({ status: 'ready', servers: { ready: 1 } })
  }

  /** Counts all the time what runs the guest; `end` answers the most that were seen at once. */
  function watching() {
    let most = 0
    let isOver = false
    const watch = (async () => {
      for (; !isOver; await Bun.sleep(100)) most = Math.max(most, processes().length)
    })()
    return async () => {
      isOver = true
      await watch
      return most
    }
  }

  const runsThere = async () => (await source.virsh('list', '--name')).split('\n').includes(DOMAIN)
  /** The record and the machines say the same, and its guest has lost nothing. */
  async function mustRunOnce(workloadId: string) {
    const move = await theMove()
    expect(processes().length).toBe(1)
    const isHere = move.state === 'moved'
    expect(move.whereItRuns).toBe(isHere ? 'here' : 'source')
    expect(await runsThere()).toBe(!isHere)
    const home = nodeNames.find((name) => nodes.ids[name] === move.node?.id)
    const powers = await Promise.all(nodeNames.map((name) => nodes.powerOn(name, workloadId)))
    expect(powers).toEqual(nodeNames.map((name) => (isHere && name === home ? 'running' : '')))
    await source.must('test', '-s', DISK)
    await source.must('test', '-s', KEPT)
    if (!isHere) await isClear(workloadId)
    const { gap, last } = gapsIn(await nodes.inGuest(ADDRESS, 'cat /root/counter'))
    expect([gap, last > 0]).toEqual([undefined, true])
    expect(await nodes.inGuest(ADDRESS, 'sha256sum /root/data')).toBe(data)
    // A guest that was started from its disk counts no more.
    if ((await nodes.inGuest(ADDRESS, 'pgrep -x count || pgrep -f /root/count')) === '')
      await nodes.inGuest(ADDRESS, beginCounting)
  }
  /** No node keeps anything of it: no network rules, no disk and no part of one. */
  async function isClear(workloadId: string) {
    for (const name of nodeNames) {
      await nodes.isClear(name, workloadId)
      const find = `find / -path /proc -prune -o -path /sys -prune -o -type f -name '*${workloadId}*' -print`
      const { out } = await nodes.runOn(name, 'sh', '-c', `${find} 2>/dev/null | grep -v -e /log/ -e '\\.log$'`)
      expect(out).toBe('')
    }
  }

  async function rollBack() {
    const move = await theMove()
    const end = watching()
    const { jobId } = await act(move, 'roll-back', { hostname: move.hostname })
    expect(await nodes.ended(jobId)).toMatchObject({ state: 'succeeded' })
    expect((await settled()).state).toBe('rolled_back')
    expect(await end()).toBe(1)
    await mustRunOnce(move.workloadId)
  }

  /** Begins an attempt, the first or another one, and answers its job and the server that it makes here. */
  async function begin(method: string): Promise<{ jobId: string; workloadId: string }> {
    if (!hasBegun) await api('POST', '/actions/start', { maxMbps: SLOW_MBPS, method })
    else {
      const move = await theMove()
      if (move.state === 'moved') await rollBack()
      await act(move, 'retry', { method, nodeId: nodes.ids[HOME] })
    }
    hasBegun = true
    return nodes.live.until('its job', async () => {
      const move = await theMove()
      return move.state === 'moving' && move.jobId && move.workloadId && move
    })
  }

  type Break = {
    method?: 'plain' | 'short_stop'
    /** Where the guest must be afterwards. */
    settles?: 'here' | 'source' | 'either'
    code?: string
    step?: string
    fault(move: { jobId: string; workloadId: string }): Promise<unknown>
  }
  async function broken({ method = 'short_stop', settles = 'either', code, step, fault }: Break) {
    const begun = performance.now()
    const move = await begin(method)
    const end = watching()
    if (step) await nodes.atStep(move.jobId, step)
    await fault(move)
    const after = await settled()
    const seconds = Math.round((performance.now() - begun) / 1000)
    const why = after.failure ? `${after.failure.code}: ${after.failure.words}` : `off for ${after.downtimeMs} ms`
    process.stderr.write(`  ${after.state} after ${seconds} s, ${why}; most at once ${await end()}\n`)
    if (settles !== 'either') expect(after.state).toBe(settles === 'here' ? 'moved' : 'failed')
    if (code) expect(after.failure?.code).toBe(code)
    await eventually(async () => processes().length > 0)
    await mustRunOnce(move.workloadId)
    expect(await end()).toBe(1)
  }

  const runAt = (script: string) => source.run('sh', '-c', script)
  const killSourceLibvirt = async () => {
    await runAt('kill -9 $(pgrep -x libvirtd)')
    await Bun.sleep(500)
    await runAt('libvirtd -d')
  }
  const killSessions = () => runAt("kill -9 $(pgrep -f 'sshd: root')")
  /** Nothing goes between the source and the nodes. */
  const cut = (isCut: boolean) => nodes.spaces.ip('source', 'link', 'set', 'up0', isCut ? 'down' : 'up')
  /** As its own panel does it. */
  const startThere = () =>
    nodes.live.until('its source to start it', async () => {
      if (await runsThere()) return false
      return (await source.run('virsh', '-q', '-c', 'qemu:///system', 'create', KEPT)).code === 0
    })

  const RUNNING = 'Copying its disk while it runs'
  const OFF = 'Shutting it down at the source'
  const COPY = 'Copying the last changes'
  const DEFINE = 'Defining the virtual machine'

  const agentAt = (more: Partial<Break>, meanwhile = async () => {}) =>
    broken({
      ...more,
      fault: async () => {
        await nodes.agentEnded(HOME)
        await meanwhile()
        nodes.startAgent(HOME)
      },
    })

  test(
    'its own panel starts it while its agent is away, just before it is started here',
    async () => {
      await nodes.restartAgent(HOME, 'source-host.start-here:before')
      await agentAt({ settles: 'source', code: 'source_started' }, async () => {
        await startThere()
      })
    },
    LIMIT_MS,
  )

  for (const [moment, more] of [
    ['source-host.stop:after', { method: 'plain' }],
    ['source-host.start-here:after', {}],
    ['source-host.start-here:before', {}],
    ['source-host.copy:after', { method: 'plain' }],
  ] as const)
    test(
      `the agent of its node dies at ${moment}`,
      async () => {
        await nodes.restartAgent(HOME, moment)
        await agentAt({ ...more, settles: 'here' })
      },
      LIMIT_MS,
    )

  for (const moment of ['import/start:noted', 'import/start:answered', 'import/stop:answered', 'import/copy:answered'])
    test(
      `the controller dies at ${moment}`,
      async () => {
        await nodes.killController()
        await nodes.serve(moment)
        await broken({
          settles: 'here',
          fault: async () => {
            await nodes.controllerEnded()
            await nodes.serve()
          },
        })
      },
      LIMIT_MS,
    )

  for (const [who, fault] of [
    ['the agent of its node', () => nodes.restartAgent(HOME)],
    ['the controller', () => nodes.restartController()],
    ['libvirt of its source', killSourceLibvirt],
    ['each SSH session at its source', killSessions],
  ] as const)
    for (const [step, method] of [
      [COPY, 'plain'],
      ['Starting it', 'short_stop'],
      [OFF, 'short_stop'],
      [RUNNING, 'short_stop'],
      [DEFINE, 'plain'],
    ] as const)
      test(
        `${who} is killed at “${step}”`,
        () =>
          broken({
            method,
            step,
            fault: async () => {
              if (step === COPY || step === RUNNING) await Bun.sleep(1500)
              await fault()
            },
          }),
        LIMIT_MS,
      )

  for (const [step, method] of [
    [RUNNING, 'short_stop'],
    [COPY, 'plain'],
  ] as const)
    for (const seconds of [2, 200])
      test(
        `the network to its source is away for ${seconds} s at “${step}”`,
        () =>
          broken({
            ...{ method, step, settles: seconds > 2 ? 'source' : 'here' },
            fault: async () => {
              await Bun.sleep(1000)
              await cut(true)
              await Bun.sleep(seconds * 1000)
              await cut(false)
            },
          }),
        LIMIT_MS,
      )

  for (const step of [COPY, DEFINE])
    test(
      `its own panel starts it at “${step}”`,
      () => broken({ method: 'plain', settles: 'source', code: 'source_started', step, fault: startThere }),
      LIMIT_MS,
    )

  for (const step of [RUNNING, OFF, COPY, DEFINE])
    test(
      `its import is cancelled at “${step}”`,
      () => broken({ settles: 'source', step, fault: async () => act(await theMove(), 'cancel') }),
      LIMIT_MS,
    )

  test(
    'without a fault it comes over, and goes back',
    async () => {
      await broken({ settles: 'here', fault: async () => {} })
      await rollBack()
    },
    LIMIT_MS,
  )
})

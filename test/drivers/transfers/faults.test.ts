// Faults in the middle of a copy and of a mirror, on either node: what is left, and that another try works.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { statSync } from 'node:fs'
import type { Volume } from '../../../agent/protocol/wire.ts'
import { portRulesOf, vmOf, volumeOf } from '../../agent/examples.ts'
import { type TransferNode, transferLab } from '../../support/nodes/transfer-lab.ts'
import { eventually } from '../../support/waiting/eventually.ts'
import { note } from '../tools.ts'
import { buttonSector, noTransferLab, random, transfersIn } from './opened.ts'

setDefaultTimeout(120_000)
const MiB = 2 ** 20
const BYTES = 48 * MiB
/** Megabit per second: a copy takes some seconds. */
const SLOW_MBPS = 80
const long = test.skipIf(!process.env['BERTH_LONG'])

describe.skipIf(note(await noTransferLab(), 'faults of a move'))('a move', () => {
  let lab: Awaited<ReturnType<typeof transferLab>>
  let numbers = 30
  beforeAll(async () => {
    lab = await transferLab()
  })
  afterAll(() => lab?.end())

  /** A transfer of a disk with a vm, which runs where `runs`. */
  async function prepared({ runs = false, bytes = BYTES }: { runs?: boolean; bytes?: number } = {}) {
    const n = ++numbers
    const volume: Volume = volumeOf(n, 'raw')
    const { workload } = volume
    const content = random(bytes)
    buttonSector().copy(content)
    const { agent } = lab.a
    lab.a.writeDisk(volume, content)
    await agent.obey('firewall.allow', { ...portRulesOf(n), ipv6: [] })
    await agent.obey('vm.define', vmOf(n, { volume, seeded: false, memoryMb: 64 }))
    if (runs) await agent.obey('vm.start', { workload })
    const open = await transfersIn(lab)(volume, bytes)
    const send = (mbps: number | null = SLOW_MBPS) =>
      lab.a.agent.obey(runs ? 'transfer.mirror' : 'transfer.copy', { ...open.copy, maxMbps: mbps })
    const arrived = () => statSync(lab.b.pathOf(volume)).blocks * 512
    const begun = async () => {
      await eventually(() => arrived() > bytes / 8, 60)
      expect(arrived()).toBeGreaterThan(bytes / 8)
    }
    const power = async () => (await lab.a.agent.obey('vm.look', { workload })).power
    /** The move is tried again from the start, as a controller does, and the disks are the same at its end. */
    const again = async () => {
      await open.end(true)
      const next = await transfersIn(lab)(volume, bytes)
      if (runs) await lab.a.agent.obey('transfer.mirror', next.copy)
      if (runs) await lab.a.agent.obey('vm.stop', { workload, graceSeconds: 60 })
      await lab.a.agent.obey('transfer.copy', next.copy)
      const [ours, theirs] = await next.checksums()
      await next.end(true)
      return Bun.deepEquals(ours, theirs)
    }
    const close = async () => {
      await lab.a.agent.obey('vm.remove', { workload })
      await lab.a.run('rm', lab.a.pathOf(volume))
    }
    return { ...open, volume, workload, send, arrived, begun, power, again, close }
  }
  const failure = (work: Promise<unknown>) =>
    work.then(
      () => 'done',
      (error: Error) => error.message,
    )
  const kill = (node: TransferNode, pattern: string) =>
    // The bracket keeps the pattern from finding itself.
    node.run('pkill', '-9', '-f', pattern.replace(/^./, '[$&]'))
  const clean = async (node: TransferNode) => {
    await eventually(async () => (await node.processes()).length === 0, 30)
    expect(await node.processes()).toEqual([])
    expect((await node.run('ls', '/run/berth/transfers')).out).toBe('')
    expect(node.keys()).not.toContain('berth-transfer')
  }

  for (const runs of [false, true])
    describe(runs ? 'of a vm that runs' : 'of a vm that is off', () => {
      test('whose limit is lifted on its way goes on where it is, and is fast from then on', async () => {
        const { ids, copy, send, arrived, begun, checksums, end, workload, close } = await prepared({ runs })
        // At this rate alone it takes half a minute.
        const sent = send(13)
        await begun()
        expect(arrived()).toBeLessThan(BYTES / 2)
        const since = performance.now()
        lab.a.agent.begin('transfer.limit', { ...ids, maxMbps: 2000 })
        await sent
        expect(performance.now() - since).toBeLessThan(12_000)
        if (runs) await lab.a.agent.obey('vm.stop', { workload, graceSeconds: 60 })
        if (runs) await lab.a.agent.obey('transfer.copy', copy)
        const [ours, theirs] = await checksums()
        expect(theirs).toEqual(ours!)
        await end(true)
        await close()
      })

      test('whose target fills up says so, leaves nothing there, and works when there is space', async () => {
        const pools = `${lab.b.data}/pools/local`
        await lab.b.run('mkdir', '-p', pools)
        expect((await lab.b.run('mount', '-t', 'tmpfs', '-o', 'size=20m', 'tmpfs', pools)).code).toBe(0)
        try {
          const { send, end, power, again, close } = await prepared({ runs })
          expect(await failure(send(null))).toContain('the storage pool of the target is full')
          expect(await power()).toBe(runs ? 'running' : 'stopped')
          await end(true)
          expect((await lab.b.run('find', pools, '-type', 'f')).out).toBe('')
          for (const node of [lab.a, lab.b]) await clean(node)
          await lab.b.run('mount', '-o', 'remount,size=100m', pools)
          expect(await again()).toBe(true)
          await close()
        } finally {
          await lab.b.run('umount', '-l', pools)
        }
      })

      for (const [who, node, pattern] of [
        ['the SSH connection', 'a', 'ssh -M -N'],
        ['the SSH session of the target', 'b', 'sshd: root@notty'],
        ['the stream of the target', 'b', 'transfer-stream'],
        ['the server of the disk', 'b', 'qemu-nbd --socket /run/berth'],
        ...(runs ? ([] as const) : ([['qemu-img', 'a', 'qemu-img convert']] as const)),
      ] as const)
        long(`in which ${who} is killed goes on or leads back, and works at the next try`, async () => {
          const { send, begun, power, again, close } = await prepared({ runs })
          const sent = failure(send())
          await begun()
          expect((await kill(lab[node], pattern)).code).toBe(0)
          // A copy goes on by itself; the job of QEMU ends with its connection.
          expect(await sent).toContain(runs ? 'the copy of a disk broke off' : 'done')
          expect(await power()).toBe(runs ? 'running' : 'stopped')
          expect(await again()).toBe(true)
          for (const each of [lab.a, lab.b]) await clean(each)
          await close()
        })

      for (const seconds of [1, 30])
        long(`whose network is away for ${seconds} s goes on or leads back, and works at the next try`, async () => {
          const { send, begun, power, again, close } = await prepared({ runs })
          const sent = failure(send())
          await begun()
          await lab.cut(true)
          await Bun.sleep(seconds * 1000)
          await lab.cut(false)
          expect(await sent).toContain(runs && seconds > 15 ? 'the copy of a disk broke off' : 'done')
          expect(await power()).toBe(runs ? 'running' : 'stopped')
          expect(await again()).toBe(true)
          await close()
        })
    })

  long(
    'of a vm that runs leads back when the agent of its source is killed, and leaves no job of its disk',
    async () => {
      const { workload, send, begun, power, again, close } = await prepared({ runs: true })
      const sent = failure(send())
      await begun()
      await lab.a.agent.end()
      expect(await sent).toContain('the node has ended')
      lab.a.startAgent()
      expect(await power()).toBe('running')
      const job = ['virsh', '-c', 'qemu:///system', 'blockjob', workload, 'vda']
      await eventually(async () => (await lab.a.run(...job)).out.includes('No current block job'), 30)
      expect((await lab.a.run(...job)).out).toContain('No current block job')
      expect(await again()).toBe(true)
      await close()
    },
  )

  long('of a vm that runs leads back when the agent of its target is killed', async () => {
    const { send, begun, power, again, close } = await prepared({ runs: true })
    const sent = failure(send())
    await begun()
    await lab.b.agent.end()
    lab.b.startAgent()
    expect(await sent).toContain('the copy of a disk broke off')
    expect(await power()).toBe('running')
    expect(await again()).toBe(true)
    await close()
  })

  for (const name of ['a', 'b'] as const)
    long(`of a vm that runs works at the next try when libvirt is killed on node ${name}`, async () => {
      const { send, begun, power, again, close } = await prepared({ runs: true })
      const sent = failure(send())
      await begun()
      expect((await kill(lab[name], 'libvirtd -d')).code).toBe(0)
      const words = await sent
      // The target of a copy has nothing to do with libvirt.
      expect(words).toContain(name === 'a' ? 'the copy of a disk broke off' : 'done')
      expect((await lab[name].run('libvirtd', '-d')).code).toBe(0)
      const isBack = async () => (await lab[name].run('virsh', '-c', 'qemu:///system', 'version')).code === 0
      await eventually(isBack, 30)
      expect(await power()).toBe('running')
      expect(await again()).toBe(true)
      for (const each of [lab.a, lab.b]) await clean(each)
      await close()
    })
})

// A disk whose vm runs meanwhile: what is compared before its stop, and what is left for the time in which it is off.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import type { Volume } from '../../../agent/protocol/wire.ts'
import { portRulesOf, vmOf, volumeOf } from '../../agent/examples.ts'
import { runs, transferLab } from '../../support/nodes/transfer-lab.ts'
import { note } from '../tools.ts'
import { buttonSector, noTransferLab, random, transfersIn } from './opened.ts'

setDefaultTimeout(120_000)
const MiB = 2 ** 20
const BYTES = 160 * MiB
const WRITTEN_AT = 100 * MiB

describe.skipIf(note(await noTransferLab(), 'a disk that moves while its vm runs'))('a disk whose vm runs', () => {
  let lab: Awaited<ReturnType<typeof transferLab>>
  beforeAll(async () => {
    lab = await transferLab()
  })
  afterAll(() => lab?.end())

  /** A vm that runs until its power button is pressed. */
  async function running(n: number, format: Volume['format']) {
    const volume = volumeOf(n, format)
    const { workload } = volume
    const { a } = lab
    const content = random(BYTES)
    buttonSector().copy(content)
    if (format === 'raw') a.writeDisk(volume, content)
    else {
      const given = `${a.dir}/given-${n}`
      await Bun.write(given, content)
      a.writeDisk(volume, new Uint8Array())
      expect((await runs(['qemu-img', 'convert', '-f', 'raw', '-O', format, given, a.pathOf(volume)])).err).toBe('')
    }
    await a.agent.obey('firewall.allow', { ...portRulesOf(n), ipv6: [] })
    await a.agent.obey('vm.define', vmOf(n, { volume, seeded: false, memoryMb: 64 }))
    await a.agent.obey('vm.start', { workload })
    /** As the guest would write. */
    const write = async (at: number) => {
      const words = `qemu-io -d /machine/peripheral/virtio-disk0/virtio-backend "write -P 0x5a ${at / MiB}M 1M"`
      const monitor = ['virsh', '-c', 'qemu:///system', 'qemu-monitor-command', workload, '--hmp', words]
      expect(await a.run(...monitor)).toMatchObject({ code: 0 })
    }
    const open = await transfersIn(lab)(volume, BYTES)
    /** The bytes that the target's server has read of the disk. */
    const readThere = async () => {
      const { out } = await lab.b.run('pgrep', '-f', `qemu-nbd.*${open.ids.transfer}`)
      return Number(/rchar: (\d+)/.exec((await lab.b.run('cat', `/proc/${out.trim()}/io`)).out)?.[1])
    }
    return { volume, workload, write, readThere, ...open }
  }

  for (const [n, format] of [
    [21, 'raw'],
    [22, 'qcow2'],
  ] as const)
    test.skipIf(format === 'raw' && !process.env['BERTH_LONG'])(
      `of a ${format} disk only what was written since is read after the vm has shut down`,
      async () => {
        const { volume, workload, write, readThere, copy, checksums, end } = await running(n, format)
        await lab.a.agent.obey('transfer.mirror', copy)
        await write(WRITTEN_AT)
        const before = await readThere()
        expect(before).toBeGreaterThan(BYTES)
        await lab.a.agent.obey('vm.stop', { workload, graceSeconds: 60 })
        expect(await lab.a.agent.obey('transfer.copy', copy)).toMatchObject({ copiedBytes: 0 })
        expect((await readThere()) - before).toBeLessThan(BYTES / 4)
        const [ours, theirs] = await checksums()
        expect(theirs).toEqual(ours!)
        if (format === 'raw') expect(readFileSync(lab.b.pathOf(volume))[WRITTEN_AT]).toBe(0x5a)
        await end()
        await lab.a.agent.obey('vm.remove', { workload })
      },
    )

  test('all of a disk is read again when its vm was switched off, and what is wrong there is mended', async () => {
    const { volume, workload, readThere, copy, checksums, end } = await running(23, 'raw')
    await lab.a.agent.obey('transfer.mirror', copy)
    const before = await readThere()
    await lab.a.agent.obey('vm.stop', { workload, graceSeconds: 0 })
    await lab.b.run('dd', 'if=/dev/zero', `of=${lab.b.pathOf(volume)}`, 'bs=1M', 'seek=7', 'count=1', 'conv=notrunc')
    expect(await lab.a.agent.obey('transfer.copy', copy)).toMatchObject({ copiedBytes: MiB })
    expect((await readThere()) - before).toBeGreaterThan(BYTES)
    const [ours, theirs] = await checksums()
    expect(theirs).toEqual(ours!)
    await end()
    await lab.a.agent.obey('vm.remove', { workload })
  })

  for (const [n, words, broken] of [
    [24, 'connection', 'ssh -M -N'],
    [25, 'stream', 'transfer-stream'],
  ] as const)
    test.skipIf(!process.env['BERTH_LONG'])(
      `all of it is read again when the ${words} of its mirror broke`,
      async () => {
        const { volume, workload, write, copy, checksums, end } = await running(n, 'raw')
        await lab.a.agent.obey('transfer.mirror', copy)
        expect((await lab[n === 24 ? 'a' : 'b'].run('pkill', '-9', '-f', broken.replace(/^./, '[$&]'))).code).toBe(0)
        await write(WRITTEN_AT)
        await lab.a.agent.obey('vm.stop', { workload, graceSeconds: 60 })
        expect(await lab.a.agent.obey('transfer.copy', copy)).toMatchObject({ copiedBytes: MiB })
        const [ours, theirs] = await checksums()
        expect(theirs).toEqual(ours!)
        expect(readFileSync(lab.b.pathOf(volume))[WRITTEN_AT]).toBe(0x5a)
        await end()
        await lab.a.agent.obey('vm.remove', { workload })
      },
    )
})

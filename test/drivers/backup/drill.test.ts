// The restore drill on a real host: a disk is saved by restic, comes back to a disk of its own, and its system answers
// in a machine without network. BERTH_GUEST_IMAGE names the image of the guest; without one it is skipped.
import { afterAll, describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { parseCommand } from '../../../agent/commands/index.ts'
import { run } from '../../../agent/host/exec.ts'
import { type BackupTarget, LOCAL_MARKER } from '../../../agent/protocol/backup.ts'
import { type CommandName, type Input, type Output, usualHardware } from '../../../agent/protocol/wire.ts'
import { imageSource, volumeOf } from '../../agent/examples.ts'
import { temporary } from '../../agent/temporary.ts'
import { openLabHost } from '../../support/nodes/lab-host.ts'
import { missing, note } from '../tools.ts'

const image = process.env['BERTH_GUEST_IMAGE'] ?? '/tmp/tiny.qcow2'
const reason =
  (await missing('virsh', 'qemu-img', 'qemu-nbd', 'restic', 'qemu-system-x86_64')) ??
  (existsSync(image) ? undefined : `no guest image at ${image}`)

async function timed<T>(name: string, work: () => Promise<T>): Promise<T> {
  const began = performance.now()
  const output = await work()
  process.stderr.write(`  ${name.padEnd(16)} ${Math.round(performance.now() - began)} ms\n`)
  return output
}

describe.skipIf(note(reason, 'a restore drill'))('a restore drill', () => {
  const dir = temporary('drill')
  const host = openLabHost(dir)
  const suffix = String(process.pid).padStart(25, '0')
  const saved = { ...volumeOf(1), workload: `srv_1${suffix}` }
  const drill = { ...volumeOf(1), workload: `drl_1${suffix}` }
  const obey = async <N extends CommandName>(name: N, input: Input<N>) =>
    timed(name, () => parseCommand(name, input).work(host) as Promise<Output<N>>)

  afterAll(async () => {
    await host.hypervisor.remove(drill.workload)
    host.close()
    rmSync(dir, { recursive: true, force: true })
  })

  test('restores, boots without network, is answered by the guest agent, and leaves nothing', async () => {
    const place = `${dir}/place`
    mkdirSync(place)
    writeFileSync(`${place}/${LOCAL_MARKER}`, '')
    const target: BackupTarget = {
      ...{ kind: 'local', address: place, login: '', secret: '', trust: '' },
      ...{ repository: 'usr_1', password: 'password-of-the-account' },
    }
    const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response(Bun.file(image)) })
    process.env['PANEL_AGENT_INSECURE'] = '1'
    const checksum = `sha256:${createHash('sha256').update(readFileSync(image)).digest('hex')}`
    await obey('image.ensure', { ...imageSource, url: `http://127.0.0.1:${server.port}/tiny.qcow2`, checksum })
    server.stop(true)
    const sizeBytes = 256 * 2 ** 20
    await obey('volume.create', { volume: saved, image: imageSource.id, sizeBytes })
    const { snapshot } = await obey('backup.make', { backup: `bkp_1${suffix}`, volume: saved, target })
    await obey('backup.restore', { snapshot, volume: drill, sizeBytes, target })
    const machine = { workload: drill.workload, vcpus: 1, memoryMb: 128, volume: drill, hardware: usualHardware }
    for (const _ of [1, 2]) await obey('drill.start', machine)
    const { out } = await run('virsh', ['-c', 'qemu:///system', 'dumpxml', drill.workload])
    expect(out).toContain('<channel')
    expect(out).not.toContain('<interface')
    expect(await obey('drill.await', { workload: drill.workload, limitSeconds: 600 })).toEqual({ proof: 'agent' })
    const { ours } = await host.hypervisor.look()
    process.stderr.write(`  processor time   ${ours.find(({ id }) => id === drill.workload)?.cpuMs} ms\n`)
    for (const _ of [1, 2]) {
      await obey('vm.remove', { workload: drill.workload })
      await obey('volume.remove', drill)
    }
    expect(await host.hypervisor.power(drill.workload)).toBe('absent')
    expect((await host.storage.list()).map(({ workload }) => workload)).toEqual([saved.workload])
  }, 700_000)
})

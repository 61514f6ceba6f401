// The whole life of a vm on this machine: image, disk, seed, rules, definition, start, a login over SSH with the key of
// the seed, a second system on a second disk, and the way back. BERTH_GUEST_IMAGE names the image (see guest/); without
// one it is skipped.
import { afterAll, describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { parseCommand } from '../../agent/commands/index.ts'
import { loggingTo } from '../../agent/controller-link/job-log.ts'
import { run } from '../../agent/host/exec.ts'
import { openRealHost } from '../../agent/host/real-host.ts'
import type { CommandName, Input, Output } from '../../agent/protocol/wire.ts'
import { imageSource, portRulesOf, seedOf, vmOf, volumeOf, workloadId } from '../agent/examples.ts'
import { temporary } from '../agent/temporary.ts'
import { missing, note } from './tools.ts'

const image = process.env['BERTH_GUEST_IMAGE'] ?? '/tmp/tiny.qcow2'
const reason =
  (await missing('virsh', 'qemu-img', 'xorriso', 'nft', 'ip', 'qemu-system-x86_64')) ??
  (existsSync(image) ? undefined : `no guest image at ${image}`) ??
  ((await run('nft', ['list', 'table', 'bridge', 'berth'], { mayFail: true })).code === 0
    ? 'a node runs on this machine'
    : undefined)

describe.skipIf(note(reason, 'a real guest'))('a real guest', () => {
  const n = process.pid
  const bridge = `brg${n}`
  const subnet = `10.${64 + (n % 64)}.${(n >> 6) % 256}`
  const dir = temporary('guest')
  const host = openRealHost(dir)
  const written: string[] = []

  const obey = async <N extends CommandName>(name: N, input: Input<N>): Promise<Output<N>> => {
    const began = performance.now()
    const command = parseCommand(name, input)
    const job = { line: (level: string, text: string) => void written.push(`${level} ${text}`), progress: () => {} }
    const output = (await loggingTo(job, () => command.work(host))) as Output<N>
    process.stderr.write(`  ${name.padEnd(16)} ${Math.round(performance.now() - began)} ms\n`)
    return output
  }
  const ssh = (command: string) => {
    const options = [
      'StrictHostKeyChecking=no',
      'UserKnownHostsFile=/dev/null',
      'BatchMode=yes',
      'ConnectTimeout=10',
      'LogLevel=ERROR',
    ]
    return Bun.spawnSync([
      'ssh',
      '-i',
      join(dir, 'key'),
      ...options.flatMap((it) => ['-o', it]),
      `root@${subnet}.11`,
      command,
    ])
  }

  afterAll(async () => {
    await host.hypervisor.remove(workloadId(n))
    await host.network.unlimit(`bth${n}`)
    await run('ip', ['link', 'del', bridge], { mayFail: true })
    await run('nft', ['delete', 'table', 'bridge', 'berth'], { mayFail: true })
    host.close()
    rmSync(dir, { recursive: true, force: true })
  })

  test('is installed, answers, is limited to its addresses, and is removed completely', async () => {
    await run('ip', ['link', 'add', bridge, 'type', 'bridge'])
    await run('ip', ['address', 'add', `${subnet}.1/24`, 'dev', bridge])
    await run('ip', ['link', 'set', bridge, 'up'])
    Bun.spawnSync(['ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', join(dir, 'key')])
    const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response(Bun.file(image)) })
    process.env['PANEL_AGENT_INSECURE'] = '1'
    const checksum = `sha256:${createHash('sha256').update(readFileSync(image)).digest('hex')}`
    const id = workloadId(n)
    const tap = `bth${n}`
    const seed = seedOf(n)
    seed.userData = {
      hostname: 'web1',
      disable_root: false,
      ssh_authorized_keys: [readFileSync(join(dir, 'key.pub'), 'utf8').trim()],
    }
    const mac = '52:54:00:77:00:01'
    seed.networkConfig = {
      version: 2,
      ethernets: { eth0: { match: { macaddress: mac }, 'set-name': 'eth0', addresses: [`${subnet}.11/24`] } },
    }

    await obey('image.ensure', { ...imageSource, url: `http://127.0.0.1:${server.port}/tiny.qcow2`, checksum })
    server.stop(true)
    await obey('volume.create', { volume: volumeOf(n), image: imageSource.id, sizeBytes: 512 * 2 ** 20 })
    expect(await obey('volume.look', volumeOf(n))).toEqual({ sizeBytes: 512 * 2 ** 20 })
    await obey('seed.write', seed)
    await obey('firewall.allow', { ...portRulesOf(n), tap, mac, ipv4: [`${subnet}.11`], ipv6: [] })
    await obey('vm.define', vmOf(n, { memoryMb: 128, network: { bridge, tap, mac, portMbps: 100 } }))
    await obey('vm.start', { workload: id })
    expect(['ssh', 'agent']).toContain(
      (await obey('vm.await', { workload: id, address: `${subnet}.11`, limitSeconds: 60 })).answered,
    )
    const sshAnswers = async () => {
      for (const until = Date.now() + 60_000; !(await host.network.sshAnswers(`${subnet}.11`)) && Date.now() < until; )
        await Bun.sleep(200)
    }
    await sshAnswers()
    expect(ssh('hostname').stdout.toString().trim()).toBe('web1')
    expect(await obey('vm.await', { workload: id, address: null, limitSeconds: 30 })).toEqual({ answered: 'agent' })

    await obey('seed.remove', { workload: id })
    expect(await host.seeds.path(id)).toBeUndefined()

    // From inside the guest: packets from a foreign address are dropped, those from its own pass.
    expect(ssh(`ip addr add ${subnet}.66/24 dev eth0; ping -c 2 -W 1 -I ${subnet}.66 ${subnet}.1`).exitCode).not.toBe(0)
    expect(ssh(`ping -c 1 -W 2 ${subnet}.1`).exitCode).toBe(0)
    const figures = (await host.hypervisor.look()).ours.find((vm) => vm.id === id)
    expect(figures?.txBytes).toBeGreaterThan(1000)

    // A larger package: the guest sees the disk at once, and the memory after a restart.
    const sizes = () =>
      ssh("cat /sys/block/vda/size; awk '/MemTotal/ {print $2}' /proc/meminfo")
        .stdout.toString()
        .split('\n')
        .map(Number)
    const [sectors, memoryKb] = sizes()
    expect(sectors).toBe((512 * 2 ** 20) / 512)
    await obey('vm.define', vmOf(n, { memoryMb: 256, seeded: false, network: { bridge, tap, mac, portMbps: 100 } }))
    for (const _ of [1, 2]) await obey('volume.grow', { volume: volumeOf(n), sizeBytes: 640 * 2 ** 20 })
    await obey('volume.grow', { volume: volumeOf(n), sizeBytes: 2 ** 20 })
    expect(sizes().slice(0, 2)).toEqual([(640 * 2 ** 20) / 512, memoryKb!])
    await obey('vm.stop', { workload: id, graceSeconds: 30 })
    await obey('volume.grow', { volume: volumeOf(n), sizeBytes: 768 * 2 ** 20 })
    await obey('vm.start', { workload: id })
    await sshAnswers()
    const [grown, more] = sizes()
    expect(grown).toBe((768 * 2 ** 20) / 512)
    expect(more!).toBeGreaterThan(memoryKb! + 100_000)

    // A second system on a disk of its own, while the first keeps its disk.
    const definition = vmOf(n, { memoryMb: 128, network: { bridge, tap, mac, portMbps: 100 } })
    expect(ssh('echo first > /root/marker && sync').exitCode).toBe(0)
    const second = volumeOf(n, 'qcow2', 1)
    await obey('volume.create', { volume: second, image: imageSource.id, sizeBytes: 512 * 2 ** 20 })
    await obey('vm.stop', { workload: id, graceSeconds: 30 })
    await obey('seed.write', {
      ...seed,
      metaData: { 'instance-id': `${id}-2`, 'local-hostname': 'web2' },
      userData: { ...seed.userData, hostname: 'web2' },
    })
    await obey('vm.define', { ...definition, volume: second })
    await obey('vm.start', { workload: id })
    await sshAnswers()
    expect(ssh('hostname; ls /root/marker').stdout.toString().trim()).toBe('web2')

    // The way back to the first system, as a reinstallation that failed takes it.
    await obey('vm.stop', { workload: id, graceSeconds: 0 })
    await obey('vm.define', { ...definition, seeded: false })
    await obey('seed.remove', { workload: id })
    await obey('volume.remove', second)
    await obey('vm.start', { workload: id })
    await sshAnswers()
    expect(ssh('hostname; cat /root/marker').stdout.toString().trim()).toBe('web1\nfirst')

    await obey('vm.stop', { workload: id, graceSeconds: 30 })
    expect(await obey('vm.look', { workload: id })).toEqual({ power: 'stopped' })
    expect(written.join('\n')).not.toContain('switched off')
    await obey('vm.remove', { workload: id })
    await obey('volume.remove', volumeOf(n))
    await obey('firewall.forget', { workload: id })
    expect(await obey('vm.look', { workload: id })).toEqual({ power: 'absent' })
    expect(await host.storage.list()).toEqual([])
    expect(written.filter((line) => line.startsWith('command'))).not.toEqual([])
    expect(written.filter((line) => line.startsWith('warning'))).toEqual([])
  }, 240_000)
})

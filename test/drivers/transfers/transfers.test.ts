// Disks that move between two nodes with SSH servers of their own: equal bytes, holes, cuts, kills, and attacks.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Input, Volume } from '../../../agent/protocol/wire.ts'
import { portRulesOf, vmOf, volumeOf } from '../../agent/examples.ts'
import { addresses, runs, type TransferNode, transferLab } from '../../support/nodes/transfer-lab.ts'
import { eventually } from '../../support/waiting/eventually.ts'
import { note } from '../tools.ts'
import { noTransferLab, random, transfersIn } from './opened.ts'

setDefaultTimeout(180_000)
const MiB = 2 ** 20
const SLOW_BYTES = 160 * MiB
const reason = await noTransferLab()

describe.skipIf(note(reason, 'disks that move between two nodes'))('two nodes', () => {
  let lab: Awaited<ReturnType<typeof transferLab>>
  beforeAll(async () => {
    lab = await transferLab()
  })
  afterAll(() => lab?.end())

  const opened: ReturnType<typeof transfersIn> = (...given) => transfersIn(lab)(...given)
  const nothingRuns = async () => [...(await lab.a.processes()), ...(await lab.b.processes())]
  const raw = (node: TransferNode, volume: Volume) =>
    runs(['qemu-img', 'convert', '-f', volume.format, '-O', 'raw', node.pathOf(volume), join(node.dir, 'raw')]).then(
      () => readFileSync(join(node.dir, 'raw')),
    )

  for (const format of ['raw', 'qcow2'] as const)
    test(`a ${format} disk arrives with equal bytes and its holes, and leaves nothing of its transfer`, async () => {
      const volume = volumeOf(format === 'raw' ? 1 : 2, format)
      const content = Buffer.concat([
        random(24 * MiB),
        Buffer.alloc(200 * MiB),
        random(8 * MiB),
        Buffer.alloc(24 * MiB),
      ])
      const given = join(lab.a.dir, 'given')
      writeFileSync(given, content)
      lab.a.writeDisk(volume, new Uint8Array())
      await runs(['qemu-img', 'convert', '-f', 'raw', '-O', format, given, lab.a.pathOf(volume)])
      // The line of an operator stays as it is.
      writeFileSync(join(lab.b.dir, 'libvirt/root-ssh/authorized_keys2'), '# of the operator\nssh-ed25519 AAAA me\n')
      const { copy, checksums, end } = await opened(volume, content.length)
      expect(lab.b.keys()).toContain('restrict,command=')
      const { copiedBytes, totalBytes } = await lab.a.agent.obey('transfer.copy', copy)
      expect(copiedBytes).toBe(totalBytes)
      expect(totalBytes).toBeLessThan(40 * MiB)
      const [ours, theirs] = await checksums()
      expect(theirs).toEqual(ours!)
      await end()
      expect((await raw(lab.b, volume)).equals(content)).toBe(true)
      expect(statSync(lab.b.pathOf(volume)).blocks * 512).toBeLessThan(40 * MiB)
      expect(lab.b.keys()).toBe('# of the operator\nssh-ed25519 AAAA me\n')
      expect(await nothingRuns()).toEqual([])
      expect((await lab.b.run('ls', '/run/berth/transfers')).out).toBe('')
    })

  /** A copy that is slow enough to be met while it works: 20 MB a second. */
  async function slowly(n: number) {
    const volume = volumeOf(n, 'raw')
    const content = random(SLOW_BYTES)
    lab.a.writeDisk(volume, content)
    const open = await opened(volume, content.length)
    const arrived = () => statSync(lab.b.pathOf(volume)).blocks * 512
    const copying = () => lab.a.agent.obey('transfer.copy', { ...open.copy, maxMbps: 160 })
    const begun = () => eventually(() => arrived() > SLOW_BYTES / 2, 60)
    const isWhole = () => readFileSync(lab.b.pathOf(volume)).equals(content)
    return { ...open, arrived, copying, begun, isWhole }
  }

  test('a copy whose SSH connection is killed goes on by itself, and sends what is missing alone', async () => {
    const { copying, begun, isWhole, end } = await slowly(3)
    const copied = copying()
    await begun()
    const { out } = await lab.a.run('pgrep', '-f', 'ssh -M -N')
    await lab.a.run('kill', '-9', ...out.trim().split('\n'))
    const { copiedBytes } = await copied
    expect(isWhole()).toBe(true)
    // Blocks that were under way at the cut count twice.
    expect(copiedBytes).toBeLessThan(1.4 * SLOW_BYTES)
    await end()
  })

  test('an agent that is killed on either node leaves nothing that runs, and its copy comes to its end', async () => {
    const { copy, copying, begun, isWhole, end } = await slowly(4)
    const lost = copying().catch(() => {})
    await begun()
    await lab.a.agent.end()
    await lost
    await eventually(async () => (await lab.a.processes()).length === 0, 20)
    expect(await lab.a.processes()).toEqual([])
    lab.a.startAgent()
    const again = lab.a.agent.obey('transfer.copy', { ...copy, maxMbps: 160 })
    await Bun.sleep(1500)
    await lab.b.agent.end()
    lab.b.startAgent()
    await again
    expect(isWhole()).toBe(true)
    await end()
    await eventually(async () => (await nothingRuns()).length === 0)
    expect(await nothingRuns()).toEqual([])
    expect(lab.b.keys()).not.toContain('berth-transfer')
  })

  test('the key lets in nothing but the streams of its transfer, from its source, while it is open', async () => {
    const volume = volumeOf(5, 'raw')
    lab.a.writeDisk(volume, random(MiB))
    const { ids, copy, receive, end } = await opened(volume, MiB)
    const key = `/run/berth/transfers/${ids.transfer}/ssh/key`
    const known = join(lab.a.dir, 'known')
    writeFileSync(known, copy.to.hostKeys.map((host) => `${addresses.b} ${host}\n`).join(''))
    const ssh = (node: TransferNode, keyPath: string, target: string, ...words: string[]) => {
      const options = [
        '-F',
        'none',
        '-T',
        '-o',
        'BatchMode=yes',
        '-o',
        'ConnectTimeout=5',
        '-o',
        `UserKnownHostsFile=${known}`,
      ]
      return node.run(
        'timeout',
        '20',
        'ssh',
        ...options,
        '-i',
        keyPath,
        ...words.slice(0, -1),
        `root@${target}`,
        words.at(-1)!,
      )
    }
    const asked = (...words: string[]) => ssh(lab.a, key, addresses.b, ...words)
    const mark = join(lab.b.dir, 'attacked')
    for (const word of [
      `touch ${mark}`,
      `nbd-0; touch ${mark}`,
      `nbd-0\ntouch ${mark}`,
      `$(touch ${mark})`,
      `\`touch ${mark}\``,
      `nbd-0 | touch ${mark}`,
      'nbd-../../../run/libvirt/libvirt-sock',
      '/run/libvirt/libvirt-sock',
      'nbd-00',
      'NBD-0',
      ' nbd-0',
      'nbd-0 ',
      'map-x',
      'mirror-0 nbd-0',
      'some-10',
      'written-',
      'forget',
      'internal-sftp',
      '',
    ]) {
      const { code, out, err } = await asked(word || 'true')
      expect([word, code, out, err]).toEqual([word, 64, '', 'berth: refused\n'])
    }
    expect((await lab.b.run('ls', mark)).code).not.toBe(0)
    // No forwarding: neither of ports nor of sockets, in either direction.
    for (const forward of [
      ['-N', '-W', '/run/libvirt/libvirt-sock'],
      ['-W', '127.0.0.1:22'],
    ])
      expect((await asked(...forward, 'nbd-0')).out).not.toContain('SSH-2.0')
    for (const forward of ['2222:127.0.0.1:22', '/run/far.sock:/run/libvirt/libvirt-sock', '1080']) {
      const refused = await asked('-N', '-o', 'ExitOnForwardFailure=yes', '-R', forward, 'nbd-0')
      expect([forward, refused.code]).toEqual([forward, 255])
      expect(refused.err).toContain('forwarding failed')
    }
    expect((await lab.b.run('ls', '/run/far.sock')).code).not.toBe(0)
    expect((await asked('-tt', 'map-x')).err).toContain('PTY allocation request failed')
    // Neither a subsystem nor the environment says another word.
    expect(await asked('-s', 'sftp')).toMatchObject({ code: 255, out: '' })
    for (const more of [['-A'], ['-o', 'SetEnv=SSH_ORIGINAL_COMMAND=map-0'], ['-o', 'SetEnv=LD_PRELOAD=/x']])
      expect(await asked(...more, 'sftp')).toMatchObject({ code: 64, out: '' })
    const copied = join('/run', 'stolen-key')
    await lab.b.run('sh', '-c', `umask 77; cat > ${copied} <<'END'\n${(await lab.a.run('cat', key)).out}END`)
    const elsewhere = await ssh(lab.b, copied, addresses.b, 'nbd-0')
    expect(elsewhere.err).toContain('Permission denied')
    // A transfer that has expired, and one that has ended.
    await lab.b.agent.obey('transfer.receive', { ...receive, expiresAt: Date.now() + 1500 })
    await Bun.sleep(2500)
    expect((await asked('nbd-0')).err).toContain('Permission denied')
    await lab.b.agent.obey('transfer.receive', receive)
    expect((await asked('map-0')).out.length).toBeGreaterThan(0)
    await lab.b.agent.obey('transfer.end', ids)
    expect((await asked('map-0')).err).toContain('Permission denied')
    const refused = await lab.a.agent.obey('transfer.copy', copy).catch((error: Error) => error.message)
    expect(refused).toContain('refuses')
    await end()
  })

  test('a renewed key lets its source in past its first end, also after a cut, and not past the last', async () => {
    const volume = volumeOf(9, 'raw')
    const content = random(SLOW_BYTES / 2)
    lab.a.writeDisk(volume, content)
    const began = Date.now()
    const { ids, copy, end } = await opened(volume, content.length, began + 6000)
    const copied = lab.a.agent.obey('transfer.copy', { ...copy, maxMbps: 80 })
    await eventually(() => statSync(lab.b.pathOf(volume)).blocks > 0, 20)
    await lab.b.agent.obey('transfer.renew', { ...ids, expiresAt: Date.now() + 20_000 })
    expect(lab.b.keys().match(/berth-transfer:/g)).toHaveLength(1)
    await Bun.sleep(began + 7000 - Date.now())
    // The copy needs a new connection now.
    const { out } = await lab.a.run('pgrep', '-f', 'ssh -M -N')
    await lab.a.run('kill', '-9', ...out.trim().split('\n'))
    await copied
    expect(readFileSync(lab.b.pathOf(volume)).equals(content)).toBe(true)
    // One that has expired meanwhile is opened again, and an agent that starts again knows the last end.
    await lab.b.agent.obey('transfer.renew', { ...ids, expiresAt: Date.now() + 1000 })
    await eventually(() => !lab.b.keys().includes('berth-transfer'), 10)
    expect(lab.b.keys()).not.toContain('berth-transfer')
    const refused = await lab.a.agent.obey('transfer.copy', copy).catch((error: Error) => error.message)
    expect(refused).toContain('refuses')
    await lab.b.agent.obey('transfer.renew', { ...ids, expiresAt: Date.now() + 600_000 })
    await lab.b.agent.end()
    lab.b.startAgent()
    await eventually(() => lab.b.keys().includes('berth-transfer'), 20)
    expect(await lab.a.agent.obey('transfer.copy', copy)).toMatchObject({ copiedBytes: 0 })
    await end()
    // One that has ended is not opened by a renewal that comes late.
    const late = lab.b.agent.obey('transfer.renew', { ...ids, expiresAt: Date.now() + 600_000 })
    expect(await late.catch((error: Error) => error.message)).toContain('is not open on this node')
    expect(lab.b.keys()).not.toContain('berth-transfer')
  })

  test('a disk is mirrored while its vm runs, with what is written, and is whole when the vm is off', async () => {
    const volume = volumeOf(8, 'raw')
    const { workload } = volume
    lab.a.writeDisk(volume, random(64 * MiB))
    const { agent } = lab.a
    await agent.obey('firewall.allow', { ...portRulesOf(8), ipv6: [] })
    await agent.obey('vm.define', vmOf(8, { volume, seeded: false, memoryMb: 64 }))
    await agent.obey('vm.start', { workload })
    const { copy, checksums, end, ids } = await opened(volume, 64 * MiB)
    const { copiedBytes, totalBytes } = await agent.obey('transfer.mirror', copy)
    expect([copiedBytes, totalBytes]).toEqual([64 * MiB, 64 * MiB])
    // As the guest would write.
    const write = `qemu-io -d /machine/peripheral/virtio-disk0/virtio-backend "write -P 0x5a 32M 1M"`
    const { code, out, err } = await lab.a.run(
      'virsh',
      '-c',
      'qemu:///system',
      'qemu-monitor-command',
      workload,
      '--hmp',
      write,
    )
    expect([code, out.trim(), err.trim()]).toEqual([0, '', ''])
    const same = () => readFileSync(lab.a.pathOf(volume)).equals(readFileSync(lab.b.pathOf(volume)))
    expect(readFileSync(lab.a.pathOf(volume))[32 * MiB]).toBe(0x5a)
    expect(same()).toBe(true)
    await agent.obey('vm.stop', { workload, graceSeconds: 0 })
    expect(await agent.obey('transfer.copy', copy)).toMatchObject({ copiedBytes: 0 })
    const [ours, theirs] = await checksums()
    expect(theirs).toEqual(ours!)

    // A mirror that is ended leaves the vm as it was.
    await agent.obey('vm.start', { workload })
    await agent.obey('transfer.mirror', copy)
    await agent.obey('transfer.end', ids)
    expect((await lab.a.run('virsh', '-c', 'qemu:///system', 'blockjob', workload, 'vda')).out).toContain(
      'No current block job',
    )
    expect(await agent.obey('vm.look', { workload })).toEqual({ power: 'running' })
    await end()
    await agent.obey('vm.remove', { workload })
  })

  test('a target without a way in for root says so, before it makes a disk', async () => {
    const config = join(lab.b.dir, 'libvirt/ssh/sshd_config')
    const before = readFileSync(config, 'utf8')
    writeFileSync(config, `${before}PermitRootLogin no\n`)
    const refused = await opened(volumeOf(6, 'raw'), MiB).catch((error: Error) => error.message)
    writeFileSync(config, before)
    expect(refused).toContain('lets no key of root')
  })

  test('a target of another size is refused, and another host key too', async () => {
    const volume = volumeOf(7, 'raw')
    lab.a.writeDisk(volume, random(2 * MiB))
    const { copy, end } = await opened(volume, MiB)
    const refused = (input: Input<'transfer.copy'>) =>
      lab.a.agent.obey('transfer.copy', input).then(
        () => 'done',
        (error: Error) => error.message,
      )
    expect(await refused(copy)).toContain('has 1048576 bytes')
    const blob = Buffer.from(`\0\0\0\x0bssh-ed25519\0\0\0 ${'x'.repeat(32)}`, 'latin1')
    const other = `ssh-ed25519 ${blob.toString('base64')}`
    expect(await refused({ ...copy, to: { ...copy.to, hostKeys: [other] } })).toContain('refuses')
    expect(readFileSync(lab.b.pathOf(volume)).every((byte) => byte === 0)).toBe(true)
    await end()
  })
})

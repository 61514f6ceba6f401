// The whole life of a vm on this machine: image, disk, seed, rules, definition, start, a login over SSH with the key of
// the seed, a second system on a second disk, and the way back. BERTH_GUEST_IMAGE names the image (see guest/); without
// one it is skipped.
import { afterAll, describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { parseCommand } from '../../agent/commands/index.ts'
import { loggingTo } from '../../agent/controller-link/job-log.ts'
import { MOST_GUEST_BYTES } from '../../agent/drivers/guest-agent/guest-agent.ts'
import { run } from '../../agent/host/exec.ts'
import { STARTUP_COMMAND, startupFiles } from '../../agent/protocol/startup-script.ts'
import { type CommandName, type Input, type Output, serialOf } from '../../agent/protocol/wire.ts'
import { imageSource, portRulesOf, seedOf, vmOf, volumeOf, workloadId } from '../agent/examples.ts'
import { temporary } from '../agent/temporary.ts'
import { removeRules, sshWithPassword } from '../support/guest.ts'
import { openLabHost } from '../support/nodes/lab-host.ts'
import { guestAgentContract } from './guest-agent.contract.ts'
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
  const host = openLabHost(dir)
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
      ...options.flatMap((option) => ['-o', option]),
      `root@${subnet}.11`,
      command,
    ])
  }

  afterAll(async () => {
    await host.hypervisor.remove(workloadId(n))
    await host.network.unlimit(`bth${n}`)
    await run('ip', ['link', 'del', bridge], { mayFail: true })
    for (const device of [`bpx${10_000 + n}`, `bpb${10_000 + n}`])
      await run('ip', ['link', 'del', device], { mayFail: true, quietly: true })
    await removeRules()
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
      write_files: [
        {
          path: startupFiles.script,
          content: btoa(`#!/bin/sh\nyes 'a line of <script>' | head -n 20000\necho err >&2\nexit 7\n`),
          encoding: 'b64',
          permissions: '0700',
        },
      ],
      runcmd: [['sh', '-c', STARTUP_COMMAND]],
    }
    seed.ownUserData = '#!/bin/sh\necho own >/root/own\n'
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
    await obey(
      'vm.define',
      vmOf(n, { memoryMb: 128, network: { bridge, tap, mac }, speed: { inMbps: 100, outMbps: 100, cpuPercent: null } }),
    )
    await obey('vm.start', { workload: id })
    expect(['ssh', 'agent']).toContain(
      (await obey('vm.await', { workload: id, address: `${subnet}.11`, limitSeconds: 60 })).answered,
    )
    const sshAnswers = async () => {
      for (
        const until = Date.now() + 60_000;
        (await host.network.sshAt(`${subnet}.11`)) !== 'greets' && Date.now() < until;
      )
        await Bun.sleep(200)
    }
    await sshAnswers()
    expect(ssh('hostname').stdout.toString().trim()).toBe('web1')
    expect(await obey('vm.await', { workload: id, address: null, limitSeconds: 30 })).toEqual({ answered: 'agent' })

    await obey('seed.remove', { workload: id })
    expect(await host.seeds.path(id)).toBeUndefined()

    // The startup script has written more than is stored, and its own user-data ran too.
    const { system, script } = await obey('guest.look', { workload: id, script: true })
    expect(system?.osName).toBe('Berth Tiny Linux')
    expect(script).toMatchObject({ exitCode: 7, truncated: true })
    expect(script?.output.slice(0, 20)).toBe('a line of <script>\na')
    expect(ssh('cat /root/own').stdout.toString()).toBe('own\n')

    // The guest agent: the contract, programs, and a password that no other user of the host can read.
    for (const holds of Object.values(guestAgentContract)) await holds({ agent: host.guestAgent, workload: id })
    const { exec, setPassword } = {
      exec: host.guestAgent.exec.bind(host.guestAgent, id),
      setPassword: host.guestAgent.setPassword.bind(host.guestAgent, id),
    }
    expect(
      await exec(['sh', '-c', 'cat; printf "%s|" "$@"; exit 7', 'sh', `it's "ä"`, ''], { stdin: 'in\tput\n' }),
    ).toEqual({
      code: 7,
      output: `in\tput\nit's "ä"||`,
      truncated: false,
    })
    const endless = await exec(['sh', '-c', 'yes hostile'])
    expect([endless.output.length, endless.truncated]).toEqual([MOST_GUEST_BYTES, true])
    await expect(exec(['sleep', '5'], { limitSeconds: 1 })).rejects.toMatchObject({ code: 'guest_timeout' })
    const secret = 'Berth-secret-4711'
    const commandLines = watchCommandLines()
    await setPassword('root', { text: secret })
    const seen = commandLines.stop()
    expect(seen.join('\n')).toContain('virsh')
    for (const form of [secret, btoa(secret)]) {
      expect(seen.filter((line) => line.includes(form))).toEqual([])
      expect(filesOfVirsh().filter((file) => readFileSync(file, 'latin1').includes(form))).toEqual([])
    }
    expect((await sshWithPassword(`${subnet}.11`, secret, 'echo in')).out).toBe('in')
    await setPassword('root', { hash: await Bun.password.hash('unused', 'bcrypt') })
    expect((await sshWithPassword(`${subnet}.11`, secret, 'echo in')).code).not.toBe(0)

    // From inside the guest: packets from a foreign address are dropped, those from its own pass.
    expect(ssh(`ip addr add ${subnet}.66/24 dev eth0; ping -c 2 -W 1 -I ${subnet}.66 ${subnet}.1`).exitCode).not.toBe(0)
    expect(ssh(`ping -c 1 -W 2 ${subnet}.1`).exitCode).toBe(0)

    // An extra address: allowed by the node and told to the running guest, it answers; taken away, it does not. A
    // floating one is in the guest alone until the node allows it.
    const pings = async (address: string, times = 1) =>
      (await Bun.spawn(['ping', '-c', `${times}`, '-W', '1', address], { stdout: 'ignore' }).exited) === 0
    const [extra, floating] = [`${subnet}.67`, `${subnet}.68`]
    const rules = { ...portRulesOf(n), tap, mac, ipv6: [] }
    const guest = (what: 'add' | 'remove', cidr: string) =>
      obey('guest.addresses', { workload: id, mac, add: [], remove: [], [what]: [cidr] })
    await obey('firewall.allow', { ...rules, ipv4: [`${subnet}.11`, extra] })
    for (let times = 0; times < 2; times++) {
      expect(await guest('add', `${extra}/24`)).toEqual({ guest: 'applied' })
      expect(await pings(extra)).toBe(true)
    }
    for (let times = 0; times < 2; times++) {
      expect(await guest('remove', `${extra}/24`)).toEqual({ guest: 'applied' })
      expect(await pings(extra)).toBe(false)
    }
    await obey('firewall.allow', { ...rules, ipv4: [`${subnet}.11`] })
    expect([await guest('add', `${floating}/32`), await pings(floating)]).toEqual([{ guest: 'applied' }, false])
    await obey('firewall.float', { workload: id, addresses: [floating], on: true })
    // The host still asks for the address each second since the ping before: the first answer may be a second away.
    expect(await pings(floating, 3)).toBe(true)
    await obey('firewall.float', { workload: id, addresses: [floating], on: false })
    await guest('remove', `${floating}/32`)

    // Other addresses for good: it answers on the new one alone, and goes back to the old one.
    const readdress = (take: string, leave: string) =>
      obey('guest.readdress', {
        ...{ workload: id, mac, addresses: [`${take}/24`], leave: [leave], resolvers: [] },
        gateways: [{ version: 4, via: `${subnet}.1`, isOnLink: false }],
      })
    const [first, other] = [`${subnet}.11`, `${subnet}.69`]
    await obey('firewall.allow', { ...rules, ipv4: [first, other] })
    for (const [take, leave] of [
      [other, first],
      [first, other],
    ] as const)
      for (let times = 0; times < 2; times++) {
        expect(await readdress(take, leave)).toEqual({ guest: 'applied', os: 'linux' })
        expect([await pings(take), await pings(leave)]).toEqual([true, false])
      }
    expect(ssh('ip -4 route').stdout.toString()).toContain(`default via ${subnet}.1 `)
    await obey('firewall.allow', { ...rules, ipv4: [first] })

    // A private network: the running guest gets a card with the network's MTU, and its address by the guest agent.
    const card = { workload: id, tap: `btp${n}`, mac: '02:62:00:77:00:01', addresses: ['10.99.7.2/24'] }
    const network = { network: `net_${String(n).padStart(26, '0')}`, vni: 10_000 + n, local: '127.0.0.1', peers: [] }
    const inGuest = async () => {
      const found = (await host.guestAgent.interfaces(id)).find(({ mac: its }) => its === card.mac)
      return found && { addresses: found.addresses.filter((address) => !address.startsWith('fe80')), name: found.name }
    }
    const until = async (is: (found: Awaited<ReturnType<typeof inGuest>>) => boolean) => {
      for (let i = 0; i < 50 && !is(await inGuest()); i++) {
        await host.privateNetworking.configureGuests()
        await Bun.sleep(100)
      }
      return inGuest()
    }
    expect(await obey('network.set', { ...network, ports: [card] })).toEqual({ waiting: [] })
    const plugged = await until((found) => found?.addresses.length === 1)
    expect(plugged?.addresses).toEqual(card.addresses)
    expect(ssh(`cat /sys/class/net/${plugged?.name}/mtu`).stdout.toString().trim()).toBe('1450')
    await obey('network.remove', { network: network.network })
    expect(await until((found) => found === undefined)).toBeUndefined()

    const figures = (await host.hypervisor.look()).ours.find((vm) => vm.id === id)
    expect(figures?.txBytes).toBeGreaterThan(1000)

    // An extra volume: empty, in the running guest at once under its serial number, and larger when it grows.
    const extraVolume = {
      workload: `vol_${String(n).padStart(26, '0')}`,
      generation: 0,
      pool: 'local',
      format: 'qcow2',
    } as const
    const ofVolume = (command: string) =>
      ssh(
        `for d in /sys/block/vd*; do [ "$(cat $d/serial)" = ${serialOf(extraVolume.workload)} ] && ` +
          'S=$d D=/dev/$(basename $d); done; ' +
          `[ -n "$D" ] || { echo none; exit; }; ${command}`,
      )
        .stdout.toString()
        .trim()
    const pattern = 'echo of-the-first-guest | dd of=$D conv=fsync 2>/dev/null; dd if=$D bs=18 count=1 2>/dev/null'
    for (const _ of [1, 2]) await obey('volume.make', { volume: extraVolume, sizeBytes: 64 * 2 ** 20 })
    expect(ofVolume('echo there')).toBe('none')
    for (const _ of [1, 2]) await obey('volume.attach', { workload: id, volume: extraVolume })
    expect(ofVolume('cat $S/size; tr -d "\\0" <$D | wc -c')).toBe(`${(64 * 2 ** 20) / 512}\n0`)
    await obey('volume.grow', { volume: extraVolume, sizeBytes: 96 * 2 ** 20 })
    expect(ofVolume('cat $S/size')).toBe(String((96 * 2 ** 20) / 512))
    expect(ofVolume(pattern)).toBe('of-the-first-guest')
    await expect(obey('volume.remove', extraVolume)).rejects.toMatchObject({ code: 'volume_in_use' })

    // A larger package: the guest sees the disk at once, and the memory after a restart.
    const sizes = () =>
      ssh("cat /sys/block/vda/size; awk '/MemTotal/ {print $2}' /proc/meminfo")
        .stdout.toString()
        .split('\n')
        .map(Number)
    const [sectors, memoryKb] = sizes()
    expect(sectors).toBe((512 * 2 ** 20) / 512)
    await obey(
      'vm.define',
      vmOf(n, {
        memoryMb: 256,
        seeded: false,
        network: { bridge, tap, mac },
        speed: { inMbps: 100, outMbps: 100, cpuPercent: null },
      }),
    )
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
    // Still there after a new definition and a start; then the running guest gives it back.
    expect(ofVolume('dd if=$D bs=18 count=1 2>/dev/null')).toBe('of-the-first-guest')
    for (const _ of [1, 2]) await obey('volume.detach', { workload: id, volume: extraVolume })
    expect(ofVolume('echo there')).toBe('none')

    // A snapshot of the running guest, which is frozen meanwhile. Writes since are gone after the way back, and the
    // snapshot is merged away under the running guest.
    const at = (layer: number) => ({ ...volumeOf(n), ...(layer && { layer }) })
    const layered = (layer: number) =>
      vmOf(n, {
        memoryMb: 128,
        seeded: false,
        volume: at(layer),
        network: { bridge, tap, mac },
        speed: { inMbps: 100, outMbps: 100, cpuPercent: null },
      })
    expect(ssh('echo before > /root/snapshot').exitCode).toBe(0)
    const taken = await obey('volume.snapshot', { vm: layered(1), from: 0 })
    expect(taken.consistent).toBe(true)
    expect(taken.usedBytes).toBeGreaterThan(1e6)
    expect(ssh('echo after > /root/snapshot && sync && cat /root/snapshot').stdout.toString()).toBe('after\n')
    await obey('volume.grow', { volume: at(1), sizeBytes: 896 * 2 ** 20 })
    expect(sizes()[0]).toBe((896 * 2 ** 20) / 512)
    await obey('vm.stop', { workload: id, graceSeconds: 0 })
    await obey('volume.fork', { volume: at(2), from: 0, sizeBytes: 896 * 2 ** 20 })
    await obey('vm.define', layered(2))
    await obey('volume.remove-layer', { volume: at(2), layer: 1 })
    await obey('vm.start', { workload: id })
    await sshAnswers()
    expect(ssh('cat /root/snapshot').stdout.toString()).toBe('before\n')
    expect(ssh('echo merged > /root/snapshot && sync').exitCode).toBe(0)
    await obey('volume.merge', { vm: layered(0), from: 2, into: 0 })
    expect(ssh('cat /root/snapshot; rm /root/snapshot').stdout.toString()).toBe('merged\n')
    expect(sizes()[0]).toBe((896 * 2 ** 20) / 512)

    // A second system on a disk of its own, while the first keeps its disk.
    const definition = vmOf(n, {
      memoryMb: 128,
      network: { bridge, tap, mac },
      speed: { inMbps: 100, outMbps: 100, cpuPercent: null },
    })
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
    // The volume of the first guest, in the second one.
    await obey('volume.attach', { workload: id, volume: extraVolume })
    expect(ofVolume('dd if=$D bs=18 count=1 2>/dev/null')).toBe('of-the-first-guest')
    await obey('volume.detach', { workload: id, volume: extraVolume })
    await obey('volume.remove', extraVolume)

    // The way back to the first system, as a reinstallation that failed takes it.
    await obey('vm.stop', { workload: id, graceSeconds: 0 })
    await obey('vm.define', { ...definition, seeded: false })
    await obey('seed.remove', { workload: id })
    await obey('volume.remove', second)
    await obey('vm.start', { workload: id })
    await sshAnswers()
    expect(ssh('hostname; cat /root/marker').stdout.toString().trim()).toBe('web1\nfirst')

    // Rescue: another system is vda and in use, and the disk of the first one can be mounted there.
    const rescue = volumeOf(n, 'qcow2', 2)
    await obey('volume.create', { volume: rescue, image: imageSource.id, sizeBytes: 512 * 2 ** 20 })
    await obey('vm.stop', { workload: id, graceSeconds: 30 })
    await obey('seed.write', {
      ...seed,
      metaData: { 'instance-id': `${id}-rescue`, 'local-hostname': 'rescue' },
      userData: { ...seed.userData, hostname: 'rescue' },
    })
    await obey('vm.define', { ...definition, rescue })
    await obey('vm.start', { workload: id })
    await sshAnswers()
    const inRescue = ssh(
      'hostname; ls /root/marker 2>/dev/null; echo $(cat /sys/block/vda/serial) $(cat /sys/block/vdb/serial); ' +
        'mount /dev/vdb2 /mnt && cat /mnt/root/marker && umount /mnt',
    )
    expect(inRescue.stdout.toString().trim().split('\n')).toEqual(['rescue', 'rescue system', 'first'])
    await obey('vm.stop', { workload: id, graceSeconds: 30 })
    await obey('vm.define', { ...definition, seeded: false })
    await obey('seed.remove', { workload: id })
    await obey('volume.remove', rescue)
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
    // The small guest has no program that keeps addresses: each of the two changes says so.
    const unkept = 'warning Nobody is known who keeps its addresses: it has them until its next boot.'
    expect(written.filter((line) => line.startsWith('warning'))).toEqual([unkept, unkept])
  }, 360_000)
})

/** The command lines that any user of this machine could read, every few milliseconds until `stop`. */
function watchCommandLines() {
  const seen = new Set<string>()
  const timer = setInterval(() => {
    for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name)))
      try {
        seen.add(readFileSync(`/proc/${pid}/cmdline`, 'latin1'))
      } catch {
        // The process has ended.
      }
  }, 3)
  return {
    stop() {
      clearInterval(timer)
      return [...seen]
    },
  }
}

/** The files in which virsh keeps what was typed into it. */
function filesOfVirsh(): string[] {
  const dir = join(homedir(), '.cache/libvirt/virsh')
  return existsSync(dir) ? readdirSync(dir).map((name) => join(dir, name)) : []
}

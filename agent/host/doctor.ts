// `berth agent doctor`: one line per requirement of a node, with the remedy where one is missing.
import { accessSync, constants, existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { controllerUrl, skewSeconds } from '../controller-link/controller.ts'
import { isEnrolled, makeDataDir, readIdentity, type Settings, uplinkIn } from '../controller-link/identity.ts'
import { resticVersion } from '../drivers/backup/restic.ts'
import { missingForFiles } from '../drivers/backup/restic-mount.ts'
import { Engine } from '../drivers/container/podman/engine.ts'
import { MINIMUM } from '../drivers/container/podman/requirements.ts'
import { ruleset } from '../drivers/firewall/ruleset.ts'
import type { Gpus } from '../drivers/gpu/gpus.ts'
import { NvidiaGpus } from '../drivers/gpu/nvidia.ts'
import { nvidiaHost } from '../drivers/gpu/nvidia-host.ts'
import { CaddyHttpNames, caddyOfHost } from '../drivers/http-names/caddy.ts'
import { domainXml, uuidOf } from '../drivers/hypervisor/domain-xml.ts'
import { hardwareOfHost } from '../drivers/hypervisor/firmware.ts'
import { probe } from '../drivers/hypervisor/kvm-probe.ts'
import { addressesOfHost } from '../drivers/network/bridge.ts'
import { LOCAL_POOL, openPools, poolsFile } from '../drivers/storage/pools-file.ts'
import { type Pool, Storage } from '../drivers/storage/storage.ts'
import { LinuxVlans } from '../drivers/vlan/linux.ts'
import { wordsOf } from '../failure.ts'
import type { Card, ContainerEngine } from '../protocol/gpu.ts'
import { type PortRules, PROTOCOL, type Uplink, usualMachine, vlansText } from '../protocol/wire.ts'
import { openState } from '../state.ts'
import { VERSION } from '../version.ts'
import { find, type Program, run } from './exec.ts'
import { bootIdOfHost, osName } from './facts.ts'

type Finding = { verdict: 'ok' | 'warn' | 'fail'; found: string; remedy?: string }
type Check = { what: string; look(): Promise<Finding> | Finding }

const ok = (found: string): Finding => ({ verdict: 'ok', found })
const warn = (found: string, remedy: string): Finding => ({ verdict: 'warn', found, remedy })
const fail = (found: string, remedy: string): Finding => ({ verdict: 'fail', found, remedy })

const SLOW_DEFINE_MS = 2000
const GIB = 1024 ** 3
const LITTLE_SPACE_BYTES = 10e9
const SKEW_SECONDS = 30
/** More than Ceph waits for its cluster, so that the line has its words. */
const POOL_LIMIT_MS = 30_000
const QEMU_CONF = '/etc/libvirt/qemu.conf'
const KVM = '/dev/kvm'

/** Prints the findings. Returns the exit code: 1 if a check fails, else 0. */
export async function doctor(dataDir: string, fake: boolean): Promise<number> {
  const settings = isEnrolled(dataDir) ? readIdentity(dataDir) : undefined
  const isFake = fake || settings?.fake === true
  process.stdout.write(`berth agent ${VERSION}, protocol ${PROTOCOL}, ${isFake ? 'fake host' : osName()}\n`)
  const checks = isFake ? fakeChecks(dataDir, settings) : await realChecks(dataDir, settings)
  let failures = 0
  for (const { what, look } of checks) {
    const { verdict, found, remedy } = await lookSafely(look)
    if (verdict === 'fail') failures++
    const words = [found, remedy].filter((part) => part !== undefined).join('; ')
    process.stdout.write(`${verdict.padEnd(5)} ${what.padEnd(15)} — ${words.trim().replace(/\s*\n\s*/g, ', ')}\n`)
  }
  return failures ? 1 : 0
}

async function lookSafely(look: Check['look']): Promise<Finding> {
  try {
    return await look()
  } catch (error) {
    return fail(wordsOf(error), 'see the message')
  }
}

const fakeChecks = (dataDir: string, settings: Settings | undefined): Check[] => [
  { what: 'machines', look: () => ok('none are run: this is a fake host') },
  { what: 'controller', look: () => controllerAnswers(dataDir, settings) },
]

async function realChecks(dataDir: string, settings: Settings | undefined): Promise<Check[]> {
  return [
    { what: 'root', look: isRoot },
    { what: 'virtualisation', look: () => virtualisation(dataDir) },
    { what: 'qemu', look: () => tool('qemu-system-x86_64', ['--version'], 'install qemu-system-x86') },
    { what: 'qemu-img', look: () => tool('qemu-img', ['--version'], 'install qemu-utils') },
    { what: 'libvirt', look: libvirtAnswers },
    { what: 'kvm access', look: kvmAccess },
    { what: 'define time', look: defineTime },
    { what: 'nftables', look: nftablesWorks },
    { what: 'xorriso', look: () => tool('xorriso', ['-version'], 'install xorriso') },
    { what: 'uefi', look: uefi },
    { what: 'tpm', look: tpm },
    { what: 'backups', look: backups },
    { what: 'bridge', look: () => bridges(settings) },
    { what: 'uplink', look: () => uplinkFinding(dataDir) },
    { what: 'speed limits', look: () => tool('tc', ['-V'], 'install iproute2; without it ports are not limited') },
    ...poolChecks(dataDir),
    ...(await checksOfCards(dataDir)),
    { what: 'clock', look: clock },
    { what: 'controller', look: () => controllerAnswers(dataDir, settings) },
  ]
}

const isRoot = () =>
  process.getuid?.() === 0
    ? ok('runs as root')
    : fail('does not run as root', 'run as root: vms, bridges and rules need the kernel’s privileges')

async function virtualisation(dataDir: string): Promise<Finding> {
  makeDataDir(dataDir)
  const { kind, reason } = await probe(dataDir, bootIdOfHost())
  if (kind === 'kvm') return ok(reason)
  if (kind === 'none') return fail(reason, 'install qemu-system-x86')
  return warn(
    reason,
    'enable VT-x or AMD-V in the firmware, or nested virtualisation on the host above, for vms ten times as fast',
  )
}

async function tool(program: Program, args: string[], remedy: string): Promise<Finding> {
  const path = find(program)
  if (!path) return fail(`${program} is not installed`, remedy)
  const { out, err } = await run(program, args, { quietly: true, mayFail: true, limitSeconds: 10 })
  return ok(`${path}, ${/version\s*:?\s*(\S+)|(\d+\.\d+[\d.]*)/i.exec(out || err)?.[0] ?? 'version unknown'}`)
}

async function libvirtAnswers(): Promise<Finding> {
  if (!find('virsh')) return fail('virsh is not installed', 'install libvirt-clients and libvirt-daemon-system')
  const { code, out, err, tookMs } = await virsh(['version'])
  if (code !== 0)
    return fail(
      `libvirt does not answer (${err.trim().split('\n').at(-1)})`,
      'start libvirtd: systemctl enable --now libvirtd; without systemd: /usr/local/lib/berth/services start libvirtd',
    )
  return ok(`answers in ${tookMs} ms, ${/Using library: (.*)/.exec(out)?.[1] ?? ''}`)
}

/** Where QEMU's user may not open /dev/kvm, libvirt queries QEMU's capabilities again before every change. */
function kvmAccess(): Finding {
  const stat = statSync(KVM, { throwIfNoEntry: false })
  if (!stat) return ok(`there is no ${KVM}`)
  const user = configured('user')
  if (user === 'root') return ok('QEMU runs as root')
  if (stat.mode & 0o006 || (stat.mode & 0o060) === 0o060) return ok(`${KVM} is open to its group`)
  return warn(
    `QEMU's user ${user ?? 'libvirt-qemu'} cannot open ${KVM}, which makes every change of a vm take many seconds`,
    `chgrp kvm ${KVM} && chmod 0660 ${KVM} (udev does that), or user = "root" in ${QEMU_CONF}`,
  )
}

function configured(name: string): string | undefined {
  try {
    accessSync(QEMU_CONF, constants.R_OK)
    return new RegExp(`^\\s*${name}\\s*=\\s*"?([^"\\n]+)"?`, 'm').exec(readFileSync(QEMU_CONF, 'utf8'))?.[1]
  } catch {
    return undefined
  }
}

/** Defines a vm, which is never started, and removes it again. */
async function defineTime(): Promise<Finding> {
  if (!find('virsh')) return fail('virsh is not installed', 'install libvirt-clients and libvirt-daemon-system')
  const workload = `srv_${'d'.repeat(26)}`
  const network = { bridge: 'none', tap: 'bth0', mac: '52:54:00:00:00:00' }
  const vm = {
    workload,
    hostname: 'doctor',
    vcpus: 1,
    memoryMb: 64,
    volume: { workload, generation: 0, pool: LOCAL_POOL, format: 'raw' as const },
    network,
    speed: { inMbps: null, outMbps: null, cpuPercent: null },
    seeded: false,
    restartPolicy: 'never' as const,
    ...usualMachine,
  }
  const xml = domainXml(vm, { kind: 'file', path: '/nonexistent', format: 'raw' }, undefined, 'emulation')
  const { code, err, tookMs } = await virsh(['define', '--file', '/dev/stdin'], xml)
  await virsh(['undefine', uuidOf(workload)])
  if (code !== 0) return fail(`a vm cannot be defined (${err.trim()})`, 'see the libvirtd log')
  if (tookMs < SLOW_DEFINE_MS) return ok(`a vm is defined in ${tookMs} ms`)
  return warn(
    `defining a vm takes ${(tookMs / 1000).toFixed(1)} s`,
    `see "kvm access"; without systemd start libvirtd under a parent that reaps: tini -s -- libvirtd`,
  )
}

async function nftablesWorks(): Promise<Finding> {
  if (!find('nft')) return fail('nft is not installed', 'install nftables')
  // --check lets the kernel check the rules, those of a vm with a firewall among them, and changes nothing.
  const { code, err } = await run('nft', ['--check', '-f', '-'], {
    stdin: ruleset([portOfDoctor]),
    mayFail: true,
    quietly: true,
  })
  return code === 0
    ? ok('the kernel takes the rules; firewalls need neither nf_conntrack_bridge nor br_netfilter')
    : fail(
        `the kernel does not take the rules (${err.trim().split('\n')[0]})`,
        'a kernel from 5.10 with nf_tables_bridge, nf_tables_inet and nft_limit, and nftables from 1.0, are needed',
      )
}

const portOfDoctor: PortRules = {
  workload: `srv_${'d'.repeat(26)}`,
  tap: 'bth0',
  mac: '52:54:00:00:00:00',
  ipv4: ['192.0.2.1'],
  ipv6: ['2001:db8::/64'],
  policy: {
    revision: 0,
    closedPorts: [25],
    newConnectionsPerSecond: 1,
    packetsPerSecond: 1,
    firewall: { in: 'drop', out: 'drop', rules: [] },
  },
}

function uefi(): Finding {
  const { firmware } = hardwareOfHost()
  return firmware.includes('uefi') && firmware.includes('uefi_secure')
    ? ok('with and without Secure Boot')
    : warn('its firmware is missing, so images that need UEFI cannot run here', 'install ovmf')
}

const tpm = () =>
  hardwareOfHost().tpm
    ? ok('vms can have one')
    : warn('images that need a TPM cannot run here', 'install swtpm and swtpm-tools')

/** 0.14 is that of Debian 12. */
async function backups(): Promise<Finding> {
  if (!find('restic'))
    return warn('restic is not installed, so servers here cannot be backed up', 'install restic and openssh-client')
  if (!find('nbdcopy'))
    return warn('nbdcopy is not installed, so servers here cannot be backed up', 'install libnbd-bin')
  const missing = missingForFiles()
  if (missing) return warn(`files of backups cannot be looked at from here: ${missing.what}`, missing.remedy)
  const version = await resticVersion()
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major > 0 || minor >= 14
    ? ok(`restic ${version}`)
    : warn(`restic ${version} is too old`, 'install restic 0.14 or newer')
}

async function bridges(settings: Settings | undefined): Promise<Finding> {
  if (!find('ip')) return fail('ip is not installed', 'install iproute2')
  const there = (await addressesOfHost()).bridges.map(({ name }) => name)
  if (settings?.bridge && !there.includes(settings.bridge))
    return fail(
      `${settings.bridge} is missing; there is ${there.join(', ') || 'none'}`,
      'make it in the host’s network configuration',
    )
  if (!there.length)
    return fail('there is none', 'make one in the host’s network configuration and put the uplink on it')
  return ok(there.join(', '))
}

async function uplinkFinding(dataDir: string): Promise<Finding> {
  const settings = uplinkIn(dataDir)
  if (!settings) return ok('none is named, so no VLANs are carried')
  return uplinkVerdict(await new LinuxVlans().look(settings))
}

/** A bond with a port that is down still works, and has lost what it is there for. */
export function uplinkVerdict({ name, up, vlans, bond, problem }: Uplink): Finding {
  if (problem !== undefined && !vlans.length)
    return fail(problem, 'see berth agent uplink --help, or put the host’s network configuration right')
  if (!up) return fail(`${name} has no link`, 'look at its cable and at the port of the switch')
  const kind = bond ? `, bond ${bond.mode} of ${bond.ports.map((port) => port.name).join(' and ')}` : ''
  const found = `${name}${kind}; VLANs: ${vlansText(vlans)}${problem === undefined ? '' : `; ${problem}`}`
  const bad = bond?.ports.filter(({ state }) => state !== 'up') ?? []
  if (!bad.length) return ok(found)
  const words = bad.map((port) => `${port.name} ${port.state === 'down' ? 'has no link' : 'is not in the aggregate'}`)
  return warn(`${found}; ${words.join(', ')}`, 'look at its cable, and at the port of the switch')
}

/** A line for each pool, or one for a file of pools that is not right. */
function poolChecks(dataDir: string): Check[] {
  try {
    return openPools(dataDir).map((pool) => ({ what: `pool ${pool.name}`, look: () => poolFinding(pool) }))
  } catch (error) {
    return [{ what: 'pools', look: () => fail(wordsOf(error), `put ${poolsFile(dataDir)} right`) }]
  }
}

async function poolFinding(pool: Pool): Promise<Finding> {
  const [capacity] = await new Storage([pool], POOL_LIMIT_MS).capacities()
  const { kind, path, totalBytes, freeBytes, warnings = [] } = capacity!
  const problems = (await pool.problems?.()) ?? []
  const remedy = 'docs/storage.md says how such a pool is made'
  if (!totalBytes || problems.length) return fail(`${kind} ${path}: ${[...problems, ...warnings].join(' ')}`, remedy)
  const { class: label } = pool.described
  const what = `${kind}${label ? ` (${label})` : ''}`
  const words = `${what}, ${(freeBytes / GIB).toFixed(0)} of ${(totalBytes / GIB).toFixed(0)} GiB free in ${path}`
  if (warnings.length) return warn(words, warnings.join(' '))
  return freeBytes < LITTLE_SPACE_BYTES ? warn(words, 'enlarge it') : ok(words)
}

async function checksOfCards(dataDir: string): Promise<Check[]> {
  const gpus = new NvidiaGpus({ dataDir, bootId: bootIdOfHost(), looksOnly: true })
  const options = { dir: join(dataDir, 'containers'), runDir: '/run/berth/containers', minimum: MINIMUM }
  try {
    const names = await new CaddyHttpNames(caddyOfHost(dataDir)).problems()
    return [
      ...(await cardChecks(gpus, async () => (await nvidiaHost()).toolkit, new Engine(options))),
      ...names.map((words) => ({ what: 'http names', look: () => findingIn(words) })),
    ]
  } finally {
    gpus.close()
  }
}

/**
 * A line for each card, and one for each thing that instances with cards lack here. A host without cards is asked for
 * nothing else.
 */
export async function cardChecks(
  gpus: Pick<Gpus, 'cards' | 'findings'>,
  toolkit: () => Promise<string | undefined>,
  engine: Pick<Engine, 'about'>,
): Promise<Check[]> {
  const [cards, findings] = [await gpus.cards(), await gpus.findings()]
  if (!cards.length && !findings.length) return [{ what: 'cards', look: () => ok('this host has none') }]
  const [version, about] = [await toolkit(), await engine.about()]
  return [
    ...cards.map((card) => ({ what: 'card', look: () => cardFinding(card) })),
    ...findings.map((words) => ({ what: 'cards', look: () => findingIn(words) })),
    ...(version ? [{ what: 'toolkit', look: () => ok(`nvidia-ctk ${version}`) }] : []),
    ...engineFindings(about).map((finding) => ({ what: 'containers', look: () => finding })),
  ]
}

function engineFindings(engine: ContainerEngine | undefined): Finding[] {
  if (!engine) return [warn('Podman is not installed, so no instances run here', 'install.sh --agent --gpu')]
  return engine.problems.length ? engine.problems.map(findingIn) : [ok(`${engine.name} ${engine.version}`)]
}

function cardFinding({ model, memoryMb, bus, driver, nvlinks, mig, problems }: Card): Finding {
  const links = nvlinks ? `, ${nvlinks} NVLinks` : ''
  const words = `${model}, ${memoryMb} MiB, at ${bus}, driver ${driver}${links}${mig === 'none' ? '' : `, MIG ${mig}`}`
  return problems.length ? warn(words, `it is not sold: ${problems.join('. ')}`) : ok(words)
}

/** A sentence has the finding, a colon and the remedy. */
function findingIn(words: string): Finding {
  const [found = words, ...remedy] = words.split(': ')
  return warn(found, remedy.join(': ') || 'see the message')
}

function clock(): Finding {
  const year = new Date().getUTCFullYear()
  return year >= 2025 && year < 2100
    ? ok(new Date().toISOString())
    : fail(`it is the year ${year} here`, 'set the clock and run an NTP client')
}

async function controllerAnswers(dataDir: string, settings: Settings | undefined): Promise<Finding> {
  if (!settings) return warn('this host is not enrolled', 'berth agent enroll --controller URL --token-file FILE')
  const controller = controllerUrl(settings.controller)
  const refusedAt = refusedIn(dataDir, settings)
  if (refusedAt !== undefined)
    return fail(
      `${controller} was refused at ${new Date(refusedAt).toISOString()}: this node has obeyed a newer one since a ` +
        'takeover or a restore',
      'let the address lead to the newer controller, and stop the older one; see docs/standby.md',
    )
  const skew = await skewSeconds({ ...settings, controller })
  if (skew === undefined) return ok(`${controller} answers; it does not say its time`)
  if (Math.abs(skew) > SKEW_SECONDS)
    return warn(`${controller} answers; its clock is ${skew} s away from this one`, 'run an NTP client on both')
  return ok(`${controller} answers; clocks agree within ${Math.abs(skew)} s`)
}

/** When the node last refused its controller, in ms; undefined: it obeys it. */
function refusedIn(dataDir: string, { nodeId }: Settings): number | undefined {
  const path = join(dataDir, 'state.db')
  if (!existsSync(path)) return undefined
  const state = openState(path)
  try {
    return state.refusedEpochAt(nodeId)
  } finally {
    state.close()
  }
}

const virsh = (args: string[], stdin?: string) =>
  run('virsh', ['-c', 'qemu:///system', ...args], {
    mayFail: true,
    quietly: true,
    limitSeconds: 120,
    ...(stdin !== undefined && { stdin }),
  })

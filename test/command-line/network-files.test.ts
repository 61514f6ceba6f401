// docs/network-designs.md: the programs that will read its files on a node read each of them here, and systemd-networkd
// carries them out in a network of its own.
import { describe, expect, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporary } from '../agent/temporary.ts'

const text = readFileSync(join(import.meta.dir, '../../docs/network-designs.md'), 'utf8')
type Kind = 'interfaces' | 'netplan' | 'networkd' | 'sysctl' | 'shell' | 'drawing'
type Block = { section: string; kind: Kind; body: string }

/** By the language of the block and its first line; `documented.test.ts` has the shell lines. */
function kindOf(language: string, body: string): Kind {
  const ofLanguage = ({ sh: 'shell', yaml: 'netplan', ini: 'networkd' } as const)[language]
  if (ofLanguage) return ofLanguage
  if (/^(auto|iface) /.test(body)) return 'interfaces'
  if (/^[a-z0-9._]+ = /.test(body)) return 'sysctl'
  if (/^ /.test(body)) return 'drawing'
  throw new Error(`a block of no known kind: ${body}`)
}
const blocks: Block[] = text.split(/^## /m).flatMap((part) =>
  [...part.matchAll(/^```(\w*)\n([\s\S]*?)^```/gm)].map(([, language = '', body = '']) => ({
    section: part.slice(0, part.indexOf('\n')),
    kind: kindOf(language, body),
    body,
  })),
)
const of = (kind: Kind) =>
  blocks.filter((block) => block.kind === kind).map((block, n) => [`${block.section} (${n + 1})`, block.body] as const)
const path = { PATH: `${process.env['PATH']}:/usr/sbin:/sbin` }
const has = (program: string) => existsSync(program) || Bun.which(program, path) !== null
const isRoot = process.getuid?.() === 0

function run(command: readonly string[]) {
  const { exitCode, stdout, stderr } = Bun.spawnSync([...command], { env: { ...process.env, ...path } })
  return { code: exitCode, out: stdout.toString(), err: stderr.toString() }
}
const matches = (body: string, pattern: RegExp) => [...body.matchAll(pattern)].map(([, found]) => found!)

test('every design has its files, and every block is read by one of these tests', () => {
  const count = (kind: Kind) => of(kind).length
  expect(count('interfaces')).toBeGreaterThanOrEqual(9)
  expect(count('netplan')).toBeGreaterThanOrEqual(7)
  expect(count('networkd')).toBeGreaterThanOrEqual(6)
  expect(count('sysctl')).toBe(1)
})

test.each(of('sysctl'))('the kernel has the settings of %s', (_, body) => {
  for (const name of matches(body, /^(\S+) =/gm))
    expect([name, existsSync(`/proc/sys/${name.replaceAll('.', '/')}`)]).toEqual([name, true])
})

// ---------------------------------------------------------------- ifupdown
/** interfaces(5), bridge-utils-interfaces(5), vlan-interfaces(5) and the README of ifenslave; others do nothing. */
const options = new Set(
  (
    'address gateway mtu up vlan-raw-device bridge_ports bridge_stp bridge_fd bond-slaves bond-master bond-mode ' +
    'bond-miimon bond-lacp-rate bond-xmit-hash-policy'
  ).split(' '),
)

describe.skipIf(!has('ifup')).each(of('interfaces'))('ifupdown, %s', (_, body) => {
  const dir = temporary('interfaces')
  const file = join(dir, 'interfaces')
  // An addition to another file brings no interface up.
  writeFileSync(file, /^auto /m.test(body) ? body : `auto br0\n${body}`)

  test('brings up every interface, with its addresses and its gateway', () => {
    // It brings up the loopback in any case.
    const names = [...new Set(['lo', ...matches(body, /^iface (\S+)/gm)])]
    expect(run(['ifquery', '-i', file, '--list']).out.trim().split('\n').toSorted()).toEqual(names.toSorted())
    const { code, out, err } = run(['ifup', '--all', '--no-act', '--verbose', '-i', file, '--state-dir', dir])
    expect([code, err.match(/unknown|(?<!exit-on-)error|couldn't|duplicate/i)]).toEqual([0, null])
    const lines = out + err
    for (const address of matches(body, /^ +address (\S+)/gm))
      expect(lines).toMatch(new RegExp(`ip (-4|-6)? ?addr add ${address.split('/')[0]}/`))
    for (const gateway of matches(body, /^ +gateway (\S+)/gm)) expect(lines).toContain(`via ${gateway}`)
  })
  test('has no option that nothing reads', () => {
    for (const option of matches(body, /^ +(\S+)/gm)) expect([option, options.has(option)]).toEqual([option, true])
  })
})

// ---------------------------------------------------------------- systemd-networkd, also with the files of netplan
/** Runs the daemon over the files of a folder, with the cards eno1 to eno3, until it has configured them. */
const carryOut = `
mount --make-rprivate /
mount -t tmpfs tmpfs /run
mkdir -p /run/systemd/netif /run/systemd/network
chown -R systemd-network:systemd-network /run/systemd/netif
# Where /sys cannot be written, it does not wait for udev.
mount -t sysfs sysfs /sys && mount -o remount,ro,bind /sys
cp "$1"/* /run/systemd/network/; chmod 644 /run/systemd/network/*
for n in 1 2 3; do ip link add eno$n type veth peer name peer$n; ip link set peer$n up; done
SYSTEMD_LOG_TARGET=console /lib/systemd/systemd-networkd & daemon=$!
last=-
for i in $(seq 40); do
  sleep 0.25
  now=$(ip -o address show scope global; ip route; ip -o link)
  [ "$now" != "$last" ] || [ $i -lt 8 ] || break
  last=$now
done
kill $daemon; wait $daemon
ip -o address show; ip route; ip -o link
`
const networkdRuns = isRoot && existsSync('/lib/systemd/systemd-networkd') && has('unshare')
if (!networkdRuns) console.error('left out: files of systemd-networkd (needs root, systemd-networkd, unshare)')
const hasNetplan = has('netplan')
if (!hasNetplan) console.error('left out: files of netplan (needs netplan.io)')
/** Not every kernel of a test machine can. */
const hasDevice = (kind: string) =>
  run(
    ['unshare', '--net', 'ip', 'link', 'add', 'x0', ...(kind === 'vlan' ? ['link', 'lo'] : []), 'type', kind].concat(
      kind === 'vlan' ? ['id', '2'] : [],
    ),
  ).code === 0

function mustBeCarriedOut(dir: string, body: string) {
  const { out, err } = run(['unshare', '--net', '--mount', 'bash', '-c', carryOut, 'carry-out', dir])
  expect(err.match(/.*(Unknown (key|section)|Failed to parse|Invalid|ignoring).*/g)).toBeNull()
  const needs = [/bonds:|Kind=bond/.test(body) && 'bond', /vlans:|Kind=vlan/.test(body) && 'vlan']
  if (needs.some((kind) => kind !== false && !hasDevice(kind))) return
  for (const address of matches(body, /(?:^Address=|addresses: \[)([0-9a-f.:]+\/\d+)/gm)) expect(out).toContain(address)
  for (const gateway of matches(body, /(?:^Gateway=|^MultiPathRoute=|via: )([0-9.]+)/gm))
    expect(out).toContain(`via ${gateway}`)
  for (const port of matches(body, /interfaces: \[(\w+)/g)) expect(out).toMatch(new RegExp(`${port}@.*master`))
  for (const mtu of matches(body, /mtu: (\d+)/g)) expect(out).toContain(`mtu ${mtu}`)
}

describe.skipIf(!networkdRuns)('systemd-networkd', () => {
  const sections = Map.groupBy(
    blocks.filter(({ kind }) => kind === 'networkd'),
    ({ section }) => section,
  )
  test.each([...sections])('carries out the files of %s', (_, files) => {
    const dir = temporary('networkd')
    for (const { body } of files) {
      const [, name] = /^# (\S+\.(?:netdev|network))\n/.exec(body) ?? []
      expect(name).toBeString()
      writeFileSync(join(dir, name!), body)
    }
    mustBeCarriedOut(dir, files.map(({ body }) => body).join('\n'))
  })
})

describe.skipIf(!hasNetplan).each(of('netplan'))('netplan, %s', (_, body) => {
  const dir = temporary('netplan')
  const made = join(dir, 'run/systemd/network')
  test('is taken, and systemd-networkd carries out what it makes', () => {
    mkdirSync(join(dir, 'etc/netplan'), { recursive: true })
    writeFileSync(join(dir, 'etc/netplan/60-berth.yaml'), body, { mode: 0o600 })
    expect(run(['netplan', 'generate', '--root-dir', dir])).toMatchObject({ code: 0, err: '' })
    expect(readdirSync(made).some((name) => name.endsWith('br0.netdev'))).toBe(true)
    if (networkdRuns) mustBeCarriedOut(made, body)
  })
})

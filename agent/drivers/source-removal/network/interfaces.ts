// /etc/network/interfaces, as ifupdown and ifupdown2 read it.
import { basename, dirname, isAbsolute, join } from 'node:path'
import { namesIn, statOf, textOf } from '../files.ts'
import { isEnabled } from '../services.ts'
import { type BridgeDefinition, hasOneOf, isIpv6, keepCopy, type NetworkSettings, writing } from './settings.ts'

const FILE = '/etc/network/interfaces'
const DIR = '/etc/network'
/** A `source` within a `source` within …: deeper is a circle. */
const MOST_DEPTH = 10
const STANZA = /^(?:iface|auto|allow-\S+|no-auto-down|no-scripts|mapping|template|rename|source|source-directory)$/
/** Options that move from a device to its bridge. */
const MOVES = /^(?:address|netmask|gateway|broadcast|network|dns-\S+|metric|mtu|pointopoint|scope)$/

type Stanza = { file: string; words: string[]; options: [name: string, value: string][]; from: number; to: number }

/** The stanzas of a file and of those that it names, in their order. */
async function stanzas(file = FILE, depth = 0): Promise<Stanza[]> {
  const text = await textOf(file)
  if (text === undefined || depth > MOST_DEPTH) return []
  const found: Stanza[] = []
  for (const stanza of stanzasIn(text, file)) {
    const [word, ...rest] = stanza.words
    if (word === 'source')
      for (const pattern of rest)
        for (const path of await matching(file, pattern)) found.push(...(await stanzas(path, depth + 1)))
    else if (word === 'source-directory')
      for (const dir of rest)
        for (const name of await namesIn(absolute(file, dir)))
          if (/^[A-Za-z0-9_-]+$/.test(name)) found.push(...(await stanzas(join(absolute(file, dir), name), depth + 1)))
    if (word !== 'source' && word !== 'source-directory') found.push(stanza)
  }
  return found
}

function stanzasIn(text: string, file: string): Stanza[] {
  const found: Stanza[] = []
  const rows = text.split('\n')
  for (let n = 0; n < rows.length; n++) {
    const from = n
    let row = rows[n]!
    while (row.endsWith('\\') && n + 1 < rows.length) row = row.slice(0, -1) + rows[++n]!
    const line = row.trim()
    if (!line || line.startsWith('#')) continue
    const words = line.split(/\s+/)
    if (STANZA.test(words[0]!)) found.push({ file, words, options: [], from, to: n })
    else {
      const last = found.at(-1)
      last?.options.push([words[0]!, words.slice(1).join(' ')])
      if (last) last.to = n
    }
  }
  return found
}
const absolute = (file: string, path: string) => (isAbsolute(path) ? path : join(dirname(file), path))
async function matching(file: string, pattern: string): Promise<string[]> {
  const path = absolute(file, pattern)
  if (!/[*?[]/.test(path)) return [path]
  const glob = new Bun.Glob(basename(path))
  const names = (await namesIn(dirname(path))).filter((name) => !name.startsWith('.') && glob.match(name))
  const paths = names.map((name) => join(dirname(path), name))
  const kinds = await Promise.all(paths.map(statOf))
  return paths.filter((_, n) => !kinds[n]?.isDirectory())
}

const portsOf = (options: Stanza['options']): string[] =>
  options
    .filter(([name]) => /^bridge[_-]ports$/.test(name))
    .flatMap(([, value]) => value.split(/\s+/))
    .filter((port) => port && port !== 'none')
const isBridge = (name: string, options: Stanza['options']) =>
  options.some(
    ([option, value]) =>
      /^bridge[_-](?:ports|vlan[_-]aware)$/.test(option) ||
      (option === 'bridge' && value === 'yes') ||
      (/^(?:pre-)?up$/.test(option) && makes(value, name)),
  )
/** A command of `pre-up` that makes the bridge. */
const makes = (command: string, name: string) => {
  const words = command.split(/\s+/)
  const names = words.includes(name) || words.includes('$IFACE')
  return names && (/\bbrctl\s+addbr\b/.test(command) || /\bip\s+link\s+add\b.*\btype\s+bridge\b/.test(command))
}

export const interfaces: NetworkSettings = {
  label: FILE,

  async bridges() {
    const all = await stanzas()
    const starts = new Set(
      all.flatMap(({ words: [word = '', ...names] }) => (/^(?:auto|allow-(?:auto|hotplug))$/.test(word) ? names : [])),
    )
    const found = new Map<string, BridgeDefinition>()
    for (const { file, words, options } of all) {
      const [word, name = ''] = words
      if (word !== 'iface' || !isBridge(name, options) || !starts.has(name)) continue
      const earlier = found.get(name)
      found.set(name, { file: earlier?.file ?? file, ports: [...(earlier?.ports ?? []), ...portsOf(options)] })
    }
    return found
  },

  async unread() {
    if (!(await hasOneOf('/sbin/ifup', '/usr/sbin/ifup'))) return 'ifupdown is not installed'
    return (await isEnabled('networking')) ? undefined : 'the service networking is not enabled'
  },

  async isInUse() {
    const names = (await stanzas()).flatMap(({ words }) => (words[0] === 'iface' && words[1] !== 'lo' ? words[1] : []))
    return (await interfaces.unread()) === undefined && names.length > 0
  },

  async commands({ name, uplinks, addresses, gateways }) {
    const all = await stanzas()
    const own = all.filter(({ words }) => words[0] === 'iface' && uplinks.includes(words[1] ?? ''))
    const file = own[0]?.file ?? FILE
    const text = (await textOf(file)) ?? ''
    const rows = text.split('\n')
    const bridge = (family: string, method: string, options: readonly string[], ports: string) =>
      [`iface ${name} ${family} ${method}`, ...options, ...(ports ? ports.split('\n') : [])].join('\n')
    const ports = [`    bridge_ports ${uplinks.join(' ') || 'none'}`, '    bridge_stp off', '    bridge_fd 0'].join(
      '\n',
    )
    const stanzasOfBridge: string[] = []
    const replaced = new Map<number, string>()
    for (const { words, from, to } of own.filter((one) => one.file === file)) {
      const [, device = '', family = 'inet', method = 'static'] = words
      const body = rows.slice(from + 1, to + 1)
      const moving = body.filter((row) => MOVES.test(row.trim().split(/\s+/)[0] ?? ''))
      const staying = body.filter((row) => !moving.includes(row))
      stanzasOfBridge.push(bridge(family, method, moving, stanzasOfBridge.length ? '' : ports))
      replaced.set(from, [`iface ${device} ${family} manual`, ...staying].join('\n'))
      for (let n = from + 1; n <= to; n++) replaced.set(n, '')
    }
    if (!stanzasOfBridge.length) {
      const told = addresses.map((address) => {
        const gateway = gateways.find((one) => isIpv6(one) === isIpv6(address))
        const options = [`    address ${address}`, ...(gateway ? [`    gateway ${gateway}`] : [])]
        return { family: isIpv6(address) ? 'inet6' : 'inet', options }
      })
      const [first = { family: 'inet', options: [] }, ...more] = told
      const method = told.length ? 'static' : 'manual'
      stanzasOfBridge.push(bridge(first.family, method, first.options, ports))
      for (const one of more) stanzasOfBridge.push(bridge(one.family, 'static', one.options, ''))
    }
    const kept = rows.flatMap((row, n) => {
      const other = replaced.get(n)
      return other === undefined ? [row] : other ? [other] : []
    })
    const fresh = [kept.join('\n').trimEnd(), '', `auto ${name}`, ...stanzasOfBridge].join('\n')
    return [keepCopy(name, DIR), writing(file, fresh)].join('\n')
  },
}

// The things of its host that a definition of libvirt's reaches: files, devices, bridges, sockets, programs. A
// definition that comes from another node may reach what this node's own definition of the vm reaches, and no more.
// Elements are allowed by name and place; one that is not listed is refused, because libvirt can make a host run
// programs by many of them.
import { attributeOf, childOf, childrenOf, type Element } from './strict-xml.ts'

/**
 * An element of a definition. `attributes` and `children` are all that it may have. `free`: it reaches nothing of the
 * host, so everything in it is allowed that holds no path. A child stands once, unless its shape is `many`.
 */
type Shape = { attributes?: readonly string[]; children?: Readonly<Record<string, Shape>>; free?: true; many?: true }

const free: Shape = { free: true }
const attributes = (...names: string[]): Shape => ({ attributes: names })
const many = (shape: Shape): Shape => ({ ...shape, many: true })

const diskSource: Shape = {
  attributes: ['file', 'dev', 'protocol', 'name', 'index'],
  children: { config: attributes('file'), host: many(attributes('name', 'port')) },
}
const layer: Shape = { attributes: ['type', 'index'], children: { format: attributes('type'), source: diskSource } }
const disk: Shape = {
  attributes: ['type', 'device', 'model'],
  children: {
    driver: free,
    auth: { attributes: ['username'], children: { secret: attributes('type', 'uuid') } },
    source: diskSource,
    backingStore: layer,
    ...{ target: free, serial: {}, boot: free, address: free, alias: free, readonly: {}, iotune: free },
  },
}
const line: Shape = {
  attributes: ['type', 'tty'],
  children: {
    source: attributes('mode', 'path'),
    log: attributes('file', 'append'),
    ...{ target: free, address: free, alias: free },
  },
}

const devices: Readonly<Record<string, Shape>> = {
  emulator: {},
  disk: many(disk),
  interface: many({
    attributes: ['type'],
    children: {
      mac: attributes('address'),
      source: attributes('bridge'),
      target: attributes('dev', 'managed'),
      ...{ model: free, driver: free, mtu: free, link: free, boot: free, address: free, alias: free },
    },
  }),
  serial: many(line),
  console: many(line),
  channel: many({ attributes: ['type'], children: { target: free, address: free, alias: free } }),
  graphics: {
    attributes: ['type'],
    children: { listen: attributes('type') },
  },
  tpm: {
    attributes: ['model'],
    children: {
      backend: {
        attributes: ['type', 'version', 'persistent_state'],
        children: { active_pcr_banks: free, profile: free },
      },
      ...{ address: free, alias: free },
    },
  },
  rng: { attributes: ['model'], children: { backend: attributes('model'), rate: free, address: free, alias: free } },
  input: many(attributes('type', 'bus')),
  audio: attributes('id', 'type'),
  ...{ controller: many(free), video: many(free), memballoon: free, watchdog: free },
}
// libvirt gives these an alias and an address too.
for (const name of ['input', 'audio', 'graphics'] as const)
  (devices as Record<string, Shape>)[name] = {
    ...devices[name],
    children: { ...devices[name]!.children, address: free, alias: free },
  }

const domain: Shape = {
  attributes: ['type', 'id'],
  children: {
    ...{ name: {}, uuid: {}, title: {}, memory: free, currentMemory: free, vcpu: attributes('placement', 'current') },
    metadata: { children: { 'berth:workload': attributes('xmlns:berth', 'id') } },
    resource: { children: { partition: {} } },
    os: {
      children: {
        type: free,
        loader: attributes('readonly', 'secure', 'type', 'format'),
        nvram: attributes('template', 'format'),
        boot: many(free),
      },
    },
    ...{ features: free, cpu: free, clock: free, pm: free, cputune: free },
    ...{ on_poweroff: {}, on_reboot: {}, on_crash: {} },
    devices: { children: devices },
    seclabel: many(attributes('type', 'model', 'relabel')),
  },
}

export type Reach = {
  name: string
  uuid: string
  memoryKib: number
  vcpus: number
  /** Each a few words such as `disk file qcow2 /srv/a.qcow2 file`. */
  things: ReadonlySet<string>
}

const UNITS: Readonly<Record<string, number>> = { KiB: 1, MiB: 1024, GiB: 1024 ** 2 }

/** Throws an `Error` that names the first element that no definition of Berth's has. */
export function reachOf(definition: Element): Reach {
  if (definition.name !== 'domain') throw new Error(`it is a ${definition.name} and no domain`)
  check(definition, domain, 'domain')
  const text = (name: string) => childOf(definition, name)?.text ?? ''
  const unit = attributeOf(definition, 'memory', 'unit') ?? 'KiB'
  return {
    name: text('name'),
    uuid: text('uuid'),
    memoryKib: Number(text('memory')) * (UNITS[unit] ?? Number.NaN),
    vcpus: Number(text('vcpu')),
    things: new Set(thingsOf(definition)),
  }
}

/**
 * Throws an `Error` that says what the definition has beyond `allowed`: another name or UUID, more memory or
 * processors, or a thing of the host.
 */
export function mustReachWithin(definition: Element, allowed: Reach) {
  const reach = reachOf(definition)
  for (const key of ['name', 'uuid'] as const)
    if (reach[key] !== allowed[key]) throw new Error(`its ${key} is ${reach[key]} and not ${allowed[key]}`)
  for (const key of ['memoryKib', 'vcpus'] as const)
    if (!(reach[key] <= allowed[key])) throw new Error(`its ${key} is ${reach[key]}, and ${allowed[key]} was announced`)
  for (const thing of reach.things) if (!allowed.things.has(thing)) throw new Error(`it has ${thing}`)
}

function check(element: Element, shape: Shape, path: string) {
  if (shape.free) return mustHoldNoPath(element, path)
  for (const [key] of element.attributes)
    if (!shape.attributes?.includes(key)) throw new Error(`it has the attribute ${key} at ${path}`)
  const seen = new Set<string>()
  for (const child of element.children) {
    const shapeOfChild = Object.hasOwn(shape.children ?? {}, child.name) ? shape.children![child.name] : undefined
    // A layer may stand on a layer.
    const found = shapeOfChild ?? (child.name === 'backingStore' && element.name === 'backingStore' ? layer : undefined)
    if (!found) throw new Error(`it has the element ${path}/${child.name}`)
    if (seen.has(child.name) && !found.many) throw new Error(`it has ${path}/${child.name} twice`)
    seen.add(child.name)
    check(child, found, `${path}/${child.name}`)
  }
}

function mustHoldNoPath(element: Element, path: string) {
  for (const value of [element.text, ...element.attributes.values()])
    if (value.includes('/')) throw new Error(`it has the path ${value} at ${path}`)
  for (const child of element.children) mustHoldNoPath(child, `${path}/${child.name}`)
}

function* thingsOf(definition: Element): Generator<string> {
  yield `type ${definition.attributes.get('type')}`
  const mark = childOf(definition, 'metadata')?.children[0]
  if (mark) yield `mark ${mark.attributes.get('xmlns:berth')} ${mark.attributes.get('id')}`
  const partition = childOf(definition, 'resource')?.children[0]?.text
  if (partition !== undefined && partition !== '/machine') yield `partition ${partition}`
  const os = childOf(definition, 'os')
  if (os) {
    yield `system ${childOf(os, 'type')?.text} ${attributeOf(os, 'type', 'arch')}`
    for (const { text } of childrenOf(os, 'loader')) yield `loader ${text}`
    for (const { text, attributes: given } of childrenOf(os, 'nvram')) {
      if (text) yield `nvram ${text}`
      if (given.has('template')) yield `nvram template ${given.get('template')}`
    }
  }
  for (const label of childrenOf(definition, 'seclabel'))
    if (label.attributes.get('type') !== 'dynamic') yield `security label ${label.attributes.get('type')}`
  for (const device of childOf(definition, 'devices')?.children ?? []) yield* thingsOfDevice(device)
}

/** By the name of the element; devices that are free reach nothing. */
const ofDevice: Readonly<Record<string, (device: Element) => Iterable<string>>> = {
  emulator: ({ text }) => [`emulator ${text}`],
  disk: thingsOfDisk,
  interface: (card) => [
    thing(
      `card ${card.attributes.get('type')}`,
      attributeOf(card, 'mac', 'address'),
      attributeOf(card, 'source', 'bridge'),
      attributeOf(card, 'target', 'dev'),
    ),
  ],
  serial: thingsOfLine,
  console: thingsOfLine,
  channel: (channel) => [
    thing(
      `channel ${channel.attributes.get('type')}`,
      attributeOf(channel, 'target', 'type'),
      attributeOf(channel, 'target', 'name'),
    ),
  ],
  graphics: (screen) => [`screen ${screen.attributes.get('type')} ${attributeOf(screen, 'listen', 'type')}`],
  tpm: (tpm) => [`tpm ${tpm.attributes.get('model')} ${attributeOf(tpm, 'backend', 'type')}`],
  rng: (rng) => [`random ${attributeOf(rng, 'backend', 'model')} ${childOf(rng, 'backend')?.text}`],
  input: ({ attributes: given }) =>
    ['mouse', 'keyboard', 'tablet'].includes(given.get('type') ?? '') ? [] : [`input ${given.get('type')}`],
  audio: ({ attributes: given }) => (given.get('type') === 'none' ? [] : [`audio ${given.get('type')}`]),
}
/** The words of one thing. */
const thing = (...words: (string | undefined)[]) => words.join(' ')
const thingsOfDevice = (device: Element) => ofDevice[device.name]?.(device) ?? []

function* thingsOfDisk(element: Element): Generator<string> {
  const source = childOf(element, 'source')
  const device = element.attributes.get('device') ?? 'disk'
  if (device !== 'disk' && device !== 'cdrom') yield `drive ${device}`
  if (source)
    yield thing(device, element.attributes.get('type'), attributeOf(element, 'driver', 'type'), pathOf(source, element))
  // The layers below a disk are those that its own file names here, which this node made.
  for (let below = childOf(element, 'backingStore'); below; below = childOf(below, 'backingStore')) {
    const file = childOf(below, 'source')
    if (file) yield `layer ${below.attributes.get('type')} ${pathOf(file, below)}`
  }
}

function pathOf(source: Element, element: Element): string {
  const { attributes: given } = source
  const auth = childOf(element, 'auth')
  return [
    given.get('file') ?? given.get('dev') ?? `${given.get('protocol')}:${given.get('name')}`,
    ...(['file', 'dev', 'protocol'] as const).filter((key) => given.has(key)),
    ...source.children.map((child) => `${child.name} ${[...child.attributes.values()].join(':')}`),
    ...(auth ? [`as ${auth.attributes.get('username')} ${attributeOf(auth, 'secret', 'uuid')}`] : []),
  ].join(' ')
}

function* thingsOfLine(element: Element): Generator<string> {
  const type = element.attributes.get('type')
  const source = childOf(element, 'source')
  // libvirt makes a new pseudo terminal, whatever the path says.
  if (type !== 'pty') yield `serial line ${type} ${source?.attributes.get('mode')} ${source?.attributes.get('path')}`
  const log = childOf(element, 'log')
  if (log) yield `serial log ${log.attributes.get('file')}`
}

// The flags of `berth host install` and `uninstall`. They are those of install.sh, which checks what a person typed
// before there is a program; here a flag that is not known is refused, and nothing else can be wrong.
import { parseArgs } from 'node:util'

const options = {
  'all-in-one': { type: 'boolean' },
  agent: { type: 'boolean' },
  controller: { type: 'boolean' },
  'controller-url': { type: 'string' },
  'token-file': { type: 'string' },
  domain: { type: 'string' },
  'lab-certificate': { type: 'boolean' },
  listen: { type: 'string' },
  'public-url': { type: 'string' },
  'data-dir': { type: 'string' },
  email: { type: 'string' },
  name: { type: 'string' },
  ca: { type: 'string' },
  pin: { type: 'string' },
  bridge: { type: 'string' },
  uplink: { type: 'string' },
  vlans: { type: 'string' },
  subnet: { type: 'string' },
  gateway: { type: 'string' },
  'pool-range': { type: 'string' },
  resolver: { type: 'string', multiple: true },
  gpu: { type: 'boolean' },
  'no-first-guest': { type: 'boolean' },
  insecure: { type: 'boolean' },
  purge: { type: 'boolean' },
  force: { type: 'boolean' },
  source: { type: 'string' },
  log: { type: 'string' },
} as const

export type Mode = 'all-in-one' | 'agent' | 'controller'

export type Flags = {
  mode: Mode
  controllerUrl?: string
  /** The content of `--token-file`. */
  token?: string
  domain?: string
  labCertificate: boolean
  listen?: string
  publicUrl?: string
  dataDir?: string
  email?: string
  name?: string
  ca?: string
  pin?: string
  bridge?: string
  /** The interface that leads out of the machine, and the VLANs on it as the operator wrote them. */
  uplink?: string
  vlans?: string
  subnet?: string
  gateway?: string
  poolRange?: string
  resolvers: string[]
  gpu: boolean
  firstGuest: boolean
  insecure: boolean
  purge: boolean
  force: boolean
  /** The directory of install.sh: a checkout or a release. */
  source: string
  log: string
}

/** Throws `TypeError` for a flag that there is not. `readToken` reads a file, or standard input for `-`. */
export function flagsFrom(args: readonly string[], readToken: (file: string) => string): Flags {
  const given = parseArgs({ args: [...args], options, strict: true, allowPositionals: false }).values
  const file = given['token-file']
  const values = {
    controllerUrl: given['controller-url'],
    token: file && readToken(file),
    domain: given.domain,
    listen: given.listen,
    publicUrl: given['public-url'],
    dataDir: given['data-dir'],
    email: given.email,
    name: given.name,
    ca: given.ca,
    pin: given.pin,
    bridge: given.bridge,
    uplink: given.uplink,
    vlans: given.vlans,
    subnet: given.subnet,
    gateway: given.gateway,
    poolRange: given['pool-range'],
  }
  return {
    mode: given.agent ? 'agent' : given.controller ? 'controller' : 'all-in-one',
    ...Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined && value !== '')),
    labCertificate: given['lab-certificate'] === true,
    resolvers: given.resolver ?? [],
    gpu: given.gpu === true,
    firstGuest: given['no-first-guest'] !== true,
    insecure: given.insecure === true,
    purge: given.purge === true,
    force: given.force === true,
    source: given.source ?? '/nonexistent',
    log: given.log ?? '/dev/null',
  }
}

// Every PANEL_* setting, read once, with what it means.
import { dirname } from 'node:path'
import { backupAddress } from '../../agent/protocol/backup.ts'
import { pinsFrom } from '../../agent/protocol/pin.ts'
import { SettingError } from '../kernel/command-line/startup-errors.ts'
import { isCidr } from '../kernel/net/cidr.ts'

/** name → what it means and what it is when it is not set. `--help` and docs/install.md print this list. */
export const settings = {
  PANEL_PUBLIC_URL: 'The address browsers use, exactly, with https://. Default: http:// and PANEL_LISTEN.',
  PANEL_LISTEN: 'Address and port to listen on. Default 127.0.0.1:8080.',
  PANEL_DATA_DIR: 'Database, key file, imported images. Default /var/lib/berth.',
  PANEL_KEY_FILE: 'The keys that encrypt secrets, 0600. Default $PANEL_DATA_DIR/secret.key, made at first start.',
  PANEL_TRUSTED_PROXIES: 'Comma-separated CIDRs whose X-Forwarded-For is believed. Default none.',
  PANEL_TLS_CERT: 'Certificate file for built-in TLS, with PANEL_TLS_KEY. Default none: use a reverse proxy.',
  PANEL_TLS_KEY: 'Key file for built-in TLS.',
  PANEL_AGENT_INSECURE: '1 lets a lab on plain HTTP enroll nodes.',
  PANEL_AGENT_PINS:
    'Comma-separated keys (sha256//...) of which the certificate at PANEL_PUBLIC_URL has one: nodes refuse every ' +
    'other. Default none: nodes accept what its authority vouches for.',
  PANEL_AGENT_CA:
    'Certificate file of the authority behind PANEL_PUBLIC_URL, if it is none that everybody trusts: the command ' +
    'that enrolls a node carries it. Default none.',
  PANEL_AGENT_DIR:
    'Where the built programs lie that a joining node fetches: berth-x64, berth-aarch64, or berth for this ' +
    'machine’s kind. Default: the directory of this program.',
  PANEL_LOG_REQUESTS: '1 logs every request.',
  PANEL_WEBHOOK_ALLOW_PRIVATE:
    'Comma-separated CIDRs that staff webhooks may reach although they are private. Default none.',
  PANEL_WEBHOOK_CA_FILE:
    'File with certificates (PEM) of authorities that receivers of webhooks may have beside those that everybody ' +
    'trusts: for a lab. Read at start. Default none.',
  PANEL_LOCAL_REGISTRIES:
    'Comma-separated registries of GPU images that are not public, such as registry.lan:5000. Default none.',
  PANEL_LOCAL_SERVICES:
    'Comma-separated CIDRs of this machine or of a link, such as 127.0.0.1/32, where the mail server or the identity ' +
    'provider may be. Default none.',
  PANEL_LOCAL_SOURCES:
    'Comma-separated CIDRs of mirrors of images and ISOs of staff that are not public. Default none.',
  PANEL_REPLICA:
    'Where the database is copied to as it changes: a folder like /mnt/replica, sftp://HOST/FOLDER or ' +
    'https://S3-HOST/BUCKET/FOLDER. Default none.',
  PANEL_REPLICA_LOGIN: 'The user of SFTP, or the access key of S3.',
  PANEL_REPLICA_SECRET_FILE: 'File with the private key of SSH, or with the secret key of S3.',
  PANEL_REPLICA_TRUST_FILE:
    'File with the host keys of SFTP (ssh-ed25519 AAAA…, one a line), or with the certificate of the authority of S3 ' +
    'if it is none that everybody trusts.',
  PANEL_REPLICA_WAITS: '1 confirms a change only when it is in the replica: a takeover loses none.',
  PANEL_STANDBY: '1 makes `berth serve` a standby, as `berth serve --standby`, until it takes over.',
  PANEL_REPLICA_DAYS: 'So far back the replica can be restored to any time. Default 2.',
} as const
export type SettingName = keyof typeof settings

export type Config = {
  publicUrl: string
  origin: string
  listen: { hostname: string; port: number }
  dataDir: string
  keyFile: string
  trustedProxies: readonly string[]
  tls: { cert: string; key: string } | undefined
  agentInsecure: boolean
  agentPins: readonly string[]
  agentCa: string | undefined
  agentDir: string
  logRequests: boolean
  webhookAllowPrivate: readonly string[]
  webhookCaFile: string | undefined
  localServices: readonly string[]
  localRegistries: readonly string[]
  localSources: readonly string[]
  replica: ReplicaConfig | undefined
  standby: boolean
}

/** `secretFile` and `trustFile` are read when they are needed. */
export type ReplicaConfig = {
  kind: 'folder' | 'sftp' | 's3'
  address: string
  login: string
  secretFile: string | undefined
  trustFile: string | undefined
  waits: boolean
  days: number
}

type Settings = Config
declare module '../kernel/register.ts' {
  interface AppConfig extends Settings {}
}

/** Thrown for a setting that cannot be used; the message says which and what to do. */
export function configFrom(env: Readonly<Record<string, string | undefined>>): Config {
  for (const name in env)
    if (name.startsWith('PANEL_') && !Object.hasOwn(settings, name))
      throw new SettingError(`There is no setting ${name}. Did you mean ${nearest(name, Object.keys(settings))}?`)
  const set = (name: SettingName) => env[name] || undefined
  const listen = listenFrom(set('PANEL_LISTEN') ?? '127.0.0.1:8080')
  const tls = tlsFrom(set('PANEL_TLS_CERT'), set('PANEL_TLS_KEY'))
  const host = listen.hostname.includes(':') ? `[${listen.hostname}]` : listen.hostname
  const publicUrl = publicUrlFrom(set('PANEL_PUBLIC_URL') ?? `${tls ? 'https' : 'http'}://${host}:${listen.port}`)
  const dataDir = set('PANEL_DATA_DIR') ?? '/var/lib/berth'
  return {
    publicUrl,
    origin: new URL(publicUrl).origin,
    listen,
    dataDir,
    keyFile: set('PANEL_KEY_FILE') ?? `${dataDir}/secret.key`,
    trustedProxies: cidrsFrom('PANEL_TRUSTED_PROXIES', set('PANEL_TRUSTED_PROXIES')),
    tls,
    agentInsecure: flag('PANEL_AGENT_INSECURE', set('PANEL_AGENT_INSECURE')),
    agentPins: pinsOf(set('PANEL_AGENT_PINS'), publicUrl),
    agentCa: set('PANEL_AGENT_CA'),
    agentDir: set('PANEL_AGENT_DIR') ?? dirname(process.execPath),
    logRequests: flag('PANEL_LOG_REQUESTS', set('PANEL_LOG_REQUESTS')),
    webhookAllowPrivate: cidrsFrom('PANEL_WEBHOOK_ALLOW_PRIVATE', set('PANEL_WEBHOOK_ALLOW_PRIVATE')),
    webhookCaFile: set('PANEL_WEBHOOK_CA_FILE'),
    localServices: cidrsFrom('PANEL_LOCAL_SERVICES', set('PANEL_LOCAL_SERVICES')),
    localRegistries: registriesFrom(set('PANEL_LOCAL_REGISTRIES')),
    localSources: cidrsFrom('PANEL_LOCAL_SOURCES', set('PANEL_LOCAL_SOURCES')),
    replica: replicaFrom(set),
    standby: flag('PANEL_STANDBY', set('PANEL_STANDBY')),
  }
}

export function replicaFrom(set: (name: SettingName) => string | undefined): ReplicaConfig | undefined {
  const address = set('PANEL_REPLICA')
  if (!address) return undefined
  const kind = address.startsWith('/') ? 'folder' : address.startsWith('sftp:') ? 'sftp' : 's3'
  if (!backupAddress(kind === 'folder' ? 'local' : kind, address))
    throw new SettingError(
      'PANEL_REPLICA must be a folder like /mnt/replica, sftp://backups.example.com/home/berth (without a user), or ' +
        'https://s3.example.com/bucket/folder.',
    )
  const days = Number(set('PANEL_REPLICA_DAYS') ?? 2)
  if (!Number.isInteger(days) || days < 1 || days > 60)
    throw new SettingError('PANEL_REPLICA_DAYS is a whole number from 1 to 60.')
  const [login = '', secretFile] = [set('PANEL_REPLICA_LOGIN'), set('PANEL_REPLICA_SECRET_FILE')]
  const trustFile = set('PANEL_REPLICA_TRUST_FILE')
  if (kind !== 'folder' && (!login || !secretFile))
    throw new SettingError('PANEL_REPLICA needs PANEL_REPLICA_LOGIN and PANEL_REPLICA_SECRET_FILE for SFTP and S3.')
  if (kind === 'sftp' && !trustFile)
    throw new SettingError('PANEL_REPLICA needs PANEL_REPLICA_TRUST_FILE for SFTP: without host keys, anybody is it.')
  const waits = flag('PANEL_REPLICA_WAITS', set('PANEL_REPLICA_WAITS'))
  return { kind, address, login, secretFile, trustFile, waits, days }
}

function listenFrom(text: string) {
  const found = /^(\[[0-9a-fA-F:]+\]|[^:[\]]+):([0-9]{1,5})$/.exec(text)
  if (!found || Number(found[2]) > 65535)
    throw new SettingError('PANEL_LISTEN must be address:port, for example 127.0.0.1:8080 or [::]:8080.')
  return { hostname: found[1]!.replace(/^\[|\]$/g, ''), port: Number(found[2]) }
}

function publicUrlFrom(text: string) {
  const url = URL.parse(text)
  if (!url || !/^https?:$/.test(url.protocol) || url.search || url.hash || url.username || url.pathname !== '/')
    throw new SettingError(
      'PANEL_PUBLIC_URL must be the address in the browser, like https://panel.example.com, without a path.',
    )
  return url.origin
}

function tlsFrom(cert: string | undefined, key: string | undefined) {
  if (!cert !== !key) throw new SettingError('PANEL_TLS_CERT and PANEL_TLS_KEY go together: set both or none.')
  return cert && key ? { cert, key } : undefined
}

function cidrsFrom(name: SettingName, text: string | undefined) {
  const all = (text ?? '')
    .split(',')
    .map((c) => c.trim())
    .filter(Boolean)
  for (const cidr of all) if (!isCidr(cidr)) throw new SettingError(`${name}: ${cidr} is not a CIDR like 10.0.0.0/8.`)
  return all
}

function registriesFrom(text: string | undefined): readonly string[] {
  const all = (text ?? '')
    .split(',')
    .map((registry) => registry.trim().toLowerCase())
    .filter(Boolean)
  for (const registry of all)
    if (!/^[a-z0-9.-]+(:[0-9]{1,5})?$/.test(registry))
      throw new SettingError(`PANEL_LOCAL_REGISTRIES: ${registry} is not a registry like registry.lan:5000.`)
  return all
}

function pinsOf(text: string | undefined, publicUrl: string): readonly string[] {
  const pins = pinsFrom(text ?? '')
  if (!pins)
    throw new SettingError(
      'PANEL_AGENT_PINS: up to ten keys like sha256//BASE64=, separated by commas (docs/nodes.md).',
    )
  if (pins.length && !publicUrl.startsWith('https:'))
    throw new SettingError('PANEL_AGENT_PINS needs a PANEL_PUBLIC_URL with https://: without TLS there is no key.')
  return pins
}

function flag(name: SettingName, text: string | undefined) {
  if (text === undefined || text === '0') return false
  if (text === '1') return true
  throw new SettingError(`${name} is 1 or 0.`)
}

function nearest(name: string, known: readonly string[]): string {
  return known.map((k) => ({ k, d: distance(name, k) })).sort((a, b) => a.d - b.d)[0]!.k
}
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++)
      next[j] = Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1))
    row = next
  }
  return row[b.length]!
}

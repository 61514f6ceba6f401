// What an answer may look like, made from its schema: examples that cannot go stale, because nobody writes them.
import type { TSchema } from 'typebox'
import { type IdKind, prefixes } from '../db/ids.ts'

/** The part of JSON Schema that declarations use. */
type Schema = {
  type?: string
  enum?: readonly unknown[]
  const?: unknown
  anyOf?: readonly Schema[]
  items?: Schema
  properties?: Record<string, Schema>
  patternProperties?: object
  format?: string
  minimum?: number
}

/** Names that are not the kind of thing that they name. */
const kinds: Record<string, IdKind> = {
  owner: 'account',
  customer: 'account',
  reseller: 'account',
  actor: 'account',
  staff: 'account',
  staffMember: 'account',
  memberOfStaff: 'account',
  startedBy: 'account',
  nodeGroup: 'location',
  poolAddress: 'address',
  addressPool: 'pool',
  membership: 'teamMember',
  team: 'teamMember',
}
const nameOf: Partial<Record<IdKind, string>> = {
  account: 'Cal Customer',
  package: 'KVM 2G',
  location: 'Frankfurt',
  server: 'web01',
  node: 'fra-01',
  pool: 'Frankfurt IPv4',
  image: 'Debian 13',
}
const camel = (words: string) =>
  words.replace(/[ -](\w)/g, (_, c: string) => c.toUpperCase()).replace(/^SSHKey/, 'sshKey')
const kindOf = (of: string): IdKind | undefined => {
  for (const name of [camel(of), camel(of).replace(/s$/, '')]) {
    const kind = kinds[name] ?? (name in prefixes ? (name as IdKind) : undefined)
    if (kind) return kind
  }
  return undefined
}
/** The id that stands for any of this kind; undefined where there is no such kind. */
export function sampleId(of: string): string | undefined {
  const kind = kindOf(of)
  return kind && `${prefixes[kind]}06eq7v2k9m4x8d1t5w3rjz0nbh`
}

/**
 * Values by the name of their field, taken where they are of its type. A server that runs and a job that went well; addresses are
 * those that stand for any in documents (RFC 5737, 3849, 7042).
 */
export const samples: Readonly<Record<string, string | number | boolean | null>> = {
  status: 'running',
  state: 'succeeded',
  kind: 'install',
  hostname: 'web01',
  title: 'Install web01',
  email: 'cal@example.com',
  organization: 'Example GmbH',
  externalId: '4711',
  billingProductId: 'vendor:42',
  ipv4: '203.0.113.10',
  ipv6: '2001:db8:1:2::/64',
  ipv6Prefix: 64,
  prefixLength: 24,
  version: 4,
  address: '203.0.113.10',
  addresses: '203.0.113.2/24',
  network: '203.0.113.0/24',
  gateway: '203.0.113.1',
  first: '203.0.113.10',
  last: '203.0.113.250',
  from: '198.51.100.7',
  usedFrom: '198.51.100.7',
  allow: '198.51.100.7/32',
  mac: '00:00:5e:00:53:10',
  resolvers: '203.0.113.53',
  bridge: 'br0',
  rootPassword: 'Rr8kT2mWqZ4vN6cXy9Hd',
  token: 'pnl_…',
  sshCommand: 'ssh root@203.0.113.10',
  operation: 'servers.suspend',
  result: 'done',
  via: 'page',
  level: 'info',
  text: 'Done.',
  placement: 'Most free memory of 3 nodes in Frankfurt.',
  allowed: 'shutdown',
  publicKey: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI…',
  checksum: 'sha256:…',
  requestId: '01929f2e-6b1c-7d3a-9f00-3c5a7e1b2d4f',
  nextCursor: null,
  vcpus: 2,
  memoryMb: 2048,
  diskGb: 40,
  trafficGb: 2000,
  portMbps: 1000,
  progress: 100,
  rescue: false,
  protected: false,
  archived: false,
  undoing: false,
  failure: null,
  suspendReason: null,
  lockReason: null,
  lockedAt: null,
  terminatedAt: null,
  job: null,
  resellerId: null,
  resellerName: null,
  reservedFor: null,
  error: null,
  scopes: 'servers:read',
}

/** A value of the schema. `of` names the thing that it is about, for its ids; a field that is a thing names itself. */
export function sample(schema: TSchema, of: string, field = ''): unknown {
  const s = schema as Schema
  const known = samples[field]
  if (known !== undefined && takes(s, known)) return known
  if (s.enum) return s.enum[0]
  if (s.const !== undefined) return s.const
  if (s.anyOf) return sample(s.anyOf.find((one) => one.type !== 'null') as TSchema, of, field)
  switch (s.type) {
    case 'object': {
      const about = field === '' || field === 'data' ? of : field
      return Object.fromEntries(
        Object.entries(s.properties ?? {}).map(([name, inner]) => [name, sample(inner as TSchema, about, name)]),
      )
    }
    case 'array':
      return [sample(s.items as TSchema, of, field)]
    case 'string':
      return s.format === 'date-time' ? '2027-01-31T12:00:00.000Z' : textOf(of, field)
    case 'integer':
    case 'number':
      return Math.max(s.minimum ?? 0, 1)
    case 'boolean':
      return true
    default:
      return null
  }
}

const takes = (s: Schema, value: string | number | boolean | null): boolean =>
  s.anyOf
    ? s.anyOf.some((one) => takes(one, value))
    : s.enum
      ? s.enum.includes(value)
      : value === null
        ? s.type === 'null'
        : typeof value === 'number'
          ? s.type === 'integer' || s.type === 'number'
          : s.type === typeof value && s.format === undefined

function textOf(of: string, field: string): string {
  if (field === 'id') return sampleId(of) ?? of
  if (field === 'name') return nameOf[kindOf(of) ?? 'event'] ?? `${of} name`
  const thing = /^(\w+)Ids?$/.exec(field)?.[1] ?? /^(\w+)Name$/.exec(field)?.[1]
  const kind = thing && kindOf(thing)
  return (kind && (field.endsWith('Name') ? nameOf[kind] : sampleId(kind))) || `${of} ${field}`
}

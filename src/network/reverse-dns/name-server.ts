// The operator's name server, in which PTR records are kept, and how a record is set there.
import { randomInt } from 'node:crypto'
import { type Static, Type as t } from 'typebox'
import type { AppContext } from '../../kernel/api/operation.ts'
import { second } from '../../kernel/db/clock.ts'
import { encryptedSetting } from '../../kernel/db/encrypted-setting.ts'
import { addressFor, egress, forOperator, isLoopback, NoAnswer } from '../../kernel/net/egress.ts'
import { reverseNameFor, zoneOf } from './names.ts'
import { ask, checkAnswer, signed, UpdateRefused, updateMessage } from './rfc2136.ts'

const TIMEOUT_MS = 5 * second
/** The list of zones of a large installation. */
const MOST_BYTES = 8 << 20
const TTL_SECONDS = 3600

export const PowerDns = t.Object({
  kind: t.Literal('powerdns'),
  /** Without `/api/v1`. */
  url: t.String({ maxLength: 500 }),
  key: t.String({ maxLength: 200 }),
})
export const Rfc2136 = t.Object({
  kind: t.Literal('rfc2136'),
  host: t.String({ maxLength: 253 }),
  port: t.Integer({ minimum: 1, maximum: 65_535 }),
  zones: t.Array(t.String({ maxLength: 253 }), { maxItems: 500 }),
  keyName: t.String({ maxLength: 253 }),
  /** Base64, as in the configuration of the name server. */
  secret: t.String({ maxLength: 500 }),
})
const NameServer = t.Union([PowerDns, Rfc2136])
export type NameServer = Static<typeof NameServer>

const setting = encryptedSetting('reverse-dns.server', NameServer)
/** Undefined until the operator has set one. */
export const nameServer = setting.get
export const keepNameServer = setting.keep
export const dropNameServer = setting.drop

/** The name server did not take it. `permanent`: only another setting, there or here, can help. */
export class NotTaken extends Error {
  constructor(
    message: string,
    readonly permanent: boolean,
  ) {
    super(message)
  }
}

type Outside = Pick<AppContext, 'config' | 'wallClock'>

/** Makes the PTR record of an address this name, or deletes it; sent again it does the same. Throws `NotTaken`. */
export async function setPtr(server: NameServer, outside: Outside, address: string, name: string | null) {
  const owner = reverseNameFor(address)
  const zones = server.kind === 'powerdns' ? await powerDnsZones(server, outside) : server.zones
  const zone = zoneOf(owner, zones)
  if (!zone) throw new NotTaken(`The name server has no zone for ${owner}.`, true)
  if (server.kind === 'rfc2136') return sendUpdate(server, outside, zone, owner, name)
  const rrset = {
    name: `${owner}.`,
    type: 'PTR',
    ttl: TTL_SECONDS,
    changetype: name === null ? 'DELETE' : 'REPLACE',
    ...(name !== null && { records: [{ content: `${name}.`, disabled: false }] }),
  }
  await callPowerDns(server, outside, 'PATCH', `/zones/${encodeURIComponent(zone)}`, { rrsets: [rrset] })
}

/** The zones of the reverse tree that the name server keeps and lets us change. Throws `NotTaken`. */
export async function reverseZones(server: NameServer, outside: Outside): Promise<string[]> {
  if (server.kind === 'powerdns')
    return (await powerDnsZones(server, outside)).filter((zone) => /\.(in-addr|ip6)\.arpa\.?$/.test(zone))
  for (const zone of server.zones) await sendUpdate(server, outside, zone)
  return server.zones
}

// ---------------------------------------------------------------- PowerDNS
type OfPowerDns = Static<typeof PowerDns>

async function powerDnsZones(server: OfPowerDns, outside: Outside): Promise<string[]> {
  const zones = await callPowerDns(server, outside, 'GET', '/zones')
  if (!Array.isArray(zones)) throw new NotTaken('The name server answers something else than a list of zones.', true)
  return zones.flatMap((zone) => (typeof zone?.name === 'string' ? [zone.name] : []))
}

async function callPowerDns(
  server: OfPowerDns,
  { config }: Outside,
  method: 'GET' | 'PATCH',
  path: string,
  body?: object,
) {
  const url = new URL(`${server.url.replace(/\/+$/, '')}/api/v1/servers/localhost${path}`)
  const local = config.localServices
  const policy = { ...forOperator(local), loopback: local.length > 0 && isLoopback(url) }
  const { status, text } = await egress(url, policy, {
    method,
    headers: { 'X-API-Key': server.key, ...(body && { 'Content-Type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
    mostBytes: MOST_BYTES,
    timeoutMs: TIMEOUT_MS,
  }).catch((error) => {
    throw error instanceof NoAnswer ? new NotTaken(error.message, false) : error
  })
  if (status === 401 || status === 403) throw new NotTaken('The name server does not accept the key.', true)
  if (status >= 500) throw new NotTaken(`The name server answers ${status}.`, false)
  if (status >= 300) throw new NotTaken(`The name server refuses it with ${status}: ${errorIn(text)}`, true)
  return status === 204 ? undefined : jsonOf(text)
}

const jsonOf = (text: string): any => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
/** One line of it: some errors are JSON, some are plain text. */
const errorIn = (text: string) =>
  String(jsonOf(text)?.error ?? text)
    .replace(/[^\x20-\x7e]+/g, ' ')
    .slice(0, 200)

// ---------------------------------------------------------------- RFC 2136
async function sendUpdate(
  server: Static<typeof Rfc2136>,
  { config, wallClock }: Outside,
  zone: string,
  owner?: string,
  name?: string | null,
) {
  const key = { name: server.keyName, secret: Buffer.from(server.secret, 'base64') }
  const id = randomInt(0x10000)
  const seconds = Math.floor(wallClock() / 1000)
  try {
    const address = await addressFor(server.host, forOperator(config.localServices))
    const { message, mac } = signed(updateMessage(id, zone, owner, name), key, seconds)
    checkAnswer(await ask(address, server.port, message, TIMEOUT_MS), id, key, mac, seconds)
  } catch (error) {
    if (error instanceof UpdateRefused)
      throw new NotTaken(
        `${words[error.rcode] ?? 'The name server refuses the change'} (${error.rcode}).`,
        !passing.has(error.rcode),
      )
    throw new NotTaken(`${server.host} could not be asked: ${(error as Error).message}`, false)
  }
}

const passing = new Set(['SERVFAIL', 'BADTIME'])
const words: Readonly<Record<string, string>> = {
  REFUSED: 'The name server does not let this key change PTR records of the zone',
  NOTAUTH: 'The name server does not keep the zone, or does not accept the key',
  NOTZONE: 'The name is in no zone of the name server',
  BADSIG: 'The name server has another secret for the key',
  BADKEY: 'The name server does not know the key',
  BADTIME: 'The clocks of the name server and of the controller differ',
  SERVFAIL: 'The name server could not do it',
}

// Dynamic updates of the DNS (RFC 2136) over TCP, signed with a shared key (TSIG with HMAC-SHA256, RFC 8945). Only PTR
// records of one name are replaced or deleted.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { connect } from 'node:net'

const [SOA, PTR, TSIG, IN, ANY] = [6, 12, 250, 1, 255]
const UPDATE = 5 << 11
const ALGORITHM = 'hmac-sha256.'
const FUDGE_SECONDS = 300
const TTL_SECONDS = 3600
const MOST_BYTES = 65_535

export type DnsKey = { name: string; secret: Buffer }
/** The name server answers with another code than NOERROR; `rcode` is its name. */
export class UpdateRefused extends Error {
  constructor(readonly rcode: string) {
    super(rcode)
  }
}

const rcodes: Readonly<Record<number, string>> = {
  1: 'FORMERR',
  2: 'SERVFAIL',
  3: 'NXDOMAIN',
  4: 'NOTIMP',
  5: 'REFUSED',
  8: 'NXRRSET',
  9: 'NOTAUTH',
  10: 'NOTZONE',
  16: 'BADSIG',
  17: 'BADKEY',
  18: 'BADTIME',
}

const u16 = (n: number) => Buffer.from([n >> 8, n & 0xff])
const u32 = (n: number) => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(n)
  return bytes
}
/** Seconds as 48 bits. */
const u48 = (n: number) => {
  const bytes = Buffer.alloc(6)
  bytes.writeUIntBE(n, 0, 6)
  return bytes
}
/** A name on the wire, in lower case and without compression. Throws for a label that no name can have. */
export function wireName(name: string): Buffer {
  const labels = name.toLowerCase().replace(/\.$/, '').split('.').filter(Boolean)
  const parts = labels.flatMap((label) => {
    const bytes = Buffer.from(label, 'latin1')
    if (!bytes.length || bytes.length > 63) throw new Error(`${label} is no label of a DNS name`)
    return [Buffer.from([bytes.length]), bytes]
  })
  return Buffer.concat([...parts, Buffer.from([0])])
}
const record = (name: string, type: number, kind: number, ttl: number, data: Buffer) =>
  Buffer.concat([wireName(name), u16(type), u16(kind), u32(ttl), u16(data.length), data])

/** The update in one zone that leaves `name` with this PTR record alone, or with none. No name: nothing changes. */
export function updateMessage(id: number, zone: string, name?: string, target?: string | null): Buffer {
  const changes = name === undefined ? [] : [record(name, PTR, ANY, 0, Buffer.alloc(0))]
  if (name !== undefined && target) changes.push(record(name, PTR, IN, TTL_SECONDS, wireName(target)))
  const header = Buffer.concat([u16(id), u16(UPDATE), u16(1), u16(0), u16(changes.length), u16(0)])
  return Buffer.concat([header, wireName(zone), u16(SOA), u16(IN), ...changes])
}

/** The variables of a signature that the MAC covers beside the message. */
const signedVariables = (key: DnsKey, seconds: number, fudge: number, error: number, other: Buffer) =>
  Buffer.concat([
    wireName(key.name),
    u16(ANY),
    u32(0),
    wireName(ALGORITHM),
    u48(seconds),
    u16(fudge),
    u16(error),
    u16(other.length),
    other,
  ])
const macOf = (key: DnsKey, ...parts: Buffer[]) =>
  createHmac('sha256', key.secret).update(Buffer.concat(parts)).digest()

/** The message with its signature, and the MAC, which the answer's signature covers. `seconds`: since 1970. */
export function signed(message: Buffer, key: DnsKey, seconds: number): { message: Buffer; mac: Buffer } {
  const none = Buffer.alloc(0)
  const mac = macOf(key, message, signedVariables(key, seconds, FUDGE_SECONDS, 0, none))
  const data = Buffer.concat([
    wireName(ALGORITHM),
    u48(seconds),
    u16(FUDGE_SECONDS),
    u16(mac.length),
    mac,
    message.subarray(0, 2),
    u16(0),
    u16(0),
  ])
  const withOne = Buffer.from(message)
  withOne.writeUInt16BE(message.readUInt16BE(10) + 1, 10)
  return { message: Buffer.concat([withOne, record(key.name, TSIG, ANY, 0, data)]), mac }
}

/** The offset behind a name; a pointer ends it. */
function behindName(message: Buffer, at: number): number {
  for (let offset = at; ; ) {
    const length = message.readUInt8(offset)
    if (length >= 0xc0) return offset + 2
    offset += 1 + length
    if (length === 0) return offset
  }
}

/**
 * Checks the answer to a signed request. Throws `UpdateRefused` for a code that is no success, and an error where its
 * signature is missing or wrong: somebody else may have answered.
 */
export function checkAnswer(answer: Buffer, id: number, key: DnsKey, requestMac: Buffer, seconds: number) {
  if (answer.readUInt16BE(0) !== id) throw new Error('the answer belongs to another request')
  const rcode = answer.readUInt16BE(2) & 0xf
  if (rcode !== 0) throw new UpdateRefused(tsigErrorOf(answer) ?? rcodes[rcode] ?? `code ${rcode}`)
  const tsig = findTsig(answer)
  if (!tsig) throw new Error('the answer is not signed')
  const unsigned = Buffer.from(answer.subarray(0, tsig.start))
  unsigned.writeUInt16BE(answer.readUInt16BE(10) - 1, 10)
  unsigned.writeUInt16BE(tsig.originalId, 0)
  const variables = signedVariables(key, tsig.seconds, tsig.fudge, tsig.error, tsig.other)
  const expected = macOf(key, u16(requestMac.length), requestMac, unsigned, variables)
  if (tsig.mac.length !== expected.length || !timingSafeEqual(tsig.mac, expected))
    throw new Error('the signature of the answer is wrong')
  if (Math.abs(tsig.seconds - seconds) > FUDGE_SECONDS) throw new Error('the answer is too old')
}

const tsigErrorOf = (answer: Buffer) => rcodes[findTsig(answer)?.error ?? 0]

/** The last record of the answer, where it is a signature. */
function findTsig(answer: Buffer) {
  let at = 12
  for (let n = answer.readUInt16BE(4); n > 0; n--) at = behindName(answer, at) + 4
  const records = answer.readUInt16BE(6) + answer.readUInt16BE(8) + answer.readUInt16BE(10)
  for (let n = 1; n <= records; n++) {
    const start = at
    const fields = behindName(answer, at)
    const data = fields + 10
    at = data + answer.readUInt16BE(fields + 8)
    if (n < records || answer.readUInt16BE(fields) !== TSIG) continue
    const from = behindName(answer, data)
    const macBytes = answer.readUInt16BE(from + 8)
    const rest = from + 10 + macBytes
    return {
      start,
      seconds: answer.readUIntBE(from, 6),
      fudge: answer.readUInt16BE(from + 6),
      mac: answer.subarray(from + 10, rest),
      originalId: answer.readUInt16BE(rest),
      error: answer.readUInt16BE(rest + 2),
      other: answer.subarray(rest + 6, rest + 6 + answer.readUInt16BE(rest + 4)),
    }
  }
  return undefined
}

/** Sends one message over TCP and returns the answer. Throws what the connection throws, or after `timeoutMs`. */
export function ask(address: string, port: number, message: Buffer, timeoutMs: number): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
  const socket = connect({ host: address, port })
  const timer = setTimeout(() => reject(new Error(`it did not answer within ${timeoutMs / 1000} s`)), timeoutMs)
  let got = Buffer.alloc(0)
  socket.on('connect', () => socket.write(Buffer.concat([u16(message.length), message])))
  socket.on('data', (chunk) => {
    got = Buffer.concat([got, chunk])
    const length = got.length >= 2 ? got.readUInt16BE(0) : Number.POSITIVE_INFINITY
    if (got.length >= length + 2) resolve(got.subarray(2, length + 2))
    else if (got.length > MOST_BYTES + 2) reject(new Error('it answered too much'))
  })
  socket.on('error', reject)
  socket.on('close', () => reject(new Error('it closed the connection without an answer')))
  return promise.finally(() => {
    clearTimeout(timer)
    socket.destroy()
  })
}

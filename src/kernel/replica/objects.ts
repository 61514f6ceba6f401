// The objects of a replica. Each is compressed, encrypted with the key file and bound to its name, so that who has the
// store can neither read the database nor put another in its place.
//
//   claims/<epoch>-<random>                  a controller writes here from this epoch on; the highest is the right one
//   bases/<stream>/<number>-<time>           a whole database, from between segment <number> and the next; has parts
//   parts/<stream>/<number>/<part>           the bytes of a base
//   segments/<stream>/<thousand>/<number>    the pages that changed since the segment before
//
// A stream is what one process shipped without a gap: `<epoch>-<time of its start>`.
import type { Secrets } from '../crypto/secrets.ts'
import type { ObjectStore } from '../stores/store.ts'
import type { WalPosition } from './wal.ts'

export type Claim = { epoch: number; id: string; at: number; host: string }
export type BasePoint = { stream: string; number: number; at: number }
export type Base = BasePoint & { parts: number; bytes: number; pageSize: number }
export type Segment = {
  stream: string
  number: number
  /** The host's clock of the controller when it was read. */
  at: number
  pageSize: number
  /** 0: nothing changed. */
  databasePages: number
  pages: readonly number[]
  position: WalPosition | null
}

const digits = (n: number, length: number) => String(n).padStart(length, '0')
export const streamName = (epoch: number, at: number) => `${digits(epoch, 6)}-${digits(at, 13)}`
export const streamTime = (stream: string) => Number(stream.slice(7))
export const epochOf = (stream: string) => Number(stream.slice(0, 6))
export const claimName = ({ epoch, id }: Pick<Claim, 'epoch' | 'id'>) => `claims/${digits(epoch, 6)}-${id}`
export const baseName = ({ stream, number, at }: BasePoint) => `bases/${stream}/${digits(number, 12)}-${digits(at, 13)}`
export const partName = (stream: string, number: number, part: number) =>
  `parts/${stream}/${digits(number, 12)}/${digits(part, 6)}`
export const segmentFolder = (stream: string, number: number) =>
  `segments/${stream}/${digits(Math.floor(number / 1000), 9)}`
export const segmentName = (stream: string, number: number) => `${segmentFolder(stream, number)}/${digits(number, 12)}`

/** The points from which a restore can begin, the oldest first; of one stream or of all. */
export async function basePoints(store: ObjectStore, stream?: string): Promise<BasePoint[]> {
  return (await store.list(stream ? `bases/${stream}` : 'bases')).flatMap((name) => {
    const found = /^bases\/(\d{6}-\d{13})\/(\d{12})-(\d{13})$/.exec(name)
    return found ? [{ stream: found[1]!, number: Number(found[2]), at: Number(found[3]) }] : []
  })
}

/** The claims that there are, the highest last. */
export async function claimsIn(store: ObjectStore): Promise<Pick<Claim, 'epoch' | 'id'>[]> {
  return (await store.list('claims')).flatMap((name) => {
    const found = /^claims\/(\d{6})-([0-9a-f]{16})$/.exec(name)
    return found ? [{ epoch: Number(found[1]), id: found[2]! }] : []
  })
}

/** An object of the store that cannot be opened, with the reason. */
export class ObjectDamaged extends Error {}

const bound = (name: string) => `replica ${name}`
const LEVEL = 3

export async function encode(secrets: Secrets, name: string, header: object, body: readonly Uint8Array[] = []) {
  const head = Buffer.from(JSON.stringify(header))
  const length = Buffer.alloc(4)
  length.writeUInt32BE(head.length)
  const packed = await Bun.zstdCompress(Buffer.concat([length, head, ...body]), { level: LEVEL })
  return secrets.encryptBytes(bound(name), packed)
}

/** Throws `ObjectDamaged`. */
export async function decode<T>(secrets: Secrets, name: string, bytes: Buffer): Promise<{ header: T; body: Buffer }> {
  try {
    const plain = Buffer.from(await Bun.zstdDecompress(secrets.openBytes(bound(name), bytes)))
    const length = plain.readUInt32BE(0)
    const header = JSON.parse(plain.subarray(4, 4 + length).toString('utf8')) as T
    return { header, body: plain.subarray(4 + length) }
  } catch (error) {
    throw new ObjectDamaged(`${name} cannot be opened: ${(error as Error).message}`, { cause: error })
  }
}

/** Undefined where there is none. Throws `ObjectDamaged` and `StoreError`. */
export async function fetchObject<T>(store: ObjectStore, secrets: Secrets, name: string) {
  const bytes = await store.get(name)
  return bytes && decode<T>(secrets, name, bytes)
}

export const fetchSegment = (store: ObjectStore, secrets: Secrets, stream: string, number: number) =>
  fetchObject<Segment>(store, secrets, segmentName(stream, number))

// A client of NBD over a unix socket, as far as a transfer needs one: the holes of a disk, its bytes, and its flush.
// Many requests may be under way. The protocol: https://github.com/NetworkBlockDevice/nbd/blob/master/doc/proto.md

const NBD_MAGIC = 0x4e42444d41474943n
const OPTION_MAGIC = 0x49484156454f5054n
const OPTION_REPLY_MAGIC = 0x3e889045565a9n
const REQUEST_MAGIC = 0x25609513
const STRUCTURED_REPLY_MAGIC = 0x668e33ef
/** Servers answer so where there is nothing but success or an error to tell. */
const SIMPLE_REPLY_MAGIC = 0x67446698
const MOST_CHUNK_BYTES = 64 << 20
/** Client flags: fixed newstyle, no zeroes. */
const CLIENT_FLAGS = 3
const options = { structuredReplies: 8, setMetaContext: 10, go: 7 } as const
const replies = { acknowledged: 1, information: 3, metaContext: 4 } as const
const requests = { read: 0, write: 1, disconnect: 2, flush: 3, writeZeroes: 6, blockStatus: 7 } as const
const chunks = { data: 1, hole: 2, status: 5 } as const
/** A reply of this type or above is an error. */
const CHUNK_ERROR = 1 << 15
const DONE = 1
const ALLOCATION = 'base:allocation'
/** Flags of an extent: it reads as zeros. */
const ZERO = 2
export const ENOSPC = 28
/** The most bytes whose state is asked for at once. */
const MOST_STATUS_BYTES = 1 << 30

/** The server answered a request with this error number, or broke off (no number). */
export class NbdError extends Error {
  constructor(
    message: string,
    readonly errno?: number,
  ) {
    super(message)
  }
}

/** A part of the disk. `isZero`: it reads as zeros. */
export type Extent = { offset: number; length: number; isZero: boolean }
type Pending = {
  offset: number
  into: Buffer | undefined
  extents: { length: number; flags: number }[]
  error: NbdError | undefined
  done: PromiseWithResolvers<void>
}

export class NbdClient {
  sizeBytes = 0
  #socket!: Bun.Socket
  #received: Buffer[] = []
  #receivedBytes = 0
  #wanted: { bytes: number; resolve: () => void } | undefined
  #unsent: Uint8Array[] = []
  #drained: PromiseWithResolvers<void> | undefined
  #pending = new Map<bigint, Pending>()
  #next = 0n
  #broken: NbdError | undefined

  private constructor() {}

  /** Throws `NbdError`. */
  static async connect(path: string, exportName: string): Promise<NbdClient> {
    const client = new NbdClient()
    try {
      client.#socket = await Bun.connect({
        unix: path,
        socket: {
          data: (_, bytes) => client.#take(bytes),
          drain: () => client.#flushOut(),
          close: () => client.#break(new NbdError('the NBD server closed the connection')),
          end: () => client.#break(new NbdError('the NBD server ended the connection')),
          error: (_, error) => client.#break(new NbdError(error.message)),
        },
      })
    } catch (error) {
      throw new NbdError(`${path}: ${(error as Error).message}`)
    }
    try {
      await client.#negotiate(exportName)
    } catch (error) {
      client.#socket.terminate()
      throw error
    }
    void client.#hear()
    return client
  }

  /** The parts of the disk from `offset` on, in order, `length` bytes in all. */
  async extents(offset: number, length: number): Promise<Extent[]> {
    const found: Extent[] = []
    for (let at = offset; at < offset + length; ) {
      const askedBytes = Math.min(MOST_STATUS_BYTES, offset + length - at)
      const { extents } = await this.#request(requests.blockStatus, at, askedBytes)
      if (!extents.length) throw new NbdError('the NBD server tells no extents')
      for (const { length: bytes, flags } of extents) {
        const partBytes = Math.min(bytes, offset + length - at)
        if (partBytes <= 0) break
        found.push({ offset: at, length: partBytes, isZero: (flags & ZERO) !== 0 })
        at += partBytes
      }
    }
    return found
  }

  async read(offset: number, length: number): Promise<Buffer> {
    const into = Buffer.alloc(length)
    await this.#request(requests.read, offset, length, { into })
    return into
  }

  async write(offset: number, data: Uint8Array) {
    await this.#request(requests.write, offset, data.length, { data })
  }

  /** Makes a hole where the server can. */
  async writeZeroes(offset: number, length: number) {
    await this.#request(requests.writeZeroes, offset, length)
  }

  /** Resolves when what was written would survive a power failure. */
  async flush() {
    await this.#request(requests.flush, 0, 0)
  }

  close() {
    if (!this.#broken) this.#send(requestOf(requests.disconnect, 0n, 0, 0))
    this.#broken ??= new NbdError('the connection was closed')
    this.#socket.end()
  }

  async #negotiate(exportName: string) {
    const hello = await this.#bytes(18)
    if (hello.readBigUInt64BE(0) !== NBD_MAGIC || hello.readBigUInt64BE(8) !== OPTION_MAGIC)
      throw new NbdError('this is no NBD server')
    const flags = Buffer.alloc(4)
    flags.writeUInt32BE(CLIENT_FLAGS)
    this.#send(flags)
    const name = withLength(exportName)
    await this.#option(options.structuredReplies, Buffer.alloc(0))
    await this.#option(options.setMetaContext, Buffer.concat([name, uint32(1), withLength(ALLOCATION)]))
    await this.#option(options.go, Buffer.concat([name, Buffer.alloc(2)]))
  }

  async #option(option: number, data: Buffer) {
    const head = Buffer.alloc(16)
    head.writeBigUInt64BE(OPTION_MAGIC)
    head.writeUInt32BE(option, 8)
    head.writeUInt32BE(data.length, 12)
    this.#send(Buffer.concat([head, data]))
    for (;;) {
      const reply = await this.#bytes(20)
      if (reply.readBigUInt64BE(0) !== OPTION_REPLY_MAGIC) throw new NbdError('the NBD server does not keep to NBD')
      const [type, length] = [reply.readUInt32BE(12), reply.readUInt32BE(16)]
      if (length > 65_536) throw new NbdError('the NBD server does not keep to NBD')
      const payload = await this.#bytes(length)
      if (type === replies.acknowledged) return
      // Of an export: its size stands behind the kind of the information.
      if (type === replies.information && length >= 10 && payload.readUInt16BE(0) === 0)
        this.sizeBytes = Number(payload.readBigUInt64BE(2))
      else if (type !== replies.information && type !== replies.metaContext)
        throw new NbdError(`the NBD server refuses option ${option}: ${payload.toString().slice(0, 200)}`)
    }
  }

  async #request(
    type: number,
    offset: number,
    length: number,
    { into, data }: { into?: Buffer; data?: Uint8Array } = {},
  ) {
    if (this.#broken) throw this.#broken
    const handle = this.#next++
    const pending: Pending = { offset, into, extents: [], error: undefined, done: Promise.withResolvers() }
    this.#pending.set(handle, pending)
    // The answer may be an error before it is waited for.
    pending.done.promise.catch(() => {})
    this.#send(requestOf(type, handle, offset, length), ...(data ? [data] : []))
    await this.#drained?.promise
    await pending.done.promise
    return pending
  }

  /** Hands each reply to its request until the connection ends. */
  async #hear() {
    try {
      for (;;) {
        const head = await this.#bytes(16)
        const magic = head.readUInt32BE(0)
        const handle = head.readBigUInt64BE(8)
        const pending = this.#pending.get(handle)
        if (!pending) throw new NbdError('the NBD server does not keep to NBD')
        if (magic === SIMPLE_REPLY_MAGIC) acceptError(pending, head.readUInt32BE(4))
        else if (magic !== STRUCTURED_REPLY_MAGIC) throw new NbdError('the NBD server does not keep to NBD')
        else {
          const length = (await this.#bytes(4)).readUInt32BE(0)
          if (length > MOST_CHUNK_BYTES) throw new NbdError('the NBD server does not keep to NBD')
          accept(pending, head.readUInt16BE(6), await this.#bytes(length))
          if ((head.readUInt16BE(4) & DONE) === 0) continue
        }
        this.#pending.delete(handle)
        if (pending.error) pending.done.reject(pending.error)
        else pending.done.resolve()
      }
    } catch (error) {
      this.#break(error instanceof NbdError ? error : new NbdError(String(error)))
    }
  }

  #take(bytes: Buffer) {
    this.#received.push(Buffer.from(bytes))
    this.#receivedBytes += bytes.length
    if (this.#wanted && this.#receivedBytes >= this.#wanted.bytes) {
      const { resolve } = this.#wanted
      this.#wanted = undefined
      resolve()
    }
  }

  async #bytes(count: number): Promise<Buffer> {
    if (this.#receivedBytes < count) {
      if (this.#broken) throw this.#broken
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#wanted = { bytes: count, resolve }
      await promise
      if (this.#receivedBytes < count) throw this.#broken ?? new NbdError('the NBD server broke off')
    }
    const parts: Buffer[] = []
    for (let missing = count; missing > 0; ) {
      const [first] = this.#received as [Buffer]
      if (first.length <= missing) this.#received.shift()
      else this.#received[0] = first.subarray(missing)
      parts.push(first.subarray(0, missing))
      missing -= Math.min(first.length, missing)
    }
    this.#receivedBytes -= count
    return parts.length === 1 ? parts[0]! : Buffer.concat(parts, count)
  }

  #send(...parts: Uint8Array[]) {
    this.#unsent.push(...parts)
    this.#flushOut()
  }

  #flushOut() {
    while (this.#unsent.length) {
      const [first] = this.#unsent as [Uint8Array]
      const taken = Math.max(0, this.#socket.write(first))
      if (taken < first.length) {
        this.#unsent[0] = first.subarray(taken)
        this.#drained ??= Promise.withResolvers()
        return
      }
      this.#unsent.shift()
    }
    this.#drained?.resolve()
    this.#drained = undefined
  }

  #break(error: NbdError) {
    this.#broken ??= error
    for (const { done } of this.#pending.values()) {
      done.reject(this.#broken)
    }
    this.#pending.clear()
    this.#wanted?.resolve()
    this.#wanted = undefined
    this.#drained?.resolve()
    this.#drained = undefined
  }
}

function acceptError(pending: Pending, errno: number) {
  if (errno !== 0) pending.error = new NbdError(`the NBD server answers with error ${errno}`, errno)
}

function accept(pending: Pending, type: number, payload: Buffer) {
  const { offset, into } = pending
  if (type === chunks.data && into) payload.copy(into, Number(payload.readBigUInt64BE(0)) - offset, 8)
  else if (type === chunks.status)
    for (let at = 4; at + 8 <= payload.length; at += 8)
      pending.extents.push({ length: payload.readUInt32BE(at), flags: payload.readUInt32BE(at + 4) })
  else if (type & CHUNK_ERROR) {
    const errno = payload.readUInt32BE(0)
    const words = payload
      .subarray(6, 6 + payload.readUInt16BE(4))
      .toString()
      .slice(0, 200)
    acceptError(pending, errno)
    if (words) pending.error = new NbdError(words, errno)
  }
}

function requestOf(type: number, handle: bigint, offset: number, length: number): Buffer {
  const request = Buffer.alloc(28)
  request.writeUInt32BE(REQUEST_MAGIC)
  request.writeUInt16BE(type, 6)
  request.writeBigUInt64BE(handle, 8)
  request.writeBigUInt64BE(BigInt(offset), 16)
  request.writeUInt32BE(length, 24)
  return request
}

const uint32 = (value: number) => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}
const withLength = (text: string) => Buffer.concat([uint32(Buffer.byteLength(text)), Buffer.from(text)])

// The messages between the virsh of the node that a vm leaves and the libvirt of the node that it comes to. libvirt's
// socket is root on its host, so this node passes only the calls of one migration, in their order, and reads every
// value in them first. Seen with libvirt 9.0: 66, 60, 1, 60, 60, 60, 303, 306, 2, and keepalive.
import { mustReachWithin, type Reach } from './host-reach.ts'
import { childOf, childrenOf, type Element, parseStrictXml } from './strict-xml.ts'
import { XdrReader } from './xdr.ts'

/** libvirt's `remote_protocol.x` and `virkeepaliveprotocol.x`. */
const REMOTE = 0x20008086
const KEEPALIVE = 0x6b656570
const procedures = { open: 1, close: 2, supportsFeature: 60, authList: 66, prepare: 303, finish: 306 } as const
/** `virNetMessageType` and `virNetMessageStatus`. */
const types = { call: 0, reply: 1, message: 2 } as const
const status = { ok: 0, error: 1 } as const

/** Length, program, version, procedure, type, serial number, status: 7 words. */
const HEADER_BYTES = 28
/** A definition takes some 10 kB and a finish has three; a vm with 24 disks takes 60 kB. */
const MOST_FRAME_BYTES = 1 << 20
const MOST_PARAMETERS = 64
const MOST_NAME_BYTES = 80
const MOST_CALLS = 64
/** A stop that took longer is not believed. */
const MOST_STOPPED_MS = 3600_000

/** `virDomainMigrateFlags`. */
export const migrateFlags = {
  live: 1,
  persist: 8,
  undefineSource: 16,
  paused: 32,
  copyDisks: 64,
} as const

/** One migration as the controller has announced it, in the terms of this node. */
export type Announced = {
  /** The things of this host that the definition may reach. */
  reach: Reach
  /** The sum of `migrateFlags`. `paused` is what keeps two nodes from running the vm. */
  flags: number
  migrateUri: string
  disksUri: string
}

type Frame = { program: number; procedure: number; type: number; status: number; body: Buffer }

/** A message that was not passed; the stream must end. The message says which value was refused. */
export class RefusedMessage extends Error {}

/** Cuts a stream into frames. Holds at most one that is not whole yet. */
class Frames {
  private waiting: Buffer[] = []
  private waitingBytes = 0
  /** The bytes that must be here before anything can be said. */
  private needed = 4

  /** The frames that are whole now. */
  take(bytes: Uint8Array): { frame: Frame; raw: Buffer }[] {
    const whole: { frame: Frame; raw: Buffer }[] = []
    this.waiting.push(Buffer.from(bytes))
    this.waitingBytes += bytes.length
    // Joined only once a frame is whole, so that one that comes byte by byte costs no more than its bytes.
    while (this.waitingBytes >= this.needed) {
      const all = Buffer.concat(this.waiting)
      const length = all.readUInt32BE(0)
      if (length < HEADER_BYTES || length > MOST_FRAME_BYTES || length % 4 !== 0)
        throw new RefusedMessage(`a message of ${length} bytes`)
      const isWhole = all.length >= length
      this.waiting = [isWhole ? all.subarray(length) : all]
      this.waitingBytes = this.waiting[0]!.length
      this.needed = isWhole ? 4 : length
      if (isWhole) whole.push(framed(all.subarray(0, length)))
    }
    return whole
  }
}

function framed(raw: Buffer): { frame: Frame; raw: Buffer } {
  const word = (n: number) => raw.readUInt32BE(n * 4)
  if (word(2) !== 1) throw new RefusedMessage(`version ${word(2)} of a program`)
  const frame = { program: word(1), procedure: word(3), type: word(4), status: word(6) }
  return { frame: { ...frame, body: raw.subarray(HEADER_BYTES) }, raw }
}

/** Checks what comes from the other node before this node's libvirt reads it. */
export class CallFilter {
  private frames = new Frames()
  private phase: 'new' | 'open' | 'prepared' | 'finished' | 'closed' = 'new'
  private calls = 0

  /**
   * `onFinish`: the other node's guest has stopped, so many milliseconds ago by its own clock, as it says; 0 where it
   * does not say.
   */
  constructor(
    private announced: Announced,
    private onFinish: (stoppedForMs: number) => void = () => {},
  ) {}

  /** The bytes to hand on. Throws `RefusedMessage`; nothing may be handed on after it. */
  take(bytes: Uint8Array): Buffer {
    const passed: Buffer[] = []
    for (const { frame, raw } of this.frames.take(bytes)) {
      if (frame.program === KEEPALIVE) mustBeKeepalive(frame)
      else this.check(frame)
      passed.push(raw)
    }
    return Buffer.concat(passed)
  }

  private check(frame: Frame) {
    if (frame.program !== REMOTE) throw new RefusedMessage(`the program ${frame.program.toString(16)}`)
    if (frame.type !== types.call || frame.status !== status.ok)
      throw new RefusedMessage(`a message of type ${frame.type} with status ${frame.status}`)
    if (++this.calls > MOST_CALLS) throw new RefusedMessage(`more than ${MOST_CALLS} calls`)
    const read = new XdrReader(frame.body)
    try {
      this.arguments(frame.procedure, read)
      read.end()
    } catch (error) {
      if (error instanceof RefusedMessage) throw error
      throw new RefusedMessage(`the call ${frame.procedure}: ${error instanceof Error ? error.message : error}`)
    }
  }

  private arguments(procedure: number, read: XdrReader) {
    switch (procedure) {
      case procedures.authList:
        return this.mustBe('new', procedure)
      case procedures.supportsFeature:
        if (this.phase === 'closed') throw new RefusedMessage('a call after the close')
        read.uint()
        return
      case procedures.open: {
        this.mustBe('new', procedure)
        const name = read.optionalString(MOST_NAME_BYTES)
        const flags = read.uint()
        if (name !== 'qemu:///system' || flags !== 0) throw new RefusedMessage(`an open of ${name} with ${flags}`)
        this.phase = 'open'
        return
      }
      case procedures.prepare:
        this.mustBe('open', procedure)
        this.parameters(read)
        this.cookie(read)
        this.flags(read)
        this.phase = 'prepared'
        return
      case procedures.finish:
        this.mustBe('prepared', procedure)
        this.parameters(read)
        this.finishing(this.cookie(read))
        this.flags(read)
        // Whether it is cancelled.
        read.uint()
        this.phase = 'finished'
        return
      case procedures.close:
        if (this.phase === 'new' || this.phase === 'closed') throw new RefusedMessage('a close of what is not open')
        this.phase = 'closed'
        return
      default:
        throw new RefusedMessage(`the call ${procedure}`)
    }
  }

  private mustBe(phase: CallFilter['phase'], procedure: number) {
    if (this.phase !== phase) throw new RefusedMessage(`the call ${procedure} out of its turn (${this.phase})`)
  }

  private flags(read: XdrReader) {
    const flags = read.uint()
    if (flags !== this.announced.flags)
      throw new RefusedMessage(`the flags ${flags}, and ${this.announced.flags} were announced`)
  }

  /** `remote_typed_param`: each with a name, the number of its type, and a value. */
  private parameters(read: XdrReader) {
    const { reach, migrateUri, disksUri } = this.announced
    const count = read.uint()
    if (count > MOST_PARAMETERS) throw new Error(`${count} parameters`)
    const seen = new Set<string>()
    const text = (type: number) => {
      if (type !== 7) throw new Error(`a parameter of type ${type}`)
      return read.string(MOST_FRAME_BYTES)
    }
    const mustEqual = (value: string, expected: string) => {
      if (value !== expected) throw new Error(`${value} in the place of ${expected}`)
    }
    const known: Readonly<Record<string, (type: number) => void>> = {
      migrate_uri: (type) => mustEqual(text(type), migrateUri),
      disks_uri: (type) => mustEqual(text(type), disksUri),
      destination_name: (type) => mustEqual(text(type), reach.name),
      destination_xml: (type) => mustReachWithin(parseStrictXml(text(type)), reach),
      persistent_xml: (type) => mustReachWithin(parseStrictXml(text(type)), reach),
      migrate_disks: (type) => {
        const disk = text(type)
        if (!/^[a-z]{3,8}$/.test(disk)) throw new Error(`a copy of the disk ${disk}`)
      },
      bandwidth: (type) => {
        if (type !== 4) throw new Error(`a parameter of type ${type}`)
        read.hyper()
      },
    }
    for (let n = 0; n < count; n++) {
      const name = read.string(MOST_NAME_BYTES)
      const type = read.uint()
      if (!Object.hasOwn(known, name)) throw new Error(`the parameter ${name}`)
      if (seen.has(name) && name !== 'migrate_disks') throw new Error(`the parameter ${name} twice`)
      seen.add(name)
      known[name]!(type)
    }
    for (const name of ['destination_xml', 'migrate_uri', 'disks_uri'])
      if (!seen.has(name)) throw new Error(`no parameter ${name}`)
  }

  /** The part of libvirt's driver for QEMU: counters, capabilities, and at the end the definition that stays. */
  private cookie(read: XdrReader): Element | undefined {
    const bytes = read.opaque(MOST_FRAME_BYTES)
    if (!bytes.length) return undefined
    // The text of a cookie ends with a zero.
    if (bytes.at(-1) !== 0) throw new Error('a cookie without an end')
    const cookie = parseStrictXml(new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(0, -1)))
    if (cookie.name !== 'qemu-migration') throw new Error(`a cookie ${cookie.name}`)
    for (const part of cookie.children) if (!cookieParts.has(part.name)) throw new Error(`a cookie with ${part.name}`)
    const { reach } = this.announced
    for (const { text } of childrenOf(cookie, 'name')) if (text !== reach.name) throw new Error(`a cookie for ${text}`)
    for (const { text } of childrenOf(cookie, 'uuid')) if (text !== reach.uuid) throw new Error(`a cookie for ${text}`)
    for (const definition of childrenOf(cookie, 'domain')) mustReachWithin(definition, reach)
    return cookie
  }

  /** Both times are those of the other node's clock. */
  private finishing(cookie: Element | undefined) {
    const statistics = cookie && childOf(cookie, 'statistics')
    const [stopped, sent] = ['stopped', 'sent'].map((name) =>
      Number((statistics && childOf(statistics, name)?.text) || NaN),
    )
    const stoppedForMs = sent! - stopped!
    this.onFinish(stoppedForMs >= 0 && stoppedForMs < MOST_STOPPED_MS ? stoppedForMs : 0)
  }
}

const cookieParts = new Set([
  ...['name', 'uuid', 'hostname', 'hostuuid', 'feature', 'graphics', 'network', 'nbd', 'statistics', 'capabilities'],
  ...['cpu', 'domain', 'blockDirtyBitmaps', 'allowReboot'],
])

function mustBeKeepalive({ procedure, type, body }: Frame) {
  if ((procedure !== 1 && procedure !== 2) || type !== types.message || body.length)
    throw new RefusedMessage(`the keepalive message ${procedure} of type ${type} with ${body.length} bytes`)
}

/**
 * Checks what comes back before the virsh of this node reads it: answers to these calls alone, and none that names
 * another place to send the memory to.
 */
export class AnswerFilter {
  private frames = new Frames()

  /**
   * `onPrepared`: the hypervisor that the vm comes to is there, and waits for its memory. `onFinished`: its memory is
   * there; the other node has the vm, unless the answer is an error.
   */
  constructor(private on: { onPrepared?: () => void; onFinished?: () => void } = {}) {}

  /** The bytes to hand on. Throws `RefusedMessage`. */
  take(bytes: Uint8Array): Buffer {
    const passed: Buffer[] = []
    for (const { frame, raw } of this.frames.take(bytes)) {
      if (frame.program === KEEPALIVE) mustBeKeepalive(frame)
      else this.check(frame)
      passed.push(raw)
    }
    return Buffer.concat(passed)
  }

  private check(frame: Frame) {
    const { program, procedure, type, status: state, body } = frame
    if (program !== REMOTE || type !== types.reply || !(Object.values(procedures) as number[]).includes(procedure))
      throw new RefusedMessage(`an answer of type ${type} to the call ${procedure} of ${program.toString(16)}`)
    if (procedure === procedures.finish && state === status.ok) this.on.onFinished?.()
    if (procedure !== procedures.prepare || state !== status.ok) return
    try {
      const read = new XdrReader(body)
      read.opaque(MOST_FRAME_BYTES)
      const uri = read.optionalString(MOST_FRAME_BYTES)
      read.end()
      if (uri !== undefined) throw new RefusedMessage(`the answer that the vm goes to ${uri}`)
      this.on.onPrepared?.()
    } catch (error) {
      if (error instanceof RefusedMessage) throw error
      throw new RefusedMessage(`the answer to the call ${procedure}: ${error instanceof Error ? error.message : error}`)
    }
  }
}

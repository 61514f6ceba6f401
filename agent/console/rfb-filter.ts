// The messages that a viewer may send to a vm's screen. QEMU reads these bytes with the rights of the vm's process, so
// they are parsed here first: RFB 3.8 without a password, always shared, messages of known kinds and lengths only.
import { Failure } from '../failure.ts'

const VERSION = 'RFB 003.008\n'
const NO_PASSWORD = 1
/** A clipboard beyond this is refused. */
export const MOST_CLIPBOARD_BYTES = 64 << 10
const MOST_ENCODINGS = 64
const MOST_FENCE_BYTES = 64

/**
 * Encodings that change what a viewer sends: extended mouse buttons (a longer pointer message) and the extended
 * clipboard (compressed). They are taken out of the viewer's list, so the screen never agrees to them.
 */
const TAKEN_OUT = new Set([-316, 0xc0a1e5ce | 0])

const refused = (words: string) => new Failure('not_rfb', words)

/** The length of the message that these bytes begin with; undefined while too few are here to tell. */
const lengths: Readonly<Record<number, (bytes: Buffer) => number | undefined>> = {
  /** SetPixelFormat */
  0: () => 20,
  /** SetEncodings */
  2: (bytes) => (bytes.length < 4 ? undefined : 4 + 4 * atMost(bytes.readUInt16BE(2), MOST_ENCODINGS, 'encodings')),
  /** FramebufferUpdateRequest */
  3: () => 10,
  /** KeyEvent */
  4: () => 8,
  /** PointerEvent */
  5: () => 6,
  /** ClientCutText: a negative length is the extended clipboard, which was not agreed to. */
  6: (bytes) =>
    bytes.length < 8 ? undefined : 8 + atMost(bytes.readUInt32BE(4), MOST_CLIPBOARD_BYTES, 'bytes of clipboard'),
  /** EnableContinuousUpdates */
  150: () => 10,
  /** Fence */
  248: (bytes) => (bytes.length < 9 ? undefined : 9 + atMost(bytes[8]!, MOST_FENCE_BYTES, 'bytes of a fence')),
  /** SetDesktopSize */
  251: (bytes) => (bytes.length < 8 ? undefined : 8 + 16 * atMost(bytes[6]!, 16, 'screens')),
  /** QEMU: 0 is a key by its place on the keyboard. Audio is not offered. */
  255: (bytes) => {
    if (bytes.length < 2) return undefined
    if (bytes[1] !== 0) throw refused(`the QEMU message ${bytes[1]} is not known here`)
    return 12
  },
}

function atMost(n: number, most: number, what: string): number {
  if (n > most) throw refused(`${n} ${what} are more than ${most}`)
  return n
}

/** Parses the stream of one viewer. Holds at most one message that is not whole yet. */
export class RfbFilter {
  private rest: Buffer = Buffer.alloc(0)
  private phase: 'version' | 'security' | 'init' | 'messages' = 'version'

  /** The bytes to hand on to the screen. Throws `not_rfb`; the connection must then end. */
  take(bytes: Uint8Array): Buffer {
    const given = this.rest.length ? Buffer.concat([this.rest, bytes]) : Buffer.from(bytes)
    const whole: Buffer[] = []
    let at = 0
    for (;;) {
      const left = given.subarray(at)
      const length = left.length ? this.lengthOf(left) : undefined
      if (length === undefined || left.length < length) break
      whole.push(this.checked(left.subarray(0, length)))
      at += length
    }
    this.rest = Buffer.from(given.subarray(at))
    return Buffer.concat(whole)
  }

  private lengthOf(bytes: Buffer): number | undefined {
    if (this.phase === 'version') return VERSION.length
    if (this.phase !== 'messages') return 1
    const length = lengths[bytes[0]!]
    if (!length) throw refused(`the message ${bytes[0]} is not known here`)
    return length(bytes)
  }

  private checked(message: Buffer): Buffer {
    switch (this.phase) {
      case 'version':
        if (message.toString('latin1') !== VERSION) throw refused('the viewer speaks another version than RFB 3.8')
        this.phase = 'security'
        return message
      case 'security':
        if (message[0] !== NO_PASSWORD) throw refused(`the viewer chose the security type ${message[0]}`)
        this.phase = 'init'
        return message
      case 'init':
        this.phase = 'messages'
        // Shared, whatever the viewer wants: one that is not would end the others.
        return Buffer.from([1])
      case 'messages':
        return message[0] === 2 ? withoutExtensions(message) : message
    }
  }
}

function withoutExtensions(message: Buffer): Buffer {
  const kept: number[] = []
  for (let at = 4; at < message.length; at += 4) if (!TAKEN_OUT.has(message.readInt32BE(at))) kept.push(at)
  const made = Buffer.alloc(4 + 4 * kept.length)
  made[0] = 2
  made.writeUInt16BE(kept.length, 2)
  for (const [n, from] of kept.entries()) message.copy(made, 4 + 4 * n, from, from + 4)
  return made
}

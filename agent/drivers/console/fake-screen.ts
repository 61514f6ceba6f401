// A screen of the fake host: enough of an RFB 3.8 server for a viewer to connect, see a picture and press keys. Each
// key that is pressed fills the next cell of the picture.

const WIDTH = 640
const HEIGHT = 400
const CELL = 20
const QEMU_KEYS = -258

/** 32 bits, 8 each for red, green and blue, as viewers ask for themselves. */
const PIXEL_FORMAT = Buffer.from([32, 24, 0, 1, 0, 255, 0, 255, 0, 255, 16, 8, 0, 0, 0, 0])

export class FakeScreen {
  private rest: Buffer = Buffer.alloc(0)
  private phase: 'version' | 'security' | 'init' | 'messages' = 'version'
  private hasQemuKeys = false
  private toldQemuKeys = false
  private cells = 0
  private drawn = 0
  private isAsked = false

  constructor(
    private write: (bytes: Uint8Array) => void,
    /** A key was pressed: its scan code, or `x` and its symbol where the viewer sends no place. */
    private pressed: (key: string) => void,
  ) {
    write(Buffer.from('RFB 003.008\n'))
  }

  take(bytes: Buffer) {
    let left: Buffer = Buffer.concat([this.rest, bytes])
    for (let length = this.lengthOf(left); length && left.length >= length; length = this.lengthOf(left)) {
      this.hear(left.subarray(0, length))
      left = left.subarray(length)
    }
    this.rest = left
  }

  private lengthOf(bytes: Buffer): number | undefined {
    if (this.phase === 'version') return 12
    if (this.phase !== 'messages') return 1
    if (bytes.length < 8) return bytes.length > 0 && [4, 5].includes(bytes[0]!) ? (bytes[0] === 4 ? 8 : 6) : undefined
    const known: Record<number, number> = {
      0: 20,
      2: 4 + 4 * bytes.readUInt16BE(2),
      3: 10,
      4: 8,
      5: 6,
      6: 8 + bytes.readUInt32BE(4),
      255: 12,
    }
    return known[bytes[0]!] ?? 1
  }

  private hear(message: Buffer) {
    if (this.phase === 'version') {
      this.phase = 'security'
      return this.write(Buffer.from([1, 1]))
    }
    if (this.phase === 'security') {
      this.phase = 'init'
      return this.write(Buffer.alloc(4))
    }
    if (this.phase === 'init') {
      this.phase = 'messages'
      const size = Buffer.alloc(4)
      size.writeUInt16BE(WIDTH, 0)
      size.writeUInt16BE(HEIGHT, 2)
      const name = Buffer.from('fake')
      const length = Buffer.alloc(4)
      length.writeUInt32BE(name.length)
      return this.write(Buffer.concat([size, PIXEL_FORMAT, length, name]))
    }
    this.message(message)
  }

  private message(message: Buffer) {
    const kind = message[0]
    if (kind === 2) {
      for (let at = 4; at < message.length; at += 4) this.hasQemuKeys ||= message.readInt32BE(at) === QEMU_KEYS
    } else if (kind === 3) {
      if (message[1] === 0) this.drawn = -1
      this.isAsked = true
      this.draw()
    } else if (kind === 4 && message[1]) this.key(`x${message.readUInt32BE(4).toString(16)}`)
    else if (kind === 255 && message.readUInt16BE(2)) this.key(message.readUInt32BE(8).toString(16))
  }

  private key(key: string) {
    this.pressed(key)
    this.cells++
    this.draw()
  }

  /** Answers a request for the picture: with all of it, or with the cells that changed, once there are some. */
  private draw() {
    if (!this.isAsked || this.drawn === this.cells) return
    this.isAsked = false
    const tellsKeys = this.hasQemuKeys && !this.toldQemuKeys
    this.toldQemuKeys ||= tellsKeys
    const cells = this.drawn < 0 ? [] : Array.from({ length: this.cells - this.drawn }, (_, n) => this.drawn + n)
    const rectangles = this.drawn < 0 ? [rectangle(0, 0, WIDTH, HEIGHT, 0x203040)] : cells.map(cellOf)
    if (tellsKeys) rectangles.push(header(0, 0, 0, 0, QEMU_KEYS))
    const head = Buffer.alloc(4)
    head.writeUInt16BE(rectangles.length, 2)
    this.drawn = this.drawn < 0 && this.cells > 0 ? 0 : this.cells
    this.write(Buffer.concat([head, ...rectangles]))
  }
}

const PER_ROW = WIDTH / CELL
const cellOf = (n: number) =>
  rectangle((n % PER_ROW) * CELL, (Math.floor(n / PER_ROW) * CELL) % HEIGHT, CELL, CELL, 0xffcc00)

function header(x: number, y: number, width: number, height: number, encoding: number): Buffer {
  const bytes = Buffer.alloc(12)
  for (const [n, value] of [x, y, width, height].entries()) bytes.writeUInt16BE(value, n * 2)
  bytes.writeInt32BE(encoding, 8)
  return bytes
}

/** Raw pixels of one colour. */
function rectangle(x: number, y: number, width: number, height: number, colour: number): Buffer {
  const pixel = Buffer.alloc(4)
  pixel.writeUInt32LE(colour)
  return Buffer.concat([header(x, y, width, height, 0), Buffer.alloc(width * height * 4, pixel)])
}

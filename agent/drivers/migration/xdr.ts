// The encoding of libvirt's messages (RFC 4506): big-endian words of 4 bytes, and bytes padded to whole words.

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Reads values one after another. Each method throws an `Error` where the bytes end or break their form. */
export class XdrReader {
  private at = 0
  constructor(private bytes: Buffer) {}

  uint(): number {
    if (this.bytes.length - this.at < 4) throw new Error('it ends too early')
    this.at += 4
    return this.bytes.readUInt32BE(this.at - 4)
  }

  /** An unsigned number of 8 bytes. */
  hyper(): bigint {
    return (BigInt(this.uint()) << 32n) | BigInt(this.uint())
  }

  /** `length` bytes, of which the padding must be zero. */
  fixed(length: number): Buffer {
    const padded = Math.ceil(length / 4) * 4
    if (this.bytes.length - this.at < padded) throw new Error('it ends too early')
    const value = this.bytes.subarray(this.at, this.at + length)
    for (let n = this.at + length; n < this.at + padded; n++)
      if (this.bytes[n] !== 0) throw new Error('its padding is not empty')
    this.at += padded
    return value
  }

  opaque(mostBytes: number): Buffer {
    const length = this.uint()
    if (length > mostBytes) throw new Error(`${length} bytes are more than ${mostBytes}`)
    return this.fixed(length)
  }

  string(mostBytes: number): string {
    try {
      return utf8.decode(this.opaque(mostBytes))
    } catch (error) {
      throw error instanceof TypeError ? new Error('it is no text') : error
    }
  }

  /** A string that may be absent. */
  optionalString(mostBytes: number): string | undefined {
    const is = this.uint()
    if (is > 1) throw new Error(`${is} is neither there nor absent`)
    return is ? this.string(mostBytes) : undefined
  }

  /** Everything must have been read. */
  end() {
    if (this.at !== this.bytes.length) throw new Error(`${this.bytes.length - this.at} bytes are left over`)
  }
}

// The bytes that a client of NBD sends, read by somebody who hands them on: they tell which parts of the disk change.
const OPTION = 0x49484156
const REQUEST = 0x25609513
const CLIENT_FLAGS_BYTES = 4
const OPTION_BYTES = 16
const REQUEST_BYTES = 28
/** Requests that change the disk; the payload of the first follows it. */
const [WRITE, TRIM, WRITE_ZEROES] = [1, 4, 6] as const

/**
 * Tells each change before the bytes of its request have been handed on as a whole. Throws for a client that does not
 * keep to NBD.
 */
export class NbdRequests {
  #head = Buffer.alloc(REQUEST_BYTES)
  #headBytes = 0
  /** Bytes that come before the next head. */
  #skipBytes = CLIENT_FLAGS_BYTES

  constructor(private onChange: (offset: number, length: number) => void) {}

  read(bytes: Uint8Array) {
    for (let at = 0; at < bytes.length; ) {
      if (this.#skipBytes > 0) {
        const skipped = Math.min(this.#skipBytes, bytes.length - at)
        this.#skipBytes -= skipped
        at += skipped
        continue
      }
      const wanted = this.#headBytes < 4 ? 4 : this.#lengthOfHead()
      const taken = Math.min(wanted - this.#headBytes, bytes.length - at)
      this.#head.set(bytes.subarray(at, at + taken), this.#headBytes)
      this.#headBytes += taken
      at += taken
      if (this.#headBytes >= 4 && this.#headBytes === this.#lengthOfHead()) this.#take()
    }
  }

  #lengthOfHead(): number {
    const magic = this.#head.readUInt32BE(0)
    if (magic !== OPTION && magic !== REQUEST) throw new Error('the NBD client does not keep to NBD')
    return magic === OPTION ? OPTION_BYTES : REQUEST_BYTES
  }

  #take() {
    this.#headBytes = 0
    if (this.#head.readUInt32BE(0) === OPTION) {
      this.#skipBytes = this.#head.readUInt32BE(12)
      return
    }
    const [type, length] = [this.#head.readUInt16BE(6), this.#head.readUInt32BE(24)]
    if (type === WRITE) this.#skipBytes = length
    if (type === WRITE || type === TRIM || type === WRITE_ZEROES)
      this.onChange(Number(this.#head.readBigUInt64BE(16)), length)
  }
}

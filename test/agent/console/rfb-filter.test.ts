// The messages that a viewer may send to a vm's screen.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { MOST_CLIPBOARD_BYTES, RfbFilter } from '../../../agent/console/rfb-filter.ts'

const hello = Buffer.from('RFB 003.008\n\x01\x00', 'latin1')
const key = Buffer.from([4, 1, 0, 0, 0, 0, 0, 0x61])
const pointer = Buffer.from([5, 0, 0, 1, 0, 1])
const update = Buffer.from([3, 1, 0, 0, 0, 0, 2, 128, 1, 144])
const qemuKey = Buffer.from([255, 0, 0, 1, 0, 0, 0, 0x61, 0, 0, 0, 0x1e])
const clipboard = (length: number, text = Buffer.alloc(length)) => {
  const head = Buffer.alloc(8)
  head[0] = 6
  head.writeUInt32BE(length >>> 0, 4)
  return Buffer.concat([head, text])
}
const encodings = (...list: number[]) => {
  const bytes = Buffer.alloc(4 + 4 * list.length)
  bytes[0] = 2
  bytes.writeUInt16BE(list.length, 2)
  for (const [n, encoding] of list.entries()) bytes.writeInt32BE(encoding, 4 + 4 * n)
  return bytes
}
const afterHello = () => {
  const filter = new RfbFilter()
  filter.take(hello)
  return filter
}

describe('the filter of a screen', () => {
  test('makes every viewer share the screen', () => {
    const taken = new RfbFilter().take(hello)
    expect([taken.toString('latin1', 0, 12), [...taken.subarray(12)]]).toEqual(['RFB 003.008\n', [1, 1]])
  })
  test('hands on keys, the mouse, requests and a short clipboard, however they are cut', () => {
    const stream = Buffer.concat([key, pointer, update, qemuKey, clipboard(5), encodings(0, 7, -258), key])
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1 }), (cuts) => {
        const filter = new RfbFilter()
        const whole = Buffer.concat([hello, stream])
        const out: Buffer[] = []
        for (let at = 0, n = 0; at < whole.length; n++) {
          const length = cuts[n % cuts.length]!
          out.push(filter.take(whole.subarray(at, at + length)))
          at += length
        }
        expect(Buffer.concat(out).subarray(14)).toEqual(stream)
      }),
      { numRuns: 200 },
    )
  })
  test('takes out encodings that would change what a viewer sends', () => {
    expect(afterHello().take(encodings(0, -316, -258, 0xc0a1e5ce | 0))).toEqual(encodings(0, -258))
  })
  const refused: [string, Buffer][] = [
    ['another version', Buffer.from('RFB 003.003\n')],
    ['what is no RFB', Buffer.from('GET / HTTP/1.1\r\n')],
    ['a password', Buffer.from('RFB 003.008\n\x02', 'latin1')],
    ['an unknown message', Buffer.concat([hello, Buffer.from([99])])],
    ['audio', Buffer.concat([hello, Buffer.from([255, 1, 0, 0])])],
    ['a large clipboard', Buffer.concat([hello, clipboard(MOST_CLIPBOARD_BYTES + 1, Buffer.alloc(0))])],
    ['the extended clipboard', Buffer.concat([hello, clipboard(-4, Buffer.alloc(4))])],
    ['too many encodings', Buffer.concat([hello, Buffer.from([2, 0, 0xff, 0xff])])],
  ]
  for (const [name, bytes] of refused)
    test(`refuses ${name}`, () => expect(() => new RfbFilter().take(bytes)).toThrow())
  test('holds no more than one message, whatever comes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 4000 }), (bytes) => {
        const filter = afterHello()
        try {
          const out = filter.take(bytes)
          expect(out.length).toBeLessThanOrEqual(bytes.length)
          expect((filter as unknown as { rest: Buffer }).rest.length + out.length).toBeLessThanOrEqual(bytes.length)
        } catch (error) {
          expect(error).toMatchObject({ code: 'not_rfb' })
        }
      }),
      { numRuns: 300 },
    )
  })
})

// The public keys that may stand for somebody, by their bytes.
import { expect, test } from 'bun:test'
import { generateKeyPairSync } from 'node:crypto'
import { isUsablePublicKey } from '../../../src/kernel/crypto/ed25519.ts'
import { smallOrderKeys } from '../../support/small-order.ts'

const bytes = (hex: string) => Buffer.from(hex, 'hex')

test('S36: keys that a library makes are usable', () => {
  for (let i = 0; i < 50; i++) {
    const { x } = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' })
    expect(isUsablePublicKey(Buffer.from(x!, 'base64url'))).toBe(true)
  }
  // The first key of RFC 8032, 7.1.
  expect(isUsablePublicKey(bytes('d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a'))).toBe(true)
})

for (const hex of smallOrderKeys)
  test(`S36: ${hex} has a small order`, () => expect(isUsablePublicKey(bytes(hex))).toBe(false))

test('S36: half of all numbers are no point of the curve', () => {
  let refused = 0
  for (let y = 2; y < 202; y++) {
    const key = Buffer.alloc(32)
    key[0] = y
    if (!isUsablePublicKey(key)) refused++
  }
  expect(refused).toBeGreaterThan(70)
  expect(refused).toBeLessThan(130)
  // y = 2 is the example of RFC 8032's decoding that has no root.
  expect(isUsablePublicKey(bytes(`02${'00'.repeat(31)}`))).toBe(false)
})

test('S36: a number is written in one way: p + 3 is not 3', () => {
  expect(isUsablePublicKey(bytes(`03${'00'.repeat(31)}`))).toBe(true)
  expect(isUsablePublicKey(bytes(`f0${'ff'.repeat(30)}7f`))).toBe(false)
})

test('S36: a key has 32 bytes', () => {
  for (const length of [0, 31, 33, 64]) expect(isUsablePublicKey(Buffer.alloc(length, 7))).toBe(false)
})

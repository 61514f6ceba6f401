// Passwords that one node alone can read.
import { expect, test } from 'bun:test'
import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import fc from 'fast-check'
import { Compile } from 'typebox/compile'
import { ENCRYPTED } from '../../agent/protocol/bounds.ts'
import { decrypt, decrypting, encryptFor } from '../../agent/protocol/for-node.ts'
import { commands } from '../../agent/protocol/wire.ts'
import { workloadId } from './examples.ts'

const keyOf = (privateKey: KeyObject, publicKey: KeyObject) => ({
  own: privateKey,
  known: publicKey.export({ format: 'jwk' }).x!,
})
const pair = () => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  return keyOf(privateKey, publicKey)
}

test('S32: a text that was encrypted for a node is opened by its key alone, for its purpose alone', () => {
  const [node, other] = [pair(), pair()]
  fc.assert(
    fc.property(fc.string({ maxLength: 40, unit: 'grapheme' }), fc.string({ maxLength: 60 }), (text, about) => {
      const encrypted = encryptFor(node.known, about, text)
      expect(decrypt(node.own, about, encrypted)).toBe(text)
      expect(() => decrypt(other.own, about, encrypted)).toThrow('another key')
      expect(() => decrypt(node.own, `${about}.`, encrypted)).toThrow('another key')
    }),
    { numRuns: 60 },
  )
})
test('S32: an encrypted text that was changed at any place is refused, and no two are equal', () => {
  const node = pair()
  const encrypted = encryptFor(node.known, 'a', 'Rr8kT2mWqZ4vN6cXy9Hd')
  expect(encrypted).not.toBe(encryptFor(node.known, 'a', 'Rr8kT2mWqZ4vN6cXy9Hd'))
  const bytes = Buffer.from(encrypted.slice('encrypted.'.length), 'base64url')
  for (const at of bytes.keys()) {
    const changed = Buffer.from(bytes)
    changed[at]! ^= 1
    expect(() => decrypt(node.own, 'a', `encrypted.${changed.toString('base64url')}`)).toThrow('another key')
  }
})
test('a host that is not enrolled opens nothing', () => {
  expect(() => decrypting(undefined)('a', encryptFor(pair().known, 'a', 'b'))).toThrow('not enrolled')
})
test('the protocol accepts an encrypted password where it accepts a hash, and no clear one', () => {
  const encrypted = encryptFor(pair().known, 'a', 'Rr8kT2mWqZ4vN6cXy9Hd')
  expect(encrypted).toMatch(new RegExp(ENCRYPTED))
  const check = Compile(commands['guest.set-password'].input)
  const of = (hash: string) => check.Check({ workload: workloadId(1), user: 'Administrator', hash })
  expect([encrypted, '$6$salt$hash', 'Rr8kT2mWqZ4vN6cXy9Hd', 'encrypted.short'].map(of)).toEqual([
    true,
    true,
    false,
    false,
  ])
})

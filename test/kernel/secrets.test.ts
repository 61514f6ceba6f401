import { afterAll, describe, expect, test } from 'bun:test'
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import fc from 'fast-check'
import { secretsFromFile, secretsWith } from '../../src/kernel/secrets.ts'

const dir = mkdtempSync(`${tmpdir()}/berth-secrets-`)
afterAll(() => rmSync(dir, { recursive: true }))
const secrets = secretsWith(Buffer.alloc(32, 1))

describe('S32: a sealed text', () => {
  test('opens as what it was, whatever it was', () =>
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string(), (text, about) =>
        expect(secrets.open(about, secrets.seal(about, text))).toBe(text),
      ),
    ))

  test('is never the same twice and does not show what is in it', () => {
    const [a, b] = [secrets.seal('row 1', 'hunter2hunter2'), secrets.seal('row 1', 'hunter2hunter2')]
    expect(a).not.toBe(b)
    expect(Buffer.from(a.split('.')[1]!, 'base64url').toString('latin1')).not.toContain('hunter2')
  })
  test('cannot be moved to another record', () => {
    const sealed = secrets.seal('idempotency usr_a servers.create k', 'secret')
    expect(() => secrets.open('idempotency usr_b servers.create k', sealed)).toThrow()
    expect(secrets.open('idempotency usr_a servers.create k', sealed)).toBe('secret')
  })
  test('does not open once a single bit of it was changed', () => {
    const sealed = secrets.seal('row', 'secret')
    const raw = Buffer.from(sealed.split('.')[1]!, 'base64url')
    for (let bit = 0; bit < raw.length * 8; bit++) {
      const changed = Buffer.from(raw)
      changed[bit >> 3]! ^= 1 << (bit & 7)
      expect(() => secrets.open('row', `k1.${changed.toString('base64url')}`)).toThrow()
    }
  })
  test('does not open with another key, cut short, or from a version there is not', () => {
    const sealed = secrets.seal('row', 'secret')
    expect(() => secretsWith(Buffer.alloc(32, 2)).open('row', sealed)).toThrow()
    for (const text of [sealed.slice(0, -4), 'k1.', 'k1', '', `k2.${sealed.slice(3)}`]) expect(() => secrets.open('row', text)).toThrow()
  })
})

describe('a digest', () => {
  test('is the same for the same text, and another for another purpose, text or key', () => {
    const mac = secrets.mac('cursor', 'a')
    expect(secrets.mac('cursor', 'a')).toBe(mac)
    for (const other of [secrets.mac('csrf', 'a'), secrets.mac('cursor', 'b'), secretsWith(Buffer.alloc(32, 2)).mac('cursor', 'a')])
      expect(other).not.toBe(mac)
  })
})

describe('S32: the key file', () => {
  const mode = (path: string) => (statSync(path).mode & 0o777).toString(8)

  test('is made at the first start, 0600, and is the same ever after', () => {
    const path = `${dir}/secret.key`
    const sealed = secretsFromFile(path).seal('row', 'text')
    const text = readFileSync(path, 'utf8')
    expect(text).toMatch(/^[0-9a-f]{64}\n$/)
    expect(mode(path)).toBe('600')
    expect(secretsFromFile(path).open('row', sealed)).toBe('text')
    expect(readFileSync(path, 'utf8')).toBe(text)
  })
  test('is different on every installation', () => {
    secretsFromFile(`${dir}/one`)
    secretsFromFile(`${dir}/two`)
    expect(readFileSync(`${dir}/one`, 'utf8')).not.toBe(readFileSync(`${dir}/two`, 'utf8'))
  })
  test('that others could read is closed to them', () => {
    const path = `${dir}/open.key`
    writeFileSync(path, 'ab'.repeat(32))
    chmodSync(path, 0o644)
    secretsFromFile(path)
    expect(mode(path)).toBe('600')
  })
  test('that holds anything else is refused, and left as it is', () => {
    for (const [i, text] of ['', 'ab'.repeat(31), 'ab'.repeat(33), 'zz'.repeat(32), `${'ab'.repeat(32)}\n${'ab'.repeat(32)}`].entries()) {
      const path = `${dir}/bad-${i}`
      writeFileSync(path, text)
      expect(() => secretsFromFile(path)).toThrow(`${path} is not a key file`)
      expect(readFileSync(path, 'utf8')).toBe(text)
    }
  })
})

import { afterAll, describe, expect, test } from 'bun:test'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import fc from 'fast-check'
import { KeyFileError } from '../../../src/kernel/crypto/key-ring.ts'
import { randomToken, secretsFromFile, secretsWith } from '../../../src/kernel/crypto/secrets.ts'

const dir = mkdtempSync(`${tmpdir()}/berth-secrets-`)
afterAll(() => rmSync(dir, { recursive: true }))
const secrets = secretsWith(Buffer.alloc(32, 1))

describe('S32: an encrypted text', () => {
  test('opens as what it was, whatever it was', () =>
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string(), (text, about) =>
        expect(secrets.open(about, secrets.encrypt(about, text))).toBe(text),
      ),
    ))

  test('is never the same twice and does not show what is in it', () => {
    const [a, b] = [secrets.encrypt('row 1', 'hunter2hunter2'), secrets.encrypt('row 1', 'hunter2hunter2')]
    expect(a).not.toBe(b)
    expect(Buffer.from(a.split('.')[1]!, 'base64url').toString('latin1')).not.toContain('hunter2')
  })
  test('cannot be moved to another record', () => {
    const encrypted = secrets.encrypt('idempotency usr_a servers.create k', 'secret')
    expect(() => secrets.open('idempotency usr_b servers.create k', encrypted)).toThrow()
    expect(secrets.open('idempotency usr_a servers.create k', encrypted)).toBe('secret')
  })
  test('does not open once a single bit of it was changed', () => {
    const encrypted = secrets.encrypt('row', 'secret')
    const raw = Buffer.from(encrypted.split('.')[1]!, 'base64url')
    for (let bit = 0; bit < raw.length * 8; bit++) {
      const changed = Buffer.from(raw)
      changed[bit >> 3]! ^= 1 << (bit & 7)
      expect(() => secrets.open('row', `k1.${changed.toString('base64url')}`)).toThrow()
    }
  })
  test('does not open with another key, cut short, or from a version there is not', () => {
    const encrypted = secrets.encrypt('row', 'secret')
    expect(() => secretsWith(Buffer.alloc(32, 2)).open('row', encrypted)).toThrow()
    for (const text of [encrypted.slice(0, -4), 'k1.', 'k1', '', `k2.${encrypted.slice(3)}`])
      expect(() => secrets.open('row', text)).toThrow()
  })
})

describe('a digest', () => {
  test('is the same for the same text, and another for another purpose, text or key', () => {
    const mac = secrets.mac('cursor', 'a')
    expect(secrets.mac('cursor', 'a')).toBe(mac)
    for (const other of [
      secrets.mac('csrf', 'a'),
      secrets.mac('cursor', 'b'),
      secretsWith(Buffer.alloc(32, 2)).mac('cursor', 'a'),
    ])
      expect(other).not.toBe(mac)
  })
  test('is known under every key there is, and under none that is gone', () => {
    const changing = secretsWith(Buffer.alloc(32, 3))
    const start = changing.mac('cursor', 'a').slice(0, 16)
    changing.addKey(0)
    expect(changing.mac('cursor', 'a')).not.toStartWith(start)
    expect(changing.isMac('cursor', 'a', start)).toBe(true)
    expect(changing.isMac('cursor', 'b', start)).toBe(false)
    changing.setOldKeysAside(0)
    expect(changing.isMac('cursor', 'a', start)).toBe(false)
  })
})

test('a token is 43 letters and digits, each as likely as the others', () => {
  const counts = new Map<string, number>()
  for (let i = 0; i < 2000; i++) {
    const token = randomToken()
    expect(token).toMatch(/^[A-Za-z0-9]{43}$/)
    for (const sign of token) counts.set(sign, (counts.get(sign) ?? 0) + 1)
  }
  // 86,000 signs: 1,387 of each are expected, and ten standard deviations are 370.
  expect(counts.size).toBe(62)
  for (const n of counts.values()) expect(Math.abs(n - 1387)).toBeLessThan(370)
})

describe('S32: the key file', () => {
  const mode = (path: string) => (statSync(path).mode & 0o777).toString(8)
  const oldKey = 'ab'.repeat(32)
  let files = 0
  const holding = (text: string) => {
    const path = `${dir}/key-${files++}`
    writeFileSync(path, text)
    return path
  }
  const line = /^\d{4}-\d\d-\d\d-[0-9a-f]{8} [0-9a-f]{64}$/

  test('is made at the first start, 0600, and is the same ever after', () => {
    const path = `${dir}/secret.key`
    const encrypted = secretsFromFile(path).encrypt('row', 'text')
    const text = readFileSync(path, 'utf8')
    expect(text.trimEnd()).toMatch(line)
    expect(encrypted.split('.')[0]).toBe(text.split(' ')[0]!)
    expect(mode(path)).toBe('600')
    expect(secretsFromFile(path).open('row', encrypted)).toBe('text')
    expect(readFileSync(path, 'utf8')).toBe(text)
  })
  test('is different on every installation', () => {
    secretsFromFile(`${dir}/one`)
    secretsFromFile(`${dir}/two`)
    expect(readFileSync(`${dir}/one`, 'utf8')).not.toBe(readFileSync(`${dir}/two`, 'utf8'))
  })
  test('is not made where something is encrypted already: the words name the key and what to do', () => {
    const path = `${dir}/lost`
    expect(() => secretsFromFile(path, ['k1'])).toThrow(
      /There is no key file .*encrypted with the key k1\. Put the file back/,
    )
    expect(existsSync(path)).toBe(false)
  })
  test('that others could read is closed to them', () => {
    const path = holding(oldKey)
    chmodSync(path, 0o644)
    secretsFromFile(path)
    expect(mode(path)).toBe('600')
  })
  test('of an older Berth, nothing but 64 digits, goes on as the key k1 and opens what it encrypted', () => {
    const path = holding(`${oldKey}\n`)
    const encrypted = secretsWith(Buffer.from(oldKey, 'hex')).encrypt('row', 'text')
    expect(encrypted).toStartWith('k1.')
    expect(secretsFromFile(path).open('row', encrypted)).toBe('text')
    expect(secretsFromFile(path).encrypt('row', 'text')).toStartWith('k1.')
    expect(readFileSync(path, 'utf8')).toBe(`${oldKey}\n`)
  })
  test(
    'takes a new key in front, keeps the old one until it is set aside, and stays 0600; who has it open ' + 'notices',
    () => {
      const path = holding(oldKey)
      const [here, there, encrypts] = [secretsFromFile(path), secretsFromFile(path), secretsFromFile(path)]
      const before = here.encrypt('row', 'text')
      here.addKey(Date.UTC(2026, 10, 21))
      expect(mode(path)).toBe('600')
      const [newest, last] = readFileSync(path, 'utf8').trimEnd().split('\n')
      expect(newest).toMatch(line)
      expect(newest).toStartWith('2026-11-21-')
      expect(last).toBe(`k1 ${oldKey}`)
      expect(encrypts.encrypt('row', 'text').split('.')[0]).toBe(newest!.split(' ')[0]!)
      const after = here.encrypt('row', 'text')
      for (const fileSecrets of [here, there, secretsFromFile(path)])
        for (const encrypted of [before, after]) expect(fileSecrets.open('row', encrypted)).toBe('text')
      there.setOldKeysAside(Date.UTC(2026, 10, 22))
      expect(readFileSync(path, 'utf8')).toBe(`${newest}\n`)
      for (const fileSecrets of [here, there, secretsFromFile(path)])
        for (const encrypted of [before, after]) expect(fileSecrets.open('row', encrypted)).toBe('text')
      there.dropFormerKey('k1')
      expect(() => secretsFromFile(path).open('row', before)).toThrow(
        `encrypted with the key k1, which is not in ${path}`,
      )
      expect(secretsFromFile(path).open('row', after)).toBe('text')
    },
  )
  test('former keys open what they encrypted over many rotations, and lie there encrypted, for the owner alone', () => {
    const path = holding(oldKey)
    const fileSecrets = secretsFromFile(path)
    const encrypted = [fileSecrets.encrypt('row', 'text 0')]
    for (const i of [1, 2, 3]) {
      fileSecrets.addKey(Date.UTC(2026, 10, 20 + i))
      encrypted.push(fileSecrets.encrypt('row', `text ${i}`))
      fileSecrets.setOldKeysAside(Date.UTC(2026, 10, 20 + i, 12))
    }
    expect(encrypted.map((text) => secretsFromFile(path).open('row', text))).toEqual(
      [0, 1, 2, 3].map((i) => `text ${i}`),
    )
    expect(fileSecrets.formerKeys().map(({ setAsideAt }) => setAsideAt)).toEqual(
      [23, 22, 21].map((day) => `2026-11-${day}T12:00:00.000Z`),
    )
    expect(mode(`${path}.former`)).toBe('600')
    expect(readFileSync(`${path}.former`, 'utf8')).not.toContain(oldKey)
    // The former keys open nothing without the key file.
    writeFileSync(path, `${'77'.repeat(32)}\n`)
    expect(() => secretsFromFile(path).open('row', encrypted[0]!)).toThrow()
  })
  test('a key that values need and that is nowhere is named as missing until its line is back', () => {
    const path = holding(oldKey)
    secretsFromFile(path).addKey(Date.UTC(2026, 10, 21))
    const text = readFileSync(path, 'utf8')
    writeFileSync(path, text.split('\n')[0]!)
    const lacking = secretsFromFile(path, ['k1'])
    expect(lacking.missingKeys()).toEqual(['k1'])
    writeFileSync(path, text)
    expect(lacking.missingKeys()).toEqual([])
  })
  test('that goes or is spoilt under who has read it takes nothing away, and is not written over', () => {
    for (const spoil of [(path: string) => rmSync(path), (path: string) => writeFileSync(path, 'nonsense')]) {
      const path = holding(oldKey)
      const fileSecrets = secretsFromFile(path)
      const encrypted = fileSecrets.encrypt('row', 'text')
      spoil(path)
      expect(fileSecrets.open('row', fileSecrets.encrypt('row', 'text'))).toBe('text')
      expect(fileSecrets.open('row', encrypted)).toBe('text')
      expect(() => fileSecrets.addKey(0)).toThrow(KeyFileError)
      expect(existsSync(path) ? readFileSync(path, 'utf8') : 'nonsense').toBe('nonsense')
    }
  })
  test('that holds anything else is refused, and left as it is', () => {
    const good = readFileSync(`${dir}/one`, 'utf8').trim()
    for (const [text, words] of [
      ['', 'is not a key file'],
      ['ab'.repeat(31), 'is not a key file'],
      ['ab'.repeat(33), 'is not a key file'],
      ['zz'.repeat(32), 'is not a key file'],
      [`${oldKey}\n${oldKey}`, 'is not a key file'],
      [`k2 ${oldKey}`, 'is not a key file'],
      [`${good}\n${good}`, 'names a key twice'],
      [good.replace(/.$/, (c) => (c === '0' ? '1' : '0')), 'holds another key, or was changed'],
    ] as const) {
      const path = holding(text)
      expect(() => secretsFromFile(path)).toThrow(words)
      expect(() => secretsFromFile(path)).toThrow(KeyFileError)
      expect(readFileSync(path, 'utf8')).toBe(text)
    }
  })
})

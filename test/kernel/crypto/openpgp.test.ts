// Signatures of OpenPGP: what counts as one, and why a file is not trusted. gpg makes them in the test.
import { afterAll, describe, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import {
  fingerprintOf,
  type SignatureFault,
  signatureFaults,
  verdictIn,
  verifyClearsigned,
  verifyDetached,
} from '../../../src/kernel/crypto/openpgp.ts'
import { gpgHome, hasGpg } from '../../support/services/openpgp.ts'

const LIST = `${'a'.repeat(64)}  image.qcow2\n- a line that begins with a dash\n`
const bytes = (text: string) => Buffer.from(text)

describe.skipIf(!hasGpg)('a signature', () => {
  const home = gpgHome()
  afterAll(() => home.remove())
  const theirs = home.key()
  const stranger = home.key()
  const detached = (file: string | Uint8Array, options: Partial<Parameters<typeof home.sign>[1]> = {}) =>
    home.sign(file, { by: theirs, ...options })
  const clearsigned = (text: string, options: Partial<Parameters<typeof home.sign>[1]> = {}) =>
    home.sign(text, { by: theirs, kind: '--clear-sign', ...options }).toString()
  const check = (signature: Uint8Array, file = LIST, keys = [theirs]) => verifyDetached(bytes(file), signature, keys)
  const seen = new Set<SignatureFault>()
  const expectRefused = (verdict: object, fault: SignatureFault) => {
    expect(verdict).toEqual({ fault })
    seen.add(fault)
  }

  test('beside the file is good, armored or not, and says when it was made', async () => {
    for (const armored of [true, false])
      expect(await check(detached(LIST, { armored, at: '20260102T030405' }))).toEqual({
        good: { fingerprint: theirs.fingerprint, signedAt: Date.UTC(2026, 0, 2, 3, 4, 5) },
      })
  })
  test('of a file that is another by one byte is refused', async () => {
    expectRefused(await check(detached(LIST), LIST.replace('image', 'imagf')), 'changed')
    expectRefused(await check(detached(LIST), `${LIST}\n`), 'changed')
  })
  test('by a key that nobody asked about is refused, also where gpg itself would know the key', async () => {
    expectRefused(await check(detached(LIST, { by: stranger })), 'wrong_key')
    expect(await check(detached(LIST, { by: stranger }), LIST, [theirs, stranger])).toMatchObject({
      good: { fingerprint: stranger.fingerprint },
    })
  })
  test('counts beside a stranger’s, unless one of the key’s own does not match the file', async () => {
    for (const by of [
      [theirs, stranger],
      [stranger, theirs],
    ])
      expect(await check(detached(LIST, { by }))).toMatchObject({ good: { fingerprint: theirs.fingerprint } })
    const ofAnother = detached('another list\n')
    expectRefused(await check(Buffer.concat([ofAnother, detached(LIST)])), 'changed')
    expectRefused(await check(Buffer.concat([detached(LIST), ofAnother])), 'changed')
  })
  test('by a key that has expired, that was revoked, or that has an end itself is refused', async () => {
    const old = home.key({ expires: '1d' })
    expectRefused(await check(detached(LIST, { by: old, at: '20200101T010000' }), LIST, [old]), 'expired_key')
    const ended = detached(LIST, { at: '20260101T000000', options: ['--default-sig-expire', '1d'] })
    expectRefused(await check(ended), 'expired_signature')
    const lost = home.key()
    const signature = detached(LIST, { by: lost })
    expect(await check(signature, LIST, [lost])).toMatchObject({ good: {} })
    expectRefused(await check(signature, LIST, [home.revoked(lost)]), 'revoked_key')
  })
  test('over a digest that can be forged is refused', async () => {
    const options = ['--digest-algo', 'SHA1', '--allow-weak-digest-algos']
    expectRefused(await check(detached(LIST, { options })), 'weak_digest')
  })
  test('that is none, is cut off or is a whole signed message is refused', async () => {
    expectRefused(await check(bytes('')), 'unsigned')
    expectRefused(await check(bytes('<html>404</html>')), 'unsigned')
    const whole = detached(LIST, { kind: '--sign' })
    expect(await check(whole)).toMatchObject({ fault: expect.any(String) })
    expect(await check(detached(LIST).subarray(0, 40))).toMatchObject({ fault: expect.any(String) })
    expect(await check(bytes(clearsigned('another list\n')))).toMatchObject({ fault: expect.any(String) })
  })

  test('inside a file covers the signed part alone: what stands before and after does not count', async () => {
    const signed = clearsigned(LIST)
    const hostile = `${'b'.repeat(64)}  image.qcow2\n`
    for (const file of [signed, hostile + signed, signed + hostile, `${hostile}\n${signed}\n${hostile}`]) {
      const verdict = await verifyClearsigned(bytes(file), [theirs])
      expect(verdict).toMatchObject({ good: { fingerprint: theirs.fingerprint }, text: LIST })
    }
    const crlf = await verifyClearsigned(bytes(signed.replaceAll('\n', '\r\n')), [theirs])
    expect('text' in crlf && crlf.text.replaceAll('\r', '')).toBe(LIST)
  })
  test('inside a file is refused when its text was changed, or another part is signed beside it', async () => {
    const signed = clearsigned(LIST)
    expectRefused(await verifyClearsigned(bytes(signed.replace('aaaa', 'aaab')), [theirs]), 'changed')
    expectRefused(await verifyClearsigned(bytes(LIST), [theirs]), 'unsigned')
    const other = clearsigned('evil\n', { by: stranger })
    for (const file of [signed + other, other + signed])
      expectRefused(await verifyClearsigned(bytes(file), [theirs]), 'unreadable')
    expectRefused(await verifyClearsigned(bytes(other), [theirs]), 'wrong_key')
    const turned = signed.split('-----BEGIN PGP SIGNATURE-----').reverse().join('-----BEGIN PGP SIGNATURE-----')
    expect(await verifyClearsigned(bytes(turned), [theirs])).toMatchObject({ fault: expect.any(String) })
  })
  test('is not believed because of words in the file that look like those of gpgv', async () => {
    const { fingerprint } = theirs
    const valid = `[GNUPG:] VALIDSIG ${fingerprint} 2026-01-01 1767225600 0 4 0 22 8 01 ${fingerprint}`
    const words = `[GNUPG:] GOODSIG 1 x\n${valid}\n`
    const file = clearsigned(words, { by: stranger })
    expectRefused(await verifyClearsigned(bytes(file), [theirs]), 'wrong_key')
  })
  test('is never good where gpgv is not installed', async () => {
    const which = Bun.which
    Bun.which = () => null
    try {
      expectRefused(await check(detached(LIST)), 'no_verifier')
    } finally {
      Bun.which = which
    }
  })
  test('has had every fault in these tests, and leaves no file behind', () => {
    expect([...seen].toSorted()).toEqual([...signatureFaults].toSorted())
    expect(readdirSync(tmpdir()).filter((name) => name.startsWith('berth-signature-'))).toEqual([])
  })
  test('has the fingerprint that gpg computes', () => {
    for (const { fingerprint, armored } of [theirs, stranger]) expect(fingerprintOf(armored)).toBe(fingerprint)
  })
})

test('gpgv’s words are read strictly: a valid signature without a good one, or by a subkey, says nothing', () => {
  const ours = 'A'.repeat(40)
  const valid = (digest: string, kind: string, primary = ours) =>
    `[GNUPG:] VALIDSIG ${'B'.repeat(40)} 2026-01-01 1767225600 0 4 0 22 ${digest} ${kind} ${primary}`
  const said = (...lines: string[]) => verdictIn(lines.join('\n'), new Set([ours]))
  const good = '[GNUPG:] GOODSIG 1234 Somebody'
  expect(said(good, valid('8', '00'))).toEqual({ good: { fingerprint: ours, signedAt: 1767225600000 } })
  expect(said(valid('8', '00'))).toEqual({ fault: 'unsigned' })
  expect(said(good)).toEqual({ fault: 'unsigned' })
  expect(said('[GNUPG:] EXPKEYSIG 1234 Somebody', valid('8', '00'))).toEqual({ fault: 'expired_key' })
  expect(said(good, '[GNUPG:] BADSIG 1234 Somebody', valid('8', '00'))).toEqual({ fault: 'changed' })
  expect(said(good, valid('2', '00'))).toEqual({ fault: 'weak_digest' })
  expect(said(good, valid('8', '13'))).toEqual({ fault: 'unreadable' })
  expect(said(good, valid('8', '00', 'C'.repeat(40)))).toEqual({ fault: 'wrong_key' })
})

// The file of a release, as its makers, its verifiers and OpenSSL see it.
import { describe, expect, test } from 'bun:test'
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { archiveEnd, memberFrame, openRelease, unverified } from '../../agent/protocol/release/archive.ts'
import {
  compareVersions,
  type Manifest,
  manifestText,
  mustFollow,
  ReleaseRefused,
} from '../../agent/protocol/release/manifest.ts'
import { releaseKeyFrom, secretKeyFrom, signed } from '../../agent/protocol/release/signature.ts'
import { verifiedRelease } from '../../agent/protocol/release/verify.ts'
import { addSignature, makeRelease } from '../../src/app/release/make.ts'
import { temporary } from '../agent/temporary.ts'
import { berth } from '../support/world/program.ts'

const dir = temporary('release')
const newKey = () => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const pem = publicKey.export({ type: 'spki', format: 'pem' }) as string
  return { secret: privateKey, pem, key: releaseKeyFrom(pem) }
}
const [ours, second, stranger] = [newKey(), newKey(), newKey()]
const program = Buffer.concat([Buffer.from('#!/bin/sh\n'), randomBytes(300_000)])
writeFileSync(join(dir, 'program'), program)

let made = 0
function release(by = ours, changes: { version?: string; platform?: string } = {}) {
  const path = join(dir, `${++made}.release`)
  const { version = '1.10.0', platform = 'linux-x64' } = changes
  makeRelease(path, {
    programs: [{ path: join(dir, 'program'), says: { version, protocol: 7, schema: '0181_words', platform } }],
    bill: '{"bomFormat":"CycloneDX"}\n',
    minimumVersion: '1.8.0',
    date: '2026-11-24',
    notes: 'Servers move live.',
    keyId: by.key.id,
  })
  return path
}
function signedRelease(by = ours, changes: Parameters<typeof release>[1] = {}) {
  const path = release(by, changes)
  addSignature(path, signed(unverified(path).text, by.secret), [by.key])
  return path
}
const codeOf = async (work: () => unknown): Promise<string> => {
  try {
    await work()
  } catch (error) {
    if (error instanceof ReleaseRefused) return error.code
    throw error
  }
  return 'accepted'
}
const verdict = (path: string, keys = [ours.key, second.key]) => codeOf(() => verifiedRelease(path, keys))

/** The release with some of its members changed, in their order. */
function rebuilt(path: string, change: (members: Map<string, Buffer>) => void) {
  const content = readFileSync(path)
  const members = new Map(
    unverified(path).members.map(({ name, offset, sizeBytes }) => [name, content.subarray(offset, offset + sizeBytes)]),
  )
  change(members)
  const to = join(dir, `${++made}.release`)
  const parts = [...members].flatMap(([name, bytes]) => {
    const { header, padding } = memberFrame(name, bytes.length)
    return [header, bytes, padding]
  })
  writeFileSync(to, Buffer.concat([...parts, archiveEnd()]))
  return to
}
const manifestOf = (path: string): Manifest => JSON.parse(unverified(path).text)

describe('a release', () => {
  test('that is signed with either of two trusted keys is accepted', async () => {
    expect(await verdict(signedRelease())).toBe('accepted')
    expect(await verdict(signedRelease(second))).toBe('accepted')
  })
  test('has the program, so that anybody can take it out with tar and gunzip', () => {
    const folder = join(dir, 'out')
    mkdirSync(folder)
    expect(Bun.spawnSync(['tar', '-xf', signedRelease(), '-C', folder]).exitCode).toBe(0)
    expect(readdirSync(folder).sort()).toEqual([
      'berth-linux-x64.gz',
      'berth.cdx.json',
      'manifest.json',
      'manifest.json.sig',
    ])
    expect(gunzipSync(readFileSync(join(folder, 'berth-linux-x64.gz'))).equals(program)).toBe(true)
  })
  test('is verified by OpenSSL, and accepted with a signature that OpenSSL made', async () => {
    const at = (name: string) => join(dir, name)
    const path = release()
    writeFileSync(at('ours.pem'), ours.pem)
    writeFileSync(at('secret.pem'), ours.secret.export({ type: 'pkcs8', format: 'pem' }))
    writeFileSync(at('manifest.json'), unverified(path).text)
    const openssl = (...words: string[]) => Bun.spawnSync(['openssl', 'pkeyutl', ...words]).exitCode
    const files = ['-rawin', '-in', at('manifest.json')]
    expect(openssl('-sign', '-inkey', at('secret.pem'), ...files, '-out', at('made.sig'))).toBe(0)
    addSignature(path, readFileSync(at('made.sig')), [ours.key])
    expect(await verdict(path)).toBe('accepted')
    const checks = () => openssl('-verify', '-pubin', '-inkey', at('ours.pem'), ...files, '-sigfile', at('made.sig'))
    expect(checks()).toBe(0)
    writeFileSync(at('manifest.json'), unverified(path).text.replace('1.10.0', '1.10.1'))
    expect(checks()).not.toBe(0)
  })
  test('without a signature is refused, and so is an empty one', async () => {
    expect(await verdict(release())).toBe('release_not_signed')
    expect(
      await verdict(rebuilt(signedRelease(), (members) => members.set('manifest.json.sig', Buffer.alloc(0)))),
    ).toBe('release_signature_wrong')
  })
  test('of a key that is not trusted is refused, also when its manifest names a trusted one', async () => {
    expect(await verdict(signedRelease(stranger))).toBe('release_key_not_trusted')
    const path = release()
    const forged = rebuilt(path, (members) => {
      const text = members.get('manifest.json')!.toString()
      members.set('manifest.json.sig', signed(text, stranger.secret))
    })
    expect(await verdict(forged)).toBe('release_signature_wrong')
  })
  test('of a key that was removed is refused', async () => {
    expect(await verdict(signedRelease(second), [ours.key])).toBe('release_key_not_trusted')
  })
  test('whose manifest names another key than the one that signed it is refused', async () => {
    const path = release(second)
    const crossed = rebuilt(path, (members) => {
      members.set('manifest.json.sig', signed(members.get('manifest.json')!.toString(), ours.secret))
    })
    expect(await verdict(crossed)).toBe('release_signature_wrong')
  })
  test('in which any one byte of manifest or signature was altered is refused', async () => {
    const path = signedRelease()
    const { text } = unverified(path)
    for (const name of ['manifest.json', 'manifest.json.sig'])
      for (let at = 0; at < (name === 'manifest.json' ? text.length : 64); at += 7) {
        const altered = rebuilt(path, (members) => {
          const bytes = Buffer.from(members.get(name)!)
          bytes[at]! ^= 1
          members.set(name, bytes)
        })
        expect(await verdict(altered)).not.toBe('accepted')
      }
  })
  test('whose program or bill of materials was exchanged is refused', async () => {
    const path = signedRelease()
    const other = gzipSync(Buffer.concat([program.subarray(0, -1), Buffer.from('x')]))
    for (const [name, bytes] of [
      ['berth-linux-x64.gz', other],
      ['berth-linux-x64.gz', Buffer.from('no gzip')],
      ['berth.cdx.json', Buffer.from('{"bomFormat":"CycloneDY"}\n')],
    ] as const)
      expect(await verdict(rebuilt(path, (members) => members.set(name, bytes)))).toBe('release_checksum_differs')
  })
  test('whose program unpacks to more than its manifest says is refused before it fills a disk', async () => {
    const bomb = gzipSync(Buffer.alloc(200 << 20))
    expect(bomb.length).toBeLessThan(1 << 20)
    const path = rebuilt(signedRelease(), (members) => members.set('berth-linux-x64.gz', bomb))
    expect(await verdict(path)).toBe('release_checksum_differs')
  })
  test('that was cut anywhere is refused', async () => {
    const whole = readFileSync(signedRelease())
    const part = join(dir, 'part.release')
    for (let percent = 0; percent < 100; percent += 5) {
      writeFileSync(part, whole.subarray(0, Math.floor((whole.length * percent) / 100)))
      expect(await verdict(part)).toBe('release_invalid')
    }
  })
  test('with a file more, a file less, a file twice or a path is refused', async () => {
    const path = signedRelease()
    expect(await verdict(rebuilt(path, (members) => members.set('more', Buffer.from('x'))))).toBe('release_invalid')
    expect(await verdict(rebuilt(path, (members) => members.delete('berth.cdx.json')))).toBe('release_invalid')
    for (const name of ['../../etc/passwd', '/etc/passwd', 'a/b', '.hidden'])
      expect(await verdict(rebuilt(path, (members) => members.set(name, Buffer.from('x'))))).toBe('release_invalid')
    const content = readFileSync(path)
    const twice = join(dir, 'twice.release')
    writeFileSync(twice, Buffer.concat([content.subarray(0, -1024), content]))
    expect(await verdict(twice)).toBe('release_invalid')
  })
  test('with a link in it is refused', async () => {
    const folder = join(dir, 'linked')
    mkdirSync(folder)
    Bun.spawnSync(['tar', '-xf', signedRelease(), '-C', folder])
    Bun.spawnSync(['ln', '-sf', '/etc/passwd', join(folder, 'berth.cdx.json')])
    const path = join(dir, 'linked.release')
    const names = ['manifest.json', 'manifest.json.sig', 'berth-linux-x64.gz', 'berth.cdx.json']
    expect(Bun.spawnSync(['tar', '--format=ustar', '-cf', path, '-C', folder, ...names]).exitCode).toBe(0)
    expect(await verdict(path)).toBe('release_invalid')
  })
  test('with an unknown field, another product or a path in its manifest is refused', async () => {
    const path = release()
    const changes: ((manifest: any) => void)[] = [
      (manifest) => (manifest.more = 1),
      (manifest) => (manifest.product = 'other'),
      (manifest) => (manifest.format = 2),
      (manifest) => (manifest.version = '1.10'),
      (manifest) => (manifest.programs[0].file = '../berth'),
      (manifest) => (manifest.programs = []),
    ]
    for (const change of changes) {
      const manifest = manifestOf(path)
      change(manifest)
      const altered = rebuilt(path, (members) => {
        const text = manifestText(manifest)
        members.set('manifest.json', Buffer.from(text))
        members.set('manifest.json.sig', signed(text, ours.secret))
      })
      expect(await verdict(altered)).toBe('release_invalid')
    }
  })
  test('is read only where its signature counts', () => {
    const open = openRelease(signedRelease(), [ours.key])
    expect(open.manifest.version).toBe('1.10.0')
    open.close()
  })
})

describe('what runs here', () => {
  const here = { version: '1.9.0', platform: 'linux-x64' }
  const follows = (version: string, running = here, options = {}) =>
    codeOf(() => mustFollow({ ...manifestOf(release()), version }, running, options))
  test('is brought to a newer version only', async () => {
    expect(await follows('1.9.1')).toBe('accepted')
    expect(await follows('1.9.0')).toBe('release_too_old')
    expect(await follows('1.8.9')).toBe('release_too_old')
  })
  test('goes back where a person on the host says so', async () =>
    expect(await follows('1.8.9', here, { allowsDowngrade: true })).toBe('accepted'))
  test('is not brought to a version that does not follow it', async () =>
    expect(await follows('1.10.0', { ...here, version: '1.7.9' })).toBe('release_too_new'))
  test('is not given the program of another machine', async () =>
    expect(await follows('1.10.0', { ...here, platform: 'linux-arm64' })).toBe('release_wrong_platform'))
  test('compares versions as numbers', () => {
    expect(['1.10.0', '1.9.0', '1.9.10', '0.12.1'].toSorted(compareVersions)).toEqual([
      '0.12.1',
      '1.9.0',
      '1.9.10',
      '1.10.0',
    ])
  })
})

describe('berth release', () => {
  const at = (name: string) => join(dir, name)
  test('makes, signs and verifies a release of the program that was built', async () => {
    writeFileSync(at('public.pem'), ours.pem)
    const encrypted = { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'three words here' } as const
    writeFileSync(at('key.pem'), ours.secret.export(encrypted))
    const says = JSON.parse((await berth(['version', '--json'])).out)
    writeFileSync(at('berth'), `#!/bin/sh\necho '${JSON.stringify(says)}'\n`, { mode: 0o755 })
    const file = at('berth.release')
    const words = ['--program', at('berth'), '--from', '0.1.0', '--key', at('public.pem')]
    expect(await berth(['release', 'make', file, ...words])).toMatchObject({ code: 0 })
    const unsigned = await berth(['release', 'verify', file, '--key', at('public.pem')])
    expect(unsigned).toMatchObject({ code: 1, error: expect.stringMatching(/^release_not_signed: /) })
    const wrong = await berth(['release', 'sign', file, '--key', at('key.pem')], {}, 'four words are wrong\n')
    expect(wrong).toMatchObject({ code: 1, error: expect.stringMatching(/^key_not_usable: .*passphrase is wrong/) })
    expect(unverified(file).signature).toBeUndefined()
    expect(await berth(['release', 'sign', file, '--key', at('key.pem')], {}, 'three words here\n')).toMatchObject({
      code: 0,
    })
    const verified = await berth(['release', 'verify', file, '--key', at('public.pem')])
    expect(verified).toMatchObject({ code: 0, error: '' })
    expect(verified.out).toContain(`Berth ${says.version} of `)
    expect(existsSync(`${file}.part`)).toBe(false)
  })
  test('refuses a release of a key that the program was not built with', async () => {
    const { code, error } = await berth(['release', 'verify', signedRelease(stranger)])
    expect({ code, error }).toMatchObject({
      code: 1,
      error: expect.stringMatching(/^(no_release_keys|release_key_not_trusted): /),
    })
  })
  test('says what is wrong with a call', async () => {
    for (const words of [['make', 'x'], ['verify'], ['sign', 'x'], ['fly'], ['verify', 'x', '--from', '1.0.0']])
      expect(await berth(['release', ...words])).toMatchObject({ code: 2, out: '' })
    expect(await berth(['release', 'verify', at('absent')])).toMatchObject({ code: 1 })
    expect(await berth(['release', '--help'])).toMatchObject({ code: 0, error: '' })
  })
  test('takes no key of another kind', () => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string
    expect(() => secretKeyFrom(pem)).toThrow('a key of rsa')
  })
})

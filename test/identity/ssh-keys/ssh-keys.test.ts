import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { generateKeyPairSync } from 'node:crypto'
import fc from 'fast-check'
import ssh2 from 'ssh2'
import { readPublicKey } from '../../../src/identity/ssh-keys/model.ts'
import { type Panel, panel, type Who } from '../../support/world/panel.ts'

const field = (data: Uint8Array | string) => {
  const bytes = Buffer.from(data as string)
  const length = Buffer.alloc(4)
  length.writeUInt32BE(bytes.length)
  return Buffer.concat([length, bytes])
}
const raw = () => Buffer.from(generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' }).x!, 'base64url')
const ed25519 = (key = raw()) => `ssh-ed25519 ${Buffer.concat([field('ssh-ed25519'), field(key)]).toString('base64')}`
function rsa(bits: number) {
  const { n, e } = generateKeyPairSync('rsa', { modulusLength: bits }).publicKey.export({ format: 'jwk' })
  const modulus = Buffer.concat([Buffer.from([0]), Buffer.from(n!, 'base64url')])
  return (
    'ssh-rsa ' +
    `${Buffer.concat([field('ssh-rsa'), field(Buffer.from(e!, 'base64url')), field(modulus)]).toString('base64')}`
  )
}
function ecdsa(curve: 256 | 384 | 521) {
  const { x, y } = generateKeyPairSync('ec', { namedCurve: curve === 256 ? 'P-256' : `P-${curve}` }).publicKey.export({
    format: 'jwk',
  })
  const point = Buffer.concat([Buffer.from([4]), Buffer.from(x!, 'base64url'), Buffer.from(y!, 'base64url')])
  return (
    `ecdsa-sha2-nistp${curve} ` +
    `${Buffer.concat([field(`ecdsa-sha2-nistp${curve}`), field(`nistp${curve}`), field(point)]).toString('base64')}`
  )
}
const good = ed25519()
const refused = (text: string) => {
  try {
    readPublicKey(text)
  } catch (error) {
    return (error as Error).message
  }
  return 'taken'
}

describe('a public key', () => {
  for (const [what, key] of [
    ['Ed25519', good],
    ['RSA 2048', rsa(2048)],
    ['RSA 4096', rsa(4096)],
    ['ECDSA 256', ecdsa(256)],
    ['ECDSA 384', ecdsa(384)],
    ['ECDSA 521', ecdsa(521)],
  ] as const)
    test(`of ${what} is taken, its comment kept apart`, () => {
      const { publicKey, fingerprint, comment } = readPublicKey(`  ${key} ada@laptop of hers\n`)
      expect(publicKey).toBe(key)
      expect(comment).toBe('ada@laptop of hers')
      expect(fingerprint).toBe(
        `SHA256:${new Bun.CryptoHasher('sha256')
          .update(Buffer.from(key.split(' ')[1]!, 'base64'))
          .digest('base64')
          .replace(/=+$/, '')}`,
      )
    })
  test('has the fingerprint that ssh-keygen shows', () =>
    expect(
      readPublicKey('ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl').fingerprint,
    ).toBe('SHA256:+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU'))

  test('of a security key is taken', () => {
    // Once: the list of types has sk-…, but the library that reads keys does not know them.
    const application = field('ssh:')
    const sk =
      'sk-ssh-ed25519@openssh.com ' +
      `${Buffer.concat([field('sk-ssh-ed25519@openssh.com'), field(raw()), application]).toString('base64')}`
    expect(refused(sk)).toBe('taken')
  })
  test('of RSA with fewer than 2048 bits is refused with what to do', () =>
    expect(refused(rsa(1024))).toContain('fewer than 2048 bits. Make a new one with ssh-keygen -t ed25519'))

  test('that is a private key is refused with a warning', () => {
    const pem = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }) as string
    expect(refused(pem)).toContain('is a private key')
    expect(refused(pem.replaceAll('\n', ' '))).toContain('is a private key. Keep it to yourself')
    const open = ssh2.utils.generateKeyPairSync('ed25519').private
    expect(refused(open)).not.toBe('taken')
    expect(refused(open.replaceAll('\n', ' '))).toContain('is a private key')
  })
  test('is one line: what follows a line break, NUL or another control is not another key', () => {
    for (const control of ['\n', '\r\n', '\r', '\u0000', '\u000b', '\u001b', '\u0085', '\u2028'])
      for (const text of [
        `${good}${control}${ed25519()}`,
        `${good} comment${control}x`,
        `ssh-ed25519${control}${good.split(' ')[1]}`,
      ])
        expect([text, refused(text)]).toEqual([
          text,
          /[\u0000\u000b\u001b]/.test(control)
            ? 'publicKey: has a character that cannot be seen. Copy it again from the .pub file.'
            : 'publicKey: must be one line, as in a .pub file. Add further keys one by one.',
        ])
  })
  test('may have tabs and several spaces between its parts, and a comment in any script', () => {
    const [type, data] = good.split(' ') as [string, string]
    for (const comment of ['Jürgen@Büro', '田中', 'ada@💻', 'a\u00a0b', '\u200fעדה', 'a\tb   c', ''])
      for (const between of [' ', '\t', '  ', ' \t ']) {
        const read = readPublicKey(`${type}${between}${data}${between}${comment}`)
        expect([comment, read.publicKey]).toEqual([comment, good])
      }
    expect(readPublicKey(`${good} \u200fעדה`).comment).toBe('עדה')
    expect(readPublicKey(`${good} ${'x'.repeat(99)}💻`).comment).toBe(`${'x'.repeat(99)}?`)
  })
  test('in another form is refused by the name of the form', () => {
    for (const [text, words] of [
      [`ssh-ed25519-cert-v01@openssh.com AAAA ada`, 'is a certificate'],
      [`ssh-rsa-cert-v01@openssh.com\tAAAA`, 'is a certificate'],
      ['---- BEGIN SSH2 PUBLIC KEY ----\nAAAA\n---- END SSH2 PUBLIC KEY ----', 'ssh-keygen -i'],
      ['PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none', 'is a private key of PuTTY'],
      ['ssh-dss AAAAB3NzaC1kc3MAAACBA ada', 'is a DSA key'],
      [`${good}\n${ed25519()}`, 'Add further keys one by one'],
    ] as const)
      expect([text, refused(text)]).toEqual([text, expect.stringContaining(words)])
  })
  test('carries no options of authorized_keys', () => {
    for (const text of [
      `command="id" ${good}`,
      `no-pty ${good}`,
      `from="*" ${good}`,
      `cert-authority ${good}`,
      `environment="LD_PRELOAD=x" ${good}`,
      `restrict,command="x" ${good}`,
    ])
      expect([text, refused(text)]).toEqual([text, expect.stringContaining('publicKey: starts with options')])
    for (const text of [`"${good}"`, 'ada@laptop'])
      expect([text, refused(text)]).toEqual([
        text,
        'publicKey: must start with ssh-ed25519, ecdsa-sha2-… or ssh-rsa, as in a .pub file.',
      ])
  })
  test('of a type that is not safe any more, or none, is refused', () => {
    for (const type of ['rsa-sha2-256', 'SSH-ED25519', 'ssh-ed25519x', 'ssh-ed448', ''])
      expect(refused(`${type} ${good.split(' ')[1]}`)).toContain('must start with')
  })
  test('that is cut, padded, of another type than it says, or not base64 is refused', () => {
    const data = good.split(' ')[1]!
    for (const text of [
      'ssh-ed25519',
      'ssh-ed25519 ',
      `ssh-ed25519 ${data.slice(0, 40)}`,
      `ssh-ed25519 ${data.slice(0, -8)}`,
      'ssh-ed25519 AAAA',
      `ssh-rsa ${data}`,
      `ecdsa-sha2-nistp256 ${data}`,
      `ssh-ed25519 ${rsa(2048).split(' ')[1]}`,
      'ssh-ed25519 ;id;',
      'ssh-ed25519 $(id)',
      `ecdsa-sha2-nistp384 ${ecdsa(256).split(' ')[1]}`,
    ])
      expect([text, refused(text) === 'taken']).toEqual([text, false])
  })
  test('has nothing behind its base64', () => {
    // Once: the library reads as far as it understands; what follows is stored and ends in
    // authorized_keys, where sshd does not take the line.
    for (const tail of ['=/', '==', '=;id', '="', '=$(id)', "='"])
      expect([tail, refused(good + tail) === 'taken']).toEqual([tail, false])
  })
  test('is one type and one word, whatever was sent', () =>
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: 'binary' }),
          fc.string().map((s) => `${good} ${s}`),
          fc.string().map((s) => good + s),
          fc.string().map((s) => `ssh-ed25519 ${s}`),
        ),
        (text) => {
          if (refused(text) !== 'taken') return
          const { publicKey, comment } = readPublicKey(text)
          expect(publicKey).toMatch(/^[a-z0-9@.-]+ [\x21-\x7e]+$/)
          expect(comment).toMatch(/^[^\x00-\x1f\x7f]{0,100}$/)
        },
      ),
      { numRuns: 1000 },
    ))
})

describe('the keys of an account', () => {
  let p: Panel
  let cal: { id: string } & Who
  let eve: { id: string } & Who
  beforeAll(async () => {
    p = await panel()
    cal = p.account('customer', 'Cal')
    eve = p.account('customer', 'Eve')
  })
  afterAll(() => p.close())
  const add = (who: Who, id: string, publicKey: string, name?: string) =>
    p.call(who, 'POST', `/customers/${id}/ssh-keys`, { publicKey, ...(name === undefined ? {} : { name }) })

  test('are named by the person, else by their comment, else by their fingerprint', async () => {
    expect((await add(cal, cal.id, `${ed25519()} ada@laptop`, 'Laptop')).body.name).toBe('Laptop')
    expect((await add(cal, cal.id, `${ed25519()} ada@laptop`)).body.name).toBe('ada@laptop')
    expect((await add(cal, cal.id, ed25519(), '')).body.name).toMatch(/^SHA256:.{13}$/)
  })
  test('are there once, whatever their comment; another account may have the same one', async () => {
    const key = ed25519()
    expect((await add(cal, cal.id, `${key} a`)).status).toBe(201)
    const before = p.fingerprint()
    expect((await add(cal, cal.id, `${key} b`, 'Other')).body.error.code).toBe('already_done')
    expect(p.fingerprint()).toBe(before)
    expect((await add(eve, eve.id, key)).status).toBe(201)
  })
  test('are nobody else\u2019s to see, add to or remove', async () => {
    const { id } = (await add(cal, cal.id, ed25519())).body
    const before = p.fingerprint()
    expect((await p.call(eve, 'DELETE', `/ssh-keys/${id}`)).body.error.code).toBe('ssh_key_not_found')
    expect((await add(eve, cal.id, ed25519())).body.error.code).toBe('customer_not_found')
    expect((await p.call(eve, 'GET', `/customers/${cal.id}/ssh-keys`)).body.error.code).toBe('customer_not_found')
    expect(p.fingerprint()).toBe(before)
    expect((await p.call(cal, 'DELETE', `/ssh-keys/${id}`)).status).toBe(200)
    expect((await p.call(cal, 'GET', `/customers/${cal.id}/ssh-keys`)).body.data.map((k: any) => k.id)).not.toContain(
      id,
    )
  })
  test('can be renamed by who may change them', async () => {
    const { id, ...key } = (await add(cal, cal.id, ed25519(), 'Laptop')).body
    expect((await p.call(cal, 'PATCH', `/ssh-keys/${id}`, { name: 'Old laptop' })).body).toEqual({
      id,
      ...key,
      name: 'Old laptop',
    })
    const before = p.fingerprint()
    expect((await p.call(eve, 'PATCH', `/ssh-keys/${id}`, { name: 'Mine' })).body.error.code).toBe('ssh_key_not_found')
    expect((await p.call(cal, 'PATCH', `/ssh-keys/${id}`, { name: '' })).body.error.code).toBe('validation_failed')
    expect(p.fingerprint()).toBe(before)
  })
  test('are at most 100', async () => {
    const many = p.account('customer', 'Many')
    for (let i = 0; i < 100; i++) expect((await add(many, many.id, ed25519())).status).toBe(201)
    const before = p.fingerprint()
    const { status, body } = await add(many, many.id, ed25519())
    expect([status, body.error.code]).toEqual([422, 'limit_reached'])
    expect(p.fingerprint()).toBe(before)
    const { data } = (await p.call(many, 'GET', `/customers/${many.id}/ssh-keys`)).body
    await p.call(many, 'DELETE', `/ssh-keys/${data[0].id}`)
    expect((await add(many, many.id, ed25519())).status).toBe(201)
  })
})

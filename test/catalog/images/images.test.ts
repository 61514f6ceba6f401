import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import fc from 'fast-check'
import { catalogue } from '../../../src/catalog/images/distributions/catalogue.ts'
import { checksumBeside, checksumIn, newestName } from '../../../src/catalog/images/distributions/checksums.ts'
import { distributionsOver } from '../../../src/catalog/images/distributions/servers.ts'
import type { RawResponse } from '../../../src/kernel/net/egress.ts'
import { emptyQcow2 } from '../../support/guest.ts'
import { type Panel, panel, type Who } from '../../support/world/panel.ts'

let p: Panel
let owner: { id: string } & Who
const qcow2 = emptyQcow2(3 * 2 ** 30)
beforeAll(async () => {
  p = await panel()
  owner = p.staff()
  mkdirSync(`${p.dir}/incoming`)
})
afterAll(() => p.close())

let count = 0
const put = (bytes: Uint8Array, name = `file-${++count}.img`) => {
  writeFileSync(`${p.dir}/incoming/${name}`, bytes)
  return name
}
function link(to: string, name: string) {
  symlinkSync(to, `${p.dir}/incoming/${name}`)
  return name
}
const take = (file: string, more: object = {}) =>
  p.call(owner, 'POST', '/admin/images/import', { file, name: `Image ${++count}`, ...more })

const spoiled: [string, (head: Buffer) => void][] = [
  ['a disk with a backing file, which may be any file of a node', (head) => head.writeBigUInt64BE(1024n, 8)],
  ['a disk whose data is in another file', (head) => head.writeBigUInt64BE(4n, 72)],
  ['a disk that is encrypted', (head) => head.writeUInt32BE(1, 32)],
  ['a disk of more than 64 TiB', (head) => head.writeBigUInt64BE(1n << 50n, 24)],
  ['a disk of no size', (head) => head.writeBigUInt64BE(0n, 24)],
  ['a disk with tables outside the file', (head) => head.writeBigUInt64BE(1n << 40n, 40)],
]

describe('S39: importing an image', () => {
  test('moves the file out of the incoming directory and knows it by its checksum', async () => {
    const file = put(qcow2)
    const { status, body } = await take(file, { name: 'Debian', minDiskGb: 3 })
    expect(status).toBe(201)
    expect(body).toMatchObject({
      name: 'Debian',
      origin: 'imported',
      format: 'qcow2',
      sizeBytes: qcow2.length,
      minDiskGb: 3,
      published: true,
      checksum: `sha256:${new Bun.CryptoHasher('sha256').update(qcow2).digest('hex')}`,
    })
    expect(existsSync(`${p.dir}/incoming/${file}`)).toBe(false)
    expect(readFileSync(`${p.dir}/images/${body.id}.qcow2`).equals(qcow2)).toBe(true)
  })
  test('says how large a disk it needs, and a smaller one is refused', async () => {
    expect((await take(put(qcow2))).body.minDiskGb).toBe(3)
    expect((await take(put(emptyQcow2(2 ** 30 + 512)))).body.minDiskGb).toBe(2)
    expect((await take(put(emptyQcow2(2 ** 20)))).body.minDiskGb).toBe(1)
    expect((await take(put(qcow2), { minDiskGb: 10 })).body.minDiskGb).toBe(10)
    const file = put(qcow2)
    const before = p.fingerprint()
    const { status, body } = await take(file, { minDiskGb: 2 })
    expect([status, body.error.details.fields]).toEqual([
      422,
      [{ field: 'minDiskGb', message: 'must be 3 or more: so large is the disk in the image.' }],
    ])
    expect([p.fingerprint(), existsSync(`${p.dir}/incoming/${file}`)]).toEqual([before, true])
  })
  test('says what is wrong with a file', async () => {
    const { body } = await take(put(emptyQcow2(2 ** 30, (head) => head.writeBigUInt64BE(1024n, 8))))
    expect(body.error.details.fields).toEqual([
      { field: 'file', message: 'cannot be used. The image is refused: it names a backing file.' },
    ])
  })
  test('of a raw disk is possible when it says so', async () => {
    const { body } = await take(put(Buffer.alloc(512)), { format: 'raw' })
    expect(existsSync(`${p.dir}/images/${body.id}.raw`)).toBe(true)
  })
  for (const [what, make, format, field] of [
    ['a raw file that is said to be qcow2', () => put(Buffer.alloc(512)), 'qcow2', 'format'],
    [
      'a qcow2 file that is said to be raw: a guest\u2019s header must never be followed',
      () => put(qcow2),
      'raw',
      'format',
    ],
    ['a file shorter than its header', () => put(Buffer.from('QFI')), 'qcow2', 'format'],
    ['a VMDK that says nothing of itself', () => put(Buffer.from('KDMV')), undefined, 'file'],
    ...spoiled.map(([what, spoil]) => [what, () => put(emptyQcow2(2 ** 30, spoil)), 'qcow2', 'file'] as const),
    ['a header without a disk', () => put(qcow2.subarray(0, 104)), 'qcow2', 'file'],
    ['nothing', () => put(Buffer.alloc(0)), 'raw', 'file'],
    ['a VMDK that is said to be raw', () => put(Buffer.from('KDMV and more')), 'raw', 'file'],
    ['a packed disk that is said to be raw', () => put(Bun.gzipSync(Buffer.alloc(5000))), 'raw', 'file'],
    ['a file that is not there', () => 'nothing.img', undefined, 'file'],
    ['a directory', () => mkdirSync(`${p.dir}/incoming/folder`) ?? 'folder', undefined, 'file'],
    ['a link, also to a good file', () => link(`${p.dir}/incoming/${put(qcow2)}`, 'link.img'), undefined, 'file'],
    ['a link to a secret', () => link('/etc/shadow', 'shadow.img'), 'raw', 'file'],
    ...[
      '../berth.db',
      '/etc/passwd',
      '..',
      '.',
      '.hidden',
      'a/b',
      'a\\b',
      'a\u0000b',
      'a b',
      '-rf',
      '',
      'file:x',
      'json:{}',
      'x'.repeat(122),
      '%2e%2e',
      'a\n',
      'images/../../berth.db',
    ].map((path) => [`the path ${JSON.stringify(path)}`, () => path, 'raw', 'file'] as const),
  ] as const)
    test(`of ${what} is refused, and nothing happens`, async () => {
      const file = make()
      const before = p.fingerprint()
      const listed = existsSync(`${p.dir}/images`) ? [...new Bun.Glob('*').scanSync(`${p.dir}/images`)].length : 0
      const { status, body } = await take(file, format ? { format } : {})
      expect([status, body.error.code, body.error.details.fields[0].field]).toEqual([422, 'validation_failed', field])
      expect(p.fingerprint()).toBe(before)
      expect([...new Bun.Glob('*').scanSync(`${p.dir}/images`)].length).toBe(listed)
      expect(existsSync(`${p.dir}/berth.db`)).toBe(true)
    })
  test('says at the first try that a file is a VMDK, and what to do', async () => {
    const { body } = await take(put(Buffer.concat([Buffer.from('KDMV'), Buffer.alloc(600)]), 'appliance.vmdk'))
    expect(body.error.details.fields).toEqual([
      { field: 'file', message: 'is a VMDK, not a disk. Convert it to qcow2 or unpack it first.' },
    ])
  })
  test('with features of newer programs is refused with the way out', async () => {
    for (const [features, words] of [
      [16n, 'qemu-img convert -O qcow2'],
      [1n, 'qemu-img check -r all'],
    ] as const) {
      const { body } = await take(put(emptyQcow2(2 ** 30, (head) => head.writeBigUInt64BE(features, 72))))
      expect(body.error.details.fields[0].message).toContain(words)
    }
  })
  test('takes file names with spaces, brackets and letters of any script', async () => {
    for (const name of ['space name (1).qcow2', 'Ünï.qcow2', '系统 13.qcow2', 'a&b=c;d.img', '~x.img', "it's.img"])
      expect([name, (await take(put(qcow2, name))).status]).toEqual([name, 201])
    put(qcow2, 'Zoë.qcow2'.normalize('NFD'))
    expect((await take('Zoë.qcow2'.normalize('NFC'))).status).toBe(201)
    expect(existsSync(`${p.dir}/incoming/${'Zoë.qcow2'.normalize('NFD')}`)).toBe(false)
  })
  test('under a name that another image has leaves the file where it was', async () => {
    // Once: `prepare` moves the file before `run` can refuse the name; the operator's file is gone from incoming.
    await take(put(qcow2), { name: 'Taken' })
    const file = put(qcow2)
    expect((await take(file, { name: 'taken' })).body.error.code).toBe('name_taken')
    expect(existsSync(`${p.dir}/incoming/${file}`)).toBe(true)
  })
})

describe('adding an image of the catalogue', () => {
  const file = emptyQcow2(5 * 2 ** 30)
  /** The distribution's server, in place of the network. */
  const serving = (image: (range: string | undefined) => RawResponse) => {
    const { app } = p.controller
    const usual = app.distributions
    app.distributions = distributionsOver([], async ({ pathname }, { headers }) =>
      /SUMS$/i.test(pathname)
        ? { status: 200, headers: {}, body: Buffer.from(`${'a'.repeat(128)}  debian-13-genericcloud-amd64.qcow2\n`) }
        : image(headers?.['Range']),
    )
    return { [Symbol.dispose]: () => void (app.distributions = usual) }
  }
  const part = (of: Buffer, total: number | undefined = of.length): RawResponse => ({
    status: 206,
    headers: { 'content-range': `bytes 0-65535/${total}` },
    body: of.subarray(0, 65_536),
  })
  const add = () => p.call(owner, 'POST', '/admin/images', { catalogueId: 'debian-13' })

  for (const [what, response, expected] of [
    ['cannot be read', () => ({ status: 404, headers: {}, body: Buffer.alloc(0) }), 'source_unreachable'],
    ['does not say its length', () => ({ ...part(file), headers: {} }), 'source_unreachable'],
    ['has a backing file', () => part(emptyQcow2(2 ** 30, (h) => h.writeBigUInt64BE(64n, 8))), 'validation_failed'],
    ['is no qcow2', () => part(Buffer.alloc(70_000)), 'validation_failed'],
    ['is far too large', () => part(file, 300e9), 'validation_failed'],
  ] as const)
    test(`that ${what} is refused, and nothing happens`, async () => {
      using _ = serving(response)
      const before = p.fingerprint()
      expect((await add()).body.error.code).toBe(expected)
      expect(p.fingerprint()).toBe(before)
    })
  test('reads its header only, and knows its size and the disk that it needs', async () => {
    const ranges: (string | undefined)[] = []
    using _ = serving((range) => {
      ranges.push(range)
      return part(file)
    })
    const { status, body } = await add()
    expect([status, body.sizeBytes, body.minDiskGb, body.checksum]).toEqual([
      201,
      file.length,
      5,
      `sha512:${'a'.repeat(128)}`,
    ])
    expect(ranges).toEqual(['bytes=0-65535'])
  })
})

describe('an image', () => {
  test('keeps a minimum disk that holds it', async () => {
    const { body } = await take(put(qcow2), { name: 'Grown', minDiskGb: 5 })
    const before = p.fingerprint()
    const smaller = await p.call(owner, 'PATCH', `/admin/images/${body.id}`, { minDiskGb: 2 })
    expect([smaller.status, smaller.body.error?.code]).toEqual([422, 'validation_failed'])
    expect(p.fingerprint()).toBe(before)
    expect((await p.call(owner, 'PATCH', `/admin/images/${body.id}`, { minDiskGb: 3 })).body.minDiskGb).toBe(3)
  })
  test('that is removed is gone from the list, its name free again, and its row kept for its servers', async () => {
    const { body } = await take(put(qcow2), { name: 'Short-lived' })
    expect((await p.call(owner, 'DELETE', `/admin/images/${body.id}`)).status).toBe(200)
    expect((await p.call(owner, 'DELETE', `/admin/images/${body.id}`)).body.error.code).toBe('image_not_found')
    expect((await p.call(owner, 'GET', '/admin/images')).body.data.map((i: any) => i.id)).not.toContain(body.id)
    expect((await take(put(qcow2), { name: 'short-LIVED' })).status).toBe(201)
    expect(p.db.$client.query('SELECT count(*) AS n FROM images WHERE id = ?').get(body.id)).toEqual({ n: 1 })
  })
})

describe('a checksum in a distribution\u2019s list', () => {
  const hex = (digits: number, c = 'a') => c.repeat(digits)
  test('is found in the form of sha256sum, with one or two spaces or a star, and in that of BSD', () => {
    for (const line of [
      `${hex(64)}  debian.qcow2`,
      `${hex(64)} *debian.qcow2`,
      `${hex(64)} debian.qcow2`,
      `SHA256 (debian.qcow2) = ${hex(64)}`,
      `SHA256 (debian.qcow2) = ${hex(64).toUpperCase()}`,
      `${hex(64)}  debian.qcow2\r`,
    ])
      expect(checksumIn(`# a comment\n${hex(64, 'b')}  other.qcow2\n${line}\n`, 'debian.qcow2', 'sha256')).toBe(
        `sha256:${hex(64)}`,
      )
    expect(checksumIn(`${hex(128)}  debian.qcow2`, 'debian.qcow2', 'sha512')).toBe(`sha512:${hex(128)}`)
    expect(checksumIn(`SHA512 (debian.qcow2) = ${hex(128)}`, 'debian.qcow2', 'sha512')).toBe(`sha512:${hex(128)}`)
  })
  test('is not that of a file whose name only begins or ends like it', () => {
    for (const line of [
      `${hex(64)}  debian.qcow2.sig`,
      `${hex(64)}  x-debian.qcow2`,
      `${hex(64)}  ./debian.qcow2`,
      `SHA256 (debian.qcow2.sig) = ${hex(64)}`,
      `${hex(64)}  debianXqcow2`,
    ])
      expect([line, checksumIn(line, 'debian.qcow2', 'sha256')]).toEqual([line, undefined])
  })
  test('is not one of another kind or length, nor one that is no checksum', () => {
    for (const line of [
      `${hex(63)}  debian.qcow2`,
      `${hex(65)}  debian.qcow2`,
      `${hex(128)}  debian.qcow2`,
      `${hex(64, 'g')}  debian.qcow2`,
      `SHA1 (debian.qcow2) = ${hex(64)}`,
      `SHA512 (debian.qcow2) = ${hex(64)}`,
      `SHA256 (debian.qcow2) = ${hex(40)}`,
      `debian.qcow2  ${hex(64)}`,
      'debian.qcow2',
      '',
    ])
      expect([line, checksumIn(line, 'debian.qcow2', 'sha256')]).toEqual([line, undefined])
  })
  test('is none when a list has two of the same file', () => {
    const twice = `${hex(64)}  debian.qcow2\n${hex(64, 'b')}  debian.qcow2`
    expect(checksumIn(twice, 'debian.qcow2', 'sha256')).toBeUndefined()
    expect(checksumIn(`${hex(64)}  debian.qcow2\nSHA256 (debian.qcow2) = ${hex(64)}`, 'debian.qcow2', 'sha256')).toBe(
      `sha256:${hex(64)}`,
    )
  })
  test('is found in a signed list, between what is signed and the signature', () => {
    const signed = [
      '-----BEGIN PGP SIGNED MESSAGE-----',
      'Hash: SHA256',
      '',
      '# Fedora-Cloud-Base-Generic-44-1.7.x86_64.qcow2: 577175552 bytes',
      `SHA256 (Fedora-Cloud-Base-Generic-44-1.7.x86_64.qcow2) = ${hex(64)}`,
      '-----BEGIN PGP SIGNATURE-----',
      '',
      'iQIzBAEBCAAdFiEEx',
      '-----END PGP SIGNATURE-----',
    ].join('\n')
    expect(checksumIn(signed, 'Fedora-Cloud-Base-Generic-44-1.7.x86_64.qcow2', 'sha256')).toBe(`sha256:${hex(64)}`)
  })
  test('beside its image is the digest alone, or a line with its name or that of the dated build', () => {
    const file = 'Leap-16.0-Minimal-VM.x86_64-Cloud.qcow2'
    for (const text of [
      hex(64),
      `${hex(64)}\n`,
      `${hex(64)}  ${file}\n`,
      `${hex(64)}  Leap-16.0-Minimal-VM.x86_64-16.0.0-Cloud-Build16.2.qcow2\n`,
      `# ${file}: 600 bytes\nSHA256 (${file}) = ${hex(64)}\n`,
    ])
      expect([text, checksumBeside(text, file, 'sha256')]).toEqual([text, `sha256:${hex(64)}`])
    expect(checksumBeside(`${hex(64)}  other\n${hex(64, 'b')}  ${file}`, file, 'sha256')).toBe(`sha256:${hex(64, 'b')}`)
    for (const text of ['', 'Not found', hex(63), `${hex(64)}  a\n${hex(64, 'b')}  b`])
      expect([text, checksumBeside(text, file, 'sha256')]).toEqual([text, undefined])
  })
  test('is a whole checksum or nothing, whatever the list says', () =>
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            fc.string({ unit: 'binary' }),
            fc.constantFrom('debian.qcow2', hex(64), ' ', ' *', '\n', 'SHA256 (', ') = ', '\r'),
          ),
        ),
        (parts) => {
          const found = checksumIn(parts.join(''), 'debian.qcow2', 'sha256')
          if (found !== undefined) expect(found).toMatch(/^sha256:[0-9a-f]{64}$/)
        },
      ),
      { numRuns: 1000 },
    ))
  test('S10: of a list without end is looked for in its first million characters, in no time', () => {
    const began = performance.now()
    expect(checksumIn(`${'x'.repeat(1_000_000)}\n${hex(64)}  debian.qcow2`, 'debian.qcow2', 'sha256')).toBeUndefined()
    checksumIn('debian.qcow2 '.repeat(100_000), 'debian.qcow2', 'sha256')
    expect(performance.now() - began).toBeLessThan(2000)
  })
})

describe('the catalogue', () => {
  test('has every entry once, over HTTPS, with its list on the same host', () => {
    expect(new Set(catalogue.map(({ id }) => id)).size).toBe(catalogue.length)
    expect(new Set(catalogue.map(({ name }) => name)).size).toBe(catalogue.length)
    for (const { file, sums } of catalogue) {
      const image = new URL(typeof file === 'string' ? file : `${file.directory}x.qcow2`)
      const list = new URL(typeof sums === 'string' ? sums : sums(image.href))
      expect([image.protocol, list.protocol, list.host]).toEqual(['https:', 'https:', image.host])
      expect(image.pathname).toMatch(/\.(qcow2|img)$/)
    }
  })
  test('finds the newest file of a directory by its numbers, and no other kind of file', () => {
    const { file } = catalogue.find(({ id }) => id === 'alpine-3.24')!
    const { name } = file as { name: RegExp }
    const link = (n: string, r: string, kind = 'bios-cloudinit') =>
      `<a href="nocloud_alpine-3.24.${n}-x86_64-${kind}-r${r}.qcow2">nocloud_alpine-3.24.${n}…</a> 1-Jan-2026 150M`
    const shown = [link('9', '0'), link('10', '0'), link('10', '1'), link('2', '7'), link('11', '0', 'uefi-cloudinit')]
    expect(newestName(shown.join('\n'), name)).toBe('nocloud_alpine-3.24.10-x86_64-bios-cloudinit-r1.qcow2')
    expect(newestName('<a href="generic_alpine-3.24.1-x86_64-bios-cloudinit-r0.qcow2">', name)).toBeUndefined()
    expect(newestName('nocloud_alpine-3x24.1-x86_64-bios-cloudinit-r0.qcow2', name)).toBeUndefined()
  })
})

// An image of the catalogue whose distribution signs its checksums: Berth takes no list without a good signature, and
// the build before stays. Keys of the test stand in for those of distributions.
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { type SigningKeyName, signingKeys } from '../../../src/catalog/images/distributions/signing-keys.ts'
import { CHECKED_EVERY_MS, renewImages } from '../../../src/catalog/images/renew.ts'
import { emptyQcow2 } from '../../support/guest.ts'
import { gpgHome, hasGpg, type TestKey } from '../../support/services/openpgp.ts'
import { type World, world } from '../../support/world/panel.ts'

const UBUNTU = 'https://cloud-images.ubuntu.com/releases/24.04/release'
const FEDORA = 'https://download.fedoraproject.org/pub/fedora/linux/releases/43/Cloud/x86_64/images'
const LEAP = 'https://download.opensuse.org/distribution/leap/16.0/appliances/Leap-16.0-Minimal-VM.x86_64-Cloud.qcow2'
const ARCH = 'https://geo.mirror.pkgbuild.com/images/latest/Arch-Linux-x86_64-cloudimg.qcow2'
const DEBIAN = 'https://cloud.debian.org/images/cloud/bookworm/latest'
const UBUNTU_FILE = 'ubuntu-24.04-server-cloudimg-amd64.img'
const FEDORA_FILE = 'Fedora-Cloud-Base-Generic-43-1.6.x86_64.qcow2'

const build = (n: number) => Buffer.concat([emptyQcow2(2 ** 30), Buffer.alloc(512, n)])
const digestOf = (file: Buffer, kind = 'sha256') => createHash(kind).update(file).digest('hex')

describe.skipIf(!hasGpg)('an image whose distribution signs its checksums', () => {
  const home = gpgHome()
  const theirs = home.key()
  const stranger = home.key()
  const real = structuredClone(signingKeys) as Record<SigningKeyName, TestKey>
  afterAll(() => {
    home.remove()
    for (const [name, key] of Object.entries(real)) Object.assign(signingKeys[name as SigningKeyName], key)
  })

  /** Address → the file there; null: its server is away. */
  let files: Map<string, Buffer | null>
  let p: World
  beforeEach(async () => {
    for (const key of Object.values(signingKeys)) Object.assign(key, theirs)
    files = new Map()
    p = await world({
      distributions: async ({ href }, { headers }) => {
        const file = files.get(href)
        if (file === null) return { status: 503, headers: {}, body: Buffer.from('away') }
        if (!file) return { status: 404, headers: {}, body: Buffer.from('no') }
        if (!headers?.['Range']) return { status: 200, headers: {}, body: file }
        return { status: 206, headers: { 'content-range': `bytes 0-9/${file.length}` }, body: file }
      },
    })
  })
  afterEach(() => p.close())

  type Signing = { by?: TestKey | TestKey[]; at?: string; options?: string[] }
  /** Publishes a build of Ubuntu with its list and the signature beside it. */
  function publish(n: number, { by = theirs, ...how }: Signing = {}) {
    const list = `${digestOf(build(n))} *${UBUNTU_FILE}\n`
    files.set(`${UBUNTU}/${UBUNTU_FILE}`, build(n))
    files.set(`${UBUNTU}/SHA256SUMS`, Buffer.from(list))
    files.set(`${UBUNTU}/SHA256SUMS.gpg`, home.sign(list, { by, armored: true, ...how }))
  }
  const add = (catalogueId: string) => p.call(p.owner, 'POST', '/admin/images', { catalogueId })
  const refresh = (id: string) => p.call(p.owner, 'POST', `/admin/images/${id}/actions/refresh`, {})
  const imageOf = async (id: string) =>
    (await p.admin('GET', '/admin/images')).data.find((each: any) => each.id === id) as any
  const buildsOf = async (id: string) => (await p.admin('GET', `/admin/images/${id}/builds`)).builds as any[]
  const attention = async () =>
    (await p.admin('GET', '/admin/overview')).attention.map(({ what, effect }: any) => `${what} ${effect}`) as string[]
  const renew = () => renewImages({ db: p.db, app: p.controller.app })
  const signedBy = ({ fingerprint }: TestKey) => ({ by: 'signature', fingerprint })

  test('is added with the name of the key and the time of its signature, and so is each build', async () => {
    publish(1, { at: '20260101T000000' })
    const { status, body } = await add('ubuntu-24.04')
    expect(status).toBe(201)
    expect(body.verification).toEqual({
      ...signedBy(theirs),
      signedAt: '2026-01-01T00:00:00.000Z',
      words: `Signed by UEC Image Automatic Signing Key, key ${theirs.fingerprint}.`,
    })
    publish(2, { at: '20260201T000000' })
    expect((await refresh(body.id)).body.verification).toMatchObject({ signedAt: '2026-02-01T00:00:00.000Z' })
    expect((await buildsOf(body.id)).map(({ verification }) => verification.signedAt)).toEqual([
      '2026-02-01T00:00:00.000Z',
      '2026-01-01T00:00:00.000Z',
    ])
    const page = await p.controller.router.fetch(
      new Request(`http://localhost/admin/images/${body.id}`, {
        headers: { Cookie: `__Host-panel=${p.owner.cookie}` },
      }),
    )
    expect(await page.text()).toContain(`Signed by UEC Image Automatic Signing Key, key ${theirs.fingerprint}.`)
  })

  const old = home.key({ expires: '1d' })
  const spoiled: Readonly<Record<string, () => void>> = {
    unsigned: () => files.delete(`${UBUNTU}/SHA256SUMS.gpg`),
    changed: () => files.set(`${UBUNTU}/SHA256SUMS`, Buffer.from(`${digestOf(build(3))} *${UBUNTU_FILE}\n`)),
    wrong_key: () => publish(2, { by: stranger }),
    weak_digest: () => publish(2, { options: ['--digest-algo', 'SHA1', '--allow-weak-digest-algos'] }),
    replayed: () => publish(2, { at: '20251231T000000' }),
    expired_key: () => {
      publish(2, { by: old, at: '20200101T010000' })
      Object.assign(signingKeys['ubuntu-cloud-images'], old)
    },
  }
  for (const [reason, spoil] of Object.entries(spoiled))
    test(`is refused by its list as ${reason}: nothing changes, and the build before is installed`, async () => {
      publish(1, { at: '20260101T000000' })
      const { id, checksum } = (await add('ubuntu-24.04')).body
      publish(2)
      spoil()
      const before = await buildsOf(id)
      const refusal = await refresh(id)
      expect([refusal.status, refusal.body.error.code, refusal.body.error.details]).toEqual([
        409,
        'signature_refused',
        { reason },
      ])
      expect(refusal.body.error.message).toEndWith('Nothing was changed.')
      expect(await buildsOf(id)).toEqual(before)
      expect(await imageOf(id)).toMatchObject({ checksum, checkFailure: null })
      const { serverId, jobId } = await p.admin('POST', '/admin/servers', { ...p.order, imageId: id })
      await p.settle()
      expect(p.job(jobId).state).toBe('succeeded')
      expect((await p.admin('GET', `/servers/${serverId}`)).imageChecksum).toBe(checksum)
    })

  test('is not added either, also where it was here before with a newer list', async () => {
    publish(1, { by: stranger })
    const refused = await add('ubuntu-24.04')
    expect([refused.status, refused.body.error.details]).toEqual([409, { reason: 'wrong_key' }])
    publish(2, { at: '20260201T000000' })
    const { id } = (await add('ubuntu-24.04')).body
    await p.admin('DELETE', `/admin/images/${id}`)
    publish(1, { at: '20260101T000000' })
    expect((await add('ubuntu-24.04')).body.error.details).toEqual({ reason: 'replayed' })
    publish(2, { at: '20260201T000000' })
    expect((await add('ubuntu-24.04')).status).toBe(201)
  })

  test('is unreachable, not unsigned, while the signature cannot be read', async () => {
    publish(1)
    files.set(`${UBUNTU}/SHA256SUMS.gpg`, null)
    expect((await add('ubuntu-24.04')).body.error.code).toBe('source_unreachable')
  })

  test('is verified at the next look when it was added before signatures were', async () => {
    publish(1, { at: '20260101T000000' })
    const { id } = (await add('ubuntu-24.04')).body
    p.db.$client.run('UPDATE images SET signed_by = NULL, signed_at = NULL')
    p.db.$client.run('UPDATE image_builds SET signed_by = NULL, signed_at = NULL')
    expect((await imageOf(id)).verification).toMatchObject({
      by: 'https',
      words: 'Checksum over HTTPS only: its signature has not been verified yet.',
    })
    p.turnClock(CHECKED_EVERY_MS + 1000)
    await renew()
    expect((await imageOf(id)).verification).toMatchObject(signedBy(theirs))
    expect((await buildsOf(id)).map(({ verification }) => verification.by)).toEqual(['signature'])
  })

  test('needs attention when a second look finds the same, and no longer when all is well', async () => {
    publish(1, { at: '20260101T000000' })
    const { id } = (await add('ubuntu-24.04')).body
    const told = async () => (await attention()).filter((text) => text.includes('no signature that is accepted'))
    publish(2, { by: stranger })
    p.turnClock(CHECKED_EVERY_MS + 1000)
    await renew()
    expect(await told()).toEqual([])
    expect((await imageOf(id)).checkFailure).toContain('not by the key')
    p.turnClock(CHECKED_EVERY_MS + 1000)
    await renew()
    expect(await told()).toHaveLength(1)
    publish(2)
    p.turnClock(CHECKED_EVERY_MS + 1000)
    await renew()
    expect(await told()).toEqual([])
    expect((await imageOf(id)).checkFailure).toBeNull()
  })

  test('is read from the signed part alone where the list has its signature inside', async () => {
    const list = (n: number) =>
      `# ${FEDORA_FILE}: ${build(n).length} bytes\nSHA256 (${FEDORA_FILE}) = ${digestOf(build(n))}\n`
    const signed = home.sign(list(1), { by: theirs, kind: '--clear-sign' }).toString()
    const place = `${FEDORA}/Fedora-Cloud-43-1.6-x86_64-CHECKSUM`
    files.set(`${FEDORA}/${FEDORA_FILE}`, build(1))
    files.set(place, Buffer.from(list(3)))
    expect((await add('fedora-43')).body.error.details).toEqual({ reason: 'unsigned' })
    files.set(place, Buffer.from(`${list(2)}\n${signed}\n${list(3)}`))
    const { body } = await add('fedora-43')
    expect(body).toMatchObject({ checksum: `sha256:${digestOf(build(1))}`, verification: signedBy(theirs) })
  })

  test('takes a signed checksum for the image that it names alone', async () => {
    const list = `${digestOf(build(1))} Leap-16.0-Minimal-VM.x86_64-kvm.qcow2\n`
    files.set(LEAP, build(1))
    files.set(`${LEAP}.sha256`, Buffer.from(list))
    files.set(`${LEAP}.sha256.asc`, home.sign(list, { by: theirs, armored: true }))
    expect((await add('opensuse-leap-16.0')).body.error.code).toBe('source_unreachable')

    const sums = (name: string) => {
      const text = `${digestOf(build(2))}  ${name}\n`
      files.set(ARCH, build(2))
      files.set(`${ARCH}.SHA256`, Buffer.from(text))
      files.set(`${ARCH}.SHA256.sig`, home.sign(text, { by: theirs }))
    }
    sums('Arch-Linux-x86_64-basic-20261001.604814.qcow2')
    expect((await add('arch')).body.error.code).toBe('source_unreachable')
    sums('Arch-Linux-x86_64-cloudimg-20261001.604814.qcow2')
    expect((await add('arch')).body.verification).toMatchObject(signedBy(theirs))
  })

  test('says why no signature is verified where its distribution makes none', async () => {
    const file = 'debian-12-genericcloud-amd64.qcow2'
    files.set(`${DEBIAN}/${file}`, build(1))
    files.set(`${DEBIAN}/SHA512SUMS`, Buffer.from(`${digestOf(build(1), 'sha512')}  ${file}\n`))
    expect((await add('debian-12')).body.verification).toEqual({
      by: 'https',
      fingerprint: null,
      signedAt: null,
      words: 'Checksum over HTTPS only: Debian does not sign the checksums of its cloud images.',
    })
    expect((await imageOf(p.image)).verification).toMatchObject({ by: 'import', fingerprint: null })
  })
})

// Our seeds, read by the cloud-init of others: all releases in the directory that BERTH_CLOUD_INIT names, otherwise the
// one of this machine's package archive. What a system is to have is compared with what its server was sold.
import { beforeAll, describe, expect, test } from 'bun:test'
import { identitySeed, networkSeed, passwordSeedFor, seedFor } from '../../../src/compute/server-vm/seed.ts'
import { sha512Crypt } from '../../../src/kernel/crypto/sha512-crypt.ts'
import { forms, lossesOf, networkConfigFor, server } from './forms.ts'
import { isSince, type Read, type Release, readBy, releases } from './releases.ts'
import { networkIn } from './rendered.ts'

const hash = sha512Crypt('Secret-1')
const key = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl'
const held = forms['gateway inside, fe80::1']!.held
const script = { name: 'first', content: '#!/bin/sh\necho hello\n' }
const userDataOf = (seed: object) => (seed as { userData: Record<string, unknown> }).userData
const userData = {
  password: userDataOf(seedFor(server, held, { passwordHash: hash, publicKeys: [] }, 'job_1')),
  keys: userDataOf(seedFor(server, held, { passwordHash: null, publicKeys: [key] }, 'job_1')),
  both: userDataOf(seedFor(server, held, { passwordHash: hash, publicKeys: [key] }, 'job_1', { script })),
  neither: userDataOf(seedFor(server, held, { passwordHash: null, publicKeys: [] }, 'job_1')),
  network: userDataOf(networkSeed(server, held, 'job_2')),
  identity: userDataOf(identitySeed(server, held, 'job_4')),
  'password reset': userDataOf(passwordSeedFor(server, held, hash, 'job_3')),
}
/** The control: a schema that checks nothing would accept it. */
const refused = { 'empty keys': { users: [{ name: 'root', ssh_authorized_keys: [] }] } }
const REFUSED_SINCE = '22.4'

const versions = ['v1', 'v2'] as const
const networks = Object.fromEntries(
  versions.flatMap((version) =>
    Object.entries(forms).map(([name, form]) => [`${version} ${name}`, networkConfigFor(form, version)]),
  ),
)

/** The limits of consumers. `before`: the first release without it. docs/guests.md tells of each. */
const limits: readonly { consumer: RegExp; before?: string; form?: RegExp; loses: RegExp }[] = [
  { consumer: /^v1 eni alpine/, form: /outside|single/, loses: /^IPv[46] gateway$/ },
  { consumer: /^v1 netplan/, before: '23.1', form: /outside|single/, loses: /^IPv[46] gateway$/ },
  { consumer: /^v1 networkd/, before: '24.2', form: /outside|single/, loses: /^IPv[46] gateway$/ },
  { consumer: /^v1 networkd/, before: '23.1', loses: /^IPv[46] gateway$/ },
  { consumer: /^v1 networkd/, before: '22.3', loses: /^(private )?addresses / },
  { consumer: /^v1 sysconfig opensuse/, loses: /^IPv[46] gateway$/ },
  { consumer: /^v1 sysconfig opensuse/, before: '24.2', loses: /^resolvers none$/ },
]
/** Which version each consumer is given. */
const isGiven = (version: string, consumer: string) => version === 'v1' || consumer.startsWith('netplan')

let read: { release: Release; of: Read }[]
beforeAll(async () => {
  const all = await releases()
  read = await Promise.all(
    all.map(async (release) => ({
      release,
      of: await readBy(release, { networks, userData: { ...userData, ...refused } }),
    })),
  )
}, 300_000)
/** The findings of all releases under their version, where there are some. */
const byRelease = <Found>(find: (of: Read, version: string) => Found[]): Record<string, Found[]> =>
  Object.fromEntries(
    read.map(({ release, of }) => [release.version, find(of, release.version)] as const).filter(([, f]) => f.length),
  )

describe('cloud-init', () => {
  test('accepts every seed by its schema, and refuses what it is known to refuse', () => {
    expect(byRelease(({ schema }) => Object.keys(userData).flatMap((name) => schema[name] ?? []))).toEqual({})
    const silent = byRelease(({ schema }, version) =>
      isSince(version, REFUSED_SINCE) ? Object.keys(refused).filter((name) => !schema[name]) : [],
    )
    expect(silent).toEqual({})
  })

  test('accepts every network, where netplan does not check it itself', () => {
    // Its own schema of version 2 does not know on-link, which netplan does.
    const known = /Additional properties are not allowed \('on-link' was unexpected\)/
    expect(
      byRelease(({ networkSchema }) =>
        Object.entries(networkSchema).filter(([name, words]) => !(name.startsWith('v2') && known.test(words))),
      ),
    ).toEqual({})
  })

  test('gives root the password and keys of the order, and leaves its lock alone where the network changes', () => {
    const found = byRelease(({ root }) => Object.keys(userData).map((name) => [name, root[name]]))
    const access = (password: string | null, keys: string[]) =>
      expect.objectContaining({ password, keys, ...(password === null && { locked: true }) })
    for (const { release } of read)
      expect(found[release.version]).toEqual([
        ['password', access(hash, [])],
        ['keys', access(null, [key])],
        ['both', access(hash, [key])],
        ['neither', access(null, [])],
        ['network', { password: null, locked: null, keys: [] }],
        ['identity', { password: null, locked: null, keys: [] }],
        ['password reset', access(hash, [])],
      ])
  })

  test('repeats no first boot when the network changes, and runs three modules when the password does', () => {
    const all = ['one', 'two']
    for (const { of } of read)
      expect(of.modules).toMatchObject({
        keys: [all, all, all],
        network: [[], [], []],
        identity: [['bootcmd', 'set-hostname', 'update-etc-hosts', 'ssh'], [], []],
        'password reset': [['write-files', 'users-groups'], ['set-passwords'], []],
      })
  })

  test('makes of every form of addresses what was sold, for every renderer, but for the limits in the list', () => {
    const met = new Set<object>()
    const found = byRelease(({ networks }, version) =>
      Object.entries(networks).flatMap(([name, byConsumer]) =>
        Object.entries(byConsumer)
          .filter(([consumer]) => isGiven(name.slice(0, 2), consumer))
          .flatMap(([consumer, files]) => {
            const [as, form] = [`${name.slice(0, 2)} ${consumer}`, name.slice(3)]
            const inForce = limits.filter(
              (l) =>
                l.consumer.test(as) && (!l.before || !isSince(version, l.before)) && (!l.form || l.form.test(form)),
            )
            return lossesOf(forms[form]!, networkIn(consumer, files, 'eth0'), networkIn(consumer, files, 'priv7'))
              .filter((loss) => !inForce.some((l) => l.loses.test(loss) && met.add(l)))
              .map((loss) => `${as}, ${form}: ${loss}`)
          }),
      ),
    )
    expect(found).toEqual({})
    // A limit that no release has any more is taken out of the list and of the docs.
    if (read.length > 1) expect(limits.filter((l) => !met.has(l))).toEqual([])
  })
})

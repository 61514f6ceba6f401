import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { FakeSeeds } from '../../agent/drivers/seed/fake.ts'
import { IsoSeeds } from '../../agent/drivers/seed/iso.ts'
import { filesOf, type OpenConfigDrive, type Seeds, seedFiles } from '../../agent/drivers/seed/seed.ts'
import { run } from '../../agent/host/exec.ts'
import { seedOf, workloadId } from '../agent/examples.ts'
import { temporary } from '../agent/temporary.ts'
import { missing, note } from './tools.ts'

const configDrive: OpenConfigDrive = {
  form: 'config-drive',
  workload: workloadId(1),
  metaData: { uuid: 'job_1', hostname: 'win01.example.com', meta: { admin_username: 'Administrator' } },
  networkData: { links: [{ id: 'eth0', type: 'phy', ethernet_mac_address: '52:54:00:00:00:01' }], networks: [] },
  userData: '#ps1\r\nWrite-Output "Grüße"\r\n',
  password: 'Rr8kT2mWqZ4vN6cXy9Hd',
}

/** The tests that every kind of seed store passes. */
function seedContract(make: () => Seeds) {
  test('a seed exists from its writing until its removal', async () => {
    const seeds = make()
    expect(await seeds.path(workloadId(1))).toBeUndefined()
    await seeds.write(seedOf(1))
    await seeds.write(seedOf(1))
    expect(await seeds.path(workloadId(1))).toContain(workloadId(1))
    await seeds.remove(workloadId(1))
    await seeds.remove(workloadId(1))
    expect(await seeds.path(workloadId(1))).toBeUndefined()
  })
  test('a config drive takes the place of the seed before, and is removed like it', async () => {
    const seeds = make()
    await seeds.write(seedOf(1))
    await seeds.write(configDrive)
    expect(await seeds.path(workloadId(1))).toContain(workloadId(1))
    await seeds.remove(workloadId(1))
    expect(await seeds.path(workloadId(1))).toBeUndefined()
  })
}

describe('a fake seed', () => seedContract(() => new FakeSeeds(new Database(':memory:'))))

describe('the files of a seed', () => {
  test('equal the stored ones', async () => {
    expect(seedFiles(seedOf(1))['user-data']).toBe(await Bun.file(join(import.meta.dir, 'golden/user-data')).text())
  })
  test('S6: contain exactly the given value, whatever it is', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (given) => {
        const same = (text: string) => expect(JSON.stringify(JSON.parse(text))).toBe(JSON.stringify(given))
        const files = seedFiles({ metaData: given, userData: given, networkConfig: given } as never)
        expect(files['user-data']).toStartWith('#cloud-config\n')
        same(files['user-data'].slice('#cloud-config\n'.length))
        same(files['meta-data'])
        same(files['network-config'])
      }),
    )
  })
})

describe.skipIf(note(await missing('xorriso'), 'seeds as ISO images'))('a seed as an ISO image', () => {
  const make = () => {
    const root = temporary('seed')
    return { root, seeds: new IsoSeeds(root) }
  }
  seedContract(() => make().seeds)

  test('is labelled cidata, holds the three files, and only its owner may read it', async () => {
    const { root, seeds } = make()
    await seeds.write(seedOf(1))
    const path = (await seeds.path(workloadId(1))) ?? ''
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(
      readFileSync(path)
        .subarray(32768 + 40, 32768 + 46)
        .toString(),
    ).toBe('cidata')
    const out = join(root, 'out')
    await run('xorriso', ['-no_rc', '-osirrox', 'on', '-indev', path, '-extract', '/', out])
    expect(readdirSync(out).sort()).toEqual(['meta-data', 'network-config', 'user-data'])
    expect(readFileSync(join(out, 'user-data'), 'utf8')).toBe(seedFiles(seedOf(1))['user-data'])
  })
  test('S6: for Windows is labelled config-2 and has OpenStack’s files, with the password as it is', async () => {
    const { root, seeds } = make()
    await seeds.write(configDrive)
    const path = (await seeds.path(workloadId(1))) ?? ''
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(
      readFileSync(path)
        .subarray(32768 + 40, 32768 + 48)
        .toString(),
    ).toBe('config-2')
    const out = join(root, 'out')
    await run('xorriso', ['-no_rc', '-osirrox', 'on', '-indev', path, '-extract', '/', out])
    expect(readdirSync(out)).toEqual(['openstack'])
    const latest = join(out, 'openstack/latest')
    expect(readdirSync(latest).sort()).toEqual(['meta_data.json', 'network_data.json', 'user_data'])
    const json = (name: string) => JSON.parse(readFileSync(join(latest, name), 'utf8'))
    expect(json('meta_data.json')).toEqual({ ...configDrive.metaData, admin_pass: 'Rr8kT2mWqZ4vN6cXy9Hd' })
    expect(json('network_data.json')).toEqual(configDrive.networkData)
    expect(readFileSync(join(latest, 'user_data'), 'utf8')).toBe(configDrive.userData!)
  })
  test('S6: for Windows contains exactly the given value, whatever it is', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.string(), (given, password) => {
        const files = filesOf({ ...configDrive, metaData: given, networkData: given, password })
        expect(JSON.parse(files['openstack/latest/network_data.json']!)).toEqual(JSON.parse(JSON.stringify(given)))
        expect(JSON.parse(files['openstack/latest/meta_data.json']!).admin_pass).toBe(password)
      }),
    )
  })
  test('leaves no other file behind', async () => {
    const { root, seeds } = make()
    await seeds.write(seedOf(1))
    expect(readdirSync(root)).toEqual([`${workloadId(1)}.iso`])
  })
})

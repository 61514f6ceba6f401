import { describe, expect, test } from 'bun:test'
import { demo } from '../../../src/imports/sources/demo/source.ts'
import { sourceFailureCodes } from '../../../src/imports/sources/failure.ts'
import { faultOf } from '../simulators/fuzz.ts'
import { all, everything, failureOf } from '../simulators/reading.ts'

const at = (address: string, token = 'any') => demo.connect(address, { token }, { certificateSha256: null })

describe('The demonstration panel', () => {
  test('has as many servers as its name says, always the same', async () => {
    const found = await everything(at('https://demo-90.example:443'))
    expect(found.servers.length).toBe(90)
    expect(await everything(at('https://demo-90.example:443'))).toEqual(found)
    expect((await all(at('https://demo.example').servers([]))).length).toBe(40)
    expect(faultOf(found.servers, 'servers')).toBeUndefined()
  })
  test('has every kind of thing that an import has to decide about', async () => {
    const { servers, owners, ranges } = await everything(at('https://demo-90.example'))
    const has = (test: (server: (typeof servers)[number]) => boolean) => expect(servers.some(test)).toBe(true)
    has(({ virtualization }) => virtualization === 'container')
    has(({ isWindows }) => isWindows)
    has(({ ownerId }) => ownerId === null)
    has(({ hypervisorId }) => hypervisorId === null)
    has(({ packageId }) => packageId === null)
    has(({ isSuspended }) => isSuspended)
    has(({ isInRescue }) => isInRescue)
    has(({ osName }) => osName === null)
    for (const state of ['running', 'stopped', 'unknown']) has((server) => server.state === state)
    expect(new Set(owners.map(({ kind }) => kind))).toEqual(new Set(['customer', 'staff', 'reseller']))
    expect(ranges.map(({ version }) => version)).toEqual([4, 6])
    for (const key of ['id', 'uuid', 'name', 'mac'] as const)
      expect(new Set(servers.map((server) => server[key])).size).toBe(90)
    expect(new Set(servers.flatMap(({ addresses }) => addresses.map(({ address }) => address))).size).toBe(180)
  })
  test('fails in each way that it is told to', async () => {
    for (const code of sourceFailureCodes) {
      const reader = at('https://demo.example', code)
      for (const read of [() => reader.account(), () => all(reader.servers([]))]) {
        const failure = await failureOf(read)
        expect(failure.code).toBe(code)
        expect(failure.message).not.toContain('{')
      }
    }
  })
})

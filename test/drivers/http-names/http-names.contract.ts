import { expect, test } from 'bun:test'
import type { HttpNames } from '../../../agent/drivers/http-names/http-names.ts'
import { httpLabel } from '../../../agent/protocol/gpu.ts'
import { instanceId } from '../../agent/instances/examples.ts'

export const DOMAIN = 'gpu1.example.com'
export const nameOf = (n: number, port: number) => `${httpLabel(port, instanceId(n))}.${DOMAIN}`
export const name = (n: number, port: number) => ({ workload: instanceId(n), number: n, port })

export type HttpRig = {
  names: HttpNames
  /** `instance`: the name leads to it. */
  finds(name: string): Promise<'instance' | 'stopped' | 'nothing'>
}

/** The tests that real and fake names pass. `port`: where something answers in instance 1. */
export function httpNamesContract(make: () => Promise<HttpRig>, port: number) {
  test('a name leads to its instance while that runs, and to nothing once it is taken away', async () => {
    const { names, finds } = await make()
    for (const _ of [1, 2]) await names.set({ domain: DOMAIN, names: [name(1, port), name(2, port)] })
    expect(await finds(nameOf(1, port))).toBe('stopped')
    for (const _ of [1, 2]) names.opened(instanceId(1))
    expect(await finds(nameOf(1, port))).toBe('instance')
    expect(await finds(nameOf(2, port))).toBe('stopped')
    for (const _ of [1, 2]) names.closed(instanceId(1))
    expect(await finds(nameOf(1, port))).toBe('stopped')
    await names.set({ domain: DOMAIN, names: [name(2, port)] })
    expect(await finds(nameOf(1, port))).toBe('nothing')
    for (const _ of [1, 2]) await names.set({ domain: null, names: [] })
    expect(await finds(nameOf(2, port))).toBe('nothing')
  })
  test('only the names of instances that run lead to them', async () => {
    const { names, finds } = await make()
    await names.set({ domain: DOMAIN, names: [name(1, port), name(2, port)] })
    names.opened(instanceId(2))
    for (const _ of [1, 2]) names.openedOnly(new Set([instanceId(1)]))
    expect([await finds(nameOf(1, port)), await finds(nameOf(2, port))]).toEqual(['instance', 'stopped'])
  })
}

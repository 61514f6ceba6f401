// The lines of `berth agent doctor` about cards.
import { expect, test } from 'bun:test'
import { cardChecks } from '../../../agent/host/doctor.ts'
import type { Card } from '../../../agent/protocol/gpu.ts'

const card: Card = {
  ...{ uuid: 'GPU-1', model: 'NVIDIA H100 80GB HBM3', memoryMb: 81_559, bus: '0000:3b:00.0', driver: '570.133.20' },
  ...{ serial: '1', nvlinks: 18, mig: 'off', problems: [] },
}
const engine = { name: 'podman', version: '5.4.2', problems: [] as string[] }
const lines = async (cards: Card[], findings: string[], about: typeof engine | undefined, toolkit?: string) => {
  const gpus = { cards: async () => cards, findings: async () => findings }
  const checks = await cardChecks(gpus, async () => toolkit, { about: async () => about })
  const found = await Promise.all(checks.map(async ({ what, look }) => ({ what, ...(await look()) })))
  return found.map(({ what, verdict, found, remedy }) =>
    [verdict, what, found, ...(remedy ? [remedy] : [])].join(' | '),
  )
}

test('a host without cards is asked for nothing', async () => {
  expect(await lines([], [], undefined)).toEqual(['ok | cards | this host has none'])
})
test('each card has a line, and so has what is there', async () => {
  const single: Card = { ...card, nvlinks: 0, mig: 'none' }
  expect(await lines([card, single], [], engine, '1.18.0')).toEqual([
    'ok | card | NVIDIA H100 80GB HBM3, 81559 MiB, at 0000:3b:00.0, driver 570.133.20, 18 NVLinks, MIG off',
    'ok | card | NVIDIA H100 80GB HBM3, 81559 MiB, at 0000:3b:00.0, driver 570.133.20',
    'ok | toolkit | nvidia-ctk 1.18.0',
    'ok | containers | podman 5.4.2',
  ])
})
test('what is wrong has its remedy', async () => {
  const broken: Card = { ...card, mig: 'on', problems: ['MIG is on: switch it off', 'Xid 79: it fell off the bus'] }
  const old = { ...engine, problems: ['Podman 4.3.1 is too old: 5.4.0 or newer is needed.'] }
  const found = await lines([broken], ['nvidia-ctk is not installed: install it', 'odd'], old)
  expect(found[0]).toEndWith('MIG on | it is not sold: MIG is on: switch it off. Xid 79: it fell off the bus')
  expect(found.slice(1)).toEqual([
    'warn | cards | nvidia-ctk is not installed | install it',
    'warn | cards | odd | see the message',
    'warn | containers | Podman 4.3.1 is too old | 5.4.0 or newer is needed.',
  ])
  expect((await lines([card], [], undefined)).at(-1)).toContain('Podman is not installed')
})

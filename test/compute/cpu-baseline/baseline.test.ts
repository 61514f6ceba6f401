// The CPU model of a location with three nodes, of which one is older than the others.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { usableModelsIn } from '../../../agent/drivers/hypervisor/cpu-models.ts'
import { commonModels } from '../../../src/fleet/placement/cpu-models.ts'
import { definitionOnNode } from '../../support/crash-matrix/fake-node.ts'
import type { World } from '../../support/world/panel.ts'
import { nodeNamed, open } from '../transfers/world.ts'

let p: World
beforeEach(async () => {
  p = await open()
  const models = (node: string, models: readonly string[], cpu = 'Intel Xeon') =>
    p.db.$client.run(
      "UPDATE nodes SET facts = json_set(facts, '$.cpu.model', ?, '$.cpuModels', json(?)) WHERE name = ?",
      [cpu, JSON.stringify(models), node],
    )
  models('fra-01', ['qemu64', 'Nehalem', 'Westmere', 'SandyBridge'])
  models('fra-02', ['qemu64', 'Nehalem', 'Westmere'], 'AMD EPYC')
  models('fra-03', ['qemu64', 'Nehalem'])
})
afterEach(() => p.close())

const path = () => `/admin/node-groups/${p.location}/cpu-baseline`
const read = () => p.admin('GET', path())
const set = (model: string | null) => p.call(p.owner, 'PUT', path(), { model })
const order = async (hostname: string, more: object = {}) => {
  const { serverId } = await p.admin('POST', '/admin/servers', { ...p.order, hostname, ...more })
  await p.settle()
  return serverId as string
}
const adopt = async (...serverIds: string[]) => {
  const { servers } = await p.admin('POST', `/admin/node-groups/${p.location}/actions/adopt-cpu-baseline`, {
    serverIds,
  })
  await p.settle()
  return servers.map(({ error }: any) => error?.code ?? null)
}
const onNode = (id: string) => definitionOnNode(p, id)?.['cpuModel']

test('the best model that every node runs is proposed, and one that no node runs is refused', async () => {
  expect(await read()).toMatchObject({ model: null, proposed: 'Nehalem', common: ['Nehalem', 'qemu64'] })
  const before = p.fingerprint()
  expect((await set('Haswell')).body.error.code).toBe('validation_failed')
  expect((await set('</model>')).body.error.code).toBe('validation_failed')
  expect(p.fingerprint()).toBe(before)
  expect((await set('Westmere')).status).toBe(200)
  const { model, nodes } = await read()
  expect([model, nodes.map(({ node, models, runs }: any) => [node.name, models, runs])]).toEqual([
    'Westmere',
    [
      ['fra-01', 4, true],
      ['fra-02', 3, true],
      ['fra-03', 2, false],
    ],
  ])
})

test('new servers have it, and go neither by an order nor by a move to a node that does not run it', async () => {
  const first = await order('web01', { nodeId: p.node.id })
  await set('Westmere')
  expect([onNode(first), onNode(await order('web02', { nodeId: p.node.id }))]).toEqual([undefined, 'Westmere'])
  const before = p.fingerprint()
  const refused = await p.call(p.owner, 'POST', '/admin/servers', {
    ...p.order,
    hostname: 'web03',
    nodeId: nodeNamed(p, 'fra-03'),
  })
  expect(refused.body.error).toMatchObject({
    code: 'no_capacity',
    message: 'The chosen node cannot take it: fra-03 cannot run the CPU model Westmere.',
  })
  expect(p.fingerprint()).toBe(before)
  const [second] = (await p.admin('GET', '/servers?q=web02')).data
  const options = async (id: string) =>
    (await p.admin('GET', `/admin/servers/${id}/move-options`)).nodes.map((n: any) => [n.node.name, n.reason, n.note])
  expect(await options(second.id)).toEqual([
    ['fra-02', null, null],
    ['fra-03', 'cannot run the CPU model Westmere', null],
  ])
  expect(await options(first)).toEqual([
    ['fra-02', null, 'has another CPU model: reboot needed'],
    ['fra-03', null, null],
  ])
  await p.admin('POST', `/admin/servers/${second.id}/actions/move`, {})
  await p.settle()
  expect((await p.admin('GET', `/servers/${second.id}`)).node.name).toBe('fra-02')
})

test('the stock counts only nodes that run it', async () => {
  await set('Westmere')
  p.db.$client.run("UPDATE nodes SET open = name = 'fra-03'")
  const [line] = (await p.admin('GET', '/stock')).stock
  expect([line.available, line.code]).toEqual([0, 'no_capacity'])
  const { body } = await p.call(p.owner, 'POST', '/admin/servers', { ...p.order, hostname: 'web01' })
  expect(body.error.code).toBe('no_capacity')
})

test('a server that is there gets it with its next start from off, and is listed until then', async () => {
  const [runs, old] = [
    await order('web01', { nodeId: p.node.id }),
    await order('web02', { nodeId: nodeNamed(p, 'fra-03') }),
  ]
  await set('Westmere')
  const listed = async () =>
    (await read()).servers.map(({ server, model, pending }: any) => [server.hostname, model, pending])
  expect(await listed()).toEqual([
    ['web01', null, false],
    ['web02', null, false],
  ])
  expect(await adopt(runs, old, 'srv_nothing')).toEqual([null, 'no_capacity', 'server_not_found'])
  expect([onNode(runs), await listed()]).toEqual([
    'Westmere',
    [
      ['web01', 'Westmere', true],
      ['web02', null, false],
    ],
  ])
  expect(await adopt(runs)).toEqual(['already_done'])
  await p.admin('POST', `/servers/${runs}/actions/power`, { action: 'restart' })
  await p.settle()
  expect(await listed()).toEqual([['web02', null, false]])
  await set(null)
  expect(await listed()).toEqual([['web01', 'Westmere', false]])
  await adopt(runs)
  expect([onNode(runs), (await read()).serversTotal]).toEqual([undefined, 1])
})

test('a reinstallation keeps it, and a new report of a node counts at once', async () => {
  await set('Westmere')
  const id = await order('web01', { nodeId: p.node.id })
  await p.admin('POST', `/servers/${id}/actions/reinstall`, { imageId: p.image, access: { mode: 'password' } })
  await p.settle()
  expect(onNode(id)).toBe('Westmere')
  p.db.$client.run("UPDATE nodes SET facts = json_remove(facts, '$.cpuModels') WHERE name = 'fra-02'")
  expect((await read()).nodes.map(({ models, runs }: any) => [models, runs])).toEqual([
    [4, true],
    [0, false],
    [2, false],
  ])
})

test('models are ordered by what they offer; those of 32 bits and unknown ones are not proposed', () => {
  const of = (...models: string[]) => new Set(models)
  expect(commonModels([])).toEqual([])
  expect(commonModels([of('486', 'qemu32', 'FutureLake')])).toEqual([])
  expect(
    commonModels([
      of('qemu64', 'Westmere', 'Westmere-IBRS', 'EPYC', 'Haswell-noTSX'),
      of('qemu64', 'Westmere', 'Westmere-IBRS', 'Haswell-noTSX', '486'),
    ]),
  ).toEqual(['Haswell-noTSX', 'Westmere-IBRS', 'Westmere', 'qemu64'])
})

test('a host names the models that libvirt can offer in full', () => {
  const capabilities = `<cpu><mode name='host-passthrough' supported='no'/>
    <mode name='host-model' supported='yes'><model fallback='forbid'>EPYC</model></mode>
    <mode name='custom' supported='yes'>
      <model usable='yes' deprecated='no' vendor='unknown'>qemu64</model>
      <model usable='no' vendor='Intel'>Haswell</model>
      <model usable='yes' vendor='Intel'>Westmere</model>
      <model usable='yes' vendor='Intel'>a b</model>
    </mode></cpu>`
  expect(usableModelsIn(capabilities)).toEqual(['Westmere', 'qemu64'])
})

// HTTP names of instances: what their owners and the hosts of them are told, and when.
import { describe, expect, test } from 'bun:test'
import { tellHostsTheirNames } from '../../../src/compute/gpu-instances/http/names.ts'
import { addGpuHost } from '../../support/nodes/gpus.ts'
import { type GpuWorld, gpuWorld, orderInstance, power, showInstance } from '../../support/nodes/instances.ts'
import type { World } from '../../support/world/panel.ts'

const DOMAIN = 'gpu1.example.com'
/** The clock comes round. */
const tell = async (p: World) => {
  tellHostsTheirNames(p.db, p.controller.app)
  await p.settle()
}
const setDomain = (p: GpuWorld, httpDomain: string | null) =>
  p.admin('PATCH', `/admin/nodes/${p.host.id}/gpu-host`, { httpDomain })
const setPorts = (p: GpuWorld, id: string, httpPorts: number[] | null) =>
  p.admin('PUT', `/gpu-instances/${id}/http-ports`, { httpPorts })
const served = ({ host }: GpuWorld) => host.agent.host.httpNames.served()
const nameOf = (id: string, port: number) => `${port}-${id.slice(4)}.${DOMAIN}`
const hostOf = async (p: GpuWorld) => (await p.admin('GET', `/admin/gpus?nodeId=${p.host.id}`)).data[0]
const jobs = async (p: GpuWorld) =>
  (await p.admin('GET', '/jobs')).data.filter(({ kind }: { kind: string }) => kind === 'gpu_http_names').length

/** A host with a domain, and an instance with Jupyter on it. */
async function named(offer: object = {}) {
  const p = await gpuWorld({ cards: 2, offer })
  const id = await orderInstance(p)
  await setDomain(p, DOMAIN)
  await tell(p)
  return Object.assign(p, { id })
}

describe('an instance on a host with a domain', () => {
  test('has a name for Jupyter, and the link of Jupyter uses it', async () => {
    using p = await named()
    expect(served(p)).toEqual([{ name: nameOf(p.id, 8888), isOpen: true }])
    const instance = await showInstance(p, p.id)
    expect(instance).toMatchObject({
      httpDomain: DOMAIN,
      httpPorts: [{ port: 8888, url: `https://${nameOf(p.id, 8888)}/` }],
    })
    expect(instance.jupyterUrl).toStartWith(`https://${nameOf(p.id, 8888)}/?token=`)
    expect(await hostOf(p)).toMatchObject({ httpDomain: DOMAIN, httpState: 'served', httpProblem: null })
  })
  test('has the ports that its owner chose, each once, and none where he chose none', async () => {
    using p = await named()
    await setPorts(p, p.id, [7860, 8000, 7860])
    await tell(p)
    expect(served(p).map(({ name }) => name)).toEqual([nameOf(p.id, 7860), nameOf(p.id, 8000)])
    // Its Jupyter is reached by its mapped port again.
    expect((await showInstance(p, p.id)).jupyterUrl).toMatch(/^http:\/\/10\.9\./)
    await setPorts(p, p.id, [])
    await tell(p)
    expect([served(p), (await showInstance(p, p.id)).httpPorts]).toEqual([[], []])
    await setPorts(p, p.id, null)
    await tell(p)
    expect(served(p).map(({ name }) => name)).toEqual([nameOf(p.id, 8888)])
  })
  test('keeps its names while it is stopped, and they say so', async () => {
    using p = await named()
    await power(p, p.id, 'stop')
    await tell(p)
    expect(served(p)).toEqual([{ name: nameOf(p.id, 8888), isOpen: false }])
    await power(p, p.id, 'start')
    expect(served(p)).toEqual([{ name: nameOf(p.id, 8888), isOpen: true }])
  })
  test('loses them with its deletion, at once by its container and then as a whole', async () => {
    using p = await named()
    await p.admin('DELETE', `/admin/gpu-instances/${p.id}`)
    await p.settle()
    expect(served(p)).toEqual([{ name: nameOf(p.id, 8888), isOpen: false }])
    await tell(p)
    expect(served(p)).toEqual([])
    const next = await orderInstance(p)
    await tell(p)
    expect(served(p).map(({ name }) => name)).toEqual([nameOf(next, 8888)])
  })
  test('refuses the port of SSH, too many ports, and what is no port', async () => {
    using p = await named()
    for (const httpPorts of [[22], [0], [65_536], ['8888'], Array.from({ length: 11 }, (_, n) => 9000 + n)]) {
      const { status, body } = await p.call(p.owner, 'PUT', `/gpu-instances/${p.id}/http-ports`, { httpPorts })
      expect([status, body.error.code]).toEqual([422, 'validation_failed'])
    }
    await tell(p)
    expect(served(p).map(({ name }) => name)).toEqual([nameOf(p.id, 8888)])
  })
})

describe('a host', () => {
  test('is told once for each change, and not while nothing changed', async () => {
    using p = await named()
    expect(await jobs(p)).toBe(1)
    for (const _ of [1, 2]) await tell(p)
    expect(await jobs(p)).toBe(1)
    await orderInstance(p)
    await tell(p)
    expect([await jobs(p), served(p).length]).toEqual([2, 2])
  })
  test('serves nothing once its domain is taken away, and links are those of its ports', async () => {
    using p = await named()
    await setDomain(p, null)
    expect(await showInstance(p, p.id)).toMatchObject({ httpDomain: null, httpPorts: [] })
    await tell(p)
    expect([served(p), (await hostOf(p)).httpState]).toEqual([[], null])
  })
  test('has no links under a new domain before it serves that', async () => {
    using p = await named()
    await setDomain(p, '*.GPU9.example.net.')
    expect(await hostOf(p)).toMatchObject({ httpDomain: 'gpu9.example.net', httpState: 'waiting' })
    expect((await showInstance(p, p.id)).httpPorts).toEqual([])
    await tell(p)
    expect(served(p).map(({ name }) => name)).toEqual([`8888-${p.id.slice(4)}.gpu9.example.net`])
  })
  test('that cannot serve them says why, and is told again later or when its domain is saved again', async () => {
    using p = await gpuWorld()
    const id = await orderInstance(p)
    p.host.agent.fault({ command: 'http-names.set', mode: 'fail' })
    await setDomain(p, DOMAIN)
    for (const _ of [1, 2]) await tell(p)
    expect(await hostOf(p)).toMatchObject({ httpState: 'failed', httpProblem: expect.stringContaining('on purpose') })
    expect([await jobs(p), (await showInstance(p, id)).httpPorts]).toEqual([1, []])
    p.host.agent.fault()
    p.turnClock(6 * 60_000)
    await tell(p)
    expect(await hostOf(p)).toMatchObject({ httpState: 'served', httpProblem: null })
  })
  test('that is away is told when it is back', async () => {
    using p = await named()
    p.host.agent.disconnect()
    await setPorts(p, p.id, [7860])
    await tell(p)
    expect(await jobs(p)).toBe(1)
    p.host.agent.connect()
    await tell(p)
    expect(served(p).map(({ name }) => name)).toEqual([nameOf(p.id, 7860)])
  })
  test('gets no domain that is none, belongs to the panel or its own domain, or is another host’s', async () => {
    using p = await named()
    const other = addGpuHost(p, p.location, 1)
    const panel = new URL(p.controller.app.config.publicUrl).hostname
    const before = await hostOf(p)
    for (const httpDomain of ['localhost', 'a b.example.com', '-a.example.com', '203.0.113.5', panel, `gpu.${panel}`]) {
      const { status, body } = await p.call(p.owner, 'PATCH', `/admin/nodes/${p.host.id}/gpu-host`, { httpDomain })
      expect([httpDomain, status, body.error.code]).toEqual([httpDomain, 422, 'validation_failed'])
    }
    expect(await hostOf(p)).toEqual(before)
    const taken = await p.call(p.owner, 'PATCH', `/admin/nodes/${other.id}/gpu-host`, { httpDomain: DOMAIN })
    expect([taken.status, taken.body.error.code]).toEqual([409, 'in_use'])
    expect((await p.admin('GET', `/admin/gpus?nodeId=${other.id}`)).data[0].httpDomain).toBeNull()
  })
})

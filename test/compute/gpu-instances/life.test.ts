// Suspending, unsuspending and deleting: recorded at once, whatever a job or the host is at.
import { describe, expect, test } from 'bun:test'
import { deleteReleased } from '../../../src/compute/gpu-instances/life/delete.ts'
import {
  checkCards,
  gpuWorld,
  instanceEvents,
  namesOf,
  orderInstance,
  power,
  powerOn,
  showInstance,
} from '../../support/nodes/instances.ts'
import { eventually } from '../../support/waiting/eventually.ts'
import { share } from '../../support/world/team.ts'

type P = Awaited<ReturnType<typeof gpuWorld>>
const suspend = (p: P, id: string) =>
  p.admin('POST', `/admin/gpu-instances/${id}/suspend`, { reason: 'Invoice 7 is overdue' })
const unsuspend = (p: P, id: string) => p.admin('POST', `/admin/gpu-instances/${id}/unsuspend`)
const remove = (p: P, id: string) => p.admin('DELETE', `/admin/gpu-instances/${id}`)

/** An instance whose container its host is just starting. */
async function orderSlowly(p: P): Promise<string> {
  p.host.agent.fault({ command: 'container.start', mode: 'slow', times: 1, ms: 100 })
  const { instanceId } = await p.admin('POST', '/admin/gpu-instances', p.instanceOrder)
  await eventually(async () => (await powerOn(p, instanceId)) !== 'absent')
  return instanceId
}

describe('a suspension', () => {
  test('stops the container, keeps its card, and is told with its reason; unsuspending starts it again', async () => {
    using p = await gpuWorld()
    const id = await orderInstance(p)
    await suspend(p, id)
    expect((await showInstance(p, id)).status).toBe('suspended')
    await p.settle()
    expect([await powerOn(p, id), (await showInstance(p, id)).cards.length]).toEqual(['stopped', 1])
    await unsuspend(p, id)
    await p.settle()
    expect(await showInstance(p, id)).toMatchObject({ status: 'running', suspendReason: null })
    expect(namesOf(p)).toEqual(['created', 'ready', 'suspended', 'unsuspended', 'started'])
    const [, , suspended, , started] = instanceEvents(p)
    expect([suspended!.data.reason, suspended!.data.gpuInstance.status]).toEqual(['Invoice 7 is overdue', 'suspended'])
    expect(started!.data.reason).toBe('unsuspended')
  })
  test('of one that is stopped leaves it stopped', async () => {
    using p = await gpuWorld()
    const id = await orderInstance(p)
    await power(p, id, 'stop')
    await suspend(p, id)
    await p.settle()
    expect((await unsuspend(p, id)).jobId).toBeNull()
    expect([(await showInstance(p, id)).status, await powerOn(p, id)]).toEqual(['stopped', 'stopped'])
  })
  test('while it is being set up takes down what was made, and unsuspending goes on with the setup', async () => {
    using p = await gpuWorld()
    const id = await orderSlowly(p)
    await suspend(p, id)
    expect((await showInstance(p, id)).status).toBe('suspended')
    await p.settle()
    expect((await showInstance(p, id)).status).toBe('suspended')
    expect([await powerOn(p, id), await p.host.agent.host.workspaces.list()]).toEqual(['absent', []])
    expect(namesOf(p)).toEqual(['created', 'suspended'])
    await unsuspend(p, id)
    await p.settle()
    expect((await showInstance(p, id)).status).toBe('running')
    expect(namesOf(p)).toEqual(['created', 'suspended', 'unsuspended', 'ready'])
  })
  test('while its host is away counts from the call, and is carried out when the host is back', async () => {
    using p = await gpuWorld()
    const id = await orderInstance(p)
    p.host.agent.disconnect()
    await suspend(p, id)
    expect((await showInstance(p, id)).status).toBe('suspended')
    p.host.agent.connect()
    await eventually(async () => (await powerOn(p, id)) === 'stopped')
    expect(await powerOn(p, id)).toBe('stopped')
  })
  test('refuses what needs a container, and a second suspension', async () => {
    using p = await gpuWorld()
    const id = await orderInstance(p)
    await suspend(p, id)
    await p.settle()
    const start = await p.call(p.customer, 'POST', `/gpu-instances/${id}/actions/power`, { action: 'start' })
    const again = await p.call(p.owner, 'POST', `/admin/gpu-instances/${id}/suspend`, { reason: 'overdue' })
    expect([start.body.error.code, again.body.error.code]).toEqual(['gpu_instance_suspended', 'already_suspended'])
  })
})

describe('a deletion', () => {
  test('takes everything off the host, gives the card back unchecked, and is told when it is done', async () => {
    using p = await gpuWorld()
    const id = await orderInstance(p)
    const { jobId } = await remove(p, id)
    expect((await showInstance(p, id)).status).toBe('deleting')
    expect((await p.call(p.customer, 'GET', `/gpu-instances/${id}`)).status).toBe(404)
    await p.settle()
    expect(p.job(jobId).state).toBe('succeeded')
    expect([await powerOn(p, id), await p.host.agent.host.workspaces.list()]).toEqual(['absent', []])
    const { data } = instanceEvents(p).at(-1)!
    expect([namesOf(p).at(-1), data.gpuInstance.status, data.gpuInstance.address]).toEqual([
      'deleted',
      'deleted',
      '10.9.0.2',
    ])
    expect(await showInstance(p, id)).toMatchObject({ status: 'deleted', cards: [], ports: [] })
    await checkCards(p)
    await orderInstance(p)
  })
  test('while its host is away is carried out when the host is back', async () => {
    using p = await gpuWorld()
    const id = await orderInstance(p)
    p.host.agent.disconnect()
    await remove(p, id)
    expect((await showInstance(p, id)).status).toBe('deleting')
    expect((await p.call(p.owner, 'POST', '/admin/gpu-instances', p.instanceOrder)).body.error.code).toBe('no_capacity')
    p.host.agent.connect()
    await eventually(async () => (await showInstance(p, id)).status === 'deleted')
    expect([(await showInstance(p, id)).status, await powerOn(p, id)]).toEqual(['deleted', 'absent'])
  })
  test('during its setup leaves nothing behind', async () => {
    using p = await gpuWorld()
    const id = await orderSlowly(p)
    await remove(p, id)
    await p.settle()
    expect([await powerOn(p, id), await p.host.agent.host.workspaces.list()]).toEqual(['absent', []])
    expect(namesOf(p)).toEqual(['created', 'deleted'])
  })
  test('is open to the owner and not to those with whom it is shared', async () => {
    using p = await gpuWorld()
    const id = await orderInstance(p)
    const friend = p.account('customer', 'Fay')
    await share(p, p.customer, friend, 'manage')
    const foreign = p.account('customer', 'Stan')
    const removing = async (who: typeof friend) => (await p.call(who, 'DELETE', `/gpu-instances/${id}`)).status
    expect([await removing(foreign), await removing(friend), await removing(p.customer)]).toEqual([404, 403, 202])
  })
  test('beyond the limit of the brake waits stopped for a second person, who releases or refuses it', async () => {
    using p = await gpuWorld({ cards: 3 })
    await p.admin('PUT', '/admin/settings/values', { name: 'brake.limit', value: 1 })
    const ids = [await orderInstance(p), await orderInstance(p), await orderInstance(p)]
    const eva = p.staff(['servers.terminate', 'servers.see_all'], 'Eva')
    for (const id of ids) await p.call(eva, 'DELETE', `/admin/gpu-instances/${id}`)
    await p.settle()
    const states = () => Promise.all(ids.map(async (id) => (await showInstance(p, id)).status))
    expect(await states()).toEqual(['deleted', 'deleting', 'deleting'])
    expect([await powerOn(p, ids[1]!), await powerOn(p, ids[2]!)]).toEqual(['stopped', 'stopped'])
    deleteReleased(p.db, p.controller.app)
    await p.settle()
    expect(await states()).toEqual(['deleted', 'deleting', 'deleting'])
    const [brake] = (await p.admin('GET', '/admin/brakes')).data
    const decide = (decision: string, id: string) =>
      p.call(p.owner, 'POST', `/admin/brakes/${brake.id}/actions/${decision}`, { heldIds: [id] })
    expect((await decide('release', ids[1]!)).status).toBe(200)
    expect((await decide('refuse', ids[2]!)).body).toMatchObject({ settled: 1, failed: [] })
    deleteReleased(p.db, p.controller.app)
    await p.settle()
    expect(await states()).toEqual(['deleted', 'deleted', 'running'])
    expect(namesOf(p).filter((name) => name === 'deleted')).toHaveLength(3)
  })
  test('while it waits, billing has been told, its usage has ended and its cards are sold again', async () => {
    using p = await gpuWorld({ cards: 2 })
    await p.admin('PUT', '/admin/settings/values', { name: 'brake.limit', value: 1 })
    const ids = [await orderInstance(p), await orderInstance(p)] as [string, string]
    const eva = p.staff(['servers.terminate', 'servers.see_all', 'customers.read'], 'Eva')
    for (const id of ids) await p.call(eva, 'DELETE', `/admin/gpu-instances/${id}`)
    await p.settle()
    expect(instanceEvents(p).filter(({ type }) => type === 'deleted')).toMatchObject([
      { data: { gpuInstance: { status: 'deleted' } } },
      { data: { gpuInstance: { status: 'deleted' } } },
    ])
    const used = () => p.admin('GET', `/gpu-instances/${ids[1]}/usage`)
    const { allocatedSeconds } = await used()
    p.turnClock(60_000)
    expect((await used()).allocatedSeconds).toBe(allocatedSeconds)
    const [brake] = (await p.admin('GET', '/admin/brakes')).data
    // Somebody else has its card now: it comes back only when there is one for it.
    const [third, fourth] = [await orderInstance(p), await orderInstance(p)]
    expect([await powerOn(p, third), await powerOn(p, fourth)]).toEqual(['running', 'running'])
    const refuse = () => p.call(p.owner, 'POST', `/admin/brakes/${brake.id}/actions/refuse`, {})
    expect((await refuse()).body).toMatchObject({ settled: 0, failed: [{ id: ids[1], code: 'no_capacity' }] })
    await p.call(p.staff(undefined, 'Fay'), 'DELETE', `/admin/gpu-instances/${fourth}`)
    await p.settle()
    expect((await refuse()).body).toMatchObject({ settled: 1, failed: [] })
    await p.settle()
    expect((await showInstance(p, ids[1])).status).toBe('running')
    expect(namesOf(p).at(-2)).toBe('undeleted')
  })
})

describe('an instance whose host is declared lost', () => {
  test('has failed with the reason, ran until the host was heard of last, and is deleted without it', async () => {
    using p = await gpuWorld()
    const id = await orderInstance(p)
    p.host.agent.disconnect()
    p.turnClock(3_600_000)
    await p.admin('POST', `/admin/nodes/${p.host.id}/actions/declare-lost`, { name: 'gpu-01' })
    expect(await showInstance(p, id)).toMatchObject({
      status: 'failed',
      failure: 'Its node gpu-01 was lost.',
      lastEnd: { reason: 'crashed', exitCode: null, detail: 'Its node gpu-01 was lost.' },
    })
    expect(instanceEvents(p).slice(-2)).toMatchObject([
      { type: 'stopped', data: { reason: 'crashed', detail: 'Its node gpu-01 was lost.' } },
      { type: 'failed', data: { action: 'lost', error: 'Its node gpu-01 was lost.' } },
    ])
    const usage = await p.admin('GET', `/gpu-instances/${id}/usage`)
    expect(usage.intervals.at(-1).state).toBe('stopped')
    // The hour in which nobody heard of the host is not counted as running.
    expect(usage.stoppedSeconds).toBeGreaterThan(3500)
    await p.admin('DELETE', `/admin/gpu-instances/${id}`)
    await p.settle()
    expect((await showInstance(p, id)).status).toBe('deleted')
    expect(namesOf(p).at(-1)).toBe('deleted')
  })
})

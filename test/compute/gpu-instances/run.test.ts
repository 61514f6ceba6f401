// An instance that is set up: its power, its ends, its keys, its image and its environment.
import { describe, expect, test } from 'bun:test'
import {
  addKey,
  beats,
  containerOn,
  ends,
  gpuWorld,
  instanceEvents,
  namesOf,
  orderInstance,
  power,
  powerOn,
  showInstance,
  startsOf,
} from '../../support/nodes/instances.ts'
import { share } from '../../support/world/team.ts'

const afterReady = (p: Awaited<ReturnType<typeof gpuWorld>>) => instanceEvents(p).slice(2)

describe('power', () => {
  test('stops on request and starts again; cards, ports and address stay', async () => {
    using p = await gpuWorld()
    const id = await orderInstance(p)
    await power(p, id, 'stop')
    expect(await powerOn(p, id)).toBe('stopped')
    expect(await showInstance(p, id)).toMatchObject({
      status: 'stopped',
      lastEnd: { reason: 'requested', exitCode: null, detail: null },
      cards: [{}],
      ports: [{}, {}],
    })
    await power(p, id, 'start')
    await power(p, id, 'restart')
    expect(await showInstance(p, id)).toMatchObject({ status: 'running' })
    expect(afterReady(p).map(({ type, data }) => [type, data.reason])).toEqual([
      ['stopped', 'requested'],
      ['started', 'requested'],
      ['started', 'requested'],
    ])
    expect(Object.keys(afterReady(p)[0]!.data)).toEqual(['gpuInstance', 'customer', 'reason'])
  })
  test('refuses what its state does not allow', async () => {
    using p = await gpuWorld()
    const id = await orderInstance(p)
    const code = async (action: string) =>
      (await p.call(p.customer, 'POST', `/gpu-instances/${id}/actions/power`, { action })).body.error?.code
    expect(await code('start')).toBe('already_running')
    await power(p, id, 'stop')
    expect([await code('stop'), await code('restart')]).toEqual(['already_stopped', 'already_stopped'])
  })
  test('that fails to start says so, and a later start goes through', async () => {
    using p = await gpuWorld()
    const id = await orderInstance(p)
    await power(p, id, 'stop')
    p.host.agent.fault({ command: 'container.start', mode: 'fail', times: 1 })
    await power(p, id, 'start')
    expect((await showInstance(p, id)).status).toBe('failed')
    expect(instanceEvents(p).at(-1)).toMatchObject({ type: 'failed', data: { action: 'start' } })
    await power(p, id, 'start')
    expect(await showInstance(p, id)).toMatchObject({ status: 'running', failure: null })
  })
})

describe('an instance that ends by itself', () => {
  test('is stopped, with exit code, memory and words', async () => {
    using p = await gpuWorld()
    const id = await orderInstance(p)
    const end = { exitCode: 137, oomKilled: true, detail: 'The memory of the container was full.' }
    await ends(p, id, 'left_off', end)
    expect(await showInstance(p, id)).toMatchObject({ status: 'stopped', lastEnd: { reason: 'crashed', ...end } })
    expect(afterReady(p)).toHaveLength(1)
    expect(afterReady(p)[0]).toMatchObject({
      type: 'stopped',
      data: { reason: 'crashed', ...end, gpuInstance: { status: 'stopped' } },
    })
    await beats(p)
    expect(afterReady(p)).toHaveLength(1)
    const { attention } = (await p.call(p.customer, 'GET', '/overview')).body
    expect(attention).toMatchObject([{ what: expect.stringContaining('ended by itself'), level: 'bad' }])
  })
  test('and is started again by its host is told as stopped and started', async () => {
    using p = await gpuWorld()
    const id = await orderInstance(p)
    await ends(p, id, 'restarts', { exitCode: 2 })
    expect((await showInstance(p, id)).status).toBe('running')
    expect(afterReady(p).map(({ type, data }) => [type, data.reason, data.exitCode])).toEqual([
      ['stopped', 'crashed', 2],
      ['started', 'crashed', 2],
    ])
  })
  test('is noticed by the heartbeat where its host says nothing else', async () => {
    using p = await gpuWorld()
    const id = await orderInstance(p)
    await beats(p)
    p.host.agent.host.containers.end(id)
    await beats(p)
    expect((await showInstance(p, id)).status).toBe('stopped')
    expect(afterReady(p)).toMatchObject([{ type: 'stopped', data: { reason: 'crashed', exitCode: 1 } }])
  })
  test('while a job works on it is told once the job has ended', async () => {
    using p = await gpuWorld()
    const id = await orderInstance(p)
    p.db.$client.run(
      `INSERT INTO jobs (id, kind, title, input, state, lane, holds, started_by_type, started_by_id, started_by_name,
         created_at, progress, step_n, step_of, tries, held_at)
       VALUES ('job_held', 'gpu_stop', 'Held', '{}', 'queued', 'interactive', ?, 'system', '', 'System', 1, 0, 0, 1, 0,
         1)`,
      [id],
    )
    await ends(p, id, 'left_off')
    expect(namesOf(p)).toEqual(['created', 'ready'])
    p.db.$client.run("DELETE FROM jobs WHERE id = 'job_held'")
    await beats(p)
    expect(afterReady(p)).toMatchObject([{ type: 'stopped', data: { reason: 'crashed' } }])
  })
  test('while it is suspended is told to nobody', async () => {
    using p = await gpuWorld()
    const id = await orderInstance(p)
    p.host.agent.disconnect()
    await p.admin('POST', `/admin/gpu-instances/${id}/suspend`, { reason: 'overdue' })
    p.host.agent.connect()
    await ends(p, id, 'left_off')
    await p.settle()
    expect(namesOf(p)).toEqual(['created', 'ready', 'suspended'])
  })
})

describe('SSH keys', () => {
  test('change at once, without a restart', async () => {
    using p = await gpuWorld()
    const id = await orderInstance(p)
    const second = await addKey(p, p.customer.id, 2)
    const before = containerOn(p, id)!.authorizedKeys
    const set = (sshKeyIds: string[]) => p.call(p.customer, 'PUT', `/gpu-instances/${id}/ssh-keys`, { sshKeyIds })
    expect((await set([second])).status).toBe(202)
    await p.settle()
    expect((await showInstance(p, id)).sshKeys.map((key: any) => key.id)).toEqual([second])
    const keys = p.host.agent.host.access.keys(id)
    expect([keys.length, keys[0] === before[0]]).toEqual([1, false])
    expect(await startsOf(p, id)).toBe(1)
    const foreign = await addKey(p, p.account('customer', 'Stan').id, 3)
    expect((await set([foreign])).body.error.code).toBe('validation_failed')
  })
})

describe('a rebuild', () => {
  const rebuild = async (p: Awaited<ReturnType<typeof gpuWorld>>, id: string, imageId: string) => {
    const reply = await p.call(p.customer, 'POST', `/gpu-instances/${id}/actions/rebuild`, { imageId })
    await p.settle()
    return reply
  }
  test('makes the container from the other image and keeps /workspace, cards and address', async () => {
    using p = await gpuWorld()
    const id = await orderInstance(p)
    expect((await rebuild(p, id, p.images[1])).status).toBe(202)
    expect(await showInstance(p, id)).toMatchObject({
      status: 'running',
      image: { id: p.images[1] },
      cards: [{}],
      jupyterUrl: null,
    })
    expect(containerOn(p, id)).toMatchObject({ image: p.images[1] })
    expect(await p.host.agent.host.workspaces.list()).toEqual([id])
    expect(afterReady(p).map(({ type }) => type)).toEqual(['image_changed', 'started'])
  })
  test('whose image cannot be fetched leaves it as it was, and says so', async () => {
    using p = await gpuWorld()
    const id = await orderInstance(p)
    p.host.agent.fault({ command: 'container-image.ensure', mode: 'fail', times: 1 })
    await rebuild(p, id, p.images[1])
    expect(await showInstance(p, id)).toMatchObject({ status: 'running', image: { id: p.images[0] } })
    expect([await powerOn(p, id), await startsOf(p, id)]).toEqual(['running', 1])
    expect(afterReady(p)).toMatchObject([
      { type: 'failed', data: { action: 'rebuild', gpuInstance: { status: 'running' } } },
    ])
  })
  test('takes an image of its offer only', async () => {
    using p = await gpuWorld()
    const id = await orderInstance(p)
    expect((await rebuild(p, id, 'gim_none')).body.error.details.fields[0].field).toBe('imageId')
  })
})

describe('environment and command', () => {
  test('are kept encrypted, replace those of the image, and come with the next restart', async () => {
    using p = await gpuWorld()
    const id = await orderInstance(p)
    const { status, body } = await p.call(p.customer, 'PUT', `/gpu-instances/${id}/environment`, {
      environment: ['TOKEN=hf_secretsecret', 'MODE=slow'],
      command: ['python', 'train.py'],
    })
    expect([status, body]).toEqual([200, { instanceId: id }])
    expect(await showInstance(p, id)).toMatchObject({
      environment: ['TOKEN=hf_secretsecret', 'MODE=slow'],
      command: ['python', 'train.py'],
    })
    expect(JSON.stringify(p.db.$client.query('SELECT * FROM gpu_instances').all())).not.toContain('hf_secret')
    expect(JSON.stringify(p.auditLines())).not.toContain('hf_secret')
    expect(containerOn(p, id)!.command).toBeUndefined()
    await power(p, id, 'restart')
    expect(containerOn(p, id)).toMatchObject({
      command: ['python', 'train.py'],
      environment: [
        { name: 'HF_HOME', value: '/workspace/hf' },
        { name: 'TOKEN', value: 'hf_secretsecret' },
        { name: 'MODE', value: 'slow' },
      ],
    })
    expect(JSON.stringify(p.db.$client.query('SELECT * FROM jobs').all())).not.toContain('hf_secret')
  })
  test('name each variable once', async () => {
    using p = await gpuWorld()
    const id = await orderInstance(p)
    const body = { environment: ['A=1', 'A=2'], command: null }
    expect((await p.call(p.customer, 'PUT', `/gpu-instances/${id}/environment`, body)).status).toBe(422)
  })
})

describe('those with whom it is shared', () => {
  test('see it; who may only look has no link to Jupyter and no environment', async () => {
    using p = await gpuWorld()
    const id = await orderInstance(p)
    const [viewer, manager] = [p.account('customer', 'Vic'), p.account('customer', 'Max')]
    await share(p, p.customer, viewer, 'view')
    await share(p, p.customer, manager, 'manage')
    const seen = async (who: typeof viewer) => (await p.call(who, 'GET', `/gpu-instances/${id}`)).body
    expect(await seen(viewer)).toMatchObject({ access: 'view', jupyterUrl: null, environment: null, allowed: [] })
    expect((await seen(manager)).allowed).toEqual([
      ...['stop', 'restart', 'rebuild', 'ssh_keys', 'environment', 'restart_policy', 'http_ports', 'rename'],
    ])
    expect((await seen(manager)).jupyterUrl).toBeString()
    const { data } = (await p.call(viewer, 'GET', '/gpu-instances')).body
    expect(data).toMatchObject([{ id, access: 'view' }])
    expect((await p.call(p.account('customer', 'Stan'), 'GET', '/gpu-instances')).body.total).toBe(0)
  })
})

describe('the list', () => {
  test('finds by status, owner, offer, billing identifier and words', async () => {
    using p = await gpuWorld({ cards: 2 })
    const [a, b] = [await orderInstance(p, { name: 'Alpha', billingServiceId: 's-1' }), await orderInstance(p)]
    await power(p, b, 'stop')
    const found = async (query: string) =>
      (await p.admin('GET', `/admin/gpu-instances?${query}`)).data.map(({ id }: { id: string }) => id)
    expect(await found('')).toEqual([b, a])
    expect(await found('status=running')).toEqual([a])
    expect(await found('status=stopped')).toEqual([b])
    expect(await found('billingServiceId=s-1')).toEqual([a])
    expect(await found('q=alph')).toEqual([a])
    expect(await found(`offerId=${p.offerId}&ownerId=${p.customer.id}&sort=name`)).toHaveLength(2)
    expect(await found(`nodeId=${p.node.id}`)).toEqual([])
  })
})

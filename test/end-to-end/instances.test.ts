// A GPU instance on real input: ordered through the API of the compiled program, run by its agent with real Podman, and
// used by real SSH. The cards are stand-ins, which containers get through real lists of devices.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Subprocess } from 'bun'
import { missingPackages } from '../../agent/drivers/access/kit.ts'
import { temporary } from '../agent/temporary.ts'
import { podmanIsMissing, removeGroups } from '../drivers/containers/podman-rig.ts'
import { openRegistry } from '../drivers/containers/registry.ts'
import { note } from '../drivers/tools.ts'
import { CARD_MODEL, CARDS, type CardHost, cardHost, engineSettings } from '../support/gpu/card-host.ts'
import { must, newKey, run, sshOptions } from '../support/guest.ts'
import { type Installation, installation } from '../support/world/processes.ts'
import { freePort } from '../support/world/program.ts'

const HOST = '192.0.2.1'
const SECRET = 'what a customer left in the memory of a card'
/** The command of the image: it ends as a file in /workspace says. */
const COMMAND = [
  '/bin/sh',
  '-c',
  `while :; do
    read -r what </workspace/do 2>/dev/null && rm /workspace/do
    case "$what" in eat) exec tail /dev/zero ;; end) exit 3 ;; esac
    what=; sleep 0.2
  done`,
]
const reason =
  (await podmanIsMissing()) ??
  (missingPackages().length ? `no ${missingPackages().join(', ')}` : undefined) ??
  (Bun.which('gcc') ? undefined : 'no gcc') ??
  // A node says nothing of itself while its hypervisor is silent.
  ((await run(['virsh', '-c', 'qemu:///system', 'version'])).code ? 'libvirt does not answer' : undefined)

type Ordered = { instanceId: string; jobId: string }

describe.skipIf(note(reason, 'GPU instances from order to deletion'))('a GPU instance', () => {
  let host: CardHost
  let live: Installation
  let controller: Subprocess
  let agent: Subprocess
  let home: string
  let token: string
  let keys: Awaited<ReturnType<typeof newKey>>[] = []
  let keyIds: string[]
  let order: Record<string, unknown>
  let first: Ordered
  let second: Ordered

  const api = async (method: string, path: string, body?: unknown) => {
    const answer = await live.api(token, method, path, body)
    if (answer.status >= 400) throw new Error(`${method} ${path}: ${JSON.stringify(answer.body)}`)
    return answer.body
  }
  const show = (instance: Ordered) => api('GET', `/gpu-instances/${instance.instanceId}`)
  const ended = async (jobId: string) => {
    const job = await live.until(`the end of ${jobId}`, async () => {
      const found = await api('GET', `/jobs/${jobId}`)
      return (found.state === 'succeeded' || found.state === 'failed') && found
    })
    return job
  }
  const done = async (jobId: string) => expect(await ended(jobId)).toMatchObject({ state: 'succeeded', error: null })
  const act = async (instance: Ordered, path: string, body?: unknown) =>
    await done(
      (
        await api(
          'POST',
          `${path.startsWith('/') ? path : `/gpu-instances/${instance.instanceId}/actions/${path}`}`,
          body,
        )
      ).jobId,
    )
  const ssh = async (instance: Ordered, command: string, key = keys[0]!) => {
    const { ports } = await show(instance)
    const port = ports.find(({ container }: { container: number }) => container === 22).host
    const how = ['-o', 'BatchMode=yes', '-i', key.path, '-p', String(port)]
    return await run(['ssh', ...sshOptions, ...how, `root@${HOST}`, command])
  }
  const counted = (instance: Ordered, state: string) =>
    live.until(`usage as ${state}`, async () => {
      const { intervals } = await api('GET', `/gpu-instances/${instance.instanceId}/usage`)
      return intervals.at(-1).state === state
    })
  /** The events about it, oldest first. */
  const events = async (instance: Ordered) =>
    (await live.admin('events.list', { limit: 200 })).data
      .filter(({ data }: any) => data.gpuInstance?.id === instance.instanceId)
      .map(({ type, data }: any) => ({ type, ...data }))
  const lastEvent = async (instance: Ordered, type: string) =>
    (await events(instance)).findLast((event: any) => event.type === type)
  const startAgent = (more: Record<string, string> = {}) =>
    Bun.spawn([...host.seesDriver, ...live.program, 'agent', 'run', '--data-dir', home], {
      env: {
        ...{ ...live.env, PATH: process.env['PATH']!, HOME: '/root' },
        ...{ PANEL_AGENT_OLDER_ENGINE: '1', PANEL_AGENT_LOCAL_REGISTRIES: registryHost, ...more },
      },
      stdio: ['ignore', 'ignore', Bun.file(join(live.dir, `agent-${++agents}.log`))],
    })
  let agents = 0
  let registryHost: string
  const nodeConnected = () => live.until('the node', async () => (await live.admin('nodes.list')).data[0].connected)
  const stocked = () =>
    live.until('free cards', async () => {
      const { cards } = (await live.admin('gpus.list')).data[0]
      return cards.every(({ state }: any) => state === 'free' || state === 'held') && cards
    })

  beforeAll(async () => {
    host = await cardHost(HOST)
    keys = [await newKey(), await newKey()]
    const registry = await openRegistry({ command: COMMAND })
    registryHost = registry.host
    const port = freePort()
    const relay = host.relay(join(temporary('relay'), 'api.sock'), port)
    live = await installation({ PANEL_LISTEN: `127.0.0.1:${port}`, PANEL_LOCAL_REGISTRIES: registryHost }, relay)
    controller = await live.serve()
    token = await live.ownerToken()
    const location = (await live.admin('locations.create', { name: 'Lab' })).id
    home = temporary('card-node')
    await live.enroll(location, 'card-01', [], undefined, home)
    agent = startAgent()
    const node = await live.until('the host', async () => (await live.admin('gpus.list')).data[0])
    await live.admin('gpus.update-host', { id: node.nodeId, publicAddress: HOST })
    await host.startEngine(join(home, 'containers'))
    await live.until('its pools', async () => (await live.admin('nodes.list')).data[0].load?.pools.length)
    await stocked()
    const image = await live.admin('gpu-images.create', { name: 'Busybox', reference: registry.reference, mostMb: 100 })
    const other = await live.admin('gpu-images.create', {
      name: 'Other',
      reference: registry.reference,
      mostMb: 100,
      environment: ['MODEL=second'],
    })
    const sizes = { model: CARD_MODEL, cards: 1, vcpus: 1, memoryMb: 128, workspaceGb: 1, ports: 1 }
    const offer = await live.admin('gpu-offers.create', { name: 'One', ...sizes, imageIds: [image.id, other.id] })
    const customer = (await live.admin('customers.create', { name: 'Cal', email: 'cal@example.com' })).id
    keyIds = []
    for (const { publicKey } of keys) keyIds.push((await live.admin('ssh-keys.create', { id: customer, publicKey })).id)
    order = { ownerId: customer, offerId: offer.id, nodeGroupId: location }
  }, 120_000)

  afterAll(async () => {
    for (const key of keys) key.remove()
    for (const one of [agent, controller].filter(Boolean)) one.kill('SIGKILL')
    await removeGroups('berth')
    await live?.close()
    await host?.close(home)
    if (home) rmSync(home, { recursive: true, force: true })
  }, 60_000)

  test('is ordered, and its owner works in it as root by SSH, with the card that is theirs', async () => {
    first = await api('POST', '/admin/gpu-instances', { ...order, sshKeyIds: [keyIds[0]] })
    await done(first.jobId)
    const shown = await show(first)
    expect(shown).toMatchObject({ status: 'running', address: HOST, failure: null })
    const its = CARDS.indexOf(shown.cards[0].uuid)
    const inside = await ssh(first, 'id -u; /usr/bin/nvidia-smi; ls /dev | grep nvidia; echo mine >/workspace/file')
    expect(inside.out.split('\n')).toEqual(['0', `GPU /dev/nvidia${its}`, `nvidia${its}`, 'nvidiactl'])
    await counted(first, 'running')
    expect((await events(first)).map(({ type }: any) => type)).toEqual(['gpu_instance.created', 'gpu_instance.ready'])
  }, 60_000)

  test('takes another key at once, and the former one no more', async () => {
    await done((await api('PUT', `/gpu-instances/${first.instanceId}/ssh-keys`, { sshKeyIds: [keyIds[1]] })).jobId)
    expect([(await ssh(first, 'true')).code, (await ssh(first, 'true', keys[1])).code]).toEqual([255, 0])
    await done((await api('PUT', `/gpu-instances/${first.instanceId}/ssh-keys`, { sshKeyIds: keyIds })).jobId)
  }, 60_000)

  test('whose command used up its memory ends with that reason, and starts again', async () => {
    await ssh(first, 'echo eat >/workspace/do')
    const stopped = await live.until('its end', () => lastEvent(first, 'gpu_instance.stopped'))
    expect(stopped).toMatchObject({
      ...{ reason: 'crashed', oomKilled: true, exitCode: 137 },
      detail: 'Its memory (128 MiB) was full, and the kernel killed its command.',
    })
    await live.until('its start', () => lastEvent(first, 'gpu_instance.started'))
    await live.until('SSH', async () => (await ssh(first, 'cat /workspace/file')).out === 'mine')
  }, 60_000)

  test('that shall not start again stays off with the exit code of its command, until it is started', async () => {
    await api('PUT', `/gpu-instances/${first.instanceId}/restart-policy`, { restartPolicy: 'never' })
    await act(first, 'power', { action: 'restart' })
    await ssh(first, 'echo end >/workspace/do')
    await live.until('its end', async () => (await show(first)).status === 'stopped', 50)
    expect((await show(first)).lastEnd).toMatchObject({
      ...{ reason: 'crashed', exitCode: 3, oomKilled: false, detail: 'Its command ended with exit code 3.' },
    })
    await counted(first, 'stopped')
    await act(first, 'power', { action: 'start' })
    expect((await ssh(first, 'cat /workspace/file')).out).toBe('mine')
  }, 60_000)

  test('made anew from another image has that one’s settings, and its /workspace', async () => {
    const { images } = await show(first)
    await ssh(first, 'echo lost >/root/file')
    await act(first, 'rebuild', { imageId: images[1].id })
    expect((await ssh(first, 'echo $MODEL; cat /workspace/file; ls /root/file')).out).toBe('second\nmine')
  }, 60_000)

  test('that is suspended lets nobody in, and runs again when it is not any more', async () => {
    const path = `/admin/gpu-instances/${first.instanceId}`
    await act(first, `${path}/suspend`, { reason: 'unpaid' })
    expect([(await show(first)).status, (await ssh(first, 'true')).code]).toEqual(['suspended', 255])
    await act(first, `${path}/unsuspend`)
    expect((await ssh(first, 'cat /workspace/file')).out).toBe('mine')
  }, 60_000)

  test('is set up once also when agent and controller are killed meanwhile', async () => {
    agent.kill('SIGTERM')
    await agent.exited
    // The container of the first one lives on.
    expect((await ssh(first, 'true')).code).toBe(0)
    agent = startAgent({ BERTH_CRASH_AT: 'container.create:after' })
    await nodeConnected()
    second = await api('POST', '/admin/gpu-instances', { ...order, sshKeyIds: keyIds })
    await agent.exited
    controller.kill('SIGKILL')
    await controller.exited
    controller = await live.serve()
    agent = startAgent()
    await done(second.jobId)
    const shown = await show(second)
    expect(shown.cards[0].uuid).not.toBe((await show(first)).cards[0].uuid)
    const its = CARDS.indexOf(shown.cards[0].uuid)
    expect((await ssh(second, '/usr/bin/nvidia-smi')).out).toBe(`GPU /dev/nvidia${its}`)
    expect((await events(second)).map(({ type }: any) => type)).toEqual(['gpu_instance.created', 'gpu_instance.ready'])
  }, 90_000)

  test('is back with its /workspace after its host was switched off', async () => {
    agent.kill('SIGKILL')
    await agent.exited
    await removeGroups('berth')
    await host.boot(home)
    await host.startEngine(join(home, 'containers'))
    agent = startAgent()
    for (const instance of [first, second])
      await live.until('SSH', async () => (await ssh(instance, 'true')).code === 0, 20)
    expect((await ssh(first, 'cat /workspace/file')).out).toBe('mine')
    await live.until('its state', async () => (await show(first)).status === 'running')
  }, 90_000)

  test('that is deleted leaves nothing on its host, also not in the memory of its card', async () => {
    const [card] = (await show(first)).cards
    host.use(card.uuid, SECRET)
    for (const instance of [first, second])
      await done((await api('DELETE', `/admin/gpu-instances/${instance.instanceId}`)).jobId)
    await live.until('free cards', async () =>
      (await live.admin('gpus.list')).data[0].cards.every(({ state }: any) => state === 'free'),
    )
    expect(host.memory(card.uuid).equals(Buffer.alloc(host.memory(card.uuid).length))).toBe(true)
    const settings = engineSettings(join(home, 'containers'))
    for (const what of [
      ['ps', '--all'],
      ['volume', 'ls'],
    ])
      expect((await run(['podman', ...what, '--quiet'], settings)).out).toBe('')
    expect(readdirSync(join(home, 'instances'))).toEqual([])
    expect(readdirSync(join(home, 'pools/local/workspaces'))).toEqual([])
    expect(await must('nft', 'list', 'tables')).not.toContain('berth_instances')
    expect(await must('ip', '-o', 'link')).not.toContain('bgi')
    expect((await live.admin('gpus.list')).data[0]).toMatchObject({ heldPorts: 0, heldVcpus: 0 })
    const usage = await api('GET', `/gpu-instances/${first.instanceId}/usage`)
    expect(usage.endedAt).not.toBeNull()
  }, 60_000)
})

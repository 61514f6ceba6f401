import { describe, expect, test } from 'bun:test'
import { fittingEnd } from '../../../agent/commands/container.ts'
import { parseCommand } from '../../../agent/commands/index.ts'
import { type FakeHost, type FakeSettings, openFakeHost } from '../../../agent/host/fake-host.ts'
import { startVms } from '../../../agent/host/startup.ts'
import { Supervision } from '../../../agent/host/supervision.ts'
import { MOST_LOG_CHARACTERS } from '../../../agent/protocol/gpu.ts'
import type { CommandName, Crash, Input, RestartPolicy } from '../../../agent/protocol/wire.ts'
import { dataDir } from '../run.ts'
import { cardId, cardOf, containerImage, containerOf, instanceId } from './examples.ts'

const MINUTE = 60_000
const workload = instanceId(1)
const obey = <N extends CommandName>(host: FakeHost, name: N, input: Input<N>) => parseCommand(name, input).work(host)
const supervisionOf = (host: FakeHost, at?: () => number) => new Supervision(host, (_, work) => work(), at)

async function preparedHost(settings: Partial<FakeSettings> = {}, dir = dataDir()) {
  const host = openFakeHost(dir, { cards: [cardOf(1), cardOf(2)], ...settings })
  await obey(host, 'container-image.ensure', containerImage)
  await obey(host, 'workspace.create', { workload, number: 1, sizeBytes: 1e9 })
  return { dir, host }
}

/** A host with one running instance. */
async function hostWithInstance(restartPolicy: RestartPolicy = 'on_failure') {
  const { dir, host } = await preparedHost()
  await obey(host, 'container.create', containerOf(1, { cards: [cardId(1)], restartPolicy }))
  await obey(host, 'container.start', { workload })
  return { dir, host }
}

describe('a container instance', () => {
  test('is made, started, looked at, and answers by SSH', async () => {
    const { host } = await hostWithInstance()
    expect(await obey(host, 'container.look', { workload })).toEqual({ power: 'running', end: null })
    expect(await obey(host, 'container.await', { workload, limitSeconds: 1 })).toEqual({ answered: 'ssh' })
    const { cursor } = (await obey(host, 'container.logs', { workload, lines: 1 })) as { cursor: string }
    expect(await obey(host, 'container.logs', { workload, lines: 1, since: cursor })).toEqual({
      text: '',
      truncated: false,
      cursor,
    })
    await obey(host, 'container.stop', { workload, graceSeconds: 0 })
    expect(await obey(host, 'container.look', { workload })).toEqual({ power: 'stopped', end: null })
    expect(await obey(host, 'container.await', { workload, limitSeconds: 1 })).toEqual({ answered: 'off' })
  })
  test('goes with its ports, and its workspace stays until it is removed', async () => {
    const { host } = await hostWithInstance()
    await obey(host, 'container.remove', { workload })
    await obey(host, 'container.remove', { workload })
    expect(await host.containers.power(workload)).toBe('absent')
    expect(await host.workspaces.list()).toEqual([workload])
    const successor = containerOf(2, { ports: containerOf(1).ports })
    await obey(host, 'workspace.create', { workload: instanceId(2), number: 2, sizeBytes: 1e9 })
    await obey(host, 'container.create', successor)
    await obey(host, 'workspace.remove', { workload })
    expect(await host.workspaces.list()).toEqual([instanceId(2)])
    expect(host.access.keys(workload)).toEqual([])
  })
  test('gets other keys at once', async () => {
    const { host } = await hostWithInstance()
    await obey(host, 'container.set-keys', { workload, authorizedKeys: ['ssh-ed25519 BBBB other'] })
    expect(host.access.keys(workload)).toEqual(['ssh-ed25519 BBBB other'])
    expect(await host.containers.power(workload)).toBe('running')
  })
  test.each([
    ['no image', 'no_container_image', { image: 'gim_00000000000000000000000009' }],
    ['no workspace', 'no_workspace', { workload: instanceId(3), number: 3 }],
    ['a card that the host lacks', 'no_card', { cards: [cardId(7)] }],
  ])('is not made with %s', async (_, code, more) => {
    const { host } = await preparedHost()
    expect(obey(host, 'container.create', containerOf(1, more))).rejects.toMatchObject({ code })
    expect(await host.containers.look()).toEqual([])
  })
  test('is not made on a port that leads to another', async () => {
    const { host } = await hostWithInstance()
    await obey(host, 'workspace.create', { workload: instanceId(2), number: 2, sizeBytes: 1e9 })
    const other = containerOf(2, { ports: containerOf(1).ports })
    expect(obey(host, 'container.create', other)).rejects.toMatchObject({ code: 'port_taken' })
  })
  test('is not made on a host that has a problem, whose facts say which', async () => {
    const { host } = await preparedHost({ engineProblems: ['crun is too old.'] })
    expect((await host.facts()).containers?.problems).toEqual(['crun is too old.'])
    expect(obey(host, 'container.create', containerOf(1))).rejects.toMatchObject({ code: 'no_container_engine' })
  })
  test.each(['container.start', 'container.set-keys', 'container.logs'] as const)(
    'that was not made fails %s',
    async (name) => {
      const { host } = await preparedHost()
      const inputs = { workload, authorizedKeys: [], lines: 1 }
      const { workload: id, authorizedKeys, lines } = inputs
      const input = { 'container.start': { workload: id }, 'container.set-keys': { workload: id, authorizedKeys } }
      const given = name === 'container.logs' ? { workload: id, lines } : input[name]
      expect(obey(host, name, given as never)).rejects.toMatchObject({ code: 'no_container' })
    },
  )
})

describe('an instance that ends although no command stopped it', () => {
  async function supervised(policy: RestartPolicy) {
    const { dir, host } = await hostWithInstance(policy)
    let now = 1_800_000_000_000
    const supervision = supervisionOf(host, () => now)
    const told: Crash[] = []
    supervision.onCrash = (crash) => told.push(crash)
    const after = async (ms: number) => {
      now += ms
      await supervision.check()
      return host.containers.power(workload)
    }
    return { dir, host, supervision, told, after }
  }
  const killed = { exitCode: 137, oomKilled: true, detail: 'Its memory was full.' }

  test('is told with its exit code and reason, and starts again as vms do', async () => {
    const { host, told, after, supervision } = await supervised('on_failure')
    host.containers.end(workload, killed)
    expect(await obey(host, 'container.look', { workload })).toEqual({ power: 'stopped', end: killed })
    expect(await after(0)).toBe('running')
    for (const ms of [1000, MINUTE, MINUTE, MINUTE, MINUTE]) {
      if ((await host.containers.power(workload)) === 'running') host.containers.end(workload, { exitCode: 3 })
      await after(ms)
    }
    expect(told.map(({ cause, outcome }) => [cause, outcome])).toEqual([
      ['out_of_memory', 'restarts'],
      ['ended', 'restarts'],
      ['ended', 'restarts'],
      ['ended', 'left_off'],
    ])
    expect(told.map(({ end }) => end?.exitCode)).toEqual([137, 3, 3, 3])
    expect(supervision.recent()).toEqual(told)
  })
  test.each([
    ['on_failure', 0, 'stopped'],
    ['on_failure', 1, 'running'],
    ['always', 0, 'running'],
    ['never', 1, 'stopped'],
  ] as const)('under the policy %s with exit code %d is %s', async (policy, exitCode, power) => {
    const { host, told, after } = await supervised(policy)
    host.containers.end(workload, { exitCode })
    expect(await after(0)).toBe(power)
    expect(told).toMatchObject([
      { cause: exitCode ? 'ended' : 'shutdown', outcome: power === 'running' ? 'restarts' : 'left_off' },
    ])
    expect(await after(20 * MINUTE)).toBe(power)
    expect(told).toHaveLength(1)
  })
  test('is no crash after a stop', async () => {
    const { host, told, after } = await supervised('always')
    await obey(host, 'container.stop', { workload, graceSeconds: 0 })
    expect(await after(MINUTE)).toBe('stopped')
    expect(told).toEqual([])
  })
  test('is an event with its end', async () => {
    const { host } = await hostWithInstance()
    const over = new AbortController()
    const events = host.containers.events(over.signal)
    const next = events[Symbol.asyncIterator]().next()
    await Bun.sleep(10)
    host.containers.end(workload, killed)
    expect((await next).value).toMatchObject({ workload, power: 'stopped', end: killed })
    over.abort()
  })
})

test('after a boot of the host the instances that should run are started, and no others', async () => {
  const { dir, host } = await hostWithInstance()
  await obey(host, 'workspace.create', { workload: instanceId(2), number: 2, sizeBytes: 1e9 })
  await obey(host, 'container.create', containerOf(2))
  host.close()
  const booted = openFakeHost(dir, { bootId: 'second-boot' })
  expect(await booted.containers.power(workload)).toBe('stopped')
  const supervision = supervisionOf(booted)
  await startVms(booted, supervision, new AbortController().signal)
  expect(await booted.containers.power(workload)).toBe('running')
  expect(await booted.containers.power(instanceId(2))).toBe('stopped')
  expect(supervision.recent()).toEqual([])
})

test('the facts name the cards, and a host without engine and cards says nothing of either', async () => {
  const { host } = await preparedHost()
  expect((await host.facts()).cards?.map(({ uuid }) => uuid)).toEqual([cardId(1), cardId(2)])
  expect(await obey(host, 'cards.check', { cards: [cardId(1), cardId(9)] })).toMatchObject({
    cards: [{ sellable: true }, { sellable: false }],
  })
})

test('logs are cut to the end that fits a frame, also where every character takes six', () => {
  expect(fittingEnd('short')).toEqual({ text: 'short', truncated: false })
  const long = fittingEnd('a'.repeat(MOST_LOG_CHARACTERS) + 'end')
  expect(long.text).toHaveLength(MOST_LOG_CHARACTERS)
  expect(long.text).toEndWith('end')
  const controls = fittingEnd('\u0001'.repeat(MOST_LOG_CHARACTERS))
  expect(controls.truncated).toBe(true)
  expect(Buffer.byteLength(JSON.stringify(controls.text))).toBeLessThanOrEqual(512 << 10)
})

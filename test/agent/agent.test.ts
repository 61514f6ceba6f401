import { afterEach, describe, expect, test } from 'bun:test'
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { CommandName, Input } from '../../agent/protocol/wire.ts'
import { controller, NODE_ID } from './controller.ts'
import { imageSource, portRulesOf, seedOf, vmOf, volumeOf, workloadId } from './examples.ts'
import { agentProcess, berthAgent, dataDir } from './run.ts'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

/** A controller, and a fake node of it that runs. */
async function node(env: Record<string, string> = {}) {
  const it = controller()
  closing.push(it.close)
  const dir = dataDir()
  const enrolled = await berthAgent([
    'enroll',
    '--controller',
    it.url,
    '--token',
    'good',
    '--name',
    'n1',
    '--data-dir',
    dir,
    '--fake',
  ])
  expect(enrolled).toMatchObject({ code: 0, err: '' })
  const run = (more: Record<string, string> = {}) => {
    const agent = agentProcess(dir, more)
    closing.push(() => agent.stop('SIGKILL'))
    return agent
  }
  return { it, dir, run, agent: run(env) }
}

/** Everything that comes before a guest's first start. */
async function install(it: Awaited<ReturnType<typeof node>>['it'], n = 1) {
  const steps: { [N in CommandName]?: Input<N> } = {
    'image.ensure': imageSource,
    'volume.create': { volume: volumeOf(n), image: imageSource.id, sizeBytes: 10 * 1024 ** 3 },
    'seed.write': seedOf(n),
    'firewall.allow': portRulesOf(n),
    'vm.define': vmOf(n),
    'vm.start': { workload: workloadId(n) },
    'vm.await': { workload: workloadId(n), address: null, limitSeconds: 5 },
  }
  const answers = []
  for (const [name, input] of Object.entries(steps))
    answers.push(await it.command(`job_${n}/${name}`, name as CommandName, input as never))
  return answers
}

describe('enrolling', () => {
  test('makes a key that only root can read and remembers the controller', async () => {
    const { dir, it } = await node()
    expect(statSync(join(dir, 'node.key')).mode & 0o777).toBe(0o600)
    expect(statSync(join(dir, 'agent.json')).mode & 0o777).toBe(0o600)
    expect(JSON.parse(await Bun.file(join(dir, 'agent.json')).text())).toEqual({
      controller: it.url,
      nodeId: NODE_ID,
      name: 'n1',
      fake: true,
    })
    expect(it.enrolled()?.facts).toMatchObject({ fake: true, hostname: 'n1', memoryMb: 131_072 })
  })
  test('a token the controller does not know is refused with its code, and nothing is kept', async () => {
    const it = controller()
    closing.push(it.close)
    const dir = dataDir()
    const { code, err } = await berthAgent([
      'enroll',
      '--controller',
      it.url,
      '--token',
      'bad',
      '--data-dir',
      dir,
      '--fake',
    ])
    expect({ code, err }).toEqual({ code: 1, err: 'invalid_token: invalid_token, says the test\n' })
    expect(existsSync(join(dir, 'agent.json'))).toBe(false)
  })
  test('a controller without TLS on another host is refused', async () => {
    const { code, err } = await berthAgent([
      'enroll',
      '--controller',
      'http://198.51.100.1',
      '--token',
      'good',
      '--data-dir',
      dataDir(),
      '--fake',
    ])
    expect(code).toBe(1)
    expect(err).toStartWith('insecure_controller: ')
  })
  test('without a token it is wrong use', async () => {
    expect((await berthAgent(['enroll', '--controller', 'http://localhost'])).code).toBe(2)
    expect((await berthAgent(['dance'])).code).toBe(2)
    expect((await berthAgent(['run', '--no-such'])).code).toBe(2)
    expect((await berthAgent(['run', '--help'])).code).toBe(0)
  })
})

describe('a connected agent', () => {
  test('says what it is, how it is and what it has', async () => {
    const { it } = await node()
    expect((await it.frame('facts')).facts).toMatchObject({
      hostname: 'n1',
      fake: true,
      cpu: { threads: 32 },
      bridges: [{ name: 'br0' }],
    })
    expect((await it.frame('heartbeat')).pools).toMatchObject([{ name: 'local', totalBytes: 2e12 }])
    expect(await it.frame('inventory')).toMatchObject({ vms: [], volumes: [], foreign: [] })
  })
  test('installs a server that answers', async () => {
    const { it } = await node()
    await it.waitConnected()
    const answers = await install(it)
    expect(answers.map(({ type }) => type)).toEqual(Array(7).fill('done'))
    expect(answers.at(-1)).toMatchObject({ output: { answered: 'agent' } })
    // Between its definition and its start it may be seen as stopped.
    expect(await it.frame('power', ({ power }) => power === 'running')).toMatchObject({ workload: workloadId(1) })
  })
  test('refuses what it does not know and what is not right, and does nothing', async () => {
    const { it } = await node()
    await it.waitConnected()
    it.send('k1', 'vm.explode', {})
    expect(await it.answer('k1')).toMatchObject({ type: 'failed', error: { code: 'invalid_command' } })
    it.send('k2', 'vm.look', { workload: '../../etc/passwd' })
    expect(await it.answer('k2')).toMatchObject({ type: 'failed', error: { code: 'invalid_command' } })
  })
  test('does not start a guest that has no rules', async () => {
    const { it } = await node()
    await it.waitConnected()
    expect(await it.command('k', 'vm.start', { workload: workloadId(1) })).toMatchObject({
      error: { code: 'no_port_rules' },
    })
  })
  test('comes back after a lost connection and answers from its journal what was done before', async () => {
    const { it } = await node()
    await it.waitConnected()
    await install(it)
    it.dropConnection()
    await Bun.sleep(20)
    await it.waitConnected()
    it.frames.length = 0
    expect(
      await it.command('job_1/vm.await', 'vm.await', { workload: workloadId(2), address: null, limitSeconds: 1 }),
    ).toMatchObject({
      output: { answered: 'agent' },
    })
  })
  test('keeps its guests when it is killed, and ends with 0 when it is asked to', async () => {
    const { it, agent, run } = await node()
    await it.waitConnected()
    await install(it)
    await agent.stop('SIGKILL')
    const again = run()
    it.frames.length = 0
    expect((await it.frame('inventory')).vms).toEqual([{ workload: workloadId(1), power: 'running' }])
    expect(await again.stop()).toBe(0)
  })
})

describe('the connection', () => {
  const refusals = [
    ['the challenge', 401, 'this node was removed or its credential revoked; enroll again with a new token'],
    ['the upgrade', 401, 'this node was removed or its credential revoked; enroll again with a new token'],
    ['the challenge', 426, 'the controller speaks another protocol; update this agent'],
  ] as const
  for (const [where, status, words] of refusals) {
    test(`${status} to ${where} is said in words, once a minute`, async () => {
      const { it, dir, agent } = await node()
      await it.waitConnected()
      await agent.stop()
      if (where === 'the upgrade') it.answerUpgradesWith(status)
      else it.answerChallengesWith(status)
      const refused = agentProcess(dir, {}, 'pipe')
      await Bun.sleep(1500)
      expect(await refused.stop()).toBe(0)
      const said = await new Response(refused.child.stderr as ReadableStream).text()
      expect(said.split(words)).toHaveLength(2)
    })
  }
  test('a controller that is away is asked again, and found when it is back', async () => {
    const { it } = await node()
    await it.waitConnected()
    it.answerChallengesWith(503)
    it.dropConnection()
    await Bun.sleep(800)
    expect(it.connected()).toBe(false)
    it.answerChallengesWith(200)
    await it.waitConnected(3000)
  })
  test('an agent that is asked to stop ends what it does, and answers', async () => {
    const { it, dir, agent } = await node()
    await it.waitConnected()
    await Bun.write(join(dir, 'faults.json'), JSON.stringify([{ command: 'vm.look', mode: 'slow', ms: 500 }]))
    it.send('slow', 'vm.look', { workload: workloadId(1) })
    await Bun.sleep(100)
    expect(await agent.stop()).toBe(0)
    expect(await it.answer('slow')).toMatchObject({ output: { power: 'absent' } })
  })
  test('a command’s lines and progress come while it runs', async () => {
    const { it } = await node()
    await it.waitConnected()
    await it.command('job/image', 'image.ensure', imageSource)
    expect(await it.frame('log')).toMatchObject({ key: 'job/image', level: 'info' })
    expect(await it.frame('progress', ({ percent }) => percent === 100)).toMatchObject({ key: 'job/image' })
  })
  test('a report is given whenever it is asked for', async () => {
    const { it } = await node()
    await it.waitConnected()
    await it.frame('inventory')
    it.frames.length = 0
    it.ask({ type: 'report' })
    await it.frame('facts')
    await it.frame('heartbeat')
    await it.frame('inventory')
  })
})

describe('a power cut', () => {
  for (const moment of ['before', 'after'] as const) {
    test(`${moment} a command leaves it to be done again, once`, async () => {
      const { it, agent, run } = await node({ BERTH_CRASH_AT: `vm.start:${moment}` })
      await it.waitConnected()
      install(it).catch(() => {})
      expect(await agent.child.exited).not.toBe(0)
      run({ BERTH_CRASH_AT: `vm.start:${moment}` })
      await Bun.sleep(100)
      await it.waitConnected()
      expect(await it.command('job_1/vm.start', 'vm.start', { workload: workloadId(1) })).toMatchObject({
        type: 'done',
      })
      expect(await it.command('look', 'vm.look', { workload: workloadId(1) })).toMatchObject({
        output: { power: 'running' },
      })
    })
  }
})

describe('a reboot of the host', () => {
  test('starts the guests that ran, behind their rules, without the controller', async () => {
    const { it, dir, agent, run } = await node()
    await it.waitConnected()
    await install(it, 1)
    await install(it, 2)
    await it.command('stop', 'vm.stop', { workload: workloadId(2), graceSeconds: 0 })
    await agent.stop()
    await Bun.write(join(dir, 'fake.json'), JSON.stringify({ bootId: 'second-boot' }))
    run()
    await Bun.sleep(200)
    await it.waitConnected()
    expect(await it.command('l1', 'vm.look', { workload: workloadId(1) })).toMatchObject({
      output: { power: 'running' },
    })
    expect(await it.command('l2', 'vm.look', { workload: workloadId(2) })).toMatchObject({
      output: { power: 'stopped' },
    })
  })
})

describe('faults on purpose', () => {
  test('strike as often as they say, also across a kill', async () => {
    const { it, dir, agent, run } = await node()
    await it.waitConnected()
    await Bun.write(join(dir, 'faults.json'), JSON.stringify([{ command: 'vm.look', mode: 'fail', times: 2 }]))
    expect(await it.command('a', 'vm.look', { workload: workloadId(1) })).toMatchObject({ error: { code: 'fault' } })
    await agent.stop('SIGKILL')
    run()
    await Bun.sleep(50)
    await it.waitConnected()
    expect(await it.command('b', 'vm.look', { workload: workloadId(1) })).toMatchObject({ error: { code: 'fault' } })
    expect(await it.command('c', 'vm.look', { workload: workloadId(1) })).toMatchObject({ output: { power: 'absent' } })
  })
  test('a lie answers as if all were well', async () => {
    const { it, dir } = await node()
    await it.waitConnected()
    await Bun.write(join(dir, 'faults.json'), JSON.stringify([{ command: 'vm.start', mode: 'lie' }]))
    expect(await it.command('a', 'vm.start', { workload: workloadId(1) })).toMatchObject({ type: 'done' })
    expect(await it.command('b', 'vm.look', { workload: workloadId(1) })).toMatchObject({ output: { power: 'absent' } })
  })
})

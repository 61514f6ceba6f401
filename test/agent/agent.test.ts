import { afterEach, describe, expect, test } from 'bun:test'
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { CommandName, Input } from '../../agent/protocol/wire.ts'
import { agentPaths, closeCodes, commands } from '../../agent/protocol/wire.ts'
import { controller, NODE_ID } from './controller.ts'
import { imageSource, portRulesOf, seedOf, vmOf, volumeOf, workloadId } from './examples.ts'
import { agentProcess, berthAgent, dataDir } from './run.ts'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

/** A controller and a running agent of a fake node. */
async function node(env: Record<string, string> = {}) {
  const fakeController = controller()
  closing.push(fakeController.close)
  const dir = dataDir()
  const enrolled = await berthAgent(
    ['enroll', '--controller', fakeController.url, '--token-file', '-', '--name', 'n1', '--data-dir', dir, '--fake'],
    {},
    'good',
  )
  expect(enrolled).toMatchObject({ code: 0, err: '' })
  const run = (more: Record<string, string> = {}) => {
    const agent = agentProcess(dir, more)
    closing.push(() => agent.stop('SIGKILL'))
    return agent
  }
  return { fakeController, dir, run, agent: run(env) }
}

/** Sends every command of an installation, for the workload `n`. */
async function install(fakeController: Awaited<ReturnType<typeof node>>['fakeController'], n = 1) {
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
    answers.push(await fakeController.command(`job_${n}/${name}`, name as CommandName, input as never))
  return answers
}

describe('enrolling', () => {
  test('makes a key that only root can read and remembers the controller', async () => {
    const { dir, fakeController } = await node()
    expect(statSync(join(dir, 'node.key')).mode & 0o777).toBe(0o600)
    expect(statSync(join(dir, 'agent.json')).mode & 0o777).toBe(0o600)
    expect(JSON.parse(await Bun.file(join(dir, 'agent.json')).text())).toEqual({
      controller: fakeController.url,
      nodeId: NODE_ID,
      name: 'n1',
      fake: true,
    })
    expect(fakeController.enrolled()?.facts).toMatchObject({ fake: true, hostname: 'n1', memoryMb: 131_072 })
  })
  test('with an unknown token is refused with the controller’s code, and nothing is stored', async () => {
    const fakeController = controller()
    closing.push(fakeController.close)
    const dir = dataDir()
    const { code, err } = await berthAgent(
      ['enroll', '--controller', fakeController.url, '--token-file', '-', '--data-dir', dir, '--fake'],
      {},
      'bad',
    )
    expect({ code, err }).toEqual({ code: 1, err: 'invalid_token: invalid_token, says the test\n' })
    expect(existsSync(join(dir, 'agent.json'))).toBe(false)
  })
  test('at a controller on another host without TLS is refused', async () => {
    const { code, err } = await berthAgent(
      ['enroll', '--controller', 'http://198.51.100.1', '--token-file', '-', '--data-dir', dataDir(), '--fake'],
      {},
      'good',
    )
    expect(code).toBe(1)
    expect(err).toStartWith('insecure_controller: ')
  })
  test('without a token is wrong usage', async () => {
    expect((await berthAgent(['enroll', '--controller', 'http://localhost'])).code).toBe(2)
    expect((await berthAgent(['dance'])).code).toBe(2)
    expect((await berthAgent(['run', '--no-such'])).code).toBe(2)
    expect((await berthAgent(['run', '--help'])).code).toBe(0)
  })
})

describe('the uplink of a node', () => {
  test('is named at the enrolment, and can be changed without another one', async () => {
    const fakeController = controller()
    closing.push(fakeController.close)
    const dir = dataDir()
    const at = ['--data-dir', dir]
    const enrol = (...more: string[]) =>
      berthAgent(
        ['enroll', '--controller', fakeController.url, '--token-file', '-', '--fake', ...at, ...more],
        {},
        'good',
      )
    expect((await enrol('--vlans', '20')).err).toStartWith('invalid_uplink: --vlans needs --uplink')
    expect((await enrol('--uplink', 'bond0', '--vlans', '20-4095')).err).toStartWith(
      'invalid_uplink: --vlans takes all',
    )
    expect(existsSync(join(dir, 'agent.json'))).toBe(false)
    expect((await berthAgent(['uplink', ...at])).err).toStartWith('not_enrolled: ')
    expect((await enrol('--uplink', 'bond0', '--vlans', '20,30-39')).code).toBe(0)
    expect(fakeController.enrolled()?.facts).toMatchObject({ fake: true })
    expect((await berthAgent(['uplink', ...at])).out).toBe('bond0, VLANs: 20, 30-39\n')
    // Enrolled again, as after its credential was revoked.
    expect((await enrol()).code).toBe(0)
    expect((await berthAgent(['uplink', ...at])).out).toBe('bond0, VLANs: 20, 30-39\n')
    expect((await berthAgent(['uplink', ...at, '--uplink', 'eno1', '--vlans', 'all'])).out).toBe('eno1, VLANs: all\n')
    expect((await berthAgent(['uplink', ...at, '--uplink', '-x'])).code).not.toBe(0)
    expect((await berthAgent(['uplink', ...at, '--uplink', 'eno2', '--vlans', '0'])).code).toBe(1)
    expect((await berthAgent(['uplink', ...at])).out).toBe('eno1, VLANs: all\n')
    expect((await berthAgent(['uplink', ...at, '--none'])).out).toStartWith('No uplink is named')
    expect((await berthAgent(['uplink', ...at])).out).toStartWith('No uplink is named')
  })
})

describe('a connected agent', () => {
  test('reports facts, load and inventory', async () => {
    const { fakeController } = await node()
    expect((await fakeController.frame('facts')).facts).toMatchObject({
      hostname: 'n1',
      fake: true,
      cpu: { threads: 32 },
      bridges: [{ name: 'br0' }],
    })
    expect((await fakeController.frame('heartbeat')).pools).toMatchObject([{ name: 'local', totalBytes: 2e12 }])
    expect(await fakeController.frame('inventory')).toMatchObject({ vms: [], volumes: [], foreign: [] })
  })
  test('installs a vm whose guest answers', async () => {
    const { fakeController } = await node()
    await fakeController.waitConnected()
    const answers = await install(fakeController)
    expect(answers.map(({ type }) => type)).toEqual(Array(7).fill('done'))
    expect(answers.at(-1)).toMatchObject({ output: { answered: 'agent' } })
    // Between definition and start it may be reported as stopped.
    expect(await fakeController.frame('power', ({ power }) => power === 'running')).toMatchObject({
      workload: workloadId(1),
    })
  })
  test('says with its facts which commands it knows', async () => {
    const { fakeController } = await node()
    expect((await fakeController.frame('facts')).capabilities).toEqual(Object.keys(commands))
  })
  test('refuses unknown commands and invalid inputs', async () => {
    const { fakeController } = await node()
    await fakeController.waitConnected()
    fakeController.send('k1', 'vm.explode', {})
    expect(await fakeController.answer('k1')).toMatchObject({ type: 'failed', error: { code: 'invalid_command' } })
    fakeController.send('k2', 'vm.look', { workload: '../../etc/passwd' })
    expect(await fakeController.answer('k2')).toMatchObject({ type: 'failed', error: { code: 'invalid_command' } })
  })
  test('does not start a vm without port rules', async () => {
    const { fakeController } = await node()
    await fakeController.waitConnected()
    expect(await fakeController.command('k', 'vm.start', { workload: workloadId(1) })).toMatchObject({
      error: { code: 'no_port_rules' },
    })
  })
  test('reconnects after a lost connection and answers repeated commands from its journal', async () => {
    const { fakeController } = await node()
    await fakeController.waitConnected()
    await install(fakeController)
    fakeController.dropConnection()
    await Bun.sleep(20)
    await fakeController.waitConnected()
    fakeController.frames.length = 0
    // Without port rules this vm could not be started: the answer is that of the command before.
    expect(await fakeController.command('job_1/vm.start', 'vm.start', { workload: workloadId(2) })).toMatchObject({
      output: {},
    })
  })
  test('leaves its vms running when it is killed, and exits with 0 on SIGTERM', async () => {
    const { fakeController, agent, run } = await node()
    await fakeController.waitConnected()
    await install(fakeController)
    await agent.stop('SIGKILL')
    const again = run()
    fakeController.frames.length = 0
    expect((await fakeController.frame('inventory')).vms).toEqual([{ workload: workloadId(1), power: 'running' }])
    expect(await again.stop()).toBe(0)
  })
})

describe('the connection', () => {
  const unknown = 'the controller does not know this node, or its credential was revoked; enroll again with a new token'
  const refusals = [
    ['the challenge', 401, unknown],
    ['the upgrade', 401, unknown],
    ['the challenge', 426, 'the controller speaks another protocol; update this agent'],
  ] as const
  for (const [where, status, words] of refusals) {
    test(`${status} to ${where} is logged in words, once a minute`, async () => {
      const { fakeController, dir, agent } = await node()
      await fakeController.waitConnected()
      await agent.stop()
      if (where === 'the upgrade') fakeController.answerUpgradesWith(status)
      else fakeController.answerChallengesWith(status)
      const refused = agentProcess(dir, {}, 'pipe')
      let said = ''
      const reading = (async () => {
        const decoder = new TextDecoder()
        for await (const chunk of refused.child.stderr as ReadableStream)
          said += decoder.decode(chunk, { stream: true })
      })()
      for (const until = Date.now() + 10_000; !said.includes(words) && Date.now() < until; ) await Bun.sleep(20)
      await Bun.sleep(1000)
      expect(await refused.stop()).toBe(0)
      await reading
      expect(said.split(words)).toHaveLength(2)
    })
  }
  test('whose challenge the controller forgot is asked for anew at once, and nobody hears of a removal', async () => {
    const { fakeController, dir, agent } = await node()
    await fakeController.waitConnected()
    await agent.stop()
    fakeController.forgetChallenges(3)
    const began = performance.now()
    const again = agentProcess(dir, {}, 'pipe')
    await fakeController.waitConnected()
    const tookMs = performance.now() - began
    expect(await again.stop()).toBe(0)
    const said = await new Response(again.child.stderr as ReadableStream).text()
    expect(said).not.toContain('removed')
    expect(fakeController.requests.filter((path) => path === agentPaths.connect)).toHaveLength(1 + 4)
    expect(tookMs).toBeLessThan(15_000)
  })
  for (const code of [closeCodes.tooMuch, closeCodes.replaced])
    test(`closed with ${code} is not opened again for half a minute, and the agent still stops at once`, async () => {
      const { fakeController, agent } = await node()
      await fakeController.waitConnected()
      fakeController.closeConnection(code)
      await Bun.sleep(1500)
      expect(fakeController.connected()).toBe(false)
      expect(await agent.stop()).toBe(0)
    })
  test('closed because the controller restarts is opened again soon', async () => {
    const { fakeController } = await node()
    await fakeController.waitConnected()
    fakeController.closeConnection(closeCodes.restarting)
    await Bun.sleep(20)
    await fakeController.waitConnected(3000)
  })
  test('is retried while the controller is away', async () => {
    const { fakeController } = await node()
    await fakeController.waitConnected()
    fakeController.answerChallengesWith(503)
    fakeController.dropConnection()
    await Bun.sleep(800)
    expect(fakeController.connected()).toBe(false)
    fakeController.answerChallengesWith(200)
    await fakeController.waitConnected(10_000)
  })
  test('stays open on SIGTERM until running commands are answered', async () => {
    const { fakeController, dir, agent } = await node()
    await fakeController.waitConnected()
    await Bun.write(join(dir, 'faults.json'), JSON.stringify([{ command: 'vm.look', mode: 'slow', ms: 500 }]))
    fakeController.send('slow', 'vm.look', { workload: workloadId(1) })
    await Bun.sleep(100)
    expect(await agent.stop()).toBe(0)
    expect(await fakeController.answer('slow')).toMatchObject({ output: { power: 'absent' } })
  })
  test('carries a command’s log lines and progress while it runs', async () => {
    const { fakeController } = await node()
    await fakeController.waitConnected()
    await fakeController.command('job/image', 'image.ensure', imageSource)
    expect(await fakeController.frame('log')).toMatchObject({ key: 'job/image', level: 'info' })
    expect(await fakeController.frame('progress', ({ percent }) => percent === 100)).toMatchObject({ key: 'job/image' })
  })
  test('carries a report on request', async () => {
    const { fakeController } = await node()
    await fakeController.waitConnected()
    await fakeController.frame('inventory')
    fakeController.frames.length = 0
    fakeController.ask({ type: 'report' })
    await fakeController.frame('facts')
    await fakeController.frame('heartbeat')
    await fakeController.frame('inventory')
  })
})

describe('a crash', () => {
  for (const moment of ['before', 'after'] as const) {
    test(`${moment} a command lets the command run again, once`, async () => {
      const { fakeController, agent, run } = await node({ BERTH_CRASH_AT: `vm.start:${moment}` })
      await fakeController.waitConnected()
      install(fakeController).catch(() => {})
      expect(await agent.child.exited).not.toBe(0)
      run({ BERTH_CRASH_AT: `vm.start:${moment}` })
      await Bun.sleep(100)
      await fakeController.waitConnected()
      expect(await fakeController.command('job_1/vm.start', 'vm.start', { workload: workloadId(1) })).toMatchObject({
        type: 'done',
      })
      expect(await fakeController.command('look', 'vm.look', { workload: workloadId(1) })).toMatchObject({
        output: { power: 'running' },
      })
    })
  }
})

describe('a reboot of the host', () => {
  test('starts the vms that ran, without the controller', async () => {
    const { fakeController, dir, agent, run } = await node()
    await fakeController.waitConnected()
    await install(fakeController, 1)
    await install(fakeController, 2)
    await fakeController.command('stop', 'vm.stop', { workload: workloadId(2), graceSeconds: 0 })
    await agent.stop()
    await Bun.write(join(dir, 'fake.json'), JSON.stringify({ bootId: 'second-boot' }))
    run()
    await Bun.sleep(200)
    await fakeController.waitConnected()
    expect(await fakeController.command('l1', 'vm.look', { workload: workloadId(1) })).toMatchObject({
      output: { power: 'running' },
    })
    expect(await fakeController.command('l2', 'vm.look', { workload: workloadId(2) })).toMatchObject({
      output: { power: 'stopped' },
    })
  })
})

describe('injected faults', () => {
  test('strike as often as configured, also across a kill', async () => {
    const { fakeController, dir, agent, run } = await node()
    await fakeController.waitConnected()
    await Bun.write(join(dir, 'faults.json'), JSON.stringify([{ command: 'vm.look', mode: 'fail', times: 2 }]))
    expect(await fakeController.command('a', 'vm.look', { workload: workloadId(1) })).toMatchObject({
      error: { code: 'fault' },
    })
    await agent.stop('SIGKILL')
    run()
    await Bun.sleep(50)
    await fakeController.waitConnected()
    expect(await fakeController.command('b', 'vm.look', { workload: workloadId(1) })).toMatchObject({
      error: { code: 'fault' },
    })
    expect(await fakeController.command('c', 'vm.look', { workload: workloadId(1) })).toMatchObject({
      output: { power: 'absent' },
    })
  })
  test('of mode lie answer and do nothing', async () => {
    const { fakeController, dir } = await node()
    await fakeController.waitConnected()
    await Bun.write(join(dir, 'faults.json'), JSON.stringify([{ command: 'vm.start', mode: 'lie' }]))
    expect(await fakeController.command('a', 'vm.start', { workload: workloadId(1) })).toMatchObject({ type: 'done' })
    expect(await fakeController.command('b', 'vm.look', { workload: workloadId(1) })).toMatchObject({
      output: { power: 'absent' },
    })
  })
})

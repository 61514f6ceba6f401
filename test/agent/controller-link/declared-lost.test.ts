// A node that was declared lost and comes back: its servers may run elsewhere by then, so it stops them, and starts
// none after its next boot.
import { Database } from 'bun:sqlite'
import { afterEach, describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { parseCommand } from '../../../agent/commands/index.ts'
import type { FakeHypervisor } from '../../../agent/drivers/hypervisor/fake.ts'
import { openFakeHost } from '../../../agent/host/fake-host.ts'
import { agentPaths, type CommandName, type Input } from '../../../agent/protocol/wire.ts'
import { eventually } from '../../support/waiting/eventually.ts'
import { controller, NODE_ID } from '../controller.ts'
import { imageSource, portRulesOf, seedOf, vmOf, volumeOf, workloadId } from '../examples.ts'
import { agentProcess, berthAgent, dataDir } from '../run.ts'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

const id = workloadId(1)
/** A node with a vm that runs, and the state of its host as another process reads it. */
async function nodeWithVm() {
  const panel = controller()
  closing.push(panel.close)
  panel.welcomeWithEpoch(5)
  const dir = dataDir()
  const enroll = () =>
    berthAgent(
      ['enroll', '--controller', panel.url, '--token-file', '-', '--name', 'n1', '--data-dir', dir, '--fake'],
      {},
      'good',
    )
  expect((await enroll()).code).toBe(0)
  const host = openFakeHost(dir)
  closing.push(() => host.close())
  const obey = <N extends CommandName>(name: N, input: Input<N>) => parseCommand(name, input).work(host)
  await obey('image.ensure', imageSource)
  await obey('volume.create', { volume: volumeOf(1), image: imageSource.id, sizeBytes: 1e10 })
  await obey('seed.write', seedOf(1))
  await obey('firewall.allow', portRulesOf(1))
  await obey('vm.define', vmOf(1))
  await obey('vm.start', { workload: id })
  const run = () => {
    const agent = agentProcess(dir)
    closing.push(() => agent.stop('SIGKILL'))
    return agent
  }
  /** The machine boots: nothing runs that was not started since. */
  const boot = () => (host.hypervisor as FakeHypervisor).powerOff()
  const power = () => host.hypervisor.power(id)
  const startedAt = () => {
    using file = new Database(`${dir}/fake.db`, { readonly: true })
    return file.query<{ startedAt: number }, []>('SELECT startedAt FROM vms').get()!.startedAt
  }
  return { panel, host, dir, enroll, run, boot, power, startedAt }
}

describe('a node that was declared lost', () => {
  test('stops its vms when it hears so, keeps their disks, and starts none after its next boot', async () => {
    const { panel, host, run, boot, power, startedAt } = await nodeWithVm()
    const before = startedAt()
    const agent = run()
    await panel.waitConnected()
    expect(await power()).toBe('running')
    panel.declareLost(5)
    await eventually(async () => (await power()) === 'stopped', 20)
    expect([await power(), host.state.wanted()]).toEqual(['stopped', []])
    expect((await host.storage.volumes()).volumes).toHaveLength(1)
    await agent.stop('SIGTERM')
    boot()
    panel.declareLost(undefined)
    run()
    await panel.frame('inventory')
    expect([await power(), startedAt()]).toEqual(['stopped', before])
  }, 60_000)

  test('tells the controller that nothing runs on it, after it has stopped them', async () => {
    const { panel, run, power } = await nodeWithVm()
    run()
    await panel.waitConnected()
    expect(panel.saidStopped()).toBe(0)
    panel.declareLost(5)
    await eventually(() => panel.saidStopped() > 0, 20)
    expect([panel.saidStopped(), await power()]).toEqual([1, 'stopped'])
  }, 60_000)

  test('tells it nothing while it cannot say what runs', async () => {
    const { panel, dir, run, power } = await nodeWithVm()
    run()
    await panel.waitConnected()
    writeFileSync(`${dir}/faults.json`, JSON.stringify([{ hangs: 'hypervisor', ms: 200 }]))
    panel.requests.length = 0
    panel.declareLost(5)
    await eventually(() => panel.requests.includes(agentPaths.challenge), 20)
    await Bun.sleep(1500)
    writeFileSync(`${dir}/faults.json`, '[]')
    expect([panel.saidStopped(), await power()]).toEqual([0, 'running'])
  }, 60_000)

  test('starts nothing when it boots before it has heard so', async () => {
    const { panel, host, run, boot, power, startedAt } = await nodeWithVm()
    const before = startedAt()
    boot()
    panel.declareLost(5)
    run()
    await eventually(() => host.state.wanted().length === 0, 20)
    expect([await power(), host.state.wanted(), startedAt()]).toEqual(['stopped', [], before])
  }, 60_000)

  test('starts nothing as another node either, when it is enrolled again before its agent runs', async () => {
    const { panel, host, enroll, run, boot, power, startedAt } = await nodeWithVm()
    const before = startedAt()
    boot()
    panel.declareLost(5)
    expect((await enroll()).code).toBe(0)
    expect(host.state.wanted()).toEqual([])
    panel.declareLost(undefined)
    run()
    await panel.frame('inventory')
    expect([await power(), startedAt()]).toEqual(['stopped', before])
  }, 60_000)
})

test('a machine that is enrolled again at another address of its controller stops what its lost node ran', async () => {
  const { panel, host, power, dir } = await nodeWithVm()
  const moved = controller()
  closing.push(moved.close)
  panel.close()
  moved.declareLost(5)
  const words = ['enroll', '--controller', moved.url, '--token-file', '-', '--name', 'n1', '--data-dir', dir, '--fake']
  expect([await power(), (await berthAgent(words, {}, 'good')).code]).toEqual(['running', 0])
  expect([await power(), host.state.wanted()]).toEqual(['stopped', []])
}, 60_000)

describe('a node starts its vms after a boot', () => {
  test('once its controller has welcomed it', async () => {
    const { run, boot, power } = await nodeWithVm()
    boot()
    run()
    await eventually(async () => (await power()) === 'running', 20)
    expect(await power()).toBe('running')
  }, 60_000)

  test('while its controller is away, after a while', async () => {
    const { panel, run, boot, power } = await nodeWithVm()
    boot()
    panel.close()
    run()
    await eventually(async () => (await power()) === 'running', 40)
    expect(await power()).toBe('running')
  }, 60_000)

  test('though a controller older than one that it obeyed says that it was declared lost', async () => {
    const { panel, host, run, boot, power } = await nodeWithVm()
    host.state.obeyEpoch(NODE_ID, 5)
    boot()
    panel.declareLost(4)
    run()
    await eventually(async () => (await power()) === 'running', 40)
    expect([await power(), host.state.wanted()]).toMatchObject(['running', [{ workload: id }]])
  }, 60_000)
})

// A storage pool, libvirt or the container engine that hangs: the agent goes on reporting, and says what is silent.
import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Hang } from '../../../agent/host/faults.ts'
import { controller } from '../controller.ts'
import { imageSource, portRulesOf, seedOf, vmOf, volumeOf, workloadId } from '../examples.ts'
import { agentProcess, berthAgent, dataDir } from '../run.ts'

/** An agent waits 8 s for each part; this one less. */
const SILENT_AFTER_MS = 2000

describe('what hangs on a node', () => {
  const fakeController = controller()
  const dir = dataDir()
  let agent: ReturnType<typeof agentProcess>
  const hang = (...faults: Hang[]) => writeFileSync(join(dir, 'faults.json'), JSON.stringify(faults))
  beforeAll(async () => {
    const pools = [{ name: 'fast', totalBytes: 2 ** 40 }]
    writeFileSync(
      join(dir, 'fake.json'),
      JSON.stringify({ pools, heartbeatMs: 200, bootMs: 0, silentAfterMs: SILENT_AFTER_MS }),
    )
    const how = ['--controller', fakeController.url, '--token-file', '-', '--name', 'n1', '--data-dir', dir, '--fake']
    expect(await berthAgent(['enroll', ...how], {}, 'good')).toMatchObject({ code: 0 })
    agent = agentProcess(dir)
    await fakeController.waitConnected()
    await fakeController.command('job_1/a', 'image.ensure', imageSource)
    await fakeController.command('job_1/b', 'volume.create', {
      volume: volumeOf(1),
      image: imageSource.id,
      sizeBytes: 2 ** 34,
    })
    await fakeController.command('job_1/c', 'seed.write', seedOf(1))
    await fakeController.command('job_1/d', 'firewall.allow', portRulesOf(1))
    await fakeController.command('job_1/e', 'vm.define', vmOf(1))
    expect(await fakeController.command('job_1/f', 'vm.start', { workload: workloadId(1) })).toMatchObject({
      type: 'done',
    })
  }, 60_000)
  afterAll(async () => {
    await agent?.stop('SIGKILL')
    fakeController.close()
  })
  /** The next heartbeat from now on that fits. */
  const heartbeat = (fits: (beat: any) => boolean) => {
    fakeController.frames.length = 0
    return fakeController.frame('heartbeat', fits)
  }
  const poolOf = (beat: any, name: string) => beat.pools.find((pool: any) => pool.name === name)

  test('is a storage pool: the others are reported, its figures stay, its disks count as unknown', async () => {
    const { pools } = await heartbeat((beat) => beat.workloads.length === 1)
    hang({ hangs: 'pool', pool: 'local' })
    const beat = await heartbeat((beat) => poolOf(beat, 'local').silentSince)
    expect(poolOf(beat, 'local')).toEqual({
      ...pools.find(({ name }) => name === 'local')!,
      warnings: ['The pool does not answer: there was no answer in time'],
      silentSince: expect.any(Number),
    })
    expect(poolOf(beat, 'fast')).not.toHaveProperty('silentSince')
    expect(beat.workloads).toMatchObject([{ id: workloadId(1), power: 'running' }])
    // From now on nobody waits for it.
    const began = Date.now()
    await heartbeat(() => true)
    fakeController.ask({ type: 'report' })
    expect(await fakeController.frame('inventory')).toMatchObject({ volumes: [], silentPools: ['local'], vms: [{}] })
    expect(await fakeController.command('job_1/g', 'volume.look', volumeOf(1))).toMatchObject({
      error: { code: 'pool_silent' },
    })
    expect(Date.now() - began).toBeLessThan(3000)
    hang()
    await heartbeat((beat) => !poolOf(beat, 'local').silentSince)
    fakeController.ask({ type: 'report' })
    expect(await fakeController.frame('inventory')).toMatchObject({ volumes: [{ pool: 'local' }] })
    expect(await fakeController.command('job_1/h', 'volume.look', volumeOf(1))).toMatchObject({
      output: { sizeBytes: 2 ** 34 },
    })
  }, 60_000)

  test('is a pool that an earlier agent did not note: it is learned from the disks that are there', async () => {
    const state = new Database(join(dir, 'state.db'))
    state.run('PRAGMA busy_timeout = 5000')
    state.run('delete from vm_pools')
    fakeController.frames.length = 0
    fakeController.ask({ type: 'report' })
    await fakeController.frame('inventory')
    expect(state.query('select workload, pool from vm_pools').all()).toEqual([
      { workload: workloadId(1), pool: 'local' },
    ])
    state.close()
  })

  test('is libvirt or the container engine: the heartbeat goes on, and names no power', async () => {
    hang({ hangs: 'hypervisor' }, { hangs: 'containers' })
    const beat = await heartbeat((beat) => beat.silent?.length === 2)
    expect(beat).toMatchObject({
      workloads: [],
      silent: [
        { part: 'hypervisor', since: expect.any(Number), why: 'there was no answer in time' },
        { part: 'containers' },
      ],
    })
    fakeController.ask({ type: 'report' })
    expect(await fakeController.frame('inventory')).toMatchObject({
      vms: [],
      silent: ['hypervisor', 'containers'],
      volumes: [{}],
    })
    hang()
    const { silent, workloads } = await heartbeat((beat) => !beat.silent)
    expect([silent, workloads.map(({ power }) => power)]).toEqual([undefined, ['running']])
  }, 60_000)
})

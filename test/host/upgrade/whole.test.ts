// A controller and the agents of three machines without systemd, its own and two others, go from version to version,
// and come back from versions that do not work. The programs are real ones. BERTH_LONG=1: from all that
// test/install/upgrade-systemd.test.ts tries, too.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { temporary } from '../../agent/temporary.ts'
import { eventually } from '../../support/waiting/eventually.ts'
import { built } from './builds.ts'
import { brokenAgents, Fleet, releaseOf, statesOf } from './fleet.ts'
import { Lab, possible } from './lab.ts'
import { relay } from './relay.ts'

setDefaultTimeout(180_000)
const url = 'http://127.0.0.1:8080'
const AGENT = '/usr/local/lib/berth/berth-agent'
const hashOf = async (path: string) => Bun.hash(await Bun.file(path).bytes())
const isLong = process.env['BERTH_LONG'] === '1'
// There is no server here, about which one could lie.
const broken = brokenAgents.filter(({ isSlow, finding }) => (isLong || !isSlow) && !finding)

describe.skipIf(!possible)('controller and agents', () => {
  const files = temporary('whole')
  let lab: Lab
  let fleet: Fleet
  /** The machines of the other two agents. */
  const others: Record<string, Lab> = {}
  const relays: (() => Promise<void>)[] = []
  let programs: Record<string, string> = {}
  const release = (version: string) => releaseOf(programs[version]!, version, join(files, `${version}.release`))

  beforeAll(async () => {
    programs = {}
    for (const version of ['1.0.0', '1.1.0', '1.2.0']) programs[version] = await built(version)
    lab = await Lab.make(programs['1.0.0']!, { ownNetwork: true })
    const started = await Fleet.on(lab, url, 'real')
    fleet = started.fleet
    for (const name of ['second', 'third']) {
      const other = (others[name] = await Lab.make(programs['1.0.0']!, { ownNetwork: true }))
      relays.push(await relay(other.pid, lab.pid, 8080))
      await fleet.addReal(name, started.locationId, other)
    }
    await eventually(async () => (await fleet.connected()) === 3, 30)
  })
  afterAll(async () => {
    for (const each of [lab, ...Object.values(others)]) await each?.remove()
    for (const end of relays) await end()
  })

  test('the controller is upgraded, and the agents of all nodes follow it', async () => {
    const file = release('1.1.0')
    await fleet.offer(file, '1.1.0')
    await fleet.must('berth upgrade /var/lib/berth/upgrade/incoming/berth-1.1.0.release --trial 2')
    await eventually(async () => (await fleet.connected()) === 3, 30)
    expect(new Set(Object.values(await fleet.versions()))).toEqual(new Set(['1.0.0']))
    const { id } = await fleet.admin('roll-outs.start', {
      ...{ firstNodeId: (await fleet.node('real')).id, watchSeconds: 0, trialSeconds: 5, waveSizes: [2] },
    })
    const ended = await fleet.until(id, ({ state }) => state !== 'running', 90)
    expect(ended).toMatchObject({ state: 'done', reason: null })
    expect(statesOf(ended)).toEqual({ real: 'done', second: 'done', third: 'done' })
    expect(new Set(Object.values(await fleet.versions()))).toEqual(new Set(['1.1.0']))
    for (const each of [lab, ...Object.values(others)]) {
      expect(await hashOf(each.at(AGENT))).toBe(await hashOf(programs['1.1.0']!))
      expect(each.history('berth-agent')).toMatchObject([{ result: 'done', from: '1.0.0', to: '1.1.0' }])
    }
    // The program that they had was here, so that they were sent what differs.
    for (const { sentBytes } of ended.members) expect(sentBytes).toBeLessThan(5_000_000)
  })

  describe('and back from a version whose agent', () => {
    beforeAll(async () => {
      // Its controller works.
      await fleet.offer(release('1.2.0'), '1.2.0')
      if (isLong) {
        await fleet.admin('updates.start', { version: '1.2.0' })
        await eventually(async () => (await lab.run('berth upgrade --status')).out.includes('1.1.0 → 1.2.0  done'), 120)
      } else await fleet.must('berth upgrade /var/lib/berth/upgrade/incoming/berth-1.2.0.release --trial 2')
      await eventually(async () => (await fleet.connected()) === 3, 30)
    })
    test.each(broken)('$is: it runs the former one within two minutes, and no other node began', async (each) => {
      const program = await built('1.2.0', [], each.edits)
      await fleet.offer(releaseOf(program, '1.2.0', join(files, 'broken.release')), '1.2.0')
      const before = fleet.history().length
      const { id } = await fleet.admin('roll-outs.start', {
        ...{ firstNodeId: (await fleet.node('real')).id, watchSeconds: 0, trialSeconds: each.trialSeconds ?? 5 },
      })
      const ended = await fleet.until(id, ({ state }) => state !== 'running', 150)
      expect(ended).toMatchObject({ state: 'paused', pausedBy: 'failure', failedNode: { name: 'real' } })
      expect(statesOf(ended)).toEqual({ real: 'went_back', second: 'waiting', third: 'waiting' })
      expect(fleet.history()).toHaveLength(before + 1)
      const [last] = fleet.history()
      expect(last).toMatchObject({ result: 'went_back', from: '1.1.0', to: '1.2.0' })
      expect(each.codes).toContain(last!.reason!.code)
      expect(Date.parse(last!.endedAt) - Date.parse(last!.startedAt)).toBeLessThan(120_000)
      expect(new Set(Object.values(await fleet.versions()))).toEqual(new Set(['1.1.0']))
      for (const each of [lab, ...Object.values(others)])
        expect(await hashOf(each.at(AGENT))).toBe(await hashOf(programs['1.1.0']!))
      for (const other of Object.values(others)) expect(other.history('berth-agent')).toHaveLength(1)
      await fleet.admin('roll-outs.stop', { id })
    })

    test('a program that works is tried again, and the roll-out ends without a node that was left out', async () => {
      const program = await built('1.2.0', [], broken[0]!.edits)
      await fleet.offer(releaseOf(program, '1.2.0', join(files, 'broken.release')), '1.2.0')
      const [real, third] = [await fleet.node('real'), await fleet.node('third')]
      const { id } = await fleet.admin('roll-outs.start', {
        ...{ firstNodeId: real.id, watchSeconds: 0, trialSeconds: 5, waveSizes: [2] },
      })
      expect(await fleet.until(id, ({ state }) => state !== 'running', 150)).toMatchObject({ state: 'paused' })
      await fleet.offer(release('1.2.0'), '1.2.0')
      await fleet.admin('roll-outs.leave-out', { id, nodeId: third.id })
      await fleet.admin('roll-outs.retry', { id, nodeId: real.id })
      const ended = await fleet.until(id, ({ state }) => state === 'done', 150)
      expect(statesOf(ended)).toEqual({ real: 'done', second: 'done', third: 'left_out' })
      expect(await fleet.versions()).toEqual({ real: '1.2.0', second: '1.2.0', third: '1.1.0' })
      expect(await hashOf(lab.at(AGENT))).toBe(await hashOf(programs['1.2.0']!))
    })
  })
})

describe.skipIf(!possible)('a controller of another protocol', () => {
  let lab: Lab
  let other: Lab
  let endRelay: (() => Promise<void>) | undefined
  afterAll(async () => {
    for (const each of [lab, other]) await each?.remove()
    await endRelay?.()
  })

  test('refuses the agents of before in words, and a roll-out reaches them all the same', async () => {
    const files = temporary('protocol')
    const before = await built('1.0.0')
    const speaks = { file: 'agent/protocol/wire.ts', before: 'PROTOCOL = 1', after: 'PROTOCOL = 2' }
    const after = await built('1.1.0', [], [speaks])
    lab = await Lab.make(before, { ownNetwork: true })
    const { fleet, locationId } = await Fleet.on(lab, url, 'real')
    other = await Lab.make(before, { ownNetwork: true })
    endRelay = await relay(other.pid, lab.pid, 8080)
    await fleet.addReal('second', locationId, other)
    await eventually(async () => (await fleet.connected()) === 2, 30)
    await fleet.offer(releaseOf(after, '1.1.0', join(files, 'release'), { protocol: 2 }), '1.1.0')
    await fleet.must('berth upgrade /var/lib/berth/upgrade/incoming/berth-1.1.0.release --trial 2')

    const words = 'This controller speaks agent protocol 2 and the agent protocol 1. Update the agent to version 1.1.0'
    const isTold = (each: Lab) => each.read('/var/log/berth/berth-agent.log').includes(words)
    await eventually(() => isTold(lab) && isTold(other), 60)
    expect([isTold(lab), isTold(other), await fleet.connected()]).toEqual([true, true, 0])

    const { id } = await fleet.admin('roll-outs.start', {
      ...{ firstNodeId: (await fleet.node('second')).id, watchSeconds: 0, trialSeconds: 5, waveSizes: [2] },
    })
    const ended = await fleet.until(id, ({ state }) => state !== 'running', 240)
    expect(ended).toMatchObject({ state: 'done', reason: null })
    expect(statesOf(ended)).toEqual({ real: 'done', second: 'done' })
    expect([await fleet.connected(), await fleet.versions()]).toEqual([2, { real: '1.1.0', second: '1.1.0' }])
    for (const each of [lab, other])
      expect(each.history('berth-agent')).toMatchObject([{ result: 'done', from: '1.0.0', to: '1.1.0' }])
  }, 400_000)
})

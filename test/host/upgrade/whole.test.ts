// A controller, the agent of its machine and two fake nodes go from version to version on a machine without systemd,
// and the agent comes back from versions that do not work. The programs are real ones. BERTH_LONG=1: from all that
// test/install/upgrade-systemd.test.ts tries, too.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { temporary } from '../../agent/temporary.ts'
import { eventually } from '../../support/waiting/eventually.ts'
import { built } from './builds.ts'
import { brokenAgents, Fleet, releaseOf, statesOf } from './fleet.ts'
import { Lab, possible } from './lab.ts'

setDefaultTimeout(180_000)
const url = 'http://127.0.0.1:8080'
const isLong = process.env['BERTH_LONG'] === '1'
// There is no server here, about which one could lie.
const broken = brokenAgents.filter(({ isSlow, finding }) => (isLong || !isSlow) && !finding)

describe.skipIf(!possible)('controller and agents', () => {
  const files = temporary('whole')
  let lab: Lab
  let fleet: Fleet
  let programs: Record<string, string> = {}
  const release = (version: string) => releaseOf(programs[version]!, version, join(files, `${version}.release`))
  const status = async () => (await lab.run(`curl -sf ${url}/api/v1/status`)).out

  beforeAll(async () => {
    programs = {}
    for (const version of ['1.0.0', '1.1.0', '1.2.0']) programs[version] = await built(version)
    lab = await Lab.make(programs['1.0.0']!, { ownNetwork: true })
    fleet = new Fleet((command) => lab.run(command), lab.at, url)
    lab.write('/etc/berth/services', 'berth\nberth-agent\n')
    const settings = { PANEL_LISTEN: '127.0.0.1:8080', PANEL_DATA_DIR: '/var/lib/berth', PANEL_PUBLIC_URL: url }
    const text = Object.entries(settings).map(([name, value]) => `${name}="${value}"\n`)
    lab.write('/etc/berth/controller.env', text.join(''))
    lab.write('/etc/berth/agent.env', '')
    expect(await lab.services('start berth')).toMatchObject({ code: 0, err: '' })
    await eventually(async () => (await status()) !== '', 30)
    const { id: locationId } = await fleet.admin('locations.create', { name: 'Here' })
    const { token } = await fleet.admin('nodes.enroll', { locationId })
    await fleet.must(`echo ${token} | berth agent enroll --name real --controller ${url} --token-file -`)
    expect(await lab.services('start')).toMatchObject({ code: 0, err: '' })
    for (const name of ['fake1', 'fake2']) await fleet.addFake(name, locationId)
    await eventually(async () => (await fleet.connected()) === 3, 30)
  })
  afterAll(() => lab?.remove())

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
    expect(statesOf(ended)).toEqual({ real: 'done', fake1: 'done', fake2: 'done' })
    expect(new Set(Object.values(await fleet.versions()))).toEqual(new Set(['1.1.0']))
    const agent = Bun.file(lab.at('/usr/local/lib/berth/berth-agent'))
    expect(Bun.hash(await agent.bytes())).toBe(Bun.hash(await Bun.file(programs['1.1.0']!).bytes()))
    expect(fleet.history()).toMatchObject([{ result: 'done', from: '1.0.0', to: '1.1.0' }])
    // The program that it had was here, so that it was sent what differs.
    expect(ended.members.find(({ name }) => name === 'real')!.sentBytes).toBeLessThan(5_000_000)
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
      expect(statesOf(ended)).toEqual({ real: 'went_back', fake1: 'waiting', fake2: 'waiting' })
      expect(fleet.history()).toHaveLength(before + 1)
      const [last] = fleet.history()
      expect(last).toMatchObject({ result: 'went_back', from: '1.1.0', to: '1.2.0' })
      expect(each.codes).toContain(last!.reason!.code)
      expect(Date.parse(last!.endedAt) - Date.parse(last!.startedAt)).toBeLessThan(120_000)
      expect(new Set(Object.values(await fleet.versions()))).toEqual(new Set(['1.1.0']))
      await fleet.admin('roll-outs.stop', { id })
    })
  })
})

// Upgrades on a real systemd: the controller, the agent of its machine and those of two machines without systemd go
// from version to version, and the agent comes back from versions that do not work, while a server runs. With
// BERTH_LONG=1, some eight minutes.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { temporary } from '../agent/temporary.ts'
import { built } from '../host/upgrade/builds.ts'
import { brokenAgents, Fleet, releaseOf, statesOf } from '../host/upgrade/fleet.ts'
import { Lab } from '../host/upgrade/lab.ts'
import { relay } from '../host/upgrade/relay.ts'
import { eventually } from '../support/waiting/eventually.ts'
import { possible, SERVER_ADDRESS, SystemdMachine } from './systemd-machine.ts'

setDefaultTimeout(300_000)
const url = 'http://127.0.0.1:8080'

describe.skipIf(!possible)('under systemd', () => {
  const files = temporary('upgrade-systemd')
  const machine = new SystemdMachine()
  const fleet = new Fleet(machine.run, machine.at, url)
  const { must, admin, property } = machine
  const others: Lab[] = []
  const relays: (() => Promise<void>)[] = []
  let nodeName = ''
  let boot = ''
  let guest = ''
  let pings: Awaited<ReturnType<SystemdMachine['ping']>>
  const release = async (version: string, program?: string) =>
    releaseOf(program ?? (await built(version)), version, join(files, `${version}.release`))
  const agents = async () => new Set(Object.values(await fleet.versions()))
  const guestProcess = () => must('cat /run/libvirt/qemu/*.pid')

  beforeAll(async () => {
    await machine.make(await built('1.0.0'))
    await must('/opt/berth/install.sh --all-in-one --no-first-guest')
    const [location] = (await admin('locations.list')).data
    await eventually(async () => (await fleet.connected()) === 1, 30)
    nodeName = (await fleet.nodes())[0]!.name
    for (const name of ['second', 'third']) {
      const other = await Lab.make(await built('1.0.0'), { ownNetwork: true })
      others.push(other)
      relays.push(await relay(other.pid, await machine.pid(), 8080))
      await fleet.addReal(name, location.id, other)
    }
    await eventually(async () => (await fleet.connected()) === 3, 30)
    await machine.orderServer()
    boot = await machine.bootOf()
    guest = await guestProcess()
    pings = await machine.ping(SERVER_ADDRESS)
  }, 600_000)
  afterAll(async () => {
    for (const each of others) await each.remove()
    for (const end of relays) await end()
    await machine.remove()
  })

  const rollOut = async (body: object) => {
    const { id } = await admin('roll-outs.start', {
      ...{ firstNodeId: (await fleet.node(nodeName)).id, watchSeconds: 0, waveSizes: [2], ...body },
    })
    return id as string
  }

  test('the controller is upgraded by hand, and the agents of all nodes follow it', async () => {
    await fleet.offer(await release('1.1.0'), '1.1.0')
    const said = await must('berth upgrade /var/lib/berth/upgrade/incoming/berth-1.1.0.release --trial 5')
    expect(said).toMatch(/The controller is Berth 1\.1\.0\. Changes were refused for \d+\.\d s\./)
    expect(await must('berth upgrade --status')).toContain('1.0.0 → 1.1.0  done, by command line')
    await eventually(async () => (await fleet.connected()) === 3, 30)
    expect(await agents()).toEqual(new Set(['1.0.0']))
    const pid = await property('berth-agent', 'MainPID')
    const ended = await fleet.until(await rollOut({ trialSeconds: 15 }), ({ state }) => state !== 'running', 180)
    expect(ended).toMatchObject({ state: 'done', reason: null })
    expect(statesOf(ended)).toEqual({ [nodeName]: 'done', second: 'done', third: 'done' })
    expect(await agents()).toEqual(new Set(['1.1.0']))
    for (const past of [fleet.history(), ...others.map((other) => other.history('berth-agent'))])
      expect(past).toMatchObject([{ result: 'done', from: '1.0.0', to: '1.1.0' }])
    expect(await property('berth-agent', 'MainPID')).not.toBe(pid)
    expect(ended.members.find(({ name }) => name === nodeName)!.sentBytes).toBeLessThan(5_000_000)
  })

  test('the controller is upgraded because its page asked for it', async () => {
    await fleet.offer(await release('1.2.0'), '1.2.0')
    await admin('updates.start', { version: '1.2.0' })
    await eventually(async () => (await must('berth upgrade --status')).includes('1.1.0 → 1.2.0  done'), 120)
    expect(await must('berth upgrade --status')).toContain('1.1.0 → 1.2.0  done')
    await eventually(async () => (await fleet.connected()) === 3, 30)
    expect(existsSync(machine.at('/var/lib/berth/upgrade/request.json'))).toBe(false)
    expect(await property('berth-upgrade.path', 'ActiveState')).toBe('active')
    expect(await agents()).toEqual(new Set(['1.1.0']))
  })

  test.each(brokenAgents)(
    'from a version whose agent $is it is back within two minutes, and no other node began',
    async (each) => {
      const program = await built('1.2.0', [], each.edits)
      await fleet.offer(await release('1.2.0', program), '1.2.0')
      const before = fleet.history().length
      const id = await rollOut({ trialSeconds: each.trialSeconds ?? 5 })
      const ended = await fleet.until(id, ({ state }) => state !== 'running', 200)
      expect(ended).toMatchObject({ state: 'paused', pausedBy: 'failure', failedNode: { name: nodeName } })
      expect(statesOf(ended)).toEqual({ [nodeName]: 'went_back', second: 'waiting', third: 'waiting' })
      expect(fleet.history()).toHaveLength(before + 1)
      const [last] = fleet.history()
      expect(last).toMatchObject({ result: 'went_back', from: '1.1.0', to: '1.2.0' })
      expect(each.codes).toContain(last!.reason!.code)
      expect(Date.parse(last!.endedAt) - Date.parse(last!.startedAt)).toBeLessThan(120_000)
      if (each.finding)
        expect(ended.members.find(({ name }) => name === nodeName)!.findings.join()).toContain(each.finding)
      expect(await agents()).toEqual(new Set(['1.1.0']))
      expect(await property('berth-agent', 'ActiveState')).toBe('active')
      await admin('roll-outs.stop', { id })
    },
  )

  test('the server answered all the time, and nothing of it was started anew', async () => {
    const { sent, answered } = await pings.end()
    expect(sent).toBeGreaterThan(300)
    expect(answered).toBe(sent)
    expect(await guestProcess()).toBe(guest)
    expect(await machine.bootOf()).toBe(boot)
    expect(await must('systemctl list-units --failed --plain --no-legend "berth*"')).toBe('')
  })
})

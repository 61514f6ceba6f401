// The program of the agent's service is replaced on a machine without systemd, and goes back by itself. The agents here
// are scripts that say which version they are; everything else is the real program.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { isUnderWay } from '../../../agent/protocol/release/upgrade.ts'
import { upgradeSteps } from '../../../host/upgrade/steps.ts'
import { eventually } from '../../support/waiting/eventually.ts'
import { built } from './builds.ts'
import { Lab, possible } from './lab.ts'

setDefaultTimeout(120_000)

/** An agent that runs `work` when it is started. */
const agent = (version: string, work: string) => `#!/bin/sh
case "$*" in
  'version --json') echo '{"version":"${version}","protocol":1,"schema":"0001_x","platform":"linux-${process.arch}"}' ;;
  'agent run') echo '${version}' >>/var/lib/berth-agent/starts; ${work} ;;
esac
`
const accepts = (version: string) =>
  `sleep 0.5; echo '{"version":"${version}"}' >/var/lib/berth-agent/update/accepted.json; exec sleep 600`
const PROGRAM = '/usr/local/lib/berth/berth-agent'
const OFFERED = '/var/lib/berth-agent/update/program'

describe.skipIf(!possible)('an upgrade of the agent', () => {
  let lab: Lab
  const former = agent('1.0.0', 'exec sleep 600')

  beforeAll(async () => {
    lab = await Lab.make(await built('1.0.0'))
    await lab.run('mkdir -p /var/lib/berth-agent/update')
    lab.write('/etc/berth/services', 'berth-agent\n')
    lab.write('/etc/berth/agent.env', '')
    // A controller of this machine keeps the last good program to itself: these scripts could not watch anything.
    lab.write('/etc/berth/controller.env', '')
  })
  afterAll(() => lab?.remove())

  /** The former agent runs, and no upgrade was ever made. */
  async function begin(env: Record<string, string> = {}) {
    await lab.services('stop')
    await lab.run('rm -rf /usr/local/lib/berth/upgrade /var/lib/berth-agent/starts /var/lib/berth-agent/update/*')
    await lab.run(`rm -f ${PROGRAM}`)
    lab.write(PROGRAM, former, 0o755)
    expect(await lab.services('start', env)).toMatchObject({ code: 0 })
    await eventually(() => starts().length === 1)
  }
  const starts = () => lab.read('/var/lib/berth-agent/starts').split('\n').slice(0, -1)
  const start = async (version: string, work: string, { env = {}, trial = 20 } = {}) => {
    lab.write(OFFERED, agent(version, work), 0o755)
    const sha256 = createHash('sha256')
      .update(readFileSync(lab.at(OFFERED)))
      .digest('hex')
    const flags = `--program ${OFFERED} --version ${version} --sha256 ${sha256} --trial ${trial}`
    return lab.run(`/usr/local/lib/berth/berth-host host upgrade-start berth-agent ${flags}`, env)
  }
  const ended = async () => {
    await eventually(() => !isUnderWay(lab.journal('berth-agent')!), 60)
    // The history follows the journal.
    await eventually(async () => !(await lab.isWatched('berth-agent')))
    return lab.journal('berth-agent')!
  }
  const running = () => lab.read(PROGRAM)

  test('stays with the new program that is accepted', async () => {
    await begin()
    expect(await start('1.1.0', accepts('1.1.0'))).toEqual({ code: 0, out: '', err: '' })
    expect(await ended()).toMatchObject({ state: 'done', from: '1.0.0', to: '1.1.0', by: 'the controller' })
    expect(starts()).toEqual(['1.0.0', '1.1.0'])
    expect(lab.history('berth-agent')).toMatchObject([{ result: 'done', from: '1.0.0', to: '1.1.0' }])
    expect(running()).toBe(agent('1.1.0', accepts('1.1.0')))
    expect((await lab.services('status')).out).toBe('berth-agent runs')
  })

  const rejects = `echo '{"version":"1.1.0","code":"inventory_differs","words":"A server is missing."}' \\
    >/var/lib/berth-agent/update/rejected.json; exec sleep 600`
  test.each([
    { is: 'does not start', work: 'echo no luck; exit 1', code: 'does_not_start' },
    { is: 'is not accepted in time', work: 'exec sleep 600', code: 'not_accepted' },
    { is: 'rejects itself', work: rejects, code: 'inventory_differs' },
    { is: 'stops by its settings', work: 'exit 2', code: 'does_not_start' },
  ])('goes back from a program that $is, and says why', async ({ work, code }) => {
    await begin()
    expect(await start('1.1.0', work, { trial: code === 'not_accepted' ? 3 : 20 })).toMatchObject({ code: 0 })
    expect(await ended()).toMatchObject({ state: 'went_back', reason: { code } })
    expect(running()).toBe(former)
    await eventually(() => starts().at(-1) === '1.0.0' && starts().length > 2)
    expect([starts()[0], starts()[1], starts().at(-1)]).toEqual(['1.0.0', '1.1.0', '1.0.0'])
    expect(lab.history('berth-agent')).toMatchObject([{ result: 'went_back', from: '1.0.0', to: '1.1.0' }])
  })

  test('does not begin with another file, a link to one, or a program that says another version', async () => {
    await begin()
    lab.write(OFFERED, agent('1.1.0', accepts('1.1.0')), 0o755)
    const sha256 = createHash('sha256')
      .update(readFileSync(lab.at(OFFERED)))
      .digest('hex')
    await lab.run('ln -sf program /var/lib/berth-agent/update/link')
    const call = async (program: string, version: string, hash: string) => {
      const flags = `--program ${program} --version ${version} --sha256 ${hash} --trial 9`
      const { code, err } = await lab.run(`/usr/local/lib/berth/berth-host host upgrade-start berth-agent ${flags}`)
      return [code, err.split(':')[0]]
    }
    expect(await call(OFFERED, '1.1.0', '0'.repeat(64))).toEqual([1, 'release_checksum_differs'])
    expect(await call('/var/lib/berth-agent/update/link', '1.1.0', sha256)).toEqual([1, 'file_not_usable'])
    expect(await call(OFFERED, '1.2.0', sha256)).toEqual([1, 'program_differs'])
    expect((await call(OFFERED, 'x', sha256))[0]).toBe(2)
    expect(lab.journal('berth-agent')).toBeUndefined()
    expect(running()).toBe(former)
    expect(starts()).toEqual(['1.0.0'])
  })

  test('is not begun twice, and an installation waits for its end', async () => {
    await begin()
    expect(await start('1.1.0', 'exec sleep 600')).toMatchObject({ code: 0 })
    expect((await start('1.1.0', 'exec sleep 600')).err).toStartWith('upgrade_under_way: ')
    const install = await lab.run('berth host install --controller --source / --log /var/tmp/log')
    expect(install.code).toBe(1)
    expect(install.err).toContain('An upgrade of berth-agent to 1.1.0 is under way.')
    lab.write('/var/lib/berth-agent/update/accepted.json', '{"version":"1.1.0"}')
    expect(await ended()).toMatchObject({ state: 'done' })
  })

  /** Steps that the controller alone has. */
  const ofData = ['copied', 'database restored', 'answered']
  const isBack = (step: string) => step === 'going back' || step === 'program put back'
  test.each(upgradeSteps.filter((step) => !ofData.includes(step)))(
    'killed after "%s", one whole program runs after the next start',
    async (step) => {
      const mark = '/var/tmp/killed'
      await lab.run(`rm -f ${mark}`)
      const env = { BERTH_CRASH_AT_UPGRADE: `${step}@${mark}` }
      await begin(env)
      const work = isBack(step) ? 'exec sleep 600' : accepts('1.1.0')
      await start('1.1.0', work, { env, trial: isBack(step) ? 1 : 20 })
      await eventually(() => lab.read(mark) === step, 20)
      expect(lab.read(mark)).toBe(step)
      // As after a loss of power: nothing runs, then the services start.
      await lab.run("pkill -9 -f 'host upgrade-watch'")
      await lab.services('stop')
      expect(await lab.services('start')).toMatchObject({ code: 0 })
      await eventually(() => !isUnderWay(lab.journal('berth-agent')!))
      const { state } = lab.journal('berth-agent')!
      expect(running()).toBe(state === 'done' ? agent('1.1.0', work) : former)
      const version = state === 'done' ? '1.1.0' : '1.0.0'
      await eventually(() => starts().at(-1) === version)
      expect(starts().at(-1)).toBe(version)
      await eventually(() => lab.history('berth-agent').length === 1)
      expect(lab.history('berth-agent')).toMatchObject([{ result: state }])
      expect((await lab.services('status')).out).toBe('berth-agent runs')
    },
  )
})

// The program of the agent's service is replaced on a machine without systemd, and goes back by itself. The agents here
// are scripts that say which version they are; everything else is the real program.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { isUnderWay } from '../../../agent/protocol/release/upgrade.ts'
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
})

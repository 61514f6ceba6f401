// Compiled agents and the engine of their host, on a machine without systemd: a controller that does not accept a
// release and offers it still, and an agent that is killed at each step of its part.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { type Manifest, manifestText, platformHere } from '../../../agent/protocol/release/manifest.ts'
import { makePatch } from '../../../agent/protocol/release/patch.ts'
import { signed } from '../../../agent/protocol/release/signature.ts'
import { isUnderWay } from '../../../agent/protocol/release/upgrade.ts'
import { type AgentUpdate, agentPaths } from '../../../agent/protocol/wire.ts'
import { updateSteps } from '../../../agent/update/steps.ts'
import { controller } from '../../agent/controller.ts'
import { eventually } from '../../support/waiting/eventually.ts'
import { built, testKey } from './builds.ts'
import { Lab, possible } from './lab.ts'

setDefaultTimeout(180_000)

const file = `berth-${platformHere}.gz`
const whole = `${agentPaths.release}/file/${file}`
const isLong = process.env['BERTH_LONG'] === '1'
/** Each step takes a quarter of a minute: the usual run has those that differ most. */
const usual: readonly (typeof updateSteps)[number][] = ['file fetched', 'host probed', 'acceptance heard']
const MARK = '/var/tmp/killed'
const hashOf = async (path: string) => Bun.hash(await Bun.file(path).bytes())
const PROGRAM = '/usr/local/lib/berth/berth-agent'

describe.skipIf(!possible)('an agent that its controller brings to a release', () => {
  let lab: Lab
  let [former, next] = ['', '']
  const panel = controller()

  beforeAll(async () => {
    ;[former, next] = [await built('1.20.0'), await built('1.21.0')]
    lab = await Lab.make(former)
    lab.write('/etc/berth/services', 'berth-agent\n')
    lab.write('/etc/berth/agent.env', '')
    const flags = `--controller ${panel.url} --token good --name node`
    expect(await lab.run(`${PROGRAM} agent enroll ${flags} 2>&1`)).toMatchObject({ code: 0 })
    const [before, after] = [Bun.mmap(former), Bun.mmap(next)]
    panel.downloads.set(`${agentPaths.release}/patch`, await makePatch(before, after))
    panel.downloads.set(whole, gzipSync(after, { level: 1 }))
    const manifest: Manifest = {
      ...{ format: 1, product: 'berth', version: '1.21.0', minimumVersion: '1.0.0', protocol: 1 },
      ...{ schema: '0181_words', date: '2026-11-27', keyId: testKey.key.id, notes: '' },
      programs: [
        {
          ...{ platform: platformHere, file, sizeBytes: statSync(next).size },
          sha256: createHash('sha256').update(readFileSync(next)).digest('hex'),
        },
      ],
      billOfMaterials: { file: 'berth.cdx.json', sizeBytes: 1, sha256: '0'.repeat(64) },
    }
    const text = manifestText(manifest)
    offer = {
      ...{ manifest: text, signature: signed(text, testKey.secret).toString('base64') },
      patch: { sizeBytes: panel.downloads.get(`${agentPaths.release}/patch`)!.length },
    }
  })
  afterAll(async () => {
    await lab?.services('stop')
    await lab?.remove()
    panel.close()
  })

  let offer = {}
  const offers = (trialSeconds: number) =>
    panel.downloads.set(agentPaths.release, Buffer.from(JSON.stringify({ ...offer, trialSeconds })))
  const facts = (state: AgentUpdate['state'] | undefined, version: string) =>
    panel.frame('facts', ({ facts }) => facts.agentVersion === version && facts.update?.state === state, 90_000)
  const versionThere = async () => (await lab.run(`${PROGRAM} version`)).out
  const ended = async () => {
    await eventually(() => !isUnderWay(lab.journal('berth-agent')!), 90)
    await eventually(async () => !(await lab.isWatched('berth-agent')))
    return lab.journal('berth-agent')!
  }
  const restart = async (env: Record<string, string> = {}) => {
    await lab.services('stop')
    await lab.run('rm -rf /usr/local/lib/berth/upgrade')
    lab.place(former)
    panel.frames.splice(0)
    panel.downloads.delete(agentPaths.release)
    expect(await lab.services('start', env)).toMatchObject({ code: 0 })
    await panel.waitConnected()
    await facts(undefined, '1.20.0')
  }
  test('goes back by itself when the controller does not accept it, and says so', async () => {
    await restart()
    offers(8)
    const requests = panel.requests.length
    panel.ask({ type: 'lookForRelease' })
    await facts('trial', '1.21.0')
    expect(panel.requests.slice(requests)).not.toContain(whole)
    expect(await ended()).toMatchObject({ state: 'went_back', reason: { code: 'not_accepted' } })
    const { facts: found } = await facts('went_back', '1.20.0')
    expect(found.update).toMatchObject({ version: '1.21.0', code: 'not_accepted' })
    expect(await versionThere()).toBe('1.20.0')
    // The controller offers it still, and does not say that the agent is to try it again.
    expect(lab.history('berth-agent').length).toBe(1)
  })
  test('goes back at once when the host is not as it was before', async () => {
    await restart()
    offers(60)
    const before = lab.at('/var/lib/berth-agent/update/before.json')
    panel.ask({ type: 'lookForRelease' })
    // Somebody takes what the agent had noted: it cannot tell any more, and so it does not stay.
    await eventually(() => lab.journal('berth-agent')?.state === 'trying', 60)
    await lab.run(`rm -f ${before.slice(before.indexOf('/var/lib'))}`)
    expect(await ended()).toMatchObject({ state: 'went_back', reason: { code: 'not_as_before' } })
    expect(await versionThere()).toBe('1.20.0')
  })

  /** Plays a controller that rolls this release out: it names it to a node that has another, and accepts it. */
  function rollsOut() {
    let heard = 0
    const timer = setInterval(() => {
      const told = panel.frames.slice(heard).findLast((frame) => frame.type === 'facts')
      heard = panel.frames.length
      const update = told?.facts.update
      if (told && told.facts.agentVersion !== '1.21.0' && (!update || update.state === 'went_back'))
        panel.ask({ type: 'lookForRelease' })
      if (update?.state === 'trial' && update.findings?.length === 0)
        panel.ask({ type: 'acceptRelease', version: '1.21.0' })
    }, 300)
    return () => clearInterval(timer)
  }

  test.each(updateSteps.filter((step) => isLong || usual.includes(step)))(
    'killed after "%s", one of the two versions runs at any time, whole, and it comes to an end',
    async (step) => {
      await lab.run(`rm -f ${MARK}`)
      await restart({ BERTH_CRASH_AT_UPDATE: `${step}@${MARK}` })
      const stopRollOut = rollsOut()
      offers(30)
      const hashes = await Promise.all([former, next].map(hashOf))
      const seen = new Set<unknown>()
      const ways = setInterval(async () => seen.add(await hashOf(lab.at(PROGRAM)).catch(String)), 100)
      try {
        panel.ask({ type: 'lookForRelease' })
        if (step === 'rejection written') {
          await eventually(() => lab.journal('berth-agent')?.state === 'trying', 60)
          await lab.run('rm -f /var/lib/berth-agent/update/before.json')
          // The controller hears that it went back, and does not try it again.
          stopRollOut()
        }
        await eventually(() => lab.read(MARK) === step, 60)
        expect(lab.read(MARK)).toBe(step)
        await eventually(() => lab.journal('berth-agent')?.state.match(/^(done|went_back)$/) != null, 90)
        const goesBack = step === 'rejection written'
        expect(await ended()).toMatchObject({ state: goesBack ? 'went_back' : 'done' })
        const version = goesBack ? '1.20.0' : '1.21.0'
        await facts(goesBack ? 'went_back' : undefined, version)
        expect(await versionThere()).toBe(version)
        expect(lab.history('berth-agent')).toMatchObject([{ result: goesBack ? 'went_back' : 'done' }])
      } finally {
        clearInterval(ways)
        stopRollOut()
      }
      for (const hash of seen) expect(hashes).toContain(hash as never)
      expect(await lab.run('ls /var/lib/berth-agent/update')).toMatchObject({
        out: expect.not.stringContaining('program'),
      })
    },
  )
})

// Fake nodes are brought to releases as real ones are, and fail as a test wants it.
import { describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { type AgentUpdate, agentPaths } from '../../../agent/protocol/wire.ts'
import { eventually } from '../../support/waiting/eventually.ts'
import { controller } from '../controller.ts'
import { vmOf } from '../examples.ts'
import { agentProcess, berthAgent, dataDir } from '../run.ts'
import { file, manifestOf, next, offerOf, ours } from './hostile.ts'

const VERSION_AFTER = '9.0.0'

/** A fake node whose next program has this fault, or none, and its controller. */
async function updated(fault: object | undefined, work: (node: ReturnType<typeof nodeOf>) => Promise<void>) {
  const panel = controller()
  const dir = dataDir()
  writeFileSync(join(dir, 'fake.json'), JSON.stringify({ releaseKeys: [ours.pem], heartbeatMs: 100 }))
  writeFileSync(join(dir, 'faults.json'), JSON.stringify(fault ? [fault] : []))
  await berthAgent(['enroll', '--controller', panel.url, '--token', 'good', '--fake', '--data-dir', dir])
  const sha256 = createHash('sha256').update(next).digest('hex')
  const manifest = manifestOf({ version: VERSION_AFTER, minimumVersion: '0.0.1', program: { sha256 } })
  const offer = { ...offerOf(manifest), trialSeconds: 4 }
  panel.downloads.set(agentPaths.release, Buffer.from(JSON.stringify(offer)))
  panel.downloads.set(`${agentPaths.release}/file/${file}`, gzipSync(next))
  const agent = agentProcess(dir)
  try {
    await panel.waitConnected()
    const vm = vmOf(1, { seeded: false })
    expect(await panel.command('define', 'vm.define', vm)).toMatchObject({ type: 'done' })
    panel.ask({ type: 'lookForRelease' })
    await work(nodeOf(panel))
  } finally {
    await agent.stop()
    panel.close()
  }
}
const nodeOf = (panel: ReturnType<typeof controller>) => ({
  panel,
  facts: (state: AgentUpdate['state'], fits: (update: AgentUpdate) => boolean = () => true) =>
    panel.frame('facts', ({ facts }) => facts.update?.state === state && fits(facts.update)),
})

describe('a fake node', () => {
  test('runs the release on trial, and stays with it when the controller accepts it', () =>
    updated(undefined, async ({ panel, facts }) => {
      const trial = await facts('trial', ({ findings }) => findings?.length === 0)
      expect(trial.facts).toMatchObject({ agentVersion: VERSION_AFTER, updatedBy: 'itself' })
      panel.ask({ type: 'acceptRelease', version: VERSION_AFTER })
      await panel.frame('facts', ({ facts }) => facts.agentVersion === VERSION_AFTER && !facts.update)
    }))
  test('goes back when the controller does not accept it', () =>
    updated(undefined, async ({ facts }) => {
      expect((await facts('went_back')).facts.update).toMatchObject({ version: VERSION_AFTER, code: 'not_accepted' })
    }))
  for (const [update, code] of [
    ['does_not_start', 'does_not_start'],
    ['cannot_connect', 'not_accepted'],
  ] as const)
    test(`whose program has the fault ${update} comes back with its former version, and was not seen meanwhile`, () =>
      updated({ update, ms: 500 }, async ({ panel, facts }) => {
        expect((await facts('went_back')).facts.update).toMatchObject({ code })
        expect(panel.frames.some((frame) => frame.type === 'facts' && frame.facts.update?.state === 'trial')).toBe(
          false,
        )
      }))
  test('that lies reports no vm and nothing that speaks against its program', () =>
    updated({ update: 'lies' }, async ({ panel, facts }) => {
      const vmsOfLast = () => panel.frames.findLast((frame) => frame.type === 'inventory')?.vms.length
      await facts('trial', ({ findings }) => findings?.length === 0)
      await eventually(() => vmsOfLast() === 0)
      await facts('went_back')
      await eventually(() => vmsOfLast() === 1)
    }))
  test('that hangs says nothing more, and comes back', () =>
    updated({ update: 'hangs', ms: 300 }, async ({ panel, facts }) => {
      await facts('trial')
      await Bun.sleep(1000)
      const heard = panel.frames.length
      await Bun.sleep(1000)
      expect(panel.frames.length).toBe(heard)
      await facts('went_back')
    }))
})

// Crash injection for jobs: the power goes out before and after every step, forwards and backwards, of controller and
// of agent, while every step in turn fails early (nothing done) or late (all done, then an error). The end is the same
// each time: no row, vm, disk, rule or address lost or doubled. The steps are read from the sagas, so a new step is
// tested before its author writes a line.
import { describe, expect, test } from 'bun:test'
import type { CommandName } from '../../../agent/protocol/wire.ts'
import { InjectedCrash } from '../../../src/kernel/jobs/failures.ts'
import type { Saga } from '../../../src/kernel/jobs/saga.ts'
import { ledgerFaults } from '../ledger.ts'
import { quickly } from '../quick.ts'
import { type World, world } from '../world/panel.ts'
import { everyHashFault, hashFaults, letPasswordsWait } from './hashes.ts'
import { invariants } from './invariants.ts'
import type { Scenario } from './scenario.ts'

type Failure = { step: string; mode: 'early' | 'late' } | undefined
/** `cancelAt`: the moment at which somebody cancels the job. */
type Waits = { cancelAt?: string }
type Moment = { words: string; controller?: string; agent?: { nth: number; when: 'before' | 'after' } } | undefined

const long = process.env['BERTH_LONG'] === '1'

type Matrix = {
  sagas: readonly Saga[]
  scenarios: readonly Scenario[]
  /** Scenarios of a kind of job that another scenario crosses with every crash: a sample of their crashes is enough. */
  sampled?: ReadonlySet<Scenario>
  /** Opens the panel in which a scenario plays; it is closed afterwards. */
  open?: () => Promise<World>
  /** Measures the state after a job has ended; by default that of workloads. */
  measure?: (p: World, id: string) => Promise<object>
}

const lostWords = { nodeId: 'its node', otherNodeId: 'its other node' } as const
const nodeColumns = { nodeId: 'node_id', otherNodeId: 'other_node_id' } as const

/** The moments of a step between its begin and its note. */
const within = { record: [], command: ['answered'], external: ['answered'], jobs: ['started', 'answered'] }

const NEWEST = 'SELECT id FROM jobs WHERE kind = ? ORDER BY rowid DESC LIMIT 1'

const ends = ({ kind }: Scenario, step: string) => [
  `${kind}/${step}:answered`,
  `${kind}/${step}:noted`,
  `${kind}:failing`,
]

const failed = ({ fails }: Scenario, end: object) => (typeof fails === 'function' ? fails(end) : fails!)

/** Declares the tests of every scenario: each moment of a crash, and each failing step with moments of a crash. */
export function crashMatrix({ sagas, scenarios, sampled, open = world, measure = invariants }: Matrix) {
  /** `waits`: what to do while passwords wait for the next start of every server. */
  async function play(s: Scenario, failure: Failure, moment: Moment, waits?: Waits) {
    const p = await (s.open ?? open)()
    try {
      const before = await s.before(p)
      if (waits) await letPasswordsWait(p)
      let cancelled = false
      let cut = false
      let restarted = false
      let commands = 0
      let failed = false
      const commandOf = new Map<string, CommandName>()
      p.arm({
        failpoints: (at) => {
          if (waits?.cancelAt === at && !cancelled) {
            cancelled = true
            const { id } = p.db.$client.query<{ id: string }, [string]>(NEWEST).get(s.kind)!
            // Where nobody may cancel it, it goes on.
            setImmediate(() => p.admin('POST', `/jobs/${id}/actions/cancel`).catch(() => {}))
          }
          if (!cut && at === moment?.controller) {
            cut = true
            throw new InjectedCrash(at)
          }
          // A step of the controller's own that fails: an error where it begins, once.
          if (failure && !failed && at === `${s.kind}/${failure.step}:before` && isRecord(s, failure.step)) {
            failed = true
            throw new Error('injected')
          }
          const step = /\/([\w-]+):before$/.exec(at)?.[1]
          if (failure && step === failure.step && !isRecord(s, step))
            for (const agent of p.agents.values())
              agent.fault({ command: '*', mode: failure.mode === 'early' ? 'fail' : 'fail-late', times: 1 })
          // The nodes to which this step sent nothing must not fail a later one, nor its undo.
          else if (failure && p.agents.size > 1 && ends(s, failure.step).includes(at))
            for (const agent of p.agents.values()) agent.fault()
        },
        agentCrash: (when, command) => {
          commandOf.set(command.key, command.name as CommandName)
          if (when === 'before') commands++
          if (cut || commands !== moment?.agent?.nth || when !== moment.agent.when) return
          cut = true
          throw new InjectedCrash(command.key)
        },
      })
      const { jobId, serverId } = await s.start(p, before)
      for (let i = 0; i < 200; i++) {
        await p.settle()
        if (cut && moment?.controller && !restarted) {
          restarted = true
          await p.crash()
        }
        const state = p.job(jobId!).state
        if (state === 'succeeded' || state === 'failed') break
        await Bun.sleep(1)
      }
      // Jobs that this one started.
      await p.settle()
      expect(ledgerFaults(p.db)).toEqual([])
      expect(waits ? everyHashFault(p) : hashFaults(p)).toEqual([])
      return {
        job: p.job(jobId!),
        /** The controller restarted while the job had an input that is never stored: it is undone, and says so. */
        lostInput: restarted && p.job(jobId!).errorCode === 'input_lost',
        invariants: await (s.measure ?? measure)(p, serverId),
        cut,
        log: () => p.db.$client.query('SELECT level, text FROM job_log WHERE job_id = ? ORDER BY n').all(jobId!),
      }
    } finally {
      p.close()
    }
  }

  /** One of the two nodes of the job goes away at the moment, and is declared lost. */
  async function lose(s: Scenario, which: 'nodeId' | 'otherNodeId', moment: string) {
    const p = await (s.open ?? open)()
    try {
      const before = await s.before(p)
      let lost: string | undefined
      p.arm({
        failpoints: (at) => {
          if (lost || at !== moment) return
          const found = p.db.$client
            .query<{ id: string }, [string]>(`SELECT ${nodeColumns[which]} AS id FROM jobs WHERE kind = ?`)
            .get(s.kind)!
          lost = found.id
          p.agents.get(lost)!.disconnect()
        },
      })
      const { jobId, serverId } = await s.start(p, before)
      for (let i = 0; i < 1000 && !lost; i++) await Bun.sleep(1)
      const { name } = await p.admin('GET', `/admin/nodes/${lost}`)
      await p.admin('POST', `/admin/nodes/${lost}/actions/declare-lost`, { name })
      await p.settle()
      // The undo of a job that did not wait for the node ends with its loss.
      p.controller.runner.sweep()
      await p.settle()
      expect(p.db.$client.query("SELECT kind FROM jobs WHERE state NOT IN ('succeeded', 'failed')").all()).toEqual([])
      expect(ledgerFaults(p.db)).toEqual([])
      return { job: p.job(jobId!), state: await (s.measure ?? measure)(p, serverId) }
    } finally {
      p.close()
    }
  }

  const stepsOf = (s: Scenario) => sagas.find((x) => x.kind === s.kind)!.steps
  const isRecord = (s: Scenario, step: string) => stepsOf(s).find((x) => x.name === step)?.kind === 'record'

  function momentsOf(s: Scenario, failing: boolean): Moment[] {
    const forwards = stepsOf(s).flatMap((step) =>
      ['before', ...within[step.kind], 'noted'].map((at) => `${s.kind}/${step.name}:${at}`),
    )
    const backwards = stepsOf(s).flatMap((step) =>
      [...(step.kind === 'command' ? ['undo answered'] : []), 'undone'].map((at) => `${s.kind}/${step.name}:${at}`),
    )
    const commands = stepsOf(s).filter((step) => step.kind === 'command').length * (failing ? 2 : 1)
    return [
      undefined,
      ...[...forwards, ...(failing ? [`${s.kind}:failing`, ...backwards] : []), `${s.kind}:ended`].map(
        (controller) => ({
          words: `power out at ${controller}`,
          controller,
        }),
      ),
      ...Array.from({ length: commands }, (_, i) =>
        (['before', 'after'] as const).map((when) => ({
          words: `agent dead ${when} its command ${i + 1}`,
          agent: { nth: i + 1, when },
        })),
      ).flat(),
    ]
  }

  for (const [n, s] of scenarios.entries())
    describe(s.name, () => {
      const all = momentsOf(s, false)
      // Another scenario crosses the steps of a sampled one with every crash.
      const each = long ? 1 : s.sampled ? 10 : sampled?.has(s) ? 2 : 1
      const some = all.filter((_, i) => i % each === n % each)
      for (const moment of quickly(some, 8, n))
        test(`ends as it should, ${moment?.words ?? 'undisturbed'}`, async () => {
          const end = await play(s, undefined, moment)
          const isLostWithAgent = moment !== undefined && 'agent' in moment && end.job.errorCode === s.lostWithAgent
          if (end.lostInput || (isLostWithAgent && end.job.state === 'failed'))
            return expect(end.invariants).toMatchObject(failed(s, end.invariants))
          expect(end.job.state).toBe('succeeded')
          expect(end.invariants).toMatchObject(s.succeeds)
        })

      const names = stepsOf(s).map(({ name }) => name)
      const waysToEnd = [
        ['undisturbed', undefined, {}],
        ['failing at its end', { step: names.at(-1)!, mode: 'early' }, {}],
        ['cancelled in its middle', undefined, { cancelAt: `${s.kind}/${names[names.length >> 1]}:before` }],
      ] as const
      for (const [words, failure, waits] of quickly(waysToEnd, 3, n)) {
        if (words !== 'undisturbed' && !long && (s.sampled || sampled?.has(s))) continue
        test(`keeps no hash of a password that waits for the next start, ${words}`, async () => {
          const { job } = await play(s, failure, undefined, waits)
          expect(['succeeded', 'failed']).toContain(job.state)
        })
      }

      if (s.lost)
        for (const which of ['nodeId', 'otherNodeId'] as const)
          for (const moment of stepsOf(s).flatMap(({ name }) =>
            ['before', 'noted'].map((at) => `${s.kind}/${name}:${at}`),
          ))
            test(`ends as it should, ${lostWords[which]} lost for good at ${moment}`, async () => {
              const { job, state } = await lose(s, which, moment)
              expect(job.state).toBe(job.pivotAt === null ? 'failed' : 'succeeded')
              expect(state).toMatchObject(s.lost![which](job.pivotAt !== null, state))
            })

      for (const { name } of stepsOf(s))
        for (const mode of ['early', 'late'] as const) {
          if (mode === 'late' && isRecord(s, name)) continue // it fails in its transaction or not at all
          const failure = { step: name, mode }
          // The whole cross product is the long run. Here the last command's failure meets every fourth crash, so that
          // undos are cut short and repeated; the other failures meet some.
          const isSampled = sampled?.has(s) ?? false
          const last =
            !isSampled && stepsOf(s).findLast((step) => step.kind === 'command')?.name === name && mode === 'late'
          const every = last ? 4 : isSampled ? 144 : 48
          const moments = momentsOf(s, true).filter(
            (m, i) =>
              long ||
              m === undefined ||
              (!s.sampled && (i + n + name.length + (mode === 'late' ? 1 : 0)) % every === 0),
          )
          for (const moment of quickly(moments, 12, n + name.length))
            test(`with "${name}" failing ${mode}, ${moment?.words ?? 'undisturbed'}`, async () => {
              const end = await play(s, failure, moment)
              // A step of this scenario that sends nothing cannot fail; one that failed late may have been cut short
              // before it.
              if (end.job.state === 'succeeded') return expect(end.invariants).toMatchObject(s.succeeds)
              expect(s.fails).toBeDefined()
              expect(end.job.state).toBe('failed')
              expect(end.invariants).toMatchObject(failed(s, end.invariants))
            })
        }
    })
}

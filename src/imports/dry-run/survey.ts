// Asks nodes about the servers that are planned for them. A hypervisor is visited by so many sessions at once as the
// setting says; a node that it does not let in is not tried again in this run, because a log-in that is refused again
// and again locks an address out.
import type { SourceServer, WantedServer } from '../../../agent/protocol/values/source-hosts.ts'
import { nodesWithCpuModel } from '../../fleet/node-records/queries.ts'
import { minute } from '../../kernel/db/clock.ts'
import { CommandFailed } from '../../kernel/jobs/failures.ts'
import { type Setting, settingValue, wholeSetting } from '../../kernel/setting.ts'
import { type Finding, finding } from '../import-records/checks/findings.ts'
import { checkOf, endCheck, hostOf, type OpenGroup, openGroups, openServers } from '../import-records/checks/queries.ts'
import { hypervisorRows } from '../import-records/inventory/queries.ts'
import type { ImportServer } from '../import-records/model.ts'
import { ask, type NodeLink } from '../source-access/ask.ts'
import { findingOfFailure, sourceHost } from '../source-access/hosts.ts'
import { lookAt, nodeName, noteLoginOf } from '../source-access/logins.ts'
import { speedOf } from './estimate.ts'
import { judge } from './judge.ts'
import type { PanelDisks } from './panel-disks.ts'
import { type Run, Superseded } from './run.ts'
import { Sessions } from './sessions.ts'

export const sessions: Setting<number> = wholeSetting({
  name: 'imports.sessions',
  title: 'Sessions at a hypervisor',
  words: 'A dry run asks one hypervisor of another panel so many questions at once.',
  weakens: 'never',
  default: 4,
  minimum: 1,
  maximum: 16,
})

/** Servers of one question: its answer is written in one transaction. */
const AT_ONCE = 25
/** A node asks one hypervisor two questions at a time, and each takes at most five minutes. */
const QUESTION_LIMIT_MS = 12 * minute
/** Questions at once, over all hypervisors. */
const MOST_AT_ONCE = 32
/** Questions of one node about one hypervisor that are made before they can be asked: each holds its servers. */
const MOST_WAITING = 8

type Surveying = { run: Run; hub: NodeLink; disks: PanelDisks }

/** Asks about every server that waits for an answer. Throws `Superseded`. */
export async function survey(at: Surveying): Promise<void> {
  const { run } = at
  const groups = openGroups(run.db, run.importId)
  const most = new Sessions(MOST_AT_ONCE)
  const perHypervisor = settingValue(run.db, sessions)
  const byHypervisor = Map.groupBy(groups, ({ hypervisorId }) => hypervisorId)
  const ended = await Promise.allSettled(
    [...byHypervisor.values()].flatMap((nodes) => {
      const own = new Sessions(perHypervisor)
      return nodes.map((group) => surveyGroup(at, group, (work) => own.take(() => most.take(work))))
    }),
  )
  const failed = ended.find((one) => one.status === 'rejected')
  if (failed) throw failed.reason
}

type Within = <T>(work: () => Promise<T>) => Promise<T>

async function surveyGroup(at: Surveying, group: OpenGroup, within: Within): Promise<void> {
  const { run } = at
  const refused = await within(() => logIn(at, group))
  if (refused) return endAll(run, group, refused)
  const questions = new Set<Promise<void>>()
  let lost: Finding | undefined
  let broken: unknown
  for (let after = ''; !lost && !broken; ) {
    const batch = openServers(run.db, run.importId, group, after, AT_ONCE)
    if (!batch.length) break
    after = batch.at(-1)!.id
    const question = within(() => askAbout(at, group, batch))
      .then((found) => void (lost ??= found))
      .catch((error) => void (broken ??= error))
      .finally(() => questions.delete(question))
    questions.add(question)
    if (questions.size >= MOST_WAITING) await Promise.race(questions)
  }
  await Promise.all(questions)
  if (broken) throw broken
  if (lost) await endAll(run, group, lost)
}

/** Undefined: the node is in. */
async function logIn({ run, hub }: Surveying, { hypervisorId, nodeId }: OpenGroup): Promise<Finding | undefined> {
  const key = { importId: run.importId, hypervisorId, nodeId }
  const found = isOwnHost(run, hypervisorId) ? null : await lookAt(hub, run.db, run.app, key, run.signal)
  if (found === 'stopped') throw new Superseded()
  run.write((tx) => noteLoginOf(tx, key, found, run.app.clock()))
  return found ?? undefined
}
const isOwnHost = (run: Run, hypervisorId: string) =>
  hypervisorRows.find(run.db, run.importId, hypervisorId)?.choice === 'adopt'

/** Ends the check of all that are left of a group with the same finding. */
async function endAll(run: Run, group: OpenGroup, found: Finding): Promise<void> {
  for (;;) {
    const n = run.write((tx) => {
      const servers = openServers(tx, run.importId, group, '', 200)
      for (const { id, importId } of servers) endCheck(tx, { importId, serverId: id }, [found], { at: run.app.clock() })
      return servers.length
    })
    if (!n) return
    await run.slices.rest()
  }
}

/** One server may be to blame for such a failure, so the others are asked about again without it. */
const ofOneServer = ['bad_answer', 'source_invalid']
const endOne = (run: Run, { id, importId }: ImportServer, found: Finding) =>
  run.write((tx) => void endCheck(tx, { importId, serverId: id }, [found], { at: run.app.clock() }))

/** Answers the finding of a question that failed for all of its servers, and that would fail for the others too. */
async function askAbout(
  { run, hub, disks }: Surveying,
  group: OpenGroup,
  servers: readonly ImportServer[],
): Promise<Finding | undefined> {
  const { hypervisorId, nodeId } = group
  const row = hypervisorRows.find(run.db, run.importId, hypervisorId)
  const host = row && sourceHost(run.db, row)
  const name = nodeName(run.db, nodeId)
  if (!row || (!host && row.choice !== 'adopt')) return finding('hypervisor_unreachable', name)
  const options = { limitMs: QUESTION_LIMIT_MS, signal: run.signal }
  const isOwn = row.choice === 'adopt'
  const question = async (wanted: WantedServer[]) =>
    (isOwn
      ? await ask(hub, nodeId, 'own-servers.look', { servers: wanted }, options)
      : await ask(hub, nodeId, 'source-servers.look', { host: host!, servers: wanted }, options)
    ).servers
  let answers: Map<string, SourceServer>
  try {
    answers = byDomain(await question(servers.map(({ domain }) => ({ domain: domain! }))))
    // More than one drive: the panel tells which of them are disks, where it can.
    for (const { domain, sourceId } of servers) {
      const paths = await disks.pathsOf(sourceId, answers.get(domain!))
      if (!paths) continue
      const [again] = await question([{ domain: domain!, diskPaths: paths }])
      if (again?.domain === domain) answers.set(domain!, again)
    }
  } catch (error) {
    if (!(error instanceof CommandFailed)) throw error
    if (error.failure === 'stopping') throw new Superseded()
    const found = findingOfFailure(error.failure, name, error.message)
    if (!ofOneServer.includes(error.failure)) return found
    if (servers.length === 1) return void endOne(run, servers[0]!, found)
    const half = servers.length >> 1
    const lost = await askAbout({ run, hub, disks }, group, servers.slice(0, half))
    return lost ?? (await askAbout({ run, hub, disks }, group, servers.slice(half)))
  }
  run.write((tx, target) => {
    const facts = hostOf(tx, target.id, hypervisorId)?.facts
    for (const server of servers) {
      const check = checkOf(tx, server.id)
      if (!check || check.result !== null) continue
      const { found, seen } = judge(
        {
          server,
          kind: target.kind,
          way: check.way!,
          diskGb: check.diskGb,
          newIpv4: check.newIpv4,
          speed: speedOf(facts),
          facts: facts ?? undefined,
          node: name,
          lacksCpu: (model) => !nodesWithCpuModel(tx, model).has(nodeId),
        },
        answers.get(server.domain!),
      )
      endCheck(tx, { importId: target.id, serverId: server.id }, found, { ...seen, at: run.app.clock() })
    }
  })
  return undefined
}

const byDomain = (answers: readonly SourceServer[]) => new Map(answers.map((one) => [one.domain, one]))

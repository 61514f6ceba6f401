// A panel on a machine whose root takes requests, played by files, with releases of a key that it trusts.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { VERSION } from '../../../src/kernel/version.ts'
import { newKey, writeRelease } from '../../release/signed.ts'
import { type World, world } from '../../support/world/panel.ts'

export const [ours, stranger] = [newKey(), newKey()]
/** The versions after the one that runs. */
const [major, minor] = VERSION.split('.').map(Number) as [number, number]
export const NEXT = `${major}.${minor + 1}.0`
export const LATER = `${major}.${minor + 2}.0`
export const path = '/admin/updates'

/** A disk with 4 GB free. */
const roomy = { disk: () => ({ bsize: 4096, blocks: 2_000_000, bfree: 1_000_000, bavail: 1_000_000 }) }

type Options = Parameters<typeof world>[0]
export async function machine(options: Options = {}) {
  const p = await world({ host: roomy, ...options, updates: { keys: [newKey().key, ours.key], ...options?.updates } })
  const root = `${p.dir}/machine`
  mkdirSync(`${root}/berth`, { recursive: true })
  writeFileSync(`${root}/berth-host`, '')
  const incoming = `${p.dir}/upgrade/incoming`
  mkdirSync(incoming, { recursive: true })
  return Object.assign(p, {
    root,
    incoming,
    release: (version: string, more: Partial<Parameters<typeof writeRelease>[1]> = {}) =>
      writeRelease(`${incoming}/berth-${version}.release`, { by: ours, version, ...more }),
    journal: (state: string, more = {}) =>
      writeFileSync(`${root}/berth/journal.json`, JSON.stringify({ ...about(p), ...opened, state, ...more })),
    history: (...lines: object[]) =>
      writeFileSync(
        `${root}/berth/history.jsonl`,
        lines.map((line) => `${JSON.stringify({ ...ended(p), ...line })}\n`).join(''),
      ),
    request: `${p.dir}/upgrade/request.json`,
    machineTakes: () => rmSync(`${p.dir}/upgrade/request.json`),
    shown: () => p.admin('GET', path),
  })
}
export type Machine = Awaited<ReturnType<typeof machine>>

const about = (p: Pick<World, 'now'>) => ({
  from: VERSION,
  to: NEXT,
  by: 'Margit Heiden',
  startedAt: new Date(p.now()).toISOString(),
})
const opened = { format: 1, id: 'one', service: 'berth', trialSeconds: 20, answerSeconds: 120 }
const ended = (p: Pick<World, 'now'>) => ({
  ...about(p),
  service: 'berth',
  endedAt: new Date(p.now() + 41_000).toISOString(),
  stoppedMs: 14_200,
  result: 'done',
})
export const wentBack = {
  result: 'went_back',
  stoppedMs: 41_000,
  reason: { code: 'not_healthy', words: 'The socket for agents could not be opened' },
}

// Storage that gets nearly full: told once when it crosses the share from which the overview warns, and again only
// after it had space for a while.

import { FULL_PERCENT, metadataPercent, usedPercent, WARN_PERCENT } from '../../fleet/storage-pools/full.ts'
import { type PoolUse, poolsFullerThan, poolsOn, storagePoolById } from '../../fleet/storage-pools/queries.ts'
import { almostFull, fullEffect, metadataAlmostFull, poolInWords, spaceLeft } from '../../fleet/storage-pools/words.ts'
import { isAboutChosen, notifyByMail, notifyInPanel } from '../../identity/notices/notify.ts'
import { endNotices } from '../../identity/notices/queries.ts'
import type { AppContext } from '../../kernel/api/operation.ts'
import { type Db, type Tx, write } from '../../kernel/db/open.ts'
import { emit } from '../../kernel/jobs/outbox.ts'
import { list } from '../../kernel/words.ts'
import { aboutNode, affectedBy, type StorageData } from './model.ts'
import { dropStorageWarning, insertStorageWarning, type NodeFacts, nodeFacts, storageWarningsNow } from './queries.ts'
import { recipientsOf } from './recipients.ts'

/** It has space again below this share: one that goes up and down around the limit is news once. */
export const SPACE_AGAIN_PERCENT = WARN_PERCENT - 5

const aboutStorage = (storage: string) => `storage ${storage}`

/** One turn: notes storage that has become nearly full or has space again, emits the events, and tells staff. */
export function watchStorage({ db, app }: { db: Db; app: AppContext }) {
  const warned = new Map(storageWarningsNow(db).map((one) => [one.storage, one]))
  const used = byStorage(poolsFullerThan(db, SPACE_AGAIN_PERCENT))
  const crossed = [...used].flatMap(([storage, pool]): Crossed[] => {
    const node = !warned.has(storage) && fullest(pool) >= WARN_PERCENT && nodeFacts(db, pool.nodeId)
    return node && !node.isGone ? [{ storage, pool, node }] : []
  })
  const over = [...warned.values()].filter(({ storage, poolId }) => !used.has(storage) && isKnown(db, poolId))
  if (!crossed.length && !over.length) return
  write(db, (tx) => {
    for (const { storage, poolId } of over) hasSpace(tx, app, storage, poolId)
    for (const one of crossed) nearlyFull(tx, app, one)
    if (crossed.length) tellStaff(tx, app, crossed)
  })
}

/** A pool for each storage: those of several nodes that are one storage are news once. */
const byStorage = (pools: readonly PoolUse[]): ReadonlyMap<string, PoolUse> =>
  new Map(pools.toReversed().map((pool) => [pool.storage, pool]))

const fullest = (pool: PoolUse) => Math.max(usedPercent(pool) ?? 0, metadataPercent(pool) ?? 0)

/** Of storage that is missing or does not answer nobody knows how full it is. One that is forgotten is over. */
function isKnown(db: Db, poolId: string): boolean {
  const pool = storagePoolById(db, poolId)
  return !pool || (pool.missingSince === null && pool.silentSince === null)
}

type Crossed = { storage: string; pool: PoolUse; node: NodeFacts }

function nearlyFull(tx: Tx, app: AppContext, { storage, pool, node }: Crossed) {
  const now = app.clock()
  insertStorageWarning(tx, { storage, poolId: pool.id, warnedAt: now })
  emit(tx, now, 'storage.nearly_full', aboutNode(node.id), dataOf(tx, node, pool))
}

function hasSpace(tx: Tx, app: AppContext, storage: string, poolId: string) {
  dropStorageWarning(tx, storage)
  const pool = storagePoolById(tx, poolId)
  const node = pool && nodeFacts(tx, pool.nodeId)
  const now = app.clock()
  const what = pool && node ? poolInWords(node.name, pool.name, poolsOn(tx, node.id).length) : 'Storage'
  const words = pool ? `${spaceLeft(pool)}.` : 'It is not there any more.'
  endNotices(tx, aboutStorage(storage), now, { subject: `${what} has space again`, words })
  if (pool && node && !node.isGone) emit(tx, now, 'storage.has_room', aboutNode(node.id), dataOf(tx, node, pool))
}

function dataOf(tx: Tx, node: NodeFacts, pool: Omit<PoolUse, 'storage'>): StorageData {
  const metadata = metadataPercent(pool)
  return {
    ...affectedBy(tx, node),
    storagePool: { id: pool.id, name: pool.name },
    totalBytes: pool.totalBytes,
    freeBytes: pool.freeBytes ?? 0,
    usedPercent: Math.floor(usedPercent(pool) ?? 0),
    metadataPercent: metadata === null ? null : Math.floor(metadata),
  }
}

/** A notice in the panel for each, and one mail about all of them to each who wants it. */
function tellStaff(tx: Tx, app: AppContext, crossed: readonly Crossed[]) {
  const told = crossed.map((one) => ({ ...one, ...wordsOf(tx, one) }))
  for (const to of recipientsOf(tx, app.registry, 'storage_nearly_full')) {
    const mine = told.filter(({ node }) => isAboutChosen(to.choice, node.locationId))
    for (const { storage, subject, words, button } of mine)
      notifyInPanel(tx, app, to, 'storage_nearly_full', { subject, paragraphs: [words], button }, aboutStorage(storage))
    const [first, ...more] = mine
    if (!first) continue
    notifyByMail(tx, app, to, 'storage_nearly_full', {
      subject: more.length
        ? `Storage of ${list([...new Set(mine.map((one) => one.node.name))].toSorted())} is almost full`
        : first.subject,
      paragraphs: [
        ...mine.flatMap(({ subject, words }) => [`${subject}. ${words}`]),
        'Next: move servers away, delete what nobody needs, or add space. New servers go to other nodes meanwhile.',
      ],
      button: more.length ? { words: 'Show nodes', path: '/admin/nodes' } : first.button,
    })
  }
}

function wordsOf(tx: Tx, { pool, node }: Crossed) {
  const what = poolInWords(node.name, pool.name, poolsOn(tx, node.id).length)
  const isData = (usedPercent(pool) ?? 0) >= WARN_PERCENT
  const button = { words: 'Show its storage', path: `/admin/nodes/${node.id}/storage` } as const
  return {
    subject: isData ? almostFull(what, pool) : metadataAlmostFull(what, pool),
    words: fullEffect(fullest(pool) >= FULL_PERCENT, FULL_PERCENT),
    button,
  }
}

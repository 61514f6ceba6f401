// How many backups may go at once on a node, and into a target.
import type { Db } from '../../../kernel/db/open.ts'
import { settingValue, wholeSetting } from '../../../kernel/setting.ts'
import { drillsAtWork } from '../drills/queries.ts'
import { repositoriesAtWork } from '../maintenance/queries.ts'
import { backupsAtWork } from './queries.ts'

export const perNode = wholeSetting({
  name: 'backups.at_once_per_node',
  title: 'Backups at once on a node',
  words: 'Backups of plans wait while so many are being made on the node: each reads a whole disk.',
  weakens: 'never',
  default: 2,
  minimum: 1,
  maximum: 4,
  unit: 'per node',
})
export const perTarget = wholeSetting({
  name: 'backups.at_once_per_target',
  title: 'Backups at once into a target',
  words: 'Backups of plans wait while so many are being stored in the same backup target.',
  weakens: 'never',
  default: 8,
  minimum: 1,
  maximum: 1000,
  unit: 'per target',
})

/** `ownerId` and `targetId` together are a repository. */
export type Place = { nodeId: string; targetId: string; ownerId: string }
const repositoryOf = ({ ownerId, targetId }: Pick<Place, 'ownerId' | 'targetId'>) => `${ownerId} ${targetId}`

/** The places that are taken now. */
export class BackupSlots {
  private nodes = new Map<string, number>()
  private targets = new Map<string, number>()
  private reading = new Set<string>()
  private changing = new Set<string>()
  private limits: { node: number; target: number }

  constructor(db: Db) {
    this.limits = { node: settingValue(db, perNode), target: settingValue(db, perTarget) }
    for (const { state, ...place } of backupsAtWork(db))
      if (state === 'running') this.take(place)
      else this.changing.add(repositoryOf(place))
    for (const drill of drillsAtWork(db)) this.reading.add(repositoryOf(drill))
    for (const repository of repositoriesAtWork(db)) this.changing.add(repositoryOf(repository))
  }

  /** A repository in which backups are deleted, or that is checked, takes none meanwhile: restic locks it. */
  isFree(place: Place): boolean {
    return (
      (this.nodes.get(place.nodeId) ?? 0) < this.limits.node &&
      (this.targets.get(place.targetId) ?? 0) < this.limits.target &&
      !this.changing.has(repositoryOf(place))
    )
  }

  take(place: Place) {
    this.nodes.set(place.nodeId, (this.nodes.get(place.nodeId) ?? 0) + 1)
    this.targets.set(place.targetId, (this.targets.get(place.targetId) ?? 0) + 1)
    this.reading.add(repositoryOf(place))
  }

  /** Does no job work in the repository? Nothing else may, while backups in it are deleted or its data is checked. */
  isIdle(repository: Pick<Place, 'ownerId' | 'targetId'>): boolean {
    return !this.reading.has(repositoryOf(repository)) && !this.changing.has(repositoryOf(repository))
  }
}

// Layers in a pool whose snapshots belong to the storage itself. A disk is a device that a vm may have open; its
// content is the layer that its label names. A snapshot is a point of a disk, with the label of the layer whose state
// it is. Each change of meaning is one change of one label; what it leaves over is recognised by the labels and deleted
// then, or by the next change after a crash.

/**
 * A device. `start`: its first layer, which is part of its name. `layer`: its label; null: nothing needs its content.
 */
export type DiskEntry = { start: number; layer: number | null; sizeBytes: number; clonedFrom?: number | undefined }
/** A snapshot on the disk `disk`. `taken`: the layer that began with it, which is part of its name and unique. */
export type Point = { disk: number; taken: number; layer: number; sizeBytes: number }
export type Entries = { disks: readonly DiskEntry[]; points: readonly Point[] }
export type Found = { disk: DiskEntry; point?: undefined } | { point: Point; disk?: undefined }

/**
 * The bond between a snapshot and what was made from it. `none`: each lives for itself. `promote`: one that was cloned
 * stays until a clone takes it over. `flatten`: until its clones have a content of their own.
 */
export type Bond = 'none' | 'promote' | 'flatten'

/** The layer, as a device or as a snapshot. */
export function findLayer(entries: Entries, layer: number): Found | undefined {
  const disk = entries.disks.find((entry) => entry.layer === layer)
  if (disk) return { disk }
  const point = entries.points.find((entry) => entry.layer === layer && !isStale(entries, entry))
  return point && { point }
}

/** A label that a device or a later snapshot has too: a change was interrupted, or has just made it superfluous. */
export const isStale = ({ disks, points }: Entries, { layer, taken }: Point) =>
  disks.some((disk) => disk.layer === layer) || points.some((point) => point.layer === layer && point.taken > taken)

export const clonesOf = ({ disks }: Entries, { taken }: Point) => disks.filter(({ clonedFrom }) => clonedFrom === taken)
export const pointsOn = ({ points }: Entries, { start }: DiskEntry) =>
  points.filter(({ disk }) => disk === start).toSorted((a, b) => a.taken - b.taken)

/** Whether another layer needs this snapshot. */
export function isNeeded(entries: Entries, point: Point): boolean {
  const disk = entries.disks.find(({ start }) => start === point.disk)
  const isNewest = !entries.points.some((other) => other.disk === point.disk && other.taken > point.taken)
  return clonesOf(entries, point).length > 0 || !isNewest || (disk !== undefined && disk.layer !== null)
}

export type Step = { remove: Found } | { detach: DiskEntry }

/** The next step of cleaning up; undefined when every entry is needed. */
export function nextStep(entries: Entries, bond: Bond): Step | undefined {
  const { disks, points } = entries
  const dead = disks.filter(({ layer }) => layer === null)
  const disk = dead.find((entry) => bond === 'none' || pointsOn(entries, entry).length === 0)
  if (disk) return { remove: { disk } }
  const stale = points.filter((point) => isStale(entries, point))
  const point = stale.find((entry) => clonesOf(entries, entry).length === 0)
  if (point) return { remove: { point } }
  const cloned = bond === 'promote' ? dead.flatMap((entry) => pointsOn(entries, entry).slice(-1)) : stale
  const [clone] = cloned.flatMap((entry) => clonesOf(entries, entry))
  return clone && { detach: clone }
}

/** The next entry to remove until all are gone. */
export function nextOfAll(entries: Entries): Found | undefined {
  const point = entries.points.find((entry) => clonesOf(entries, entry).length === 0)
  if (point) return { point }
  const disk = entries.disks.find((entry) => pointsOn(entries, entry).length === 0)
  return disk && { disk }
}

// Removes what no restore within the time that is kept can need. A base goes before its parts and segments, so none is
// offered that lacks some.
import type { ObjectStore } from '../stores/store.ts'
import { type BasePoint, baseName, basePoints, segmentFolder, segmentName } from './objects.ts'

/** Every point from `keptFrom` on (milliseconds since 1970) can still be restored afterwards. */
export async function removeOld(store: ObjectStore, keptFrom: number) {
  const points = await basePoints(store)
  // The last point before that time is where a restore of that time begins.
  const first = points.findLastIndex(({ at }) => at <= keptFrom)
  for (let i = 0; i < first; i++) await removeBase(store, points[i]!, points[i + 1]!)
}

async function removeBase(store: ObjectStore, point: BasePoint, next: BasePoint) {
  await store.remove(baseName(point))
  const parts = `parts/${point.stream}/${String(point.number).padStart(12, '0')}`
  for (const name of await store.list(parts)) await store.remove(name)
  const isEnd = next.stream !== point.stream
  if (isEnd) {
    for (const name of await store.list(`segments/${point.stream}`)) await store.remove(name)
    return
  }
  const folders = new Set<string>()
  for (let number = point.number + 1; number <= next.number; number++) folders.add(segmentFolder(point.stream, number))
  const last = segmentName(point.stream, next.number)
  for (const folder of folders) for (const name of await store.list(folder)) if (name <= last) await store.remove(name)
}

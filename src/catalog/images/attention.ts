import { mayCall } from '../../kernel/api/operation.ts'
import type { Source } from '../../kernel/attention.ts'
import { day, isoOrNull } from '../../kernel/db/clock.ts'
import { count } from '../../kernel/words.ts'
import { uncheckedImages } from './queries.ts'
import { refreshImage } from './refresh.ts'

/** Servers of distributions are away for hours now and then. */
const TOLD_AFTER_MS = 2 * day

/** Images whose distribution could not be asked for the current build for days. */
export const unrenewedImages: Source = ({ tx, actor, clock }) => {
  if (!mayCall(refreshImage, actor)) return []
  const { n, name, since, why } = uncheckedImages(tx, clock() - TOLD_AFTER_MS)
  if (!n) return []
  return [
    {
      level: 'warn',
      what:
        n === 1
          ? `New builds of ${name} are not found.`
          : `New builds of ${count(n, 'image', 'images')} are not found.`,
      effect: `${why} Nodes that do not have the present build yet may fail to fetch it.`,
      since: isoOrNull(since),
      action: 'Open images',
      href: '/admin/images',
    },
  ]
}

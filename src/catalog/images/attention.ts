import { mayCall } from '../../kernel/api/operation.ts'
import type { Attention, Source } from '../../kernel/attention.ts'
import { day, isoOrNull } from '../../kernel/db/clock.ts'
import { count } from '../../kernel/words.ts'
import { uncheckedImages } from './queries.ts'
import { refreshImage } from './refresh.ts'
import { CHECKED_EVERY_MS } from './renew.ts'

/** Servers of distributions are away for hours now and then. */
const TOLD_AFTER_MS = 2 * day
/** A list and its signature are two files, which are replaced one after the other: the next look is past that. */
const REFUSED_AFTER_MS = CHECKED_EVERY_MS

/** Images whose distribution could not be asked for the current build for days. */
export const unrenewedImages: Source = ({ tx, actor, clock }) => {
  if (!mayCall(refreshImage, actor)) return []
  const away = uncheckedImages(tx, 'source_unreachable', clock() - TOLD_AFTER_MS)
  const refused = uncheckedImages(tx, 'signature_refused', clock() - REFUSED_AFTER_MS)
  return [...(refused.n ? [untrusted(refused)] : []), ...(away.n ? [unrenewed(away)] : [])]
}

type Unchecked = ReturnType<typeof uncheckedImages>

const untrusted = ({ n, name, since, why }: Unchecked): Attention => ({
  level: 'warn',
  what:
    n === 1
      ? `The checksums of ${name} have no signature that is accepted.`
      : `The checksums of ${count(n, 'image', 'images')} have no signature that is accepted.`,
  effect: `${why} Berth goes on with the present build.`,
  since: isoOrNull(since),
  action: 'Open images',
  href: '/admin/images',
})

const unrenewed = ({ n, name, since, why }: Unchecked): Attention => ({
  level: 'warn',
  what:
    n === 1 ? `New builds of ${name} are not found.` : `New builds of ${count(n, 'image', 'images')} are not found.`,
  effect: `${why} Nodes that do not have the present build yet may fail to fetch it.`,
  since: isoOrNull(since),
  action: 'Open images',
  href: '/admin/images',
})

// Which part of the panel a page stands in, and who is at home there.
import { type Area, areas } from '../../src/kernel/api/access.ts'
import type { At } from '../../src/kernel/web/page.ts'
import { here } from './live.ts'

export type { Area }

/** Where the reader has servers, jobs and all that each kind of account has in a place of its own. */
export const areaOf = ({ actor }: Pick<At, 'actor'>): Area => areas[actor.kind]

/** For the pages of the owners' area: staff and resellers have the same page in their own. */
export const inOwnArea = (at: At): string | undefined => (areaOf(at) ? areaOf(at) + here(at) : undefined)

// Which part of the panel a page stands in, and who is at home there.
import { type Area, areas } from '../../src/identity/account-records/areas.ts'
import type { Html } from '../../src/kernel/web/html.ts'
import { type Answers, type At, type Page, page, type Reads } from '../../src/kernel/web/page.ts'
import { here } from './live.tsx'

export type { Area }

/** Where the reader has servers, jobs and all that each kind of account has in a place of its own. */
export const areaOf = ({ actor }: Pick<At, 'actor'>): Area => areas[actor.kind]

/** For the pages of the owners' area: staff and resellers have the same page in their own. */
export const inOwnArea = (at: At): string | undefined => (areaOf(at) ? areaOf(at) + here(at) : undefined)

type InEvery<R extends Reads> = Pick<Page<R>, 'path' | 'reads' | 'title' | 'nav' | 'files' | 'madeStyles'> & {
  view(data: Answers<R> & { at: At }, area: Area): Html
}
/**
 * One page in the area of each kind of account; `path` is the rest behind the area's, and `view` is told where it
 * stands.
 */
export const inEveryArea = <const R extends Reads>({ path, view, ...rest }: InEvery<R>): Page<R>[] =>
  Object.values(areas).map((area) =>
    page({
      ...rest,
      path: area + path,
      ...(area === '' && { elsewhere: inOwnArea }),
      view: (data) => view(data, area),
    }),
  )

/** A former address of a page in every area: it leads to the address, behind the area, that has its content now. */
export const movedInEveryArea = (path: string, to: (at: At) => string): Page[] =>
  inEveryArea({ path, reads: {}, title: '', view: () => null as never }).map((former) => ({
    ...former,
    elsewhere: (at) => areaOf(at) + to(at),
  }))

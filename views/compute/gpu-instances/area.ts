// The pages of GPU instances in the part of the panel of each kind of account. Staff have hosts and cards elsewhere.
import { pageOf, pageOfList } from '../../../src/compute/gpu-instances/model.ts'
import { type Area, areas } from '../../../src/identity/account-records/areas.ts'
import type { Html } from '../../../src/kernel/web/html.ts'
import { type Answers, type At, type Page, page, type Reads } from '../../../src/kernel/web/page.ts'
import { areaOf } from '../../components/area.ts'
import { here } from '../../components/live.tsx'

/** Staff and resellers have the pages of owners in their own area. */
export const elsewhere = (at: At): string | undefined => {
  const area = areaOf(at)
  return area ? pageOfList(area) + here(at).slice(pageOfList('').length) : undefined
}

/** The address of a page of one instance; `tab` begins with a slash. */
export const tabOf = (area: Area, id: string, tab: `/${string}`): string => pageOf(area, id) + tab

type InEvery<R extends Reads> = Pick<Page<R>, 'reads' | 'title' | 'files'> & {
  /** Behind the address of the list, such as `/{id}`. */
  path: string
  view(data: Answers<R> & { at: At }, area: Area): Html
}
/** One page in the area of each kind of account. */
export const instancePage = <const R extends Reads>({ path, view, ...rest }: InEvery<R>): Page<R>[] =>
  Object.values(areas).map((area) =>
    page({
      ...rest,
      path: pageOfList(area) + path,
      nav: 'gpu-instances',
      ...(area === '' && { elsewhere }),
      view: (data) => view(data, area),
    }),
  )

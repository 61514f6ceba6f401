// Requests to SolusVM 2: a token in a header, lists in pages of Laravel's paginator.
import type { PanelAddress } from '../client/address.ts'
import { type PanelClient, panelClient } from '../client/client.ts'
import { type Page, type WholeList, wholeList } from '../client/pages.ts'
import { SourceFailure } from '../failure.ts'
import type { SourceOptions, SourceTrust } from '../source.ts'
import { field, rowsOf, whole } from '../values/scalars.ts'
import { reads } from './reads.ts'

export type SolusClient = PanelClient<typeof reads>

const REFUSED =
  'The panel refused the token. Check that it was copied as a whole, that it has not expired, and that the API of ' +
  'the panel is switched on.'

export const solusClient = (
  address: PanelAddress,
  token: string,
  trust: SourceTrust,
  options: SourceOptions,
): SolusClient =>
  panelClient(
    {
      address,
      reads,
      authorize: () => ({ headers: { Authorization: `Bearer ${token}` } }),
      refusals: {
        signIn: () => new SourceFailure('refused_sign_in', REFUSED),
        redirect: () => new SourceFailure('redirected'),
        html: () => new SourceFailure('html'),
        htmlWithStatus: () => new SourceFailure('api_off', 'The panel refused the token, or its API is switched off.'),
      },
    },
    trust,
    options,
  )

const PER_PAGE = 100
const MOST_TOTAL = 10_000_000

type Paged = 'hypervisors' | 'packages' | 'ranges' | 'addresses' | 'servers' | 'owners' | 'images'
type Query = { id?: string; parameters?: Readonly<Record<string, string>> }

/** One page of a list. The address of the next page is never followed: only whether there is one counts. */
async function page(client: SolusClient, list: Paged, { id, parameters }: Query, number: number): Promise<Page> {
  const given = { ...(id !== undefined && { id }), parameters: { ...parameters, page: number, per_page: PER_PAGE } }
  const answer = await client.read(list, given as never)
  const rows = rowsOf(field(answer, 'data'))
  const lastPage = whole(field(answer, 'meta', 'last_page'), MOST_TOTAL)
  const next = field(answer, 'links', 'next')
  const isWithoutNext = next === null || next === ''
  return {
    rows,
    isLast: lastPage !== null ? number >= lastPage : isWithoutNext ? true : null,
    total: whole(field(answer, 'meta', 'total'), MOST_TOTAL),
  }
}

/** A list with all its pages. */
export const solusList = <T>(
  client: SolusClient,
  list: Paged,
  whole: Omit<WholeList<T>, 'things' | 'page'>,
  query: Query = {},
): Promise<ReadonlyMap<string, T>> =>
  wholeList({ ...whole, things: reads[list].things, page: (number) => page(client, list, query, number) })

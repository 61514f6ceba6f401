// The filters of lists that a person named, to find them again.
import { Type as t } from 'typebox'
import { everybody } from '../../kernel/api/access.ts'
import { ApiError, invalid } from '../../kernel/api/errors.ts'
import { page } from '../../kernel/api/list.ts'
import { named } from '../../kernel/api/named.ts'
import {
  described,
  done,
  fields,
  line,
  namedSchema,
  operation,
  type Resource,
  time,
} from '../../kernel/api/operation.ts'
import { text } from '../../kernel/api/query.ts'
import { iso } from '../../kernel/db/clock.ts'
import { newId } from '../../kernel/db/ids.ts'
import type { Registry } from '../../kernel/registry.ts'
import {
  countSavedFilters,
  deleteSavedFilter,
  insertSavedFilter,
  ownSavedFilter,
  pageOfSavedFilters,
} from './queries.ts'
import type { SavedFilter } from './tables.ts'

const MOST = 30

/** The lists whose filters can be saved, with the operations that take these filters. */
const lists = { servers: ['servers.list-all', 'servers.list'] } as const
type ListName = keyof typeof lists

const answer = namedSchema('SavedFilter', {
  id: t.String(),
  list: t.String(),
  name: t.String(),
  query: described(t.String(), 'As in the address of the list, such as `status=running&label=shop`.'),
  createdAt: time,
})
const show = ({ id, list, name, query, createdAt }: SavedFilter) => ({
  id,
  list,
  name,
  query,
  createdAt: iso(createdAt),
})

const savedFilter: Resource<SavedFilter> = {
  name: 'saved filter',
  notFound: 'saved_filter_not_found',
  find: ownSavedFilter,
}

/** The filter as it is stored, its names in order. Throws `validation_failed` for what the list does not take. */
function readQuery(registry: Registry, list: ListName, text: string): string {
  const known = new Set(lists[list].flatMap((id) => Object.keys(registry.operation(id)?.query ?? {})))
  for (const place of ['cursor', 'limit']) known.delete(place)
  const query = new URLSearchParams([...new URLSearchParams(text)].filter(([, value]) => value !== ''))
  const wrong = (message: string) => invalid({ field: 'query', message })
  for (const name of query.keys()) {
    if (!known.has(name)) throw wrong('has a parameter that is no filter of this list.')
    if (query.getAll(name).length > 1) throw wrong(`has ${name} twice.`)
  }
  if (!query.size) throw wrong('must have a filter, such as status=running.')
  query.sort()
  return query.toString()
}

export const saveFilter = operation({
  id: 'saved-filters.create',
  method: 'POST',
  path: '/account/saved-filters',
  summary: 'Save the filters of a list under a name, for the own account',
  past: 'Saved filters',
  access: everybody('account:write'),
  body: fields({
    list: t.Enum(Object.keys(lists) as ListName[]),
    name: line(60),
    query: text('The filters as in the address of the list, such as `status=running&label=shop`.', 1000),
  }),
  response: answer,
  status: 201,
  refuses: ['limit_reached', 'name_taken'],
  example: { list: 'servers', name: 'Shops that run', query: 'label=shop&status=running' },
  run({ tx, actor, body, registry, clock }) {
    const { list, name } = body
    const query = readQuery(registry, list, body.query)
    if (countSavedFilters(tx, actor.accountId) >= MOST)
      throw new ApiError('limit_reached', `An account has at most ${MOST} saved filters. Remove one that is not used.`)
    const row = { id: newId('flt'), accountId: actor.accountId, list, name, query, createdAt: clock() }
    named('saved filter', () => insertSavedFilter(tx, row))
    return show(row)
  },
})

export const listSavedFilters = operation({
  id: 'saved-filters.list',
  method: 'GET',
  path: '/account/saved-filters',
  summary: 'The saved filters of the own account, newest first',
  access: everybody('account:read'),
  pages: { usual: MOST, most: MOST },
  response: page(answer),
  run: (call) => pageOfSavedFilters(call, show),
})

export const removeSavedFilter = operation({
  id: 'saved-filters.remove',
  destroys: [],
  method: 'DELETE',
  path: '/account/saved-filters/{id}',
  summary: 'Remove a saved filter of the own account',
  past: 'Removed saved filters',
  access: everybody('account:write'),
  on: savedFilter,
  response: done,
  run({ tx, target }) {
    deleteSavedFilter(tx, target.id)
    return {}
  },
})

// Named filters of lists: each account has its own, and only such that the list takes.
import { describe, expect, test } from 'bun:test'
import { type Who, type World, world } from '../../support/world/panel.ts'

const PATH = '/account/saved-filters'
const save = (p: World, who: Who, body: object) => p.call(who, 'POST', PATH, { list: 'servers', ...body })

describe('a saved filter', () => {
  test('is kept in one form, listed and removed by its owner, and unknown to everybody else', async () => {
    using p = await world()
    const saved = await save(p, p.customer, { name: 'Shops', query: 'status=running&label=a+shop&q=' })
    expect([saved.status, saved.body.query]).toEqual([201, 'label=a+shop&status=running'])
    expect((await save(p, p.customer, { name: 'Shops', query: 'status=stopped' })).body.error.code).toBe('name_taken')
    expect((await save(p, p.owner, { name: 'Shops', query: 'nodeId=x' })).status).toBe(201)
    expect((await p.call(p.customer, 'GET', PATH)).body).toMatchObject({ total: 1, data: [{ name: 'Shops' }] })
    const path = `${PATH}/${saved.body.id}`
    expect((await p.call(p.owner, 'DELETE', path)).body.error.code).toBe('saved_filter_not_found')
    expect((await p.call(p.customer, 'DELETE', path)).status).toBe(200)
    expect((await p.call(p.customer, 'GET', PATH)).body.total).toBe(0)
  })

  test('is refused with what is no filter of the list, twice the same, nothing at all, and beyond thirty', async () => {
    using p = await world()
    for (const query of ['cursor=abc', 'onclick=x', 'status=running&status=stopped', 'status=', '&'])
      expect([query, (await save(p, p.customer, { name: 'n', query })).body.error.code]).toEqual([
        query,
        'validation_failed',
      ])
    for (let n = 0; n < 30; n++) await save(p, p.customer, { name: `n${n}`, query: 'status=running' })
    expect((await save(p, p.customer, { name: 'more', query: 'status=running' })).body.error.code).toBe('limit_reached')
  })
})

// Nothing is offered that does not exist: each scope and each permission opens something, and each entry of the menu
// and each action of the search leads to a page.
import { expect, test } from 'bun:test'
import { operations, registry } from '../../../src/app/features.ts'

const { scopes, permissions, features, pages } = registry
const rightsOf = (access: (typeof operations)[number]['access']): readonly string[] =>
  access === 'anyone' ? [] : Object.values(access).flat()
const used = new Set(operations.flatMap(({ access }) => rightsOf(access)))

test('every scope opens a call', () => expect(Object.keys(scopes).filter((name) => !used.has(name))).toEqual([]))
test('every permission opens a call, by itself or by a scope, or limits tokens', () =>
  expect(
    Object.entries(permissions)
      .filter(([name, { opens, limitsTokens }]) => !used.has(name) && !limitsTokens && !opens.some((s) => used.has(s)))
      .map(([name]) => name),
  ).toEqual([]))
test('every scope can be held by somebody', () => {
  const given = new Set<string>(Object.values(permissions).flatMap(({ opens }) => opens))
  expect(
    Object.entries(scopes)
      .filter(([name, { heldBy = [] }]) => !given.has(name) && heldBy.length === 0)
      .map(([name]) => name),
  ).toEqual([])
})
test('every entry of the menu and every action of the search leads to a page', () => {
  const paths = new Set(pages.map(({ path }) => path))
  const leading = features.flatMap(({ nav = [], actions = [] }) => [
    ...nav.map(({ href }) => href),
    ...actions.map(({ page }) => page),
  ])
  expect(leading.filter((path) => !paths.has(path))).toEqual([])
  expect(leading.length).toBeGreaterThan(20)
})

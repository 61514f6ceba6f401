import { expect, test } from 'bun:test'
import { registry } from '../../../src/app/features.ts'
import { measures, scenarios } from '../../support/crash-matrix/every-scenario.ts'

const kinds = registry.jobs.map(({ kind }) => kind)

test('every kind of job has a scenario', () =>
  expect(kinds.filter((kind) => !scenarios.some((one) => one.kind === kind))).toEqual([]))

test('every scenario is of a kind of job, and no two have the same name', () => {
  expect(scenarios.filter(({ kind }) => !kinds.includes(kind))).toEqual([])
  const names = scenarios.map(({ name }) => name)
  expect(names).toEqual([...new Set(names)].sort())
})

test('every scenario ends in states that are measured', () => {
  const shared = scenarios.filter(({ measure }) => measure === undefined)
  const states = shared.flatMap(({ succeeds, fails }) => [succeeds, typeof fails === 'object' ? fails : {}])
  const unknown = states.flatMap(Object.keys).filter((name) => !Object.hasOwn(measures, name))
  expect(unknown).toEqual([])
})

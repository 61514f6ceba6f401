// Every job of the product survives every crash; `crashMatrix` says how.
import { expect, test } from 'bun:test'
import { registry } from '../../src/app/features.ts'
import { crashMatrix } from '../support/world/crash-matrix.ts'
import { scenarios } from '../support/world/scenarios.ts'

const sagas = registry.jobs

test('every saga has a scenario', () =>
  expect(sagas.map((s) => s.kind).filter((kind) => !scenarios.some((s) => s.kind === kind))).toEqual([]))

crashMatrix({ sagas, scenarios })

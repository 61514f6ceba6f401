import { expect, test } from 'bun:test'
import { registry } from '../../../src/app/features.ts'
import { scenarios } from '../../support/world/scenarios.ts'

test('every saga has a scenario', () =>
  expect(registry.jobs.map((s) => s.kind).filter((kind) => !scenarios.some((s) => s.kind === kind))).toEqual([]))

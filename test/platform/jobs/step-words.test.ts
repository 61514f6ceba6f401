// Owners read the steps of the jobs of their servers. To them a node is the host machine.
import { expect, test } from 'bun:test'
import { registry } from '../../../src/app/features.ts'
import { lastLines } from '../../../src/kernel/jobs/failures.ts'

const ofNodes = /\b(node|nodes)\b/i

test('no step of a job, and no last line of one, speaks of a node', () => {
  const words = registry.jobs.flatMap(({ kind, steps }) => steps.map((step) => `${kind}: ${step.words}`))
  expect(words.length).toBeGreaterThan(200)
  expect([...words, ...Object.values(lastLines)].filter((text) => ofNodes.test(text))).toEqual([])
})

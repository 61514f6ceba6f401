// People read the steps of jobs and filter by their kinds: a kind has a title of its own, and no name of the code.
import { expect, test } from 'bun:test'
import { registry } from '../../../src/app/features.ts'

test('every kind of job has a title of its own, which begins a sentence', () => {
  const titles = registry.jobs.map(({ title }) => title)
  expect(titles.length).toBeGreaterThan(60)
  expect(titles.filter((title) => !/^[A-Z][A-Za-z -]+[a-z]$/.test(title))).toEqual([])
  expect(titles.length - new Set(titles).size).toBe(0)
})

test('every step begins a sentence', () => {
  const words = registry.jobs.flatMap(({ steps }) => steps.map((step) => step.words))
  expect(words.length).toBeGreaterThan(200)
  expect(words.filter((text) => !/^[A-Z]/.test(text) || text.endsWith('.'))).toEqual([])
})

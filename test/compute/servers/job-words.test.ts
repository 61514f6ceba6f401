// While a job changes a server, lists say what it does.
import { expect, test } from 'bun:test'
import { serversFeature } from '../../../src/compute/servers/feature.ts'
import { works } from '../../../views/components/state.tsx'

/** It removes what is left on a node, when the server is no longer held by a job. */
const holdsNoServer = ['remove_disk']

test('every kind of job that holds a server has its own words', () => {
  const kinds = (serversFeature.jobs ?? [])
    .map(({ kind }) => kind as string)
    .filter((kind) => !holdsNoServer.includes(kind))
  expect(kinds.length).toBeGreaterThan(7)
  expect(kinds.filter((kind) => !works[kind])).toEqual([])
})

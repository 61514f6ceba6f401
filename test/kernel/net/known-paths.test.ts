// Which methods a path has, where words and parameters stand at the same place.
import { expect, test } from 'bun:test'
import { KnownPaths } from '../../../src/kernel/net/known-paths.ts'

type Method = 'GET' | 'POST' | 'DELETE'
function paths(...known: [Method, string][]) {
  const all = new KnownPaths<Method>()
  for (const [method, path] of known) all.add(method, path)
  return all
}

test('the methods of a path are those of all its routes', () => {
  const all = paths(['GET', '/servers'], ['POST', '/servers'], ['GET', '/servers/:id'], ['DELETE', '/servers/:id'])
  expect(all.methodsAt('/servers')).toEqual(['GET', 'POST'])
  expect(all.methodsAt('/servers/srv_1')).toEqual(['GET', 'DELETE'])
})

test('a path of which there is no route has none: longer, shorter, an empty parameter, a prefix', () => {
  const all = paths(['GET', '/servers/:id'], ['GET', '/servers/:id/disks'])
  for (const path of ['/', '/servers', '/servers/', '/servers//disks', '/servers/1/disks/2', '/servers/1/disk'])
    expect([path, all.methodsAt(path)]).toEqual([path, undefined])
})

test('a word comes before a parameter, also where only a longer path has the word', () => {
  const all = paths(['GET', '/jobs/all'], ['DELETE', '/jobs/:id'], ['POST', '/jobs/all/actions'])
  expect(all.methodsAt('/jobs/all')).toEqual(['GET'])
  expect(all.methodsAt('/jobs/job_1')).toEqual(['DELETE'])
  expect(paths(['DELETE', '/jobs/:id'], ['POST', '/jobs/all/actions']).methodsAt('/jobs/all')).toEqual(['DELETE'])
})

test('a path knows the methods that the router would find at another one with a parameter in its place', () => {
  const all = paths(['GET', '/jobs/all'], ['DELETE', '/jobs/:id'], ['GET', '/nodes'])
  expect(all.shadowing('/jobs/all')).toEqual(['GET', 'DELETE'])
  expect(all.shadowing('/jobs/:id')).toEqual(['DELETE'])
  expect(all.all()).toContainEqual(['/nodes', ['GET']])
})

// A new root password and that of the rescue system go to the node in a command and are nowhere in what jobs store. An
// installation keeps its hash until its job ends: it takes minutes, and must survive a restart of the controller.
import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { type World, world } from '../support/world/panel.ts'

const HASH = '%$6$%'
const rowsWithHash = (p: World) =>
  p.db.$client
    .query<{ kind: string }, [string]>(
      `SELECT DISTINCT j.kind FROM jobs j LEFT JOIN job_steps s ON s.job_id = j.id
       WHERE j.input LIKE ?1 OR s.output LIKE ?1 ORDER BY 1`,
    )
    .all(HASH)
    .map(({ kind }) => kind)

test('jobs of a reset and of a rescue system store no hash of a password', async () => {
  using p = await world()
  await p.admin('PATCH', `/admin/images/${p.image}`, { isRescue: true })
  const { serverId } = await p.admin('POST', '/admin/servers', p.order)
  expect(rowsWithHash(p)).toEqual(['install'])
  await p.settle()
  const done = async (action: string, body: object = {}) => {
    const { jobId } = await p.admin('POST', `/servers/${serverId}/actions/${action}`, body)
    await p.settle()
    return p.job(jobId)
  }
  expect(await done('reset-password')).toMatchObject({ kind: 'password', state: 'succeeded' })
  expect(await done('rescue')).toMatchObject({ kind: 'rescue', state: 'succeeded' })
  expect(await done('rescue/exit')).toMatchObject({ kind: 'exit_rescue', state: 'succeeded' })
  await done('power', { action: 'off' })
  expect(await done('reset-password')).toMatchObject({ kind: 'password', state: 'succeeded' })
  const { pending } = p.db.$client.query('SELECT pending_password_hash AS pending FROM servers').get() as {
    pending: string
  }
  // It waits for the next start, and the seed may have to be written anew until then.
  expect(pending).toStartWith('$6$')
  expect(rowsWithHash(p)).toEqual([])
})

test('the database file has no hash of a password behind the end of its job, not in free pages either', async () => {
  using p = await world()
  const bytes = () => {
    p.db.$client.run('PRAGMA wal_checkpoint(TRUNCATE)')
    return readFileSync(`${p.dir}/berth.db`)
  }
  // Longer than a page of the database, so that the job is spread over several.
  const userData = `#cloud-config\n# ${'long '.repeat(2000)}\n`
  await p.admin('POST', '/admin/servers', { ...p.order, userData })
  expect(bytes().includes('$6$')).toBe(true)
  await p.settle()
  expect(bytes().includes('$6$')).toBe(false)
})

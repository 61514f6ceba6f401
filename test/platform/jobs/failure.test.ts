// A failed job: plain cause, the data, the next button, and the words of the node for staff alone.

import { describe, expect, test } from 'bun:test'
import { filesFailures } from '../../../agent/protocol/backup.ts'
import { everyFailure } from '../../../agent/protocol/commands/declare.ts'
import { commands } from '../../../agent/protocol/wire.ts'
import { features } from '../../../src/app/features.ts'
import { kernelFailures, plainCause } from '../../../src/kernel/jobs/failures.ts'
import { assemble } from '../../../src/kernel/registry.ts'
import { type Who, type World, world } from '../../support/world/panel.ts'

const GiB = 1024 ** 3
const RAW = 'qemu-img: /var/lib/berth/pool/disk.raw on kvm-node-07: No space left'

const page = async (p: World, who: Who, path: string) =>
  (
    await p.controller.router.fetch(
      new Request(`http://localhost${path}`, { headers: { Cookie: `__Host-panel=${who.cookie}` } }),
    )
  ).text()
const of = async (p: World, who: Who, jobId: string) => (await p.call(who, 'GET', `/jobs/${jobId}`)).body

async function built() {
  const p = await world()
  const { serverId } = await p.admin('POST', '/admin/servers', p.order)
  await p.settle()
  return { p, id: serverId as string }
}
const reinstall = async (p: World, id: string, more: object = {}) => {
  const body = { imageId: p.image, access: { mode: 'password' }, ...more }
  const { body: started } = await p.call(p.customer, 'POST', `/servers/${id}/actions/reinstall`, body)
  await p.settle()
  return started.jobId as string
}
/** As if the node had answered this. */
const answered = (p: World, jobId: string) => {
  p.db.$client.run("UPDATE jobs SET error_code = 'tool_failed', error_message = ? WHERE id = ?", [RAW, jobId])
  p.db.$client.run("INSERT INTO job_log (job_id, n, at, level, text) VALUES (?, 900, 1, 'error', ?)", [jobId, RAW])
}

describe('the data', () => {
  test('is said to be kept where the undo led back to the old system', async () => {
    const { p, id } = await built()
    using _ = p
    p.node.agent.fault({ command: 'vm.define', mode: 'fail', times: 1 })
    const jobId = await reinstall(p, id)
    const job = await of(p, p.customer, jobId)
    expect(job).toMatchObject({ state: 'failed', dataLost: false, retry: 'reinstall' })
    expect(new Set(job.steps.map((s: { state: string }) => s.state))).toEqual(new Set(['undone', 'waiting']))
    const shown = await page(p, p.customer, `/jobs/${jobId}`)
    expect(shown).toContain('This job deleted no data.')
    expect(shown).toContain(`href="/servers/${id}/settings"`)
  })
  test('is said to be deleted where the old disk went first', async () => {
    const { p, id } = await built()
    using _ = p
    p.db.$client.run('UPDATE storage_pools SET total_bytes = ?', [39 * GiB])
    p.node.agent.fault({ command: 'vm.define', mode: 'fail', times: 1 })
    const jobId = await reinstall(p, id, { discardFirst: true })
    expect(await of(p, p.customer, jobId)).toMatchObject({ state: 'failed', dataLost: true })
    expect(await page(p, p.customer, `/jobs/${jobId}`)).toContain('The old system does not come back.')
  })
  test('is kept where the job failed before it gave the old system up', async () => {
    const { p, id } = await built()
    using _ = p
    p.db.$client.run('UPDATE storage_pools SET total_bytes = ?', [39 * GiB])
    p.node.agent.fault({ command: 'vm.stop', mode: 'fail', times: 1 })
    const jobId = await reinstall(p, id, { discardFirst: true })
    expect(await of(p, p.customer, jobId)).toMatchObject({ state: 'failed', dataLost: false })
  })
})

test('the next button is the same action again, for readers who may take it', async () => {
  const { p, id } = await built()
  using _ = p
  p.node.agent.fault({ command: 'vm.stop', mode: 'fail', times: 1 })
  const { body: started } = await p.call(p.customer, 'POST', `/servers/${id}/actions/power`, { action: 'restart' })
  await p.settle()
  expect(await of(p, p.customer, started.jobId)).toMatchObject({ state: 'failed', retry: 'restart', dataLost: false })
  expect(await page(p, p.customer, `/jobs/${started.jobId}`)).toContain('Retry')
  expect(await page(p, p.customer, `/servers/${id}`)).toContain('Why it failed')
  await p.admin('POST', `/servers/${id}/actions/suspend`, { reason: 'unpaid' })
  await p.settle()
  const suspended = await page(p, p.customer, `/jobs/${started.jobId}`)
  expect(suspended).not.toContain('Retry')
  expect(suspended).toContain('Open server')
})

test('only staff read the words of the node: in the job, its log, the lists and the page', async () => {
  const { p, id } = await built()
  using _ = p
  p.node.agent.fault({ command: 'vm.define', mode: 'fail', times: 1 })
  const jobId = await reinstall(p, id)
  answered(p, jobId)
  const paths = [`/jobs/${jobId}`, `/jobs/${jobId}/log`, '/jobs', '/overview']
  for (const path of paths) {
    const { status, body } = await p.call(p.customer, 'GET', path)
    expect([path, status, JSON.stringify(body).includes('kvm-node-07')]).toEqual([path, 200, false])
  }
  for (const path of [`/jobs/${jobId}`, '/jobs', '/', `/servers/${id}`]) {
    const shown = await page(p, p.customer, path)
    expect([path, shown.includes('kvm-node-07'), shown.includes('Technical details')]).toEqual([path, false, false])
  }
  const shown = await page(p, p.customer, `/jobs/${jobId}`)
  expect(shown).toContain('A command failed on the node.')
  expect(shown).toContain('This step failed.')
  const forStaff = await page(p, p.owner, `/admin/jobs/${jobId}`)
  for (const text of ['A command failed on the node.', 'Technical details', 'kvm-node-07'])
    expect(forStaff).toContain(text)
})

test('a failed installation gives the server a plain cause', async () => {
  using p = await world()
  p.node.agent.fault({ command: 'volume.create', mode: 'fail', times: 1 })
  const { serverId } = await p.admin('POST', '/admin/servers', p.order)
  await p.settle()
  const { body } = await p.call(p.customer, 'GET', `/servers/${serverId}`)
  expect(body).toMatchObject({ status: 'failed', failure: 'The node reported an error.' })
})

describe('the cause in words', () => {
  const { failures: words } = assemble(features)
  const declared = [...everyFailure, ...Object.values(commands).flatMap(({ failures }): readonly string[] => failures)]
  const thrownIn = async (paths: string, form: RegExp) => {
    const codes = new Set<string>()
    for (const path of new Bun.Glob(paths).scanSync('.'))
      for (const [, code] of (await Bun.file(path).text()).matchAll(form)) codes.add(code!)
    expect(codes.size).toBeGreaterThan(5)
    return [...codes]
  }

  test('is there for every failure that a command declares, and tells nothing of the node', () => {
    expect(declared.filter((code) => !Object.hasOwn(words, code))).toEqual([])
    expect(declared.filter((code) => plainCause(words, { code, message: RAW }).includes('/var'))).toEqual([])
  })
  test('is there for every code that a driver or command of the agent throws', async () => {
    // The files of a backup are read for somebody who waits, by no job; the operation has words for each.
    const ofFiles: readonly string[] = filesFailures.filter((code) => code !== 'tool_missing')
    const codes = await thrownIn('agent/{commands,drivers}/**/*.ts', /new Failure\(\s*'(\w+)'/g)
    expect(codes.filter((code) => !ofFiles.includes(code) && !Object.hasOwn(words, code))).toEqual([])
  })
  test('is there for every code that a step of a job throws', async () => {
    const codes = await thrownIn(
      'src/{catalog,compute,fleet,network,billing}/**/*.ts',
      /new CommandFailed\(\s*'(\w+)'/g,
    )
    expect(codes.filter((code) => !Object.hasOwn(words, code))).toEqual([])
  })
  test('says of an unknown code where it failed, and leaves the words of the controller as they are', () => {
    expect(plainCause(words, { code: 'no_such_code', message: RAW })).toBe('The node reported an error.')
    expect(plainCause(words, { code: 'cancelled', message: 'Ada cancelled it.' })).toBe('Ada cancelled it.')
  })
  test('stands beside its feature: the kernel has the words of the runner and of every command alone', () => {
    const ofNodes = new Set(Object.values(commands).flatMap(({ failures }): readonly string[] => failures))
    expect(Object.keys(kernelFailures).filter((code) => ofNodes.has(code))).toEqual([])
  })
})

// Files of a backup through the panel: who gets them, what comes back, and what is said when they cannot be had.
import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import type { BackupFiles, OpenFile } from '../../../agent/drivers/backup/files.ts'
import { FakeLayers } from '../../../agent/drivers/storage/fake-layers.ts'
import { Failure } from '../../../agent/failure.ts'
import { Question } from '../../../src/compute/backups/files/open-question.ts'
import { consoles } from '../../support/console/consoles.ts'
import { eventually } from '../../support/waiting/eventually.ts'
import { type Who, type World, world } from '../../support/world/panel.ts'

/** A backup of a server whose disk has this text. */
async function backedUp(text: string | undefined = 'what was saved') {
  const p = await world()
  const { id: targetId } = await p.admin('POST', '/admin/backup-targets/local', { name: 'd', address: '/srv/backups' })
  await p.admin('POST', `/admin/backup-targets/${targetId}/actions/make-default`)
  const { serverId } = await p.admin('POST', '/admin/servers', p.order)
  await p.settle()
  const db = new Database(`${p.node.agent.home}/fake.db`)
  const { disk } = db.query('select disk from vms where workload = ?').get(serverId) as { disk: string }
  if (text) new FakeLayers(db).write(disk, text)
  db.close()
  const { backupId } = (await p.call(p.customer, 'POST', `/servers/${serverId}/backups`, {})).body
  await p.settle()
  const at = `/backups/${backupId}/files`
  return Object.assign(p, {
    backupId: backupId as string,
    serverId: serverId as string,
    files: (who: Who = p.customer, query = '') => p.call(who, 'GET', at + query),
    fetch: (who: Who, query: string) =>
      p.controller.router.fetch(
        new Request(`http://localhost/api/v1${at}/content${query}`, {
          headers: who.token ? { Authorization: `Bearer ${who.token}` } : { Cookie: `__Host-panel=${who.cookie}` },
        }),
      ),
  })
}
const CONTENT = '?partition=1&path=%2Fcontent.txt'
const downloads = (p: World) => p.auditLines().filter(({ operation }) => operation === 'backups.download-file')

/** The node of `p` reads files by these functions. */
const reading = (p: World, how: Partial<BackupFiles>) => Object.assign(p.node.agent.host.backupFiles, how)

describe('the files of a backup', () => {
  test('are listed, and one comes back byte for byte; each download is in the audit log', async () => {
    using p = await backedUp()
    expect((await p.files()).body).toEqual({
      partitions: [{ number: 1, sizeBytes: 20 * 1024 ** 3, fileSystem: 'ext' }],
      partition: 1,
      path: '/',
      entries: [{ name: 'content.txt', shownName: 'content.txt', kind: 'file', sizeBytes: 14, modifiedAt: null }],
      skipped: 0,
      total: 1,
      isCut: false,
    })
    expect(downloads(p)).toEqual([])
    const answer = await p.fetch(p.customer, CONTENT)
    expect([answer.status, await answer.text()]).toEqual([200, 'what was saved'])
    const headers = Object.fromEntries(answer.headers)
    expect(headers).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-disposition': `attachment; filename="content.txt"; filename*=UTF-8''content.txt`,
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    })
    expect(downloads(p)).toMatchObject([
      { target: p.backupId, result: 'done', details: { partition: 1, path: '/content.txt', sizeBytes: 14 } },
    ])
    expect(p.controller.app.fileQuestions.count).toBe(0)
  })

  test('are not for another customer, a token that only reads, or a support session', async () => {
    using p = await backedUp()
    const other = p.account('customer', 'Dora')
    for (const answer of [
      await p.files(other),
      await p.call(other, 'GET', `/backups/${p.backupId}/files/content${CONTENT}`),
    ])
      expect([answer.status, answer.body.error.code]).toEqual([404, 'backup_not_found'])
    const token = p.token(p.customer.id, ['servers:read'])
    expect((await p.files(token)).body.error.code).toBe('missing_scope')
    expect((await p.files(p.token(p.customer.id, ['servers:reinstall']))).status).toBe(200)
    const staff = p.staff(['servers.see_all'], 'Reader')
    expect((await p.files(staff)).body.error.code).toBe('forbidden')
    expect(downloads(p)).toEqual([])
  })

  test('are withheld while the account is locked or the server suspended, but not from the provider', async () => {
    using p = await backedUp()
    const act = async (path: string, body?: object) => {
      await p.call(p.owner, 'POST', path, body)
      await p.settle()
    }
    const both = async () => [(await p.files()).body.error?.code, (await p.fetch(p.customer, CONTENT)).status]
    await act(`/servers/${p.serverId}/actions/suspend`, { reason: 'overdue' })
    expect([await both(), (await p.files(p.owner)).status]).toEqual([['server_suspended', 409], 200])
    await act(`/servers/${p.serverId}/actions/unsuspend`)
    await act(`/customers/${p.customer.id}/actions/lock`, { reason: 'overdue' })
    expect([await both(), (await p.files(p.owner)).status]).toEqual([['account_locked', 409], 200])
    expect(downloads(p)).toEqual([])
    await act(`/customers/${p.customer.id}/actions/unlock`)
    expect(await both()).toEqual([undefined, 200])
  })

  test('that are not there, or cannot be read, are refused in words', async () => {
    using p = await backedUp()
    const refusal = async (query: string) => {
      const { status, body } = await p.files(p.customer, query)
      return [status, body.error.code]
    }
    for (const path of ['/none', '/../etc/shadow', '/./content.txt', '/content.txt/..', `/${'a/'.repeat(300)}`])
      expect([path, ...(await refusal(`?path=${encodeURIComponent(path)}`))]).toEqual([
        path,
        404,
        'backup_file_not_found',
      ])
    expect(await refusal('?partition=9')).toEqual([404, 'backup_file_not_found'])
    expect(await refusal('?path=%2Fcontent.txt')).toEqual([409, 'backup_not_browsable'])
    expect(await refusal('?path=etc')).toEqual([400, 'invalid_request'])
    for (const query of ['', '?path=%2F'])
      expect((await (await p.fetch(p.customer, query)).json()) as object).toMatchObject({
        error: { code: 'backup_not_browsable' },
      })
    expect(await (await p.fetch(p.customer, '?path=%2Fcontent.txt')).text()).toBe('what was saved')
    reading(p, { list: () => Promise.reject(new Failure('backup_unreachable', 'secret words of the node')) })
    const { body } = await p.files()
    expect(body.error).toMatchObject({
      code: 'backup_files_unavailable',
      message: expect.stringContaining('The place for backups does not answer.'),
    })
    expect(JSON.stringify(body)).not.toContain('secret words')
    p.node.agent.disconnect()
    expect((await p.files()).body.error.code).toBe('backup_files_unavailable')
  })

  test('are read no further when the viewer goes away, and no more than three at once', async () => {
    using p = await backedUp()
    let [given, wasStopped] = [0, false]
    reading(p, {
      async read(_at, signal, work: (file: OpenFile) => Promise<void>) {
        const bytes = (async function* () {
          try {
            for (; !signal.aborted; given += 65_536) yield new Uint8Array(65_536)
          } finally {
            wasStopped = true
          }
        })()
        await work({ sizeBytes: 2 ** 40, bytes })
      },
    })
    const open = await Promise.all([1, 2, 3].map(() => p.fetch(p.customer, CONTENT)))
    const refused = await p.fetch(p.customer, CONTENT)
    expect([refused.status, ((await refused.json()) as any).error.code]).toEqual([422, 'limit_reached'])
    const [reader] = open.map(({ body }) => body!.getReader())
    await reader!.read()
    await Bun.sleep(30)
    // Beyond a window nothing is sent that nobody takes.
    expect(given).toBeLessThan(3 * (2 << 20))
    await reader!.cancel()
    await eventually(() => wasStopped)
    expect(p.controller.app.fileQuestions.count).toBe(2)
  })

  test('break off where the node sends less than it said, and where it sends more', async () => {
    using p = await backedUp()
    for (const sizeBytes of [5, 20]) {
      reading(p, {
        read: (_at, _signal, work) =>
          work({
            sizeBytes,
            bytes: (async function* () {
              yield new Uint8Array(10)
            })(),
          }),
      })
      const answer = await p.fetch(p.customer, CONTENT)
      await expect(answer.arrayBuffer()).rejects.toThrow()
    }
  })
})

test('over the network a file says its length, breaks off where it breaks off, and ends with its viewer', async () => {
  using p = await backedUp()
  const c = consoles(p)
  try {
    const url = `${c.url}/api/v1/backups/${p.backupId}/files/content${CONTENT}`
    const headers = { Cookie: `__Host-panel=${p.customer.cookie}` }
    const whole = await fetch(url, { headers })
    expect([whole.headers.get('Content-Length'), await whole.text()]).toEqual(['14', 'what was saved'])
    const head = await fetch(url, { headers, method: 'HEAD' })
    expect([head.status, head.headers.get('Content-Length'), await head.text()]).toEqual([200, '14', ''])

    let wasStopped = false
    const endless = (count: number) =>
      reading(p, {
        read: (_at, signal, work) =>
          work({
            sizeBytes: 2 ** 30,
            bytes: (async function* () {
              try {
                for (let i = 0; i < count && !signal.aborted; i++) yield new Uint8Array(65_536)
              } finally {
                wasStopped = true
              }
            })(),
          }),
      })
    endless(3)
    await expect(fetch(url, { headers }).then((answer) => answer.arrayBuffer())).rejects.toThrow()
    wasStopped = false
    // `HEAD` reads nothing and holds no place: these are more than an account may read at once.
    for (let n = 0; n < 5; n++) {
      endless(1e9)
      const { status, headers: said } = await fetch(url, { headers, method: 'HEAD' })
      expect([status, said.get('Content-Length'), p.controller.app.fileQuestions.count]).toEqual([200, `${2 ** 30}`, 0])
    }
    await eventually(() => wasStopped, 10)
    wasStopped = false
    endless(1e9)
    const leaving = new AbortController()
    const answer = await fetch(url, { headers, signal: leaving.signal })
    await answer.body!.getReader().read()
    leaving.abort()
    await eventually(() => wasStopped, 10)
    await eventually(() => p.controller.app.fileQuestions.count === 0, 10)
  } finally {
    await c.stop()
  }
}, 60_000)

test('a node that does not come, or does not answer, is not waited for long', async () => {
  const times = { joinMs: 20, answerMs: 20, stallMs: 20 }
  const request = { type: 'list', path: [], skip: 0 } as never
  let ended = 0
  const absent = new Question(request, () => ended++, times)
  await expect(absent.answer).rejects.toMatchObject({ code: 'unreachable' })
  const silent = new Question(request, () => ended++, times)
  silent.join()!.opened({ send() {}, close() {} } as never)
  await expect(silent.answer).rejects.toMatchObject({ code: 'slow' })
  expect([ended, absent.join()]).toEqual([2, undefined])
})

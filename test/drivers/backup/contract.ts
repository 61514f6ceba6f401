import { expect, test } from 'bun:test'
import type { Backups, ToSave } from '../../../agent/drivers/backup/backup.ts'
import type { Disk } from '../../../agent/drivers/storage/storage.ts'
import type { BackupTarget } from '../../../agent/protocol/backup.ts'

export type Places = {
  backups: Backups
  local: BackupTarget
  rest: BackupTarget
  nowhere: BackupTarget
  unmounted: BackupTarget
  /** Disks of `DISK_BYTES`, which begin with a text, or are empty. */
  disk(text?: string): Promise<Disk>
  /** The text with which a disk begins. */
  read(disk: Disk): Promise<string>
}

export const DISK_BYTES = 4 << 20
const backupOf = (n: number) => `bkp_${String(n).padStart(26, '0')}`
const toSave = (n: number, more: Partial<ToSave> = {}): ToSave => ({
  backup: backupOf(n),
  workload: `srv_${'1'.repeat(26)}`,
  sizeBytes: DISK_BYTES,
  consistent: true,
  ...more,
})
const { signal: never } = new AbortController()

/** The tests that every driver of backups passes. */
export function backupContract(make: () => Promise<Places>) {
  test('a folder works, again and again, and a node can erase what is there', async () => {
    const { backups, local } = await make()
    for (let i = 0; i < 2; i++)
      expect(await backups.test(local)).toMatchObject({ finding: 'works', detail: '', appendOnly: 'no' })
  })
  test('a repository does not open with another password', async () => {
    const { backups, local } = await make()
    await backups.test(local)
    expect(await backups.test({ ...local, password: 'another-password-1' })).toMatchObject({
      finding: 'wrong_password',
      appendOnly: 'unknown',
    })
  })
  test('an append-only server works and is known as one; with another secret it refuses', async () => {
    const { backups, rest } = await make()
    expect(await backups.test(rest)).toMatchObject({ finding: 'works', detail: '', appendOnly: 'yes' })
    expect(await backups.test({ ...rest, secret: 'x'.repeat(43) })).toMatchObject({ finding: 'login_refused' })
  })
  test('a host that does not answer is found unreachable', async () => {
    const { backups, nowhere } = await make()
    expect(await backups.test(nowhere)).toMatchObject({ finding: 'unreachable', appendOnly: 'unknown' })
  })
  test('a folder that nobody prepared is not written to', async () => {
    const { backups, unmounted } = await make()
    expect(await backups.test(unmounted)).toMatchObject({ finding: 'not_prepared' })
  })
  test('an address that is none of its kind is never tried', async () => {
    const { backups, local } = await make()
    for (const address of ['', 'relative', '/etc/../root', '/a b', '/-x', 'sftp://host/x', '/a\nb'])
      expect(await backups.test({ ...local, address })).toMatchObject({ finding: 'failed' })
  })

  test('a disk comes back as it was, and saving it again adds next to nothing; what is forgotten is gone', async () => {
    const { backups, local, disk, read } = await make()
    expect(await backups.find(local, backupOf(1))).toBeUndefined()
    const given = await disk('first')
    const saved = await backups.save(local, toSave(1), { disk: given }, never)
    expect(saved).toMatchObject({ diskBytes: DISK_BYTES, consistent: true })
    const { addedBytes, ...whole } = saved
    expect(await backups.find(local, backupOf(1))).toEqual(whole)
    const again = await backups.save(local, toSave(2, { consistent: false }), { disk: given }, never)
    expect(again).toMatchObject({ diskBytes: DISK_BYTES, consistent: false })
    expect(again.addedBytes!).toBeLessThan(addedBytes! / 100)
    expect(await backups.diskBytes(local, saved.snapshot)).toBe(DISK_BYTES)
    const dataBytes = await backups.dataBytes(local, saved.snapshot)
    expect(dataBytes > 0 && dataBytes <= DISK_BYTES).toBe(true)
    const made = await disk()
    await backups.load(local, saved.snapshot, made)
    expect(await read(made)).toBe('first')
    expect(await backups.check(local, 1, 1)).toEqual({ finding: 'works', detail: '' })

    for (let i = 0; i < 2; i++)
      expect(await backups.forget(local, [saved.snapshot], [])).toEqual({ gone: [saved.snapshot], kept: [] })
    await expect(backups.load(local, saved.snapshot, await disk())).rejects.toMatchObject({
      code: 'backup_no_snapshot',
    })
    expect(await backups.forget(local, [], [backupOf(2), backupOf(3)])).toEqual({ gone: [again.snapshot], kept: [] })
    expect(await backups.prune(local)).toBeGreaterThanOrEqual(0)
  })
  test('an append-only server keeps what shall be forgotten', async () => {
    const { backups, rest, disk, read } = await make()
    const { snapshot } = await backups.save(rest, toSave(1), { disk: await disk('kept') }, never)
    expect(await backups.forget(rest, [snapshot], [])).toEqual({ gone: [], kept: [snapshot] })
    await expect(backups.prune(rest)).rejects.toMatchObject({ code: 'backup_append_only' })
    const made = await disk()
    await backups.load(rest, snapshot, made)
    expect(await read(made)).toBe('kept')
  })
  test('a target is asked for what was made in it, and does not work without that', async () => {
    const { backups, local, disk } = await make()
    const { snapshot } = await backups.save(local, toSave(1), { disk: await disk('first') }, never)
    const { repository, password } = local
    const finding = async (held: object) =>
      (await backups.test({ ...local, holds: [{ repository, password, snapshot, ...held }] })).finding
    expect(await finding({})).toBe('works')
    expect(await finding({ snapshot: '0'.repeat(64) })).toBe('backups_missing')
    expect(await finding({ repository: 'usr_elsewhere' })).toBe('backups_missing')
  })
  test('a backup that is stopped leaves nothing', async () => {
    const { backups, local, disk } = await make()
    const given = await disk('first')
    await expect(backups.save(local, toSave(1), { disk: given }, AbortSignal.abort())).rejects.toMatchObject({
      code: 'backup_interrupted',
    })
    expect(await backups.find(local, backupOf(1))).toBeUndefined()
  })
  test('a target that cannot be used says why', async () => {
    const { backups, nowhere, unmounted, disk } = await make()
    const given = await disk('first')
    for (const [target, finding] of [[nowhere, 'unreachable'] as const, [unmounted, 'not_prepared'] as const]) {
      const code = `backup_${finding}`
      await expect(backups.save(target, toSave(1), { disk: given }, never)).rejects.toMatchObject({ code })
      await expect(backups.find(target, backupOf(1))).rejects.toMatchObject({ code })
      await expect(backups.forget(target, [], [backupOf(1)])).rejects.toMatchObject({ code })
      expect(await backups.check(target, 1, 1)).toMatchObject({ finding })
    }
  })
}

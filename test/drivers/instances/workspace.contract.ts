import { expect, test } from 'bun:test'
import type { Workspaces } from '../../../agent/drivers/workspace/workspaces.ts'
import { instanceId } from '../../agent/instances/examples.ts'

const MiB = 2 ** 20

export type WorkspaceRig = {
  workspaces: Workspaces
  /** The size of the file system. */
  sizeBytes(workload: string): Promise<number>
  /** More than fits. */
  tooMuchBytes: number
}

/** The tests that real and fake workspaces pass. */
export function workspaceContract(make: () => Promise<WorkspaceRig>) {
  test('a workspace is made, listed, and removed as often as one likes', async () => {
    const { workspaces, sizeBytes } = await make()
    expect(await workspaces.problems()).toEqual([])
    for (const _ of [1, 2]) await workspaces.create(instanceId(1), 1, 64 * MiB)
    await workspaces.create(instanceId(2), 2, 16 * MiB)
    expect(await workspaces.list()).toEqual([instanceId(1), instanceId(2)])
    expect(await sizeBytes(instanceId(1))).toBe(64 * MiB)
    expect(await workspaces.ready(instanceId(1))).toEndWith(`${instanceId(1)}.ext4`)
    for (const _ of [1, 2]) await workspaces.remove(instanceId(1))
    expect(await workspaces.list()).toEqual([instanceId(2)])
    await expect(workspaces.ready(instanceId(1))).rejects.toMatchObject({ code: 'no_workspace' })
  })
  test('a workspace grows and never shrinks', async () => {
    const { workspaces, sizeBytes } = await make()
    for (const mib of [16, 64, 32]) await workspaces.create(instanceId(1), 1, mib * MiB)
    expect(await sizeBytes(instanceId(1))).toBe(64 * MiB)
  })
  test('a workspace that does not fit is refused, and what is there stays as it is', async () => {
    const { workspaces, sizeBytes, tooMuchBytes } = await make()
    await workspaces.create(instanceId(1), 1, 16 * MiB)
    for (const n of [1, 2])
      await expect(workspaces.create(instanceId(n), n, tooMuchBytes)).rejects.toMatchObject({ code: 'pool_full' })
    expect(await workspaces.list()).toEqual([instanceId(1)])
    expect(await sizeBytes(instanceId(1))).toBe(16 * MiB)
  })
  test('two instances with the same user ids are not on one host', async () => {
    const { workspaces } = await make()
    await workspaces.create(instanceId(1), 7, 16 * MiB)
    await expect(workspaces.create(instanceId(2), 60_007, 16 * MiB)).rejects.toMatchObject({ code: 'slot_taken' })
  })
}

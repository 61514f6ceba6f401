// Extra volumes: disks of their own, which one vm has at a time. The node keeps which vm that is, so that every later
// definition of the vm has them.
import { Failure } from '../../failure.ts'
import type { Handlers, Host } from '../../host/host.ts'
import type { storageCommands } from '../../protocol/commands/storage.ts'
import { serialOf } from '../../protocol/wire.ts'
import { extraDisk } from '../hypervisor.ts'

export const extraVolumes = {
  async 'volume.make'({ volume, sizeBytes }, { storage }) {
    await (await storage.answering(volume.pool)).receive(volume, sizeBytes, async () => {})
    return {}
  },

  async 'volume.attach'({ workload, volume }, host) {
    const { hypervisor, state, storage } = host
    const extra = await extraDisk(host, volume)
    if ((await (await storage.answering(volume.pool)).sizeBytes(volume)) === undefined)
      throw new Failure('no_volume', `there is no disk ${extra.disk.path}`)
    await mustBeFree(host, volume.workload, workload)
    // Before it is attached: what a crash leaves is known, and the repeated command or its undo goes on from it.
    state.keepAttached(workload, volume)
    await hypervisor.attachVolume(workload, extra, state.port(workload)?.speed.disk)
    return {}
  },

  async 'volume.detach'({ workload, volume }, host) {
    const { hypervisor, state } = host
    const holder = state.holderOf(volume.workload)
    if (holder !== undefined && holder !== workload) return {}
    await hypervisor.detachVolume(workload, serialOf(volume.workload))
    state.dropAttached(volume.workload)
    return {}
  },
} satisfies Partial<Handlers<typeof storageCommands>>

/**
 * Throws `volume_in_use` while another vm than `mayHave` has the volume. A vm that was removed has none: it is then
 * noted no more.
 */
export async function mustBeFree({ hypervisor, state }: Host, volumeId: string, mayHave?: string) {
  const holder = state.holderOf(volumeId)
  if (holder === undefined || holder === mayHave) return
  if ((await hypervisor.power(holder)) !== 'absent')
    throw new Failure('volume_in_use', `${holder} has the volume ${volumeId}`)
  state.dropAttached(volumeId)
}

// The devices that a server keeps: those that its system booted with at the source, as far as a node has them.
import { type DiskBus, diskBuses, type NicModel, nicModels } from '../../../../agent/protocol/wire.ts'

/** libvirt gives a card without a model this one. */
const NO_MODEL: NicModel = 'rtl8139'

/** As a definition at a source says; what a node does not have is virtio here. */
export const devicesFrom = (there: { diskBus: string | null; nicModel: string | null }) => ({
  diskBus: diskBuses.find((bus): bus is DiskBus => bus === there.diskBus) ?? 'virtio',
  nicModel: nicModels.find((model) => model === (there.nicModel ?? NO_MODEL)) ?? 'virtio',
})

import { Type as t } from 'typebox'
import { counter, workloadId } from '../bounds.ts'
import { checksum, imageId, layerNumber, Volume } from '../values/disks.ts'
import { Vm } from '../values/vms.ts'
import { act, look } from './declare.ts'
import { definesVm } from './hypervisor.ts'

const nothing = t.Object({})
const sizeBytes = t.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })

/** Failures of a disk that is looked for in its pool. `image_refused`: its file is damaged. */
export const findsDisk = ['no_pool', 'pool_silent', 'image_refused'] as const
/** Failures of a pool in which a disk is made. */
export const makesDisk = [...findsDisk, 'pool_full', 'pool_unsafe', 'volume_differs'] as const

export const storageCommands = {
  /** The disk's size as the guest sees it; null: there is no such volume. */
  'volume.look': look({
    input: Volume,
    output: t.Object({ sizeBytes: t.Union([counter, t.Null()]) }),
    failures: findsDisk,
  }),
  /**
   * Makes a disk from an image that `image.ensure` brought, grown to `sizeBytes`. A disk that exists is never
   * overwritten. `pool_full`: the image does not fit. Answers the checksum of the image's file; agents of earlier
   * releases leave it out.
   */
  'volume.create': act({
    input: t.Object({ volume: Volume, image: imageId, sizeBytes }),
    output: t.Object({ checksum: t.Optional(checksum) }),
    failures: [...makesDisk, 'no_image', 'disk_too_small'],
  }),
  /**
   * Enlarges the disk, also under a running vm, which sees it at once. A disk that is that large or larger stays as it
   * is: none ever shrinks. Of an extra volume the vm is the one that has it. `disk_is_thick`: it was adopted as a thick
   * volume of LVM, which does not grow and has no snapshots.
   */
  'volume.grow': act({
    input: t.Object({ volume: Volume, sizeBytes }),
    output: nothing,
    failures: [...findsDisk, 'no_volume', 'no_vm', 'hypervisor_silent', 'disk_is_thick'],
  }),
  /**
   * Makes an empty disk, which shows zeros everywhere. One that exists stays as it is; `volume_differs`: that is
   * smaller.
   */
  'volume.make': act({ input: t.Object({ volume: Volume, sizeBytes }), output: nothing, failures: makesDisk }),
  /**
   * Gives the vm an extra volume, in its definition and at once when it runs; it keeps it over every later definition
   * until `volume.detach`. A vm that is not defined has it from its definition on. The guest knows it by `serialOf`.
   * `volume_in_use`: another vm has it.
   */
  'volume.attach': act({
    input: t.Object({ workload: workloadId, volume: Volume }),
    output: nothing,
    failures: [...findsDisk, 'no_volume', 'volume_in_use', 'no_vm', 'hypervisor_silent'],
  }),
  /**
   * Takes it from the vm again; without it, or without the vm, nothing happens. `volume_held`: the running guest does
   * not release it, and keeps it.
   */
  'volume.detach': act({
    input: t.Object({ workload: workloadId, volume: Volume }),
    output: nothing,
    failures: ['volume_held', 'hypervisor_silent'],
  }),
  /**
   * Deletes the disk of this generation with all its layers; without one it does nothing. `volume_in_use`: a vm has
   * the extra volume.
   */
  'volume.remove': act({
    input: Volume,
    output: nothing,
    failures: [...findsDisk, 'volume_in_use', 'hypervisor_silent'],
  }),
  /**
   * Takes a snapshot of the layer `from`, on which `vm.volume` becomes a new one, and defines the vm with it. The vm
   * may run: where its guest agent answers, file systems are frozen meanwhile. `consistent`: they were, or the
   * guest had shut down. `usedBytes`: what the snapshot takes on the host.
   */
  'volume.snapshot': act({
    input: t.Object({ vm: Vm, from: layerNumber }),
    output: t.Object({ consistent: t.Boolean(), usedBytes: counter }),
    failures: [...definesVm, 'image_refused', 'no_volume', 'pool_full', 'no_vm', 'disk_is_thick'],
  }),
  /**
   * Makes the layer of `volume` on the layer `from`, whose state it has, with `sizeBytes` as its size. No vm uses it
   * yet.
   */
  'volume.fork': act({
    input: t.Object({ volume: Volume, from: layerNumber, sizeBytes }),
    output: nothing,
    failures: [...findsDisk, 'no_volume', 'pool_full', 'disk_is_thick'],
  }),
  /**
   * Writes the layer `from` into the layer `into` below it and deletes it, also under a running vm, and defines the vm
   * as `vm`. Layers on `from` stand on `into` afterwards, and the state that `into` had before is gone. Without `from`
   * only the definition is set. `usedBytes`: of `into`.
   */
  'volume.merge': act({
    input: t.Object({ vm: Vm, from: t.Integer({ minimum: 1, maximum: 999_999 }), into: layerNumber }),
    output: t.Object({ usedBytes: counter }),
    failures: [...definesVm, 'image_refused', 'no_volume', 'layer_in_use', 'no_vm'],
  }),
  /** Deletes one layer, which must not be in use. Without it nothing happens. */
  'volume.remove-layer': act({
    input: t.Object({ volume: Volume, layer: layerNumber }),
    output: nothing,
    failures: [...findsDisk, 'layer_in_use', 'hypervisor_silent'],
  }),
}

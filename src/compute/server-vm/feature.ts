import { feature } from '../../kernel/feature.ts'
import { removingDisk } from './remove-disk.ts'

/** Builds the vm of a server for commands to its node: definition, network cards, first-boot data, disks. */
export const serverVmFeature = feature({ name: 'server-vm', jobs: [removingDisk] })

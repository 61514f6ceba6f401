// The machine that an image needs, and what may be chosen for one.
import { Type as t } from 'typebox'
import {
  diskBuses,
  firmwares,
  type Hardware,
  machines,
  nicModels,
  type OsFamily,
  osFamilies,
} from '../../../agent/protocol/wire.ts'
import { invalid } from '../../kernel/api/errors.ts'
import { choice, usually, valuesOf, yesOrNo } from '../../kernel/fields/field-list.ts'

const osWords = { linux: 'Linux, or another with cloud-init', windows: 'Windows with cloudbase-init' }
export const firmwareWords = { bios: 'BIOS', uefi: 'UEFI', uefi_secure: 'UEFI with Secure Boot' }
const machineWords = { q35: 'q35, for every current system', pc: 'pc, for old systems with BIOS' }
const networkConfigWords = {
  v1: 'Version 1, for most systems',
  v2: 'Version 2, for Debian 12 and systems with netplan',
}

/** The versions of cloud-init's network-config that a system can be given. */
export const networkConfigVersions = ['v1', 'v2'] as const
export type NetworkConfigVersion = (typeof networkConfigVersions)[number]

/** Bodies describe the field as responses do. */
const describedInBoth = (description: string) => ({ description, bodyDescription: description })

/** The machine of a system, the family of the system and the form in which it reads its network. */
export const hardware = {
  os: usually('linux', choice(t.Enum(osFamilies), osWords), {
    label: 'Operating system',
    hint: 'Decides clock, devices and the form in which the system gets its name, addresses and password.',
    ...describedInBoth(
      'windows: prepared with cloudbase-init. It gets its data as a config drive, and the user Administrator.',
    ),
  }),
  firmware: usually('bios', choice(t.Enum(firmwares), firmwareWords), {
    label: 'Firmware',
    hint: 'A node needs the package ovmf for UEFI. Servers keep the firmware with which they were installed.',
    ...describedInBoth('uefi_secure: UEFI with Secure Boot and the keys of Microsoft.'),
  }),
  machine: usually('q35', choice(t.Enum(machines), machineWords), {
    label: 'Machine',
    ...describedInBoth('q35 is the newer one.'),
  }),
  networkConfig: usually('v1', choice(t.Enum(networkConfigVersions), networkConfigWords), {
    label: 'Network data',
    hint: 'The version of cloud-init network-config. Matters where a gateway is outside the network.',
    ...describedInBoth(
      'The version of cloud-init network-config that its system gets. v1 is for most systems. v2 is for netplan with ' +
        'cloud-init before 23.1, such as Debian 12, which loses gateways outside the network of an address in v1. ' +
        'Windows ignores it.',
    ),
  }),
  tpm: usually(false, yesOrNo, {
    label: 'TPM 2.0',
    hint: 'Windows 11 needs it. A node needs swtpm.',
    ...describedInBoth('It has a TPM 2.0.'),
  }),
}
/** The devices with which a system was installed elsewhere. What an image installs has virtio. */
export const devices = {
  diskBus: usually('virtio', choice(t.Enum(diskBuses), { virtio: 'virtio', scsi: 'SCSI', sata: 'SATA', ide: 'IDE' }), {
    label: 'Disk',
    ...describedInBoth('The bus of its disk. A server that was imported keeps the one that its system knows.'),
  }),
  nicModel: usually('virtio', choice(t.Enum(nicModels), { virtio: 'virtio', e1000: 'e1000', rtl8139: 'rtl8139' }), {
    label: 'Network card',
    ...describedInBoth('The model of its public network card. A server that was imported keeps its own.'),
  }),
}
type Devices = Required<Pick<Hardware, keyof typeof devices>>
export type SystemHardware = Required<Hardware> & { networkConfig: NetworkConfigVersion }
/** The machine in a row: of a server or its backup with its own devices, of an image with virtio. */
export const hardwareOf = (row: Omit<SystemHardware, keyof Devices> & Partial<Devices>): SystemHardware => ({
  ...valuesOf(hardware, row),
  diskBus: row.diskBus ?? devices.diskBus.usual,
  nicModel: row.nicModel ?? devices.nicModel.usual,
})

/** The user whose password an order sets. */
export const administratorOf = (os: OsFamily) => (os === 'windows' ? 'Administrator' : 'root')

/** Throws `validation_failed` for a machine that does not exist: UEFI needs q35. */
export function mustExist({ machine, firmware }: Pick<Hardware, 'machine' | 'firmware'>) {
  if (machine === 'pc' && firmware !== 'bios')
    throw invalid({ field: 'machine', message: 'pc has no UEFI. Choose q35, or BIOS.' })
}

/** Throws `validation_failed`: rescue systems get a root password, which Windows has not. */
export function mustRescue({ isRescue, os }: { isRescue: boolean; os: OsFamily }) {
  if (isRescue && os === 'windows')
    throw invalid({ field: 'isRescue', message: 'is for Linux only. Choose another image for rescue first.' })
}

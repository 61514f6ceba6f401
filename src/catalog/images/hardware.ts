// The machine that an image needs, and what may be chosen for one.
import { Type as t } from 'typebox'
import { firmwares, type Hardware, machines, type OsFamily, osFamilies } from '../../../agent/protocol/wire.ts'
import { invalid } from '../../kernel/api/errors.ts'
import { described } from '../../kernel/api/operation.ts'

/** The versions of cloud-init's network-config that a system can be given. */
export const networkConfigVersions = ['v1', 'v2'] as const
export type NetworkConfigVersion = (typeof networkConfigVersions)[number]

/** The machine of a system, with the family of the system and the form in which it reads its network. */
export type SystemHardware = Required<Hardware> & { networkConfig: NetworkConfigVersion }
export const hardwareOf = ({ machine, firmware, tpm, os, networkConfig }: SystemHardware): SystemHardware => ({
  machine,
  firmware,
  tpm,
  os,
  networkConfig,
})

/** The user whose password an order sets. */
export const administratorOf = (os: OsFamily) => (os === 'windows' ? 'Administrator' : 'root')

/** The fields of an image in responses. */
export const hardwareFields = {
  machine: described(t.Enum(machines), 'q35 is the newer one.'),
  firmware: described(t.Enum(firmwares), 'uefi_secure: UEFI with Secure Boot and the keys of Microsoft.'),
  tpm: described(t.Boolean(), 'It has a TPM 2.0.'),
  os: described(
    t.Enum(osFamilies),
    'windows: prepared with cloudbase-init. It gets its data as a config drive, and the user Administrator.',
  ),
  networkConfig: described(
    t.Enum(networkConfigVersions),
    'The version of cloud-init network-config that its system gets. v1 is for most systems. v2 is for netplan with ' +
      'cloud-init before 23.1, such as Debian 12, which loses gateways outside the network of an address in v1. ' +
      'Windows ignores it.',
  ),
}
/** The same in bodies. */
export const hardwareBody = {
  machine: t.Optional(hardwareFields.machine),
  firmware: t.Optional(hardwareFields.firmware),
  tpm: t.Optional(hardwareFields.tpm),
  os: t.Optional(hardwareFields.os),
  networkConfig: t.Optional(hardwareFields.networkConfig),
}

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

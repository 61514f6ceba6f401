// The machine that an image needs, and what may be chosen for one.
import { Type as t } from 'typebox'
import { firmwares, type Hardware, machines, type OsFamily, osFamilies } from '../../../agent/protocol/wire.ts'
import { invalid } from '../../kernel/api/errors.ts'
import { described } from '../../kernel/api/operation.ts'

/** The machine of a system, with the family of the system. */
export type SystemHardware = Required<Hardware>
export const hardwareOf = ({ machine, firmware, tpm, os }: SystemHardware): SystemHardware => ({
  machine,
  firmware,
  tpm,
  os,
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
}
/** The same in bodies. */
export const hardwareBody = {
  machine: t.Optional(hardwareFields.machine),
  firmware: t.Optional(hardwareFields.firmware),
  tpm: t.Optional(hardwareFields.tpm),
  os: t.Optional(hardwareFields.os),
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

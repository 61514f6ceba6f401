// The firmware of vms: Debian's packages ovmf (UEFI, with and without Secure Boot) and swtpm (an emulated TPM).
import { existsSync } from 'node:fs'
import { Failure } from '../../failure.ts'
import { find } from '../../host/exec.ts'
import { type Facts, firmwares, type Hardware, type Volume } from '../../protocol/wire.ts'

type Uefi = Exclude<Hardware['firmware'], 'bios'>
/**
 * The code and the first variables of each. Named, because libvirt's own choice on Debian 12 is always Secure Boot. The
 * 4M files, because newer edk2 has no others.
 */
const files: Record<Uefi, { code: string; variables: string }> = {
  uefi: { code: '/usr/share/OVMF/OVMF_CODE_4M.fd', variables: '/usr/share/OVMF/OVMF_VARS_4M.fd' },
  uefi_secure: { code: '/usr/share/OVMF/OVMF_CODE_4M.ms.fd', variables: '/usr/share/OVMF/OVMF_VARS_4M.ms.fd' },
}

/** libvirt's own directory, which its AppArmor profile opens for QEMU. */
const NVRAM = '/var/lib/libvirt/qemu/nvram'
/** libvirt's state of emulated TPMs, by domain. */
const TPMS = '/var/lib/libvirt/swtpm'

/** The variables that a system has stored in its firmware. Per disk, so that two systems of one vm never share it. */
export const variablesPath = ({ workload, generation }: Pick<Volume, 'workload' | 'generation'>) =>
  `${NVRAM}/${workload}-${generation}_VARS.fd`
export const tpmPath = (uuid: string) => `${TPMS}/${uuid}`

const hasFirmware = (firmware: Hardware['firmware']) =>
  firmware === 'bios' || Object.values(files[firmware]).every((path) => existsSync(path))
const hasTpm = () => find('swtpm') !== undefined && find('swtpm_setup') !== undefined

/** The hardware that vms can have on this host. */
export const hardwareOfHost = (): NonNullable<Facts['hardware']> => ({
  firmware: firmwares.filter(hasFirmware),
  tpm: hasTpm(),
})

/** Throws `no_firmware` when this host cannot run the hardware. */
export function mustHaveFirmware({ firmware, tpm }: Hardware) {
  if (!hasFirmware(firmware))
    throw new Failure('no_firmware', 'the firmware for UEFI is not installed on this host: install the package ovmf')
  if (tpm && !hasTpm())
    throw new Failure('no_firmware', 'the emulated TPM is not installed on this host: install swtpm and swtpm-tools')
}

/** The elements in `<os>` of a definition that boots from this volume; none for BIOS. */
export function firmwareXml(firmware: Hardware['firmware'], volume: Volume) {
  if (firmware === 'bios') return {}
  const { code, variables } = files[firmware]
  const secure = firmware === 'uefi_secure' ? { '@secure': 'yes' } : {}
  return {
    loader: { '@readonly': 'yes', ...secure, '@type': 'pflash', '#text': code },
    nvram: { '@template': variables, '#text': variablesPath(volume) },
  }
}

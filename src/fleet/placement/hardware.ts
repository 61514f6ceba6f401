// Which nodes can run the machine that an image needs. Every node has BIOS; UEFI and TPM are packages that it reports.
import type { Facts, Hardware } from '../../../agent/protocol/wire.ts'
import { ApiError } from '../../kernel/api/errors.ts'
import type { Db } from '../../kernel/db/open.ts'
import { nodeHardware } from '../node-records/queries.ts'

/** Every node runs it, so none is asked. */
export const isUsual = ({ firmware, tpm }: Pick<Hardware, 'firmware' | 'tpm'>) => firmware === 'bios' && !tpm

function runs(offered: Facts['hardware'] | null, { firmware, tpm }: Hardware): boolean {
  const { firmware: firmwares, tpm: hasTpm } = offered ?? { firmware: [], tpm: false }
  return (firmware === 'bios' || firmwares.includes(firmware)) && (!tpm || hasTpm)
}

/** Can this node run the machine, by its last report? */
export const runsOn = (tx: Db, nodeId: string, hardware: Hardware): boolean =>
  isUsual(hardware) || runs(nodeHardware(tx, nodeId), hardware)

const firmwareWords = { bios: undefined, uefi: 'UEFI', uefi_secure: 'UEFI with Secure Boot' } as const
/** The parts that a node must have for it, as `UEFI and a TPM`; empty where every node has it. */
export const needsOf = ({ firmware, tpm }: Pick<Hardware, 'firmware' | 'tpm'>): string =>
  [firmwareWords[firmware], tpm && 'a TPM'].filter(Boolean).join(' and ')

/** Throws `image_not_supported`. `where` is the subject of the sentence, as `The node of web01 cannot`. */
export function refuseImage(where: string, hardware: Hardware): never {
  throw new ApiError(
    'image_not_supported',
    `${where} run this image: it needs ${needsOf(hardware)}. Choose another image, or ask your provider.`,
  )
}

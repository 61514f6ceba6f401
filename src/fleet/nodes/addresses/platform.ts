// The addresses of the platform itself. A stranger's URL leads to none of them: what listens there trusts its network.
import { networkInterfaces } from 'node:os'
import { addressesOf, hostOf, type LookUp, NameServerSilent } from '../../../../agent/protocol/net/pinned-request.ts'
import { ApiError, invalid } from '../../../kernel/api/errors.ts'
import type { Db } from '../../../kernel/db/open.ts'
import { disabledReason, type Policy, publicOnly } from '../../../kernel/net/egress.ts'
import type { AppConfig } from '../../../kernel/register.ts'
import { managementAddresses } from '../../node-records/queries.ts'

/** Addresses of this host: what listens there may be meant for this host alone. */
const ownAddresses = (): string[] =>
  Object.values(networkInterfaces()).flatMap((addresses) => (addresses ?? []).map(({ address }) => address))

/** Of the controller's host, of the panel where its URL has an address, and of the nodes' management. */
export const platformAddresses = (tx: Db, { publicUrl }: Pick<AppConfig, 'publicUrl'>): string[] => [
  ...ownAddresses(),
  hostOf(new URL(publicUrl)),
  ...managementAddresses(tx),
]

/** The node that downloads refuses the addresses of the others by itself: a name may lead elsewhere then than now. */
export const withRefused = <Source extends object>(db: Db, source: Source): Source & { refused: string[] } => ({
  ...source,
  refused: managementAddresses(db),
})

type Sources = {
  /** For the panel's name. */
  lookUp: LookUp
  /** CIDRs that are a source beside the Internet. */
  allowed?: readonly string[]
  /** For the look-up. */
  limitMs?: number
}

/**
 * For files at an address that somebody entered: from the Internet or from `allowed`, and not from the platform. Behind
 * address translation the panel's public address is no address of its host, so its name is resolved too. Throws
 * `validation_failed` for a URL that may not be called, and `source_unreachable` where the name server does not answer.
 */
export async function downloadPolicy(
  tx: Db,
  config: Pick<AppConfig, 'publicUrl'>,
  url: URL,
  sources: Sources,
): Promise<Policy> {
  const { lookUp, allowed = [], limitMs } = sources
  const refused = platformAddresses(tx, config)
  // The URL may say already that it is no source: that costs no look-up.
  mustBeSource(url, { ...publicOnly, allowed, refused })
  // Without the panel's addresses nobody can say that a name does not lead to them.
  const panel = await addressesOf(hostOf(new URL(config.publicUrl)), lookUp, limitMs).catch((error) => {
    if (!(error instanceof NameServerSilent)) throw error
    throw new ApiError('source_unreachable', 'The name server of the control panel does not answer. Try again later.')
  })
  const policy = { ...publicOnly, allowed, refused: [...refused, ...panel] }
  mustBeSource(url, policy)
  return policy
}

function mustBeSource(url: URL, policy: Policy) {
  const why = disabledReason(url, policy)
  if (why) throw invalid({ field: 'url', message: why })
}

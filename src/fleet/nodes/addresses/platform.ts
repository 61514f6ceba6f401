// The addresses of the platform itself. A stranger's URL leads to none of them: what listens there trusts its network.
import { lookup } from 'node:dns/promises'
import { networkInterfaces } from 'node:os'
import { hostOf } from '../../../../agent/protocol/net/pinned-request.ts'
import type { Db } from '../../../kernel/db/open.ts'
import { type Policy, publicOnly } from '../../../kernel/net/egress.ts'
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

type LookUp = (host: string) => Promise<readonly { address: string }[]>

/**
 * For files at an address that somebody entered: from the Internet or from `allowed`, and not from the platform. Behind
 * address translation the panel's public address is no address of its host, so its name is resolved too.
 */
export async function downloadPolicy(
  tx: Db,
  config: Pick<AppConfig, 'publicUrl'>,
  allowed: readonly string[] = [],
  lookUp: LookUp = (host) => lookup(host, { all: true }),
): Promise<Policy> {
  const panel = await lookUp(hostOf(new URL(config.publicUrl))).catch(() => [])
  return { ...publicOnly, allowed, refused: [...platformAddresses(tx, config), ...panel.map(({ address }) => address)] }
}

import { mayCall } from '../../kernel/api/operation.ts'
import { type Attention, MOST_SHOWN, type Source } from '../../kernel/attention.ts'
import { isoOrNull } from '../../kernel/db/clock.ts'
import { importsThatAsk } from '../import-records/queries.ts'
import { titleOf } from '../import-records/states.ts'
import { trustCertificate } from './imports.ts'

/** Imports that stopped because the certificate of their panel changed. */
export const askingImports: Source = ({ tx, actor }) => {
  if (!mayCall(trustCertificate, actor)) return []
  return importsThatAsk(tx)
    .filter(({ trustedSha256 }) => trustedSha256 !== null)
    .slice(0, MOST_SHOWN)
    .map(
      (row): Attention => ({
        level: 'bad',
        what: `The certificate of ${row.address} has changed.`,
        effect: `The import ${titleOf(row)} stopped reading until somebody compares the new fingerprint.`,
        since: isoOrNull(row.trouble?.at ?? null),
        action: 'Compare',
        href: `/admin/imports/${row.id}`,
      }),
    )
}

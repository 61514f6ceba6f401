// The credentials of a panel: given once, stored encrypted, answered by nothing, and deleted with the end of an import.
import { Type as t } from 'typebox'
import { invalid } from '../../kernel/api/errors.ts'
import { type AppContext, described, secret } from '../../kernel/api/operation.ts'
import { encryptedCredentials } from '../import-records/queries.ts'
import { isSourceFailure } from '../sources/failure.ts'
import type { Source, SourceCredentials, SourceTrust } from '../sources/source.ts'

export const credentialsField = described(
  secret(
    t.Record(t.String({ pattern: '^[a-zA-Z][a-zA-Z0-9_]{0,39}$' }), t.String({ minLength: 1, maxLength: 8_192 }), {
      maxProperties: 8,
      additionalProperties: false,
    }),
  ),
  'What the panel asks for, by name: `panels` of this API lists the fields. Stored encrypted, and deleted when the ' +
    'import is finished or deleted.',
)

/** The address as it is stored. Throws `validation_failed` for one that cannot be used and for wrong credentials. */
export function checkedAddress(
  panel: Source,
  address: string,
  credentials: SourceCredentials,
  trust: SourceTrust,
  { config }: Pick<AppContext, 'config'>,
): string {
  const known = new Set(panel.credentials.map(({ name }) => name))
  const strange = Object.keys(credentials).find((name) => !known.has(name))
  if (strange !== undefined) throw invalid({ field: `credentials/${strange}`, message: `is none of ${panel.label}.` })
  try {
    return panel.connect(address, credentials, trust, { localNetworks: config.localServices }).address
  } catch (error) {
    if (!isSourceFailure(error)) throw error
    throw invalid({ field: error.code === 'bad_credential' ? 'credentials' : 'address', message: error.message })
  }
}

export const encrypted = (
  { secrets }: Pick<AppContext, 'secrets'>,
  id: string,
  credentials: SourceCredentials,
): string => secrets.encrypt(encryptedCredentials.about({ id }), JSON.stringify(credentials))

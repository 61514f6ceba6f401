// Parts that the readers of all panels have.
import { addressesOf, hostOf, NameServerSilent } from '../../../../agent/protocol/net/pinned-request.ts'
import { SourceFailure, type SourceFailureCode } from '../failure.ts'
import type { CredentialField, SourceCredentials, SourceOptions } from '../source.ts'
import type { PanelAddress } from './address.ts'

/** A header or a query carries it, so it is printable ASCII without spaces inside. */
const CREDENTIAL = /^[\x21-\x7e]+$/

/** A credential as it was given, without the spaces around it. Throws `SourceFailure`. */
export function credential({ name, label, maxLength }: CredentialField, given: SourceCredentials): string {
  const value = (Object.hasOwn(given, name) ? given[name]! : '').trim()
  if (value === '') throw new SourceFailure('bad_credential', `${label} is missing.`)
  if (value.length > maxLength || !CREDENTIAL.test(value))
    throw new SourceFailure('bad_credential', `${label} was not copied right: it has characters that it cannot have.`)
  return value
}

/** The addresses of the panel. Throws `SourceFailure`. */
export async function resolvedPanel({ url }: PanelAddress, { lookUp }: SourceOptions): Promise<readonly string[]> {
  const found = await addressesOf(hostOf(url), lookUp).catch((error) => {
    if (error instanceof NameServerSilent) throw new SourceFailure('host_unknown')
    throw error
  })
  if (found.length === 0) throw new SourceFailure('host_unknown')
  return found
}

/** Yields what was read, which is whole by then. */
export async function* yielding<T>(
  read: () => Promise<readonly T[] | ReadonlyMap<string, T>>,
): AsyncGenerator<T, void, void> {
  const whole = await read()
  yield* whole.values()
}

/** The part cannot be had, and everything else can. */
const partial: ReadonlySet<SourceFailureCode> = new Set([
  'missing_rights',
  'not_found',
  'refused',
  'key_missing',
  'panel_error',
  'too_slow',
  'broken_pager',
  'changed_while_reading',
])

/** A part that an import can do without: `without` where the panel does not give it. */
export async function optional<T>(read: () => Promise<T>, without: (failure: SourceFailure) => T): Promise<T> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof SourceFailure && partial.has(error.code)) return without(error)
    throw error
  }
}

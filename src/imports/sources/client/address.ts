// The address of a panel as the operator enters it. The port is kept as it was written; paths that people copy from
// their browser are left out where the panel has only one.
import { disabledReason, forOperator, type Policy } from '../../../kernel/net/egress.ts'
import { urlFrom } from '../../../kernel/net/typed-url.ts'
import { SourceFailure } from '../failure.ts'

export type PanelAddress = {
  /** With scheme, host and port, without a path. */
  origin: string
  url: URL
  policy: Policy
}

const LONGEST = 300

/**
 * The address of a panel, with the port of its API where none was written. `isPath`: does the path belong to the panel?
 * Throws `SourceFailure`.
 */
export function panelAddress(
  typed: string,
  panel: { usualPort: number; isPath: (path: string) => boolean },
  localNetworks: readonly string[] = [],
): PanelAddress {
  const written = typed.trim()
  if (written.length > LONGEST) throw new SourceFailure('bad_address', 'is too long.')
  const url = urlFrom(/^[a-z][a-z0-9+.-]*:\/\//i.test(written) ? written : `https://${written}`)
  if (!url?.hostname)
    throw new SourceFailure('bad_address', 'is no address. Enter it as https://panel.example.com:443.')
  if (url.search || url.hash || !panel.isPath(url.pathname))
    throw new SourceFailure('bad_address', 'must end with its port: without a path and without a question mark.')
  const policy = forOperator(localNetworks)
  const why = disabledReason(url, policy)
  if (why?.includes('must not be called')) throw new SourceFailure('address_not_allowed', url.hostname)
  if (why) throw new SourceFailure('bad_address', why)
  const port = writtenPort(written) ?? String(panel.usualPort)
  const origin = `https://${url.hostname}${port === '443' ? '' : `:${port}`}`
  return { origin, url: new URL(origin), policy }
}

/** The parser of URLs leaves out the usual port of the scheme, so it is read from the text. */
const writtenPort = (written: string): string | undefined =>
  written.replace(/^[a-z][a-z0-9+.-]*:\/\//i, '').match(/^(?:\[[^\]]*\]|[^:/?#]*):(\d{1,5})(?:[/?#]|$)/)?.[1]

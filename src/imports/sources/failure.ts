// The ways in which reading another panel fails, as one closed list with words for the person. A failure has no part of
// an answer in it and no address with a query: both may carry secrets.

type Failure = {
  /** The sentence for the person; what is in braces comes from the facts of the failure. */
  words: string
  /** The same request may be sent again: nothing was refused, and reading changes nothing. */
  isTransient?: true
}

export const sourceFailures = {
  bad_address: { words: 'The address of the panel {detail}' },
  bad_credential: { words: 'The {detail}' },
  address_not_allowed: { words: 'The panel is at an address that must not be called: {detail}' },
  host_unknown: { words: 'There is no host of this name, or no name server answers.' },
  unreachable: { words: 'The panel could not be reached: {detail}', isTransient: true },
  too_slow: { words: 'The panel did not finish its answer in time.' },
  stopped: { words: 'The reading was stopped.' },
  certificate_unknown: {
    words: 'The certificate of the panel is signed by nobody that this machine trusts. Its SHA-256 is {detail}.',
  },
  certificate_changed: {
    words:
      'The certificate of the panel is not the one that was trusted: its SHA-256 is now {detail}. Find out why it ' +
      'changed before you trust it.',
  },
  tls_failed: { words: 'No encrypted connection to the panel came about.' },
  redirected: { words: 'The panel sends the request to another address. Enter the address of the panel itself.' },
  refused_sign_in: { words: '{detail}' },
  missing_rights: { words: 'The credentials may not read the {detail} of the panel.' },
  api_off: { words: '{detail}' },
  not_found: { words: 'The panel does not know what was asked for: {detail}.' },
  refused: { words: 'The panel refused to list its {detail}.' },
  rate_limited: { words: 'The panel answers no more requests for now.', isTransient: true },
  panel_error: { words: 'The panel answered with an error of its own (HTTP {detail}).', isTransient: true },
  html: { words: 'The panel answered with a page instead of data. Is the address the one of its API?' },
  not_json: { words: 'The answer of the panel is no JSON.' },
  truncated: { words: 'The answer of the panel ended in the middle.', isTransient: true },
  too_large: { words: 'The answer of the panel is too large.' },
  too_deep: { words: 'The answer of the panel is nested too deeply.' },
  key_missing: { words: 'The answer of the panel has no list of {detail}.' },
  unusable_record: { words: 'The panel lists one of its {detail} without an id that can be used.' },
  broken_pager: { words: 'The panel does not give all its {detail}: its pages do not add up to its own count.' },
  changed_while_reading: { words: 'The {detail} of the panel changed while they were read. Try again.' },
  too_many: { words: 'The panel lists more {detail} than an import can hold.' },
} as const satisfies Record<string, Failure>

export type SourceFailureCode = keyof typeof sourceFailures
export const sourceFailureCodes = Object.keys(sourceFailures) as SourceFailureCode[]

/** The certificate that the panel showed, for the person who decides whether to trust it. */
export type SourceCertificate = {
  /** Of its DER, in small hexadecimal digits without colons. */
  sha256: string
  subject: string
  issuer: string
  /** Unix milliseconds; null where it cannot be read. */
  validUntil: number | null
}

/** Reading ended. `message` is for the person. `certificate`: with the two codes about certificates. */
export class SourceFailure extends Error {
  override readonly name = 'SourceFailure'
  constructor(
    readonly code: SourceFailureCode,
    detail = '',
    readonly certificate: SourceCertificate | null = null,
  ) {
    super(sourceFailures[code].words.replace('{detail}', () => detail))
  }
}

/** May the same request be sent again? */
export const isTransient = ({ code }: SourceFailure): boolean => 'isTransient' in sourceFailures[code]

const unsent: ReadonlySet<SourceFailureCode> = new Set([
  'address_not_allowed',
  'host_unknown',
  'certificate_unknown',
  'certificate_changed',
  'tls_failed',
])
/** Did it fail before anything of the request was sent? */
export const isBeforeSending = ({ code }: SourceFailure): boolean => unsent.has(code)

/** Is the error one of those that a reading may end with? */
export const isSourceFailure = (error: unknown): error is SourceFailure => error instanceof SourceFailure

export const isFailureCode = (text: string): text is SourceFailureCode => Object.hasOwn(sourceFailures, text)

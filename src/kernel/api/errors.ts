// Error codes and the error of the API. Each feature declares its codes; an undeclared code does not compile.
import type { Declared } from '../register.ts'

/** The meaning of a code. Clients treat an unknown code by its status, and branch on the codes they know. */
export type ErrorDeclaration = {
  status: number
  /** When it is answered, in a sentence. */
  when: string
  /** The caller's remedy, in a sentence. */
  remedy: string
  /** A refused sign-in with this code stands in the audit log. */
  audited?: true
  /** Details that it always has, as an example. */
  details?: Readonly<Record<string, unknown>>
}
/** Code → declaration: those of the kernel and of every feature of a controller. */
export type ErrorTable = Readonly<Record<Code, ErrorDeclaration>>
export type Code = keyof Declared<'errors'>

/** Codes that any call may answer with, and codes that features share. */
export const kernelErrors = {
  invalid_json: {
    status: 400,
    when: 'The body is not JSON in UTF-8.',
    remedy: 'Send one JSON value in UTF-8, without a byte order mark.',
  },
  invalid_request: {
    status: 400,
    when:
      'A query parameter is unknown, is given twice, or has a wrong value; or a cursor belongs to another list ' +
      'or caller.',
    remedy: 'Correct the query. Start the list again without a cursor.',
  },
  invalid_idempotency_key: {
    status: 400,
    when: 'The Idempotency-Key is not 1 to 200 ASCII characters, or has a control character.',
    remedy: 'Use a UUID, or your own order number.',
  },
  invalid_token: {
    status: 401,
    when: 'The token is unknown, expired or revoked.',
    remedy: 'Make a new token, or use the one that replaced it.',
  },
  not_authenticated: {
    status: 401,
    when: 'There are no credentials.',
    remedy: 'Send the token in the Authorization header, or sign in.',
  },
  forbidden: {
    status: 403,
    when: 'This kind of account, or its role, may not do this.',
    remedy: 'Ask an administrator for the right.',
  },
  missing_scope: {
    status: 403,
    when: 'The token lacks the scope; `details.scopes` are those of which one is needed.',
    remedy: 'Use a token that has it.',
    details: { scopes: ['servers:suspend'] },
  },
  scope_not_allowed: {
    status: 403,
    when: 'The token would have scopes that its maker does not have.',
    remedy: 'Leave them out, or ask somebody who has them to make it.',
    details: { scopes: ['settings:write'] },
  },
  token_not_allowed: { status: 403, when: 'This needs a person who is signed in.', remedy: 'Do it in the panel.' },
  ip_not_allowed: {
    status: 403,
    when: 'The token may not be used from this address.',
    remedy: 'Call from an address on its list, or change the list.',
  },
  csrf_failed: {
    status: 403,
    when: 'A change from a browser came without the CSRF token of its session.',
    remedy: 'Reload the page. Tokens never get this.',
  },
  bad_origin: {
    status: 403,
    when: 'A change from a browser came from another site than PANEL_PUBLIC_URL.',
    remedy: 'Open the panel at exactly that address. Tokens never get this.',
  },
  support_session: {
    status: 403,
    when: 'This is not possible in a support session.',
    remedy: 'Let the customer do it.',
  },
  confirmation_required: {
    status: 403,
    when: 'The person has not confirmed who they are within the last 10 minutes.',
    remedy: 'Confirm with the password, then do it again.',
  },
  second_factor_required: {
    status: 403,
    when: 'The role requires a second factor and the account has none.',
    remedy: 'Set one up in the panel, under Security.',
  },
  not_found: { status: 404, when: 'There is no such path.', remedy: 'Look it up in the reference.' },
  method_not_allowed: {
    status: 405,
    when: 'The path has no such method; `Allow` names those it has.',
    remedy: 'Use one of them.',
  },
  name_taken: { status: 409, when: 'Another one of its kind has this name.', remedy: 'Choose another.' },
  in_use: { status: 409, when: 'Something still uses it; the message says what.', remedy: 'Remove that first.' },
  source_unreachable: {
    status: 409,
    when: 'Another host that the call depends on did not answer properly.',
    remedy: 'Check that host, then try again.',
  },
  already_done: { status: 409, when: 'It is already done.', remedy: 'Treat it as done.' },
  not_possible: {
    status: 409,
    when: 'It cannot be done as things are here; the message says why.',
    remedy: 'Change what it names.',
  },
  too_large: {
    status: 413,
    when: 'The body is larger than 1 MB, or than 16 kB where no sign-in is needed; or it has more than 5000 values.',
    remedy: 'Send less.',
  },
  unsupported_media_type: {
    status: 415,
    when: 'The body is not application/json.',
    remedy: 'Set Content-Type: application/json.',
  },
  validation_failed: {
    status: 422,
    when: 'Fields of the body are wrong; `details.fields` names each with what is wrong.',
    remedy: 'Correct them; the same call would fail again.',
    details: { fields: [{ field: 'hostname', message: 'is required.' }] },
  },
  limit_reached: {
    status: 422,
    when: 'The limit is reached; the message says how many there may be.',
    remedy: 'Remove one first.',
  },
  rate_limited: { status: 429, when: 'Too many calls.', remedy: 'Wait for the seconds in `Retry-After`.' },
  internal_error: {
    status: 500,
    when: 'Something went wrong on our side; the message has the request id.',
    remedy: 'Try again with the same Idempotency-Key; quote the request id.',
  },
  restarting: {
    status: 503,
    when:
      'The controller is restarting, its database cannot be written, or the node for an order is reconnecting; the ' +
      'message says which. Changes are refused, reads keep working.',
    remedy: 'Try again after `Retry-After`, with the same Idempotency-Key.',
  },
} as const
/** An expected refusal: a declared code and words for the person. Any other error is answered as `internal_error`. */
export class ApiError extends Error {
  constructor(
    readonly code: Code,
    message: string,
    readonly details: Record<string, unknown> = {},
  ) {
    super(message)
  }
  /** The account concerned and the reason, for the audit log alone: the response does not contain them. */
  about?: { account: { id: string; name: string } | undefined; why: unknown }
  of(account: { id: string; name: string } | undefined, why: unknown = null): this {
    this.about = { account, why }
    return this
  }
}

/** For an unknown path and for an operation of the host: the same words. */
/** Nothing changes now; the message says why. The specification gives 60 seconds for every reason. */
export const restarting = (message: string) => new ApiError('restarting', message, { retryAfterSeconds: 60 })

export const unknownPath = () =>
  new ApiError('not_found', 'There is no such path in this API. The reference lists them: /api-reference.')

export type FieldError = { field: string; message: string }
/** The refusal for invalid fields. Submitted values are never echoed. */
export const invalid = (...fields: FieldError[]) =>
  new ApiError(
    'validation_failed',
    fields.length === 1 ? `${fields[0]!.field}: ${fields[0]!.message}` : 'Some fields are wrong.',
    {
      fields,
    },
  )

/** The body of every error answer. */
export const errorBody = ({ code, message, details }: Pick<ApiError, 'code' | 'message' | 'details'>) => ({
  error: Object.keys(details).length ? { code, message, details } : { code, message },
})

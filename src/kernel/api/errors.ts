// Every refusal there is, with its status. A code that is not here does not exist.

/** The status decides how a client treats it; the code is what it may branch on. */
export const codes = {
  invalid_json: 400,
  invalid_request: 400,
  invalid_idempotency_key: 400,
  invalid_token: 401,
  not_authenticated: 401,
  sign_in_failed: 401,
  setup_link_invalid: 401,
  enrollment_expired: 401,
  enrollment_not_valid: 401,
  node_not_known: 401,
  forbidden: 403,
  missing_scope: 403,
  scope_not_allowed: 403,
  token_not_allowed: 403,
  ip_not_allowed: 403,
  csrf_failed: 403,
  bad_origin: 403,
  support_session: 403,
  confirmation_required: 403,
  second_factor_required: 403,
  not_found: 404,
  server_not_found: 404,
  customer_not_found: 404,
  job_not_found: 404,
  node_not_found: 404,
  location_not_found: 404,
  package_not_found: 404,
  pool_not_found: 404,
  address_not_found: 404,
  image_not_found: 404,
  ssh_key_not_found: 404,
  enrollment_not_found: 404,
  token_not_found: 404,
  session_not_found: 404,
  staff_not_found: 404,
  role_not_found: 404,
  method_not_allowed: 405,
  hostname_taken: 409,
  no_capacity: 409,
  no_addresses: 409,
  location_closed: 409,
  account_locked: 409,
  name_taken: 409,
  email_taken: 409,
  external_id_taken: 409,
  reseller_suspended: 409,
  quota_exceeded: 409,
  package_not_allowed: 409,
  location_not_allowed: 409,
  not_set_up: 409,
  server_busy: 409,
  server_suspended: 409,
  server_terminated: 409,
  server_failed: 409,
  server_protected: 409,
  already_suspended: 409,
  not_suspended: 409,
  already_running: 409,
  already_stopped: 409,
  already_set_up: 409,
  in_use: 409,
  pool_overlaps: 409,
  address_in_use: 409,
  source_unreachable: 409,
  already_done: 409,
  last_owner: 409,
  too_large: 413,
  unsupported_media_type: 415,
  validation_failed: 422,
  limit_reached: 422,
  disk_too_small: 422,
  protocol_mismatch: 426,
  rate_limited: 429,
  internal_error: 500,
  restarting: 503,
} as const
export type Code = keyof typeof codes

/** An expected "no": a code from the table and words for the person. Anything else that is thrown is `internal_error`. */
export class Refusal extends Error {
  constructor(
    readonly code: Code,
    message: string,
    readonly details: Record<string, unknown> = {},
  ) {
    super(message)
  }
  get status(): number {
    return codes[this.code]
  }
}

export type FieldError = { field: string; message: string }
/** The refusal for fields that are wrong in themselves. Submitted values are never echoed. */
export const invalid = (...fields: FieldError[]) =>
  new Refusal('validation_failed', fields.length === 1 ? `${fields[0]!.field}: ${fields[0]!.message}` : 'Some fields are not right.', {
    fields,
  })

/** The body of every error answer. */
export const errorBody = ({ code, message, details }: Pick<Refusal, 'code' | 'message' | 'details'>) => ({
  error: Object.keys(details).length ? { code, message, details } : { code, message },
})

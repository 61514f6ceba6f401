// Every refusal there is, with its status. A code that is not here does not exist.

/** Code: [status, when it is answered, what the caller does then]. The status decides how a client treats it; the code is what it may branch on. */
export const refusals = {
  invalid_json: [400, 'The body is not JSON in UTF-8.', 'Send one JSON value; mind the encoding.'],
  invalid_request: [
    400,
    'A query parameter is unknown, is given twice, or has a wrong value; or a cursor belongs to another list or caller.',
    'Correct the query. Start the list again without a cursor.',
  ],
  invalid_idempotency_key: [
    400,
    'The Idempotency-Key is not 1 to 200 ASCII characters, or has a control character.',
    'Use a UUID, or your own order number.',
  ],
  invalid_token: [
    401,
    'The token is unknown, expired or revoked.',
    'Make a new token, or use the one that replaced it.',
  ],
  not_authenticated: [401, 'There are no credentials.', 'Send the token in the Authorization header, or sign in.'],
  sign_in_failed: [
    401,
    'The e-mail address or the password is wrong; or the second factor is wrong, or came too late.',
    'Check both, or start again.',
  ],
  setup_link_invalid: [
    401,
    'The set-up link was used, or the controller was restarted since.',
    'Restart the controller and take the new link from its journal.',
  ],
  link_not_valid: [401, 'The link was used, replaced by a newer one, or is too old.', 'Ask for a new one.'],
  enrollment_expired: [401, 'The enrollment token is older than 60 minutes.', 'Make a new one.'],
  enrollment_not_valid: [401, 'The enrollment token was used before, or never existed.', 'Make a new one.'],
  node_not_known: [401, 'The node was removed, or its credential belongs to another controller.', 'Enroll it again.'],
  forbidden: [403, 'This kind of account, or its role, may not do this.', 'Ask an administrator for the right.'],
  missing_scope: [
    403,
    'The token lacks the scope; `details.scopes` are those of which one is needed.',
    'Use a token that has it.',
  ],
  scope_not_allowed: [
    403,
    'The token would have scopes that its maker does not have.',
    'Leave them out, or ask somebody who has them to make it.',
  ],
  token_not_allowed: [403, 'This needs a person who is signed in.', 'Do it in the panel.'],
  ip_not_allowed: [
    403,
    'The token may not be used from this address.',
    'Call from an address on its list, or change the list.',
  ],
  csrf_failed: [
    403,
    'A change from a browser came without the CSRF token of its session.',
    'Reload the page. Tokens never get this.',
  ],
  bad_origin: [
    403,
    'A change from a browser came from another site than PANEL_PUBLIC_URL.',
    'Open the panel at exactly that address. Tokens never get this.',
  ],
  support_session: [403, 'This is not possible in a support session.', 'Let the customer do it.'],
  confirmation_required: [
    403,
    'The person has not confirmed who they are within the last 10 minutes.',
    'Confirm with the password, then do it again.',
  ],
  second_factor_required: [
    403,
    'The role requires a second factor and the account has none.',
    'Set one up in the panel, under Security.',
  ],
  not_found: [404, 'There is no such path.', 'Look it up in the reference.'],
  server_not_found: [404, 'There is no such server, or it is not yours.', 'Check the id.'],
  reseller_not_found: [404, 'There is no such reseller.', 'Check the id.'],
  customer_not_found: [404, 'There is no such customer, or it is not yours.', 'Check the id.'],
  job_not_found: [
    404,
    'There is no such job, it is not yours, or it is older than the newest 1000.',
    'Check the id; look at the server instead.',
  ],
  node_not_found: [404, 'There is no such node.', 'Check the id.'],
  location_not_found: [404, 'There is no such location.', 'Check the id.'],
  package_not_found: [404, 'There is no such package.', 'Check the id.'],
  pool_not_found: [404, 'There is no such address pool.', 'Check the id.'],
  address_not_found: [404, 'There is no such address.', 'Check the id.'],
  image_not_found: [404, 'There is no such image.', 'Check the id.'],
  ssh_key_not_found: [404, 'There is no such SSH key, or it is not yours.', 'Check the id.'],
  enrollment_not_found: [404, 'There is no such enrollment.', 'Check the id.'],
  token_not_found: [404, 'There is no such token of this account.', 'Check the id.'],
  session_not_found: [404, 'There is no such session of this account.', 'Check the id.'],
  staff_not_found: [404, 'There is no such member of staff.', 'Check the id.'],
  identity_not_found: [404, 'There is no such identity of this account.', 'Check the id.'],
  role_not_found: [404, 'There is no such role.', 'Check the id.'],
  team_member_not_found: [404, 'The team of this account has no member with this id.', 'Check the id.'],
  membership_not_found: [
    404,
    'Nothing with this id is shared with this account.',
    'Check the id; it may have been taken back.',
  ],
  announcement_not_found: [404, 'There is no such announcement.', 'List announcements.'],
  passkey_not_found: [404, 'There is no such passkey of this account.', 'Check the id.'],
  method_not_allowed: [405, 'The path has no such method; `Allow` names those it has.', 'Use one of them.'],
  hostname_taken: [409, 'The customer has a server with this hostname already.', 'Choose another.'],
  no_capacity: [409, 'No node in the location has room.', 'Treat it as out of stock; offer another location.'],
  no_addresses: [409, 'The pools of the node have no free IPv4 address.', 'Treat it as out of stock; add a pool.'],
  location_closed: [409, 'The location takes no new servers now.', 'Offer another location.'],
  account_locked: [409, "The customer's account is locked.", 'Unlock it first.'],
  name_taken: [409, 'Another one of its kind has this name.', 'Choose another.'],
  email_taken: [409, 'Another account has this e-mail address.', 'Use that account, or another address.'],
  external_id_taken: [
    409,
    'Another customer has this externalId.',
    'Find that one with `externalId`: it is probably the one you mean.',
  ],
  reseller_suspended: [409, 'The reseller is suspended.', 'Unsuspend the reseller first.'],
  quota_exceeded: [
    409,
    'The order would exceed a quota of the reseller; the message names it.',
    'Raise the quota, or free something.',
  ],
  package_not_allowed: [409, 'The reseller may not sell this package.', 'Choose another, or allow it.'],
  location_not_allowed: [409, 'The reseller may not place servers in this location.', 'Choose another, or allow it.'],
  not_set_up: [409, 'The server waits for its setup: nothing is installed yet.', 'Set it up first.'],
  no_mail_server: [409, 'No mail server is set.', 'Save one in the settings first.'],
  mail_refused: [409, 'The mail server did not take the mail.', 'Read what it said, and change the settings.'],
  server_busy: [409, 'A job holds the server.', 'Follow that job, then try again.'],
  server_suspended: [409, 'The server is suspended.', 'Have it unsuspended first; a customer asks the provider.'],
  server_terminated: [409, 'The server is terminated.', 'Nothing: it is gone.'],
  server_failed: [409, "The server's installation failed.", 'Reinstall or terminate it.'],
  server_protected: [409, 'The server is protected against this.', 'Take the protection off first.'],
  already_suspended: [409, 'The server or the reseller is already suspended.', 'Treat it as done.'],
  not_suspended: [409, 'The server or the reseller is not suspended.', 'Treat it as done.'],
  already_running: [409, 'The server is already running.', 'Treat it as done.'],
  already_stopped: [409, 'The server is already stopped.', 'Treat it as done.'],
  already_set_up: [409, 'The server is already set up.', 'Reinstall it if you want another system.'],
  in_use: [409, 'Something still uses it; the message says what.', 'Remove that first.'],
  pool_overlaps: [409, 'The network overlaps with another pool.', 'Choose another network, or remove that pool.'],
  address_in_use: [409, 'A server has the address.', 'Choose another, or free it.'],
  source_unreachable: [
    409,
    'Another host that the call depends on did not answer properly.',
    'Check that host, then try again.',
  ],
  key_file_not_usable: [
    409,
    'The key file cannot be read or written, or lacks a key that something is encrypted with; the message says which.',
    'Put the right key file in place, then try again.',
  ],
  already_done: [409, 'It is already done.', 'Treat it as done.'],
  invitation_not_valid: [
    409,
    'The invitation was used, taken back, or has expired.',
    'Ask whoever sent it for a new one.',
  ],
  not_possible: [409, 'It cannot be done as things are here; the message says why.', 'Change what it names.'],
  last_owner: [409, 'It would leave nobody who may manage staff.', 'Make somebody else an owner first.'],
  too_large: [
    413,
    'The body is larger than 1 MB, or than 16 kB where no sign-in is needed; or it has more than 5000 values.',
    'Send less.',
  ],
  unsupported_media_type: [415, 'The body is not application/json.', 'Set Content-Type: application/json.'],
  validation_failed: [
    422,
    'Fields of the body are wrong; `details.fields` names each with what is wrong.',
    'Correct them; the same call would fail again.',
  ],
  limit_reached: [422, 'The limit is reached; the message says how many there may be.', 'Remove one first.'],
  disk_too_small: [422, 'The image needs a bigger disk than the package has.', 'Choose another package or image.'],
  protocol_mismatch: [426, 'The agent and this controller speak different protocols.', 'Update the older of the two.'],
  rate_limited: [429, 'Too many calls.', 'Wait for the seconds in `Retry-After`.'],
  internal_error: [
    500,
    'Something went wrong on our side; the message has the request id.',
    'Try again with the same Idempotency-Key; quote the request id.',
  ],
  restarting: [
    503,
    'The controller is restarting and accepts no changes; reads keep working.',
    'Try again after `Retry-After`, with the same Idempotency-Key.',
  ],
} as const satisfies Record<string, readonly [number, string, string]>
export type Code = keyof typeof refusals
/** Each code's status. */
export const codes = Object.fromEntries(Object.entries(refusals).map(([code, [status]]) => [code, status])) as {
  [C in Code]: (typeof refusals)[C][0]
}

/** An expected "no": a code from the table and words for the person. Anything else that is thrown is `internal_error`. */
export class ApiError extends Error {
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

  /** Whose it was and why, for the audit log alone: the answer does not say it. */
  about?: { account: { id: string; name: string } | undefined; why: unknown }
  of(account: { id: string; name: string } | undefined, why: unknown = null): this {
    this.about = { account, why }
    return this
  }
}

/** For a path behind which nothing is, and for one of the host alone: the same words. */
export const unknownPath = () =>
  new ApiError('not_found', 'There is no such path in this API. The reference lists them: /api-reference.')

export type FieldError = { field: string; message: string }
/** The refusal for fields that are wrong in themselves. Submitted values are never echoed. */
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

// Prefix + UUIDv7 as 26 lower-case base-32 characters: ids sort by the time they were made.
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'

export const prefixes = {
  account: 'usr_',
  package: 'pkg_',
  location: 'grp_',
  server: 'srv_',
  job: 'job_',
  event: 'evt_',
  delivery: 'dlv_',
  node: 'nod_',
  pool: 'pool_',
  address: 'ip_',
  image: 'img_',
  sshKey: 'key_',
  token: 'tok_',
  enrollment: 'enr_',
  role: 'role_',
  session: 'ses_',
  audit: 'aud_',
  mail: 'mail_',
  link: 'lnk_',
  announcement: 'ann_',
  passkey: 'pky_',
  teamMember: 'tm_',
  identity: 'idn_',
} as const
export type IdKind = keyof typeof prefixes

/** A new id of this kind, e.g. `srv_06eqb…`. */
export function newId(kind: IdKind): string {
  let text = prefixes[kind] as string
  // 26 characters of five bits hold two more than the 128 there are: they are zeros, in front.
  let held = 0
  let bits = 2
  for (const byte of Bun.randomUUIDv7('buffer')) {
    held = (held << 8) | byte
    for (bits += 8; bits >= 5; ) {
      bits -= 5
      text += alphabet[(held >> bits) & 31]
    }
    held &= 31
  }
  return text
}

/** Cheap look at the form, so that garbage in a path is "not found" before any query. */
export const looksLikeId = (text: string) => /^[a-z]{2,8}_[0-9a-z]{26}$/.test(text)

// Notes the guest of an installation as its node saw it: it succeeds without a guest agent, but says what is missing.
import { escapedLines } from '../../../agent/protocol/text.ts'
import type { GuestLook, GuestSeen } from '../../../agent/protocol/wire.ts'
import type { Tx } from '../../kernel/db/open.ts'
import type { Access } from '../server-vm/seed.ts'
import { noteCheck } from './queries.ts'

type Installed = {
  jobId: string
  boot: { seen?: GuestSeen | undefined }
  look: GuestLook | undefined
  /** Null: the system brings its own. */
  access: Access | null
  now: number
  log(text: string, level?: 'info' | 'warning'): void
}

/** Writes it to the job's log and to the server. Where the guest never answered there is nothing to write. */
export function noteSeen(tx: Tx, serverId: string, { jobId, boot: { seen }, look, access, now, log }: Installed) {
  if (!seen || !look) return
  const addresses = look.addresses.map((address) => ({
    address,
    answers: seen.answering.includes(address) || seen.inside?.includes(address) === true,
  }))
  const warnings = [
    ...addresses.filter(({ answers }) => !answers).map(({ address }) => missing(address)),
    ...nameWarnings(seen, look),
    ...(access && seen.signIn ? signInWarnings(seen.signIn, access) : []),
  ]
  const answering = addresses.filter(({ answers }) => answers).map(({ address }) => address)
  if (answering.length) log(`It answers at ${answering.join(', ')}.`)
  log(seen.ssh ? 'SSH answers.' : 'SSH did not answer its node, which may have no route to the server.')
  log(
    seen.hostname === null
      ? 'No guest agent answered, so its name and how root signs in were not read.'
      : `It calls itself ${escapedLines(seen.hostname)}. ${signInWords(seen.signIn)}`,
  )
  for (const warning of warnings) log(warning, 'warning')
  const { hostname, ssh, signIn } = seen
  noteCheck(tx, serverId, { jobId, at: now, addresses, hostname, ssh, signIn, warnings })
}

const missing = (address: string) =>
  `${address} does not answer: its system has not taken this address. Look at its network in the console. If other ` +
  'servers of this image have the same fault, change the network data of the image.'

const nameWarnings = ({ hostname }: GuestSeen, { names }: GuestLook) =>
  hostname === null || !names.length || names.includes(hostname)
    ? []
    : [`It calls itself ${escapedLines(hostname)}, not ${names[0]}.`]

const signInWarnings = ({ password, keys }: NonNullable<GuestSeen['signIn']>, access: Access) => [
  ...(access.passwordHash !== null && !password
    ? ['Its SSH server does not let root in by password, which was ordered. Allow it in the console.']
    : []),
  ...(access.publicKeys.length > 0 && !keys
    ? ['Its SSH server does not let root in by key, which was ordered. Allow it in the console.']
    : []),
]

function signInWords(signIn: GuestSeen['signIn']): string {
  if (!signIn) return 'How root signs in was not read.'
  const ways = [signIn.password && 'password', signIn.keys && 'SSH key'].filter(Boolean)
  return ways.length ? `Root signs in by ${ways.join(' and ')}.` : 'Root cannot sign in by SSH.'
}

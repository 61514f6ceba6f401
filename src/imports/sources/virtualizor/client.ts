// Requests to Virtualizor: a key pair in the query, and lists in pages without a count. A refused sign-in is a redirect
// or a page, whatever its cause; other refusals stand in a field of the answer.
import { createHash, randomInt } from 'node:crypto'
import type { PanelAddress } from '../client/address.ts'
import type { AllowedRead } from '../client/allowed-reads.ts'
import { type PanelClient, panelClient } from '../client/client.ts'
import { type Page, type WholeList, wholeList } from '../client/pages.ts'
import { SourceFailure } from '../failure.ts'
import type { SourceOptions, SourceTrust } from '../source.ts'
import { entriesOf, field, isCollection, isObject, type JsonObject, rowsOf, text } from '../values/scalars.ts'
import { reads } from './reads.ts'

export type VirtualizorClient = PanelClient<typeof reads>
export type KeyPair = { key: string; pass: string }

const REFUSED =
  'The panel did not accept the key pair. Check key and pass, that the pair allows calls from the address of this ' +
  'controller, and that the port is the admin port (normally 4085).'
const refused = () => new SourceFailure('refused_sign_in', REFUSED)

const LETTERS = 'abcdefghijklmnopqrstuvwxyz0123456789'
/** The older scheme beside the pair: some versions and settings want it. The panel prescribes MD5. */
function hashed(pass: string): string {
  const salt = Array.from({ length: 8 }, () => LETTERS[randomInt(LETTERS.length)]).join('')
  return (
    salt +
    createHash('md5')
      .update(pass + salt)
      .digest('hex')
  )
}

export const virtualizorClient = (
  address: PanelAddress,
  { key, pass }: KeyPair,
  trust: SourceTrust,
  options: SourceOptions,
): VirtualizorClient =>
  panelClient(
    {
      address,
      reads,
      authorize: () => ({ query: { adminapikey: key, adminapipass: pass, apikey: hashed(pass) } }),
      refusals: { signIn: refused, redirect: refused, html: refused, htmlWithStatus: refused, inside: refusalIn },
    },
    trust,
    options,
  )

/** The texts in the field `error`, which is empty in many forms where nothing went wrong. */
function errorsIn(answer: JsonObject): readonly string[] {
  const error = field(answer, 'error')
  if (typeof error === 'string' || typeof error === 'number')
    return text(error) === null || error === 0 ? [] : [String(error)]
  if (error === true) return ['']
  return entriesOf(error).flatMap(([, one]) => (isObject(one) ? [text(field(one, 'msg')) ?? ''] : (text(one) ?? [])))
}

/** The words of the panel are not shown: they may repeat what was sent. */
function refusalIn(answer: JsonObject, read: AllowedRead): SourceFailure | undefined {
  const errors = errorsIn(answer)
  if (errors.length === 0) return undefined
  const words = errors.join(' ').slice(0, 2000)
  if (/authenticat|log ?in|api ?key|credential/i.test(words)) return refused()
  if (/not allowed|permission|privilege|denied|not authori[sz]ed/i.test(words))
    return new SourceFailure('missing_rights', read.things)
  return new SourceFailure('refused', read.things)
}

const PER_PAGE = 500

export type Paged = 'hypervisors' | 'packages' | 'pools' | 'addresses' | 'prefixes' | 'owners' | 'servers'

/** The collection of an answer: of its fields with a list, the first. */
const collectionOf = (answer: JsonObject, list: Paged): unknown => {
  const key = reads[list].keys.find((name) => Object.hasOwn(answer, name) && isCollection(answer[name]))
  return key === undefined ? [] : answer[key]
}

/** A list with all its pages. `seen` gets each answer, for what stands beside the list. */
export function virtualizorList<T>(
  client: VirtualizorClient,
  list: Paged,
  whole: Omit<WholeList<T>, 'things' | 'page'>,
  seen?: (answer: JsonObject) => void,
): Promise<ReadonlyMap<string, T>> {
  const page = async (number: number): Promise<Page> => {
    const answer = await client.read(list, { parameters: { page: number, reslen: PER_PAGE } })
    seen?.(answer)
    return { rows: rowsOf(collectionOf(answer, list)), isLast: null, total: null }
  }
  return wholeList({ ...whole, things: reads[list].things, page })
}

import { Type as t } from 'typebox'
import { accountResource } from '../../identity/account-records/owned.ts'
import { invalid } from '../../kernel/api/errors.ts'
import { described, namedSchema, time } from '../../kernel/api/operation.ts'
import { iso } from '../../kernel/db/clock.ts'
import type { Db } from '../../kernel/db/open.ts'
import { bytes } from '../../kernel/words.ts'
import { ownerOfScript, scriptById } from './queries.ts'
import type { Script } from './tables.ts'

export const SCRIPTS_PER_ACCOUNT = 50
const MOST_BYTES = 64 << 10

export const contentField = described(
  t.String({ minLength: 1, maxLength: MOST_BYTES }),
  `Begins with #! and an interpreter; at most ${bytes(MOST_BYTES)}. It runs once, as root, at the first boot.`,
)

/** The script with Unix line ends. Throws `validation_failed` for what no guest could run. */
export function readContent(text: string): string {
  const wrong = (message: string) => invalid({ field: 'content', message })
  const content = text.replaceAll('\r\n', '\n')
  if (!content.startsWith('#!/')) throw wrong('must begin with #! and the path of an interpreter, like #!/bin/sh.')
  if (content.includes('\0')) throw wrong('must be text.')
  if (Buffer.byteLength(content) > MOST_BYTES) throw wrong(`must have at most ${bytes(MOST_BYTES)}.`)
  return content
}

export const script = accountResource({ name: 'script', notFound: 'script_not_found' }, ownerOfScript, scriptById)

const shared = {
  id: t.String(),
  ownerId: t.String(),
  name: t.String(),
  sizeBytes: t.Integer(),
  createdAt: time,
  changedAt: time,
}
export const scriptResponse = namedSchema('Script', shared)
export const wholeScript = namedSchema('ScriptWithContent', { ...shared, content: t.String() })

export const showScript = ({ id, ownerId, name, content, createdAt, changedAt }: Script) => ({
  id,
  ownerId,
  name,
  sizeBytes: Buffer.byteLength(content),
  createdAt: iso(createdAt),
  changedAt: iso(changedAt),
})
export const showWhole = (script: Script) => ({ ...showScript(script), content: script.content })

/** The script of one of these accounts as it is now. Throws `validation_failed` for another's. */
export function scriptOf(tx: Db, whose: readonly string[], id: string): Pick<Script, 'name' | 'content'> {
  const found = scriptById(tx, id)
  if (!found || !whose.includes(found.ownerId)) throw invalid({ field: 'scriptId', message: 'No such script.' })
  return { name: found.name, content: found.content }
}

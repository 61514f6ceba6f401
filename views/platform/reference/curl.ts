// The line for curl under each call of the reference.
import { quoted } from '../../../agent/protocol/shell-quote.ts'
import { API_ROOT } from '../../../src/kernel/api/http.ts'
import type { Operation } from '../../../src/kernel/api/operation.ts'

/** To be pasted as it stands, once TOKEN and the ids of the path are set. */
export function curlFor(op: Operation, origin: string): string {
  const path = op.path.replace(/\{(\w+)\}/g, (_, name: string) => '$' + name.toUpperCase())
  return [
    `curl${op.method === 'GET' ? '' : ` -X ${op.method}`} "${origin}${API_ROOT}${path}"`,
    op.access !== 'anyone' && '-H "Authorization: Bearer $TOKEN"',
    op.idempotent && '-H "Idempotency-Key: $(uuidgen)"',
    op.body && "-H 'Content-Type: application/json'",
    op.body && `-d ${quoted(JSON.stringify(op.example ?? {}))}`,
  ]
    .filter(Boolean)
    .join(' \\\n  ')
}

import { mayCall } from '../../kernel/api/operation.ts'
import type { Source } from '../../kernel/attention.ts'
import { isoOrNull } from '../../kernel/db/clock.ts'
import { count } from '../../kernel/words.ts'
import { troubledNames } from './queries.ts'
import { getNameServer } from './settings.ts'

/** Names that the name server refuses, or does not take again and again. */
export const untoldNames: Source = ({ tx, actor }) => {
  if (!mayCall(getNameServer, actor)) return []
  const { refused, waiting, error, since } = troubledNames(tx)
  const n = refused + waiting
  if (!n) return []
  return [
    {
      level: 'warn',
      what: refused
        ? `The name server refuses ${count(refused, 'name', 'names')} of reverse DNS.`
        : `${count(n, 'name', 'names')} of reverse DNS cannot be told to the name server.`,
      effect: error ?? 'Mail from these addresses may be refused.',
      since: isoOrNull(since),
      action: 'Open settings',
      href: '/admin/settings#reverse-dns',
    },
  ]
}

// The commands with which a person removes as root what could not be removed.
import { quoted } from '../../../agent/protocol/shell-quote.ts'
import { importKeyMark } from '../../../agent/protocol/values/source-hosts.ts'
import type { ImportCleanUp } from '../import-records/clean-ups/queries.ts'

/** Where nodes keep definitions at a source. */
const KEPT = '/root/berth-import'

/** Deletes the lines of these nodes, which end with their marks, and nothing else. Safe to run twice. */
export const removeKeysCommand = (nodeIds: readonly string[]): string =>
  ['sed', '-i', ...nodeIds.flatMap((id) => ['-e', `/ ${importKeyMark(id)}$/d`]), '/root/.ssh/authorized_keys']
    .map((word) => (word.startsWith('/ ') ? `'${word}'` : quoted(word)))
    .join(' ')
/** Deletes all that is kept of these domains, and nothing else. Safe to run twice. */
export const removeDefinitionsCommand = (domains: readonly string[]): string => {
  const files = domains.flatMap((domain) => ['xml', 'autostart'].map((end) => quoted(`${KEPT}/${domain}.${end}`)))
  return `rm -f ${files.join(' ')}; rmdir ${KEPT} 2>/dev/null || true`
}

/** The commands that are left to run there as root. */
export const commandsFor = ({ state, domains, hasKeys, nodeIds }: ImportCleanUp): string[] =>
  state === 'done'
    ? []
    : [...(domains.length ? [removeDefinitionsCommand(domains)] : []), ...(hasKeys ? [removeKeysCommand(nodeIds)] : [])]

import { Type as t } from 'typebox'
import { line } from '../bounds.ts'
import { encryptedPassword } from '../values/guests.ts'
import {
  ImportKey,
  MOST_SOURCE_SERVERS,
  SourceHost,
  SourceHostFacts,
  SourceServer,
  WantedServer,
} from '../values/source-hosts.ts'
import { sshHostKey, sshPublicKey } from '../values/transfers.ts'
import { act, look } from './declare.ts'

/**
 * Failures of a node that reaches a source hypervisor by SSH. `source_unreachable`: nothing answers, or the connection
 * broke. `source_host_key_changed`: it has another host key than at the first contact. `source_ssh_too_old`: its SSH
 * server speaks nothing that this node's client still accepts. `source_invalid`: its answers are none of those that
 * were asked for, or too many.
 */
const reachesSource = ['source_unreachable', 'source_host_key_changed', 'source_ssh_too_old', 'source_invalid'] as const

const keys = t.Array(ImportKey, { minItems: 1, maxItems: 200 })
/** Of lines in root's `authorized_keys`. */
const lines = t.Integer({ minimum: 0, maximum: 1000 })

/**
 * The hypervisors of another panel, from which servers are imported. Nothing is installed there. Those commands that
 * look change nothing there; `source-host.add-keys` and `source-host.remove-keys` change one file.
 */
export const sourceHostCommands = {
  /** Makes the key with which this node signs in at source hypervisors, once. It never leaves the node. */
  'source-host.key': act({ input: t.Object({}), output: t.Object({ publicKey: sshPublicKey }), failures: [] }),
  /**
   * Signs in once as root with the password, which is stored nowhere, and adds the lines of these keys to root's
   * `authorized_keys`. A key that is there stays as it is, unless the line is an import's own. `password` is encrypted
   * for the node for `sourcePasswordPurpose`. `source_password_refused`: it is wrong, or root may not use one;
   * `source_password_disabled`: the server takes no passwords. `source_keys_not_written`: the file cannot be changed.
   */
  'source-host.add-keys': act({
    input: t.Object({ host: SourceHost, password: encryptedPassword, keys }),
    output: t.Object({ hostKey: sshHostKey, added: lines, present: lines }),
    failures: [
      ...reachesSource,
      'source_password_refused',
      'source_password_disabled',
      'source_keys_not_written',
      'encrypted_for_another',
    ],
  }),
  /**
   * Signs in with the key of this node, and removes the lines of these nodes, which end with `importKeyMark`; its own
   * last. A source that does not let it in any more has nothing to remove.
   */
  'source-host.remove-keys': act({
    input: t.Object({
      host: SourceHost,
      nodeIds: t.Array(ImportKey.properties.nodeId, { minItems: 1, maxItems: 200 }),
    }),
    output: t.Object({ removed: lines }),
    failures: [...reachesSource, 'source_keys_not_written'],
  }),
  /**
   * The host key of a source hypervisor, and whether it lets the key of this node in; if so, what it is. `refusal`: the
   * words of its SSH server.
   */
  'source-host.look': look({
    input: t.Object({ host: SourceHost }),
    output: t.Object({
      hostKey: sshHostKey,
      login: t.Enum(['accepted', 'refused']),
      refusal: t.Union([line(300), t.Null()]),
      facts: t.Union([SourceHostFacts, t.Null()]),
    }),
    failures: reachesSource,
  }),
  /**
   * Servers of a source hypervisor, in the order in which they are asked for. Reads, and changes nothing there. A node
   * asks one source two such questions at a time, the others wait. `source_login_refused`: the key of this node is
   * missing there. `source_no_libvirt`: no libvirt answers there.
   */
  'source-servers.look': look({
    input: t.Object({
      host: SourceHost,
      servers: t.Array(WantedServer, { minItems: 1, maxItems: MOST_SOURCE_SERVERS }),
    }),
    output: t.Object({ hostKey: sshHostKey, servers: t.Array(SourceServer, { maxItems: MOST_SOURCE_SERVERS }) }),
    failures: [...reachesSource, 'source_login_refused', 'source_no_libvirt'],
  }),
  /** The same of this node, which is the hypervisor of another panel itself: nobody signs in. */
  'own-servers.look': look({
    input: t.Object({ servers: t.Array(WantedServer, { minItems: 1, maxItems: MOST_SOURCE_SERVERS }) }),
    output: t.Object({ servers: t.Array(SourceServer, { maxItems: MOST_SOURCE_SERVERS }) }),
    failures: ['source_invalid', 'source_no_libvirt'],
  }),
}

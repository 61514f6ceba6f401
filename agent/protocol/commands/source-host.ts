import { Type as t } from 'typebox'
import { line, workloadId } from '../bounds.ts'
import { Volume } from '../values/disks.ts'
import { encryptedPassword } from '../values/guests.ts'
import {
  domainName,
  ImportKey,
  keptDefinition,
  MOST_SOURCE_SERVERS,
  SourceCopied,
  SourceDisk,
  SourceHost,
  SourceHostFacts,
  SourceServer,
  sourceCopyId,
  WantedServer,
} from '../values/source-hosts.ts'
import { maxMbps, sshHostKey, sshPublicKey } from '../values/transfers.ts'
import { act, look } from './declare.ts'
import { startsVm } from './hypervisor.ts'
import { findsDisk, makesDisk } from './storage.ts'

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

const nothing = t.Object({})
/** A domain of a source hypervisor; `host` null: of this node, which is the hypervisor of another panel itself. */
const ofDomain = { host: t.Union([SourceHost, t.Null()]), domain: domainName }
/** `source_login_refused`: the key of this node is missing there. `source_no_libvirt`: no libvirt answers there. */
const asksLibvirt = [...reachesSource, 'source_login_refused', 'source_no_libvirt'] as const

const sizeBytes = t.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })
/** Of a disk that gets another name on the same storage. */
const movesDisk = [...findsDisk, 'no_volume', 'volume_differs', 'source_disk_elsewhere'] as const

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
  /**
   * Keeps the definition of a domain at the source, with its secrets, in `/root/berth-import/<domain>.xml` for root
   * alone. A transient domain can be started again from it. Answers it without its passwords. A domain that is absent,
   * and was kept before, stays kept: `absent`. `source_no_domain`: libvirt knows no such domain, and none is kept.
   * `source_definition_not_kept`: it cannot be written, or another domain's of this name is kept.
   */
  'source-host.save': act({
    input: t.Object(ofDomain),
    output: t.Object({
      hostKey: t.Union([sshHostKey, t.Null()]),
      state: SourceServer.properties.state,
      isPersistent: SourceServer.properties.isPersistent,
      definition: keptDefinition,
    }),
    failures: [...asksLibvirt, 'source_no_domain', 'source_definition_not_kept'],
  }),
  /**
   * Asks the guest to shut down, and ends it after `graceSeconds`. One that is off or absent stays so. Refuses with
   * `source_definition_not_kept` until `source-host.save` has kept its definition, because a transient domain vanishes.
   */
  'source-host.stop': act({
    input: t.Object({ ...ofDomain, graceSeconds: t.Integer({ minimum: 0, maximum: 3600 }) }),
    output: t.Object({ wasRunning: t.Boolean() }),
    failures: [...asksLibvirt, 'source_definition_not_kept', 'source_not_stopped'],
  }),
  /**
   * Starts the domain at its source again: one that is defined there as it is, another one from its kept definition; if
   * that is gone, from `definition`. One that runs is left alone. `source_not_started`: libvirt does not start it.
   */
  'source-host.start': act({
    input: t.Object({ ...ofDomain, definition: keptDefinition }),
    output: nothing,
    failures: [...asksLibvirt, 'source_not_started'],
  }),
  /**
   * Starts the vm as `vm.start` does, after a last look at its source: a command may arrive long after it was sent. One
   * that runs here by now is left alone. `source_started`: the domain is not off there, and nothing was done.
   */
  'source-host.start-here': act({
    input: t.Object({ workload: workloadId, host: SourceHost, domain: domainName }),
    output: nothing,
    failures: [...startsVm, ...asksLibvirt, 'source_started'],
  }),
  /**
   * Brings the disk of a domain here. With `running` the server may run: its bytes are copied, and are no volume yet.
   * With `off` what differs is fetched. All that has arrived is read back, compared with the checksums of the source,
   * and becomes the volume of `sizeBytes`. Without `running` before, `off` copies all of it. A copy that broke off, or
   * is sent again, goes on where it was. `source_started`: the domain is not off, or was written meanwhile.
   * `source_read_error`: the source cannot read its disk, at the offset in the message. `source_disk_changed`: it has
   * another size, format or backing file than `drive`. `checksum_differs`: what arrived is not what the source has.
   * `source_copy_ended`: `source-host.discard` came.
   */
  'source-host.copy': act({
    input: t.Object({
      copy: sourceCopyId,
      ...ofDomain,
      drive: SourceDisk,
      volume: Volume,
      sizeBytes,
      pass: t.Enum(['running', 'off']),
      maxMbps,
    }),
    output: SourceCopied,
    failures: [
      ...asksLibvirt,
      ...makesDisk,
      'source_started',
      'source_read_error',
      'source_disk_changed',
      'source_copy_ended',
      'checksum_differs',
      'no_volume',
      'disk_is_thick',
    ],
    outOfTurn: true,
  }),
  /** The limit of the copy that is under way, and of its later passes; of an unknown one it does nothing. */
  'source-host.limit': act({
    input: t.Object({ copy: sourceCopyId, maxMbps }),
    output: nothing,
    failures: [],
    outOfTurn: true,
  }),
  /**
   * Ends a copy, and deletes on this node all that it made: what has arrived, its checksums, and the volume.
   * `volume_in_use`: a vm runs on it by now, so that it stays. Changes nothing at the source.
   */
  'source-host.discard': act({
    input: t.Object({ copy: sourceCopyId, volume: Volume }),
    output: nothing,
    failures: [...findsDisk, 'volume_in_use', 'hypervisor_silent'],
    outOfTurn: true,
  }),
  /**
   * Adopts the disk of a domain of this node, which is the hypervisor of another panel: it becomes the volume by a new
   * name, grown to `sizeBytes` where its pool can do that, and the domain is undefined, so that the other panel cannot
   * start it. `source-host.save` has kept its definition. The domain is off, or absent when it was transient. Answers
   * the size that the disk has. `source_started`: the domain is on; the disk is where it was. `no_volume`: its disk is
   * gone. `source_disk_elsewhere`: the disk is on other storage than the pool. `source_disk_has_snapshots`: they would
   * go with it. `source_not_undefined`: libvirt keeps the domain. `source_not_defined`: it was on, and
   * libvirt does not define it again.
   */
  'source-host.adopt': act({
    input: t.Object({ domain: domainName, drive: SourceDisk, volume: Volume, sizeBytes }),
    output: t.Object({ format: Volume.properties.format, sizeBytes }),
    failures: [
      ...asksLibvirt,
      ...movesDisk,
      'source_started',
      'source_definition_not_kept',
      'source_disk_has_snapshots',
      'source_not_undefined',
      'source_not_defined',
      'layer_in_use',
    ],
  }),
  /**
   * Undoes an adoption: the disk has its old path again, and a domain that was persistent is defined again, and off. A
   * disk that was not adopted is left alone. `definition`: where none is kept. `volume_in_use`: the vm with this disk
   * is on. `layer_in_use`: the disk has snapshots, which go first. `volume_differs`: something else has its old path by
   * now, or the volume was never adopted. `source_not_defined`: libvirt refuses the definition.
   */
  'source-host.give-back': act({
    input: t.Object({ domain: domainName, drive: SourceDisk, volume: Volume, definition: keptDefinition }),
    output: nothing,
    failures: [
      ...asksLibvirt,
      ...movesDisk,
      'layer_in_use',
      'volume_in_use',
      'hypervisor_silent',
      'source_disk_has_snapshots',
      'source_not_defined',
    ],
  }),
  /** Deletes the kept definition at the source. Without one it does nothing. */
  'source-host.forget': act({
    input: t.Object(ofDomain),
    output: nothing,
    failures: [...reachesSource, 'source_login_refused', 'source_definition_not_kept'],
  }),
}

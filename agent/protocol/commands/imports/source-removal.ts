import { Type as t } from 'typebox'
import { RemovalPreview, RemovalScope, Removed, Restored, removalId } from '../../values/source-removal.ts'
import { act, look } from '../declare.ts'

/**
 * The software of another panel on this node, whose servers were adopted. Nothing is deleted: everything is moved into
 * one folder below /root, and can be put back. libvirt, QEMU, SSH, Docker itself, the network settings, Berth's agent
 * and every folder with the disks of servers are left as they are.
 */
export const sourceRemovalCommands = {
  /** Lists all that a removal would touch, and what stays. `removal_libvirt_silent`: no libvirt answers. */
  'source-removal.look': look({
    input: RemovalScope,
    output: RemovalPreview,
    failures: ['removal_libvirt_silent'],
  }),
  /**
   * Stops and moves it, and verifies that the servers that ran before still run and their bridges exist; otherwise it
   * puts everything back. `removal_foreign_domains`: libvirt holds a server that is none of Berth's, and nothing was
   * changed. `removal_undone`: it failed, or a server or bridge was gone, and everything was put back.
   * `removal_half_restored`: it failed, and not everything could be put back; the message says what.
   */
  'source-removal.run': act({
    input: t.Object({ removal: removalId, ...RemovalScope.properties }),
    output: Removed,
    failures: ['removal_libvirt_silent', 'removal_foreign_domains', 'removal_undone', 'removal_half_restored'],
  }),
  /** Puts back all that the removal moved and stopped. A removal that never happened has nothing to put back. */
  'source-removal.restore': act({
    input: t.Object({ removal: removalId }),
    output: Restored,
    failures: ['removal_half_restored'],
  }),
}

// The software of the other panels on a hypervisor, as a table: all that a removal looks for, and nothing else.
import type { RemovalPanel } from '../../protocol/values/source-removal.ts'

/**
 * `services`: those that are stopped and disabled, by name. `heldServices`: those that are only disabled, because their
 * own stop would end servers or take their bridges away. `networkServices`: likewise, and only where each bridge of
 * servers is defined elsewhere. `programs`: folders whose programs are the panel's; a unit that starts one is too.
 * `folders`: what is moved; one that ends in `*` stands for all that begin so. `container`: name or image.
 * `cronNames`: files of cron by name. `cronLines`: lines of cron by what they run. `keyComment`: of the control
 * server's key among root's keys. `keptKey`: a key of the vendor's, which is left.
 */
export type Leftovers = {
  services: readonly string[]
  heldServices: readonly string[]
  networkServices: readonly string[]
  programs: readonly string[]
  folders: readonly string[]
  container: RegExp | null
  cronNames: RegExp
  cronLines: RegExp
  keyComment: RegExp | null
  keptKey: RegExp | null
  /** The folders move only where each bridge of servers is defined elsewhere: the network service is made of them. */
  foldersMakeBridges: boolean
}

export const leftovers: Record<RemovalPanel, Leftovers> = {
  solusvm2: {
    services: ['solus-agent', 'solusnxt-agent'],
    heldServices: [],
    networkServices: [],
    programs: ['/usr/local/solus', '/usr/local/solusnxt'],
    folders: ['/usr/local/solus', '/usr/local/solusnxt', '/etc/solus*', '/var/log/solus'],
    container: /solus/i,
    cronNames: /^solus/i,
    cronLines: /\/(?:usr\/local|etc|var\/log)\/solus|\bsolus(?:nxt|vm2?|-agent)?\b/i,
    keyComment: /solus/i,
    keptKey: /^support@solusvm\.com$/i,
    foldersMakeBridges: false,
  },
  virtualizor: {
    services: ['virtualizor'],
    heldServices: ['zzvirtservice'],
    networkServices: ['virtnetwork'],
    programs: ['/usr/local/emps', '/usr/local/virtualizor'],
    folders: ['/usr/local/virtualizor', '/usr/local/emps', '/var/virtualizor'],
    container: null,
    cronNames: /^virtualizor/i,
    cronLines: /\/usr\/local\/(?:virtualizor|emps)(?![\w-])/,
    keyComment: null,
    keptKey: null,
    foldersMakeBridges: true,
  },
}

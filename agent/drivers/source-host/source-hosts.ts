import type {
  ImportKey,
  SourceHost,
  SourceHostFacts,
  SourceServer,
  WantedServer,
} from '../../protocol/values/source-hosts.ts'

/** A source hypervisor at its first contact or a later one: the host key that it showed. */
export type Contact = { hostKey: string }
export type AddingKeys = { host: SourceHost; password: string; keys: readonly ImportKey[] }
export type LookedAt = Contact & {
  login: 'accepted' | 'refused'
  refusal: string | null
  facts: SourceHostFacts | null
}

/**
 * Hypervisors of other panels, as a node reaches them: by SSH as root. Each method throws `source_unreachable`,
 * `source_host_key_changed`, `source_ssh_too_old` and `source_invalid`.
 */
export interface SourceHosts {
  /** The public key of this node for them, which is made once. */
  key(): Promise<string>
  /**
   * Adds the lines of the keys to root's, with one sign-in by password. Throws `source_unreachable`,
   * `source_host_key_changed`, `source_ssh_too_old`, `source_invalid`, `source_password_refused`,
   * `source_password_disabled` and `source_keys_not_written`.
   */
  addKeys(adding: AddingKeys): Promise<Contact & { added: number; present: number }>
  /**
   * Removes the lines of these nodes. Throws `source_unreachable`, `source_host_key_changed`, `source_ssh_too_old`,
   * `source_invalid` and `source_keys_not_written`.
   */
  removeKeys(host: SourceHost, nodeIds: readonly string[]): Promise<{ removed: number }>
  /** Throws `source_unreachable`, `source_host_key_changed`, `source_ssh_too_old` and `source_invalid`. */
  look(host: SourceHost): Promise<LookedAt>
  /**
   * The servers in the order of `asked`. Throws `source_unreachable`, `source_host_key_changed`, `source_ssh_too_old`,
   * `source_invalid`, `source_login_refused` and `source_no_libvirt`.
   */
  servers(host: SourceHost, asked: readonly WantedServer[]): Promise<Contact & { servers: SourceServer[] }>
  /** Servers of another panel on this host itself. Throws `source_invalid` and `source_no_libvirt`. */
  ownServers(asked: readonly WantedServer[]): Promise<SourceServer[]>
}

// The node's own network settings: whether they make a bridge at the next boot, and how a person writes them so that
// they do. They are read, and never changed.
import { isThere, namesIn } from '../files.ts'

/** `ports`: the devices that the settings put into the bridge. */
export type BridgeDefinition = { file: string; ports: string[] }

/** A bridge as it is now. `uplinks`: its ports that lead out of the host; `addresses` with their prefix length. */
export type LiveBridge = {
  name: string
  uplinks: string[]
  addresses: string[]
  gateways: string[]
}

/** One way in which a Linux system keeps its network settings. */
export interface NetworkSettings {
  /** As people call it. */
  readonly label: string
  /** The bridges that it makes at boot, by name. */
  bridges(): Promise<Map<string, BridgeDefinition>>
  /** Why nothing reads these settings at boot; undefined: they are read. */
  unread(): Promise<string | undefined>
  /** Is this where the network of this host is defined? */
  isInUse(): Promise<boolean>
  /** The commands that a person runs as root to define the bridge here. A copy of the settings is kept first. */
  commands(bridge: LiveBridge): Promise<string>
}

/** Where a person finds the settings as they were before the commands. */
export const copyOf = (bridge: string) => `/root/network-before-${bridge}`
export const keepCopy = (bridge: string, place: string) =>
  `[ -e ${copyOf(bridge)} ] || cp -a ${place} ${copyOf(bridge)}`

const END = 'END_OF_FILE'
/** A command that writes a file with this text. */
export function writing(path: string, text: string, mode?: string): string {
  const body = text.endsWith('\n') ? text : `${text}\n`
  const write = `cat > ${path} <<'${END}'\n${body}${END}`
  return mode ? `${write}\nchmod ${mode} ${path}` : write
}

/** Lines `key=value` by their section, as systemd and NetworkManager write them. */
export function sectionsOf(text: string): Map<string, Map<string, string>> {
  const sections = new Map<string, Map<string, string>>()
  let section = new Map<string, string>()
  for (const row of text.split('\n')) {
    const line = row.trim()
    if (!line || line.startsWith('#') || line.startsWith(';')) continue
    const head = /^\[(.+)\]$/.exec(line)
    if (head) {
      section = sections.get(head[1]!) ?? new Map()
      sections.set(head[1]!, section)
    } else {
      const [, key, value] = /^([^=]+?)\s*=\s*(.*)$/.exec(line) ?? []
      if (key !== undefined) section.set(key, value ?? '')
    }
  }
  return sections
}

/** Is one of these programs on this host? */
export async function hasOneOf(...paths: string[]): Promise<boolean> {
  for (const path of paths) if (await isThere(path)) return true
  return false
}
/** Files of a folder with this ending, in their order. */
export const filesIn = async (dir: string, ending: string) =>
  (await namesIn(dir)).filter((name) => name.endsWith(ending) && !name.startsWith('.')).map((name) => `${dir}/${name}`)

export const isIpv6 = (address: string) => address.includes(':')

import { basename, join } from 'node:path'
import { statOf, textOf } from '../files.ts'
import { isEnabled } from '../services.ts'
import {
  type BridgeDefinition,
  filesIn,
  isIpv6,
  keepCopy,
  type NetworkSettings,
  sectionsOf,
  writing,
} from './settings.ts'

const DIR = '/etc/systemd/network'
const VENDOR_DIR = '/usr/lib/systemd/network'

/** Each file with its drop-ins behind it. One in /etc replaces one of the same name; an empty one says nothing. */
async function settings(ending: string) {
  const paths = new Map<string, string>()
  for (const dir of [VENDOR_DIR, DIR]) for (const path of await filesIn(dir, ending)) paths.set(basename(path), path)
  const found = []
  for (const [name, path] of paths) {
    if ((await statOf(path))?.size === 0) continue
    const texts = [(await textOf(path)) ?? '']
    for (const dir of [VENDOR_DIR, DIR])
      for (const part of await filesIn(join(dir, `${name}.d`), '.conf')) texts.push((await textOf(part)) ?? '')
    found.push({ path, sections: sectionsOf(texts.join('\n')) })
  }
  return found
}

export const networkd: NetworkSettings = {
  label: 'systemd-networkd',

  async bridges() {
    const found = new Map<string, BridgeDefinition>()
    for (const { path, sections } of await settings('.netdev')) {
      const made = sections.get('NetDev')
      const name = made?.get('Name')
      if (name && made?.get('Kind')?.toLowerCase() === 'bridge') found.set(name, { file: path, ports: [] })
    }
    for (const { path, sections } of await settings('.network')) {
      const bridge = found.get(sections.get('Network')?.get('Bridge') ?? '')
      bridge?.ports.push(...(sections.get('Match')?.get('Name') ?? path).split(/\s+/))
    }
    return found
  },

  unread: async () =>
    (await isEnabled('systemd-networkd')) ? undefined : 'the service systemd-networkd is not enabled',

  isInUse: async () => (await networkd.unread()) === undefined && (await filesIn(DIR, '.network')).length > 0,

  async commands({ name, uplinks, addresses, gateways }) {
    const all = await settings('.network')
    const own = (uplink: string) =>
      all.find(({ sections }) => sections.get('Match')?.get('Name')?.split(/\s+/).includes(uplink))
    const ports = uplinks.map((uplink) =>
      writing(
        own(uplink)?.path ?? `${DIR}/20-${uplink}.network`,
        `[Match]\nName=${uplink}\n\n[Network]\nBridge=${name}`,
      ),
    )
    const first = own(uplinks[0] ?? '')
    const text = first && (await textOf(first.path))
    const rest = text?.slice(text.indexOf('[Network]'))
    const told = [
      '[Network]',
      ...addresses.map((address) => `Address=${address}`),
      ...gateways.map((gateway) => `Gateway=${gateway}`),
    ].join('\n')
    const hasIpv6 = addresses.some(isIpv6)
    const body = rest?.includes('[Network]') ? rest : hasIpv6 || addresses.length ? told : '[Network]\nDHCP=yes'
    return [
      keepCopy(name, DIR),
      writing(`${DIR}/20-${name}.netdev`, `[NetDev]\nName=${name}\nKind=bridge\n\n[Bridge]\nSTP=no`),
      writing(`${DIR}/20-${name}.network`, `[Match]\nName=${name}\n\n${body}`),
      ...ports,
    ].join('\n')
  },
}

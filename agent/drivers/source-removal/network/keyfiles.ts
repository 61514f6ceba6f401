// Keyfiles of NetworkManager.

import { namesIn, statOf, textOf } from '../files.ts'
import { isEnabled } from '../services.ts'
import { type BridgeDefinition, isIpv6, keepCopy, type NetworkSettings, sectionsOf, writing } from './settings.ts'

const DIR = '/etc/NetworkManager/system-connections'
const VENDOR_DIR = '/usr/lib/NetworkManager/system-connections'
/** NetworkManager passes over copies and what package managers leave. */
const PASSED_OVER = /^\.|~$|\.(?:rpmsave|rpmnew|rpmorig|dpkg-\w+|bak|orig)$/

type Connection = { file: string; text: string; sections: ReturnType<typeof sectionsOf> }

/** The connections that NetworkManager takes: those of root's that nobody else can read. */
async function connections(): Promise<Connection[]> {
  const found: Connection[] = []
  for (const dir of [VENDOR_DIR, DIR])
    for (const name of await namesIn(dir)) {
      const file = `${dir}/${name}`
      const seen = await statOf(file)
      if (PASSED_OVER.test(name) || !seen?.isFile() || (dir === DIR && (seen.uid !== 0 || (seen.mode & 0o077) !== 0)))
        continue
      const text = (await textOf(file)) ?? ''
      found.push({ file, text, sections: sectionsOf(text) })
    }
  return found
}
const own = (one: Connection, key: string) => one.sections.get('connection')?.get(key) ?? ''
const isNo = (text: string) => /^(?:false|no|0)$/i.test(text)

export const keyfiles: NetworkSettings = {
  label: 'NetworkManager',

  async bridges() {
    const all = await connections()
    const found = new Map<string, BridgeDefinition>()
    for (const one of all) {
      const name = own(one, 'interface-name')
      if (own(one, 'type') !== 'bridge' || !name || isNo(own(one, 'autoconnect'))) continue
      const names = [name, own(one, 'uuid'), own(one, 'id')].filter(Boolean)
      const ports = all.filter((other) => {
        const bridge = own(other, 'controller') || own(other, 'master')
        return names.includes(bridge) && !isNo(own(other, 'autoconnect'))
      })
      found.set(name, { file: one.file, ports: ports.map((port) => own(port, 'interface-name') || own(port, 'id')) })
    }
    return found
  },

  unread: async () => ((await isEnabled('NetworkManager')) ? undefined : 'the service NetworkManager is not enabled'),

  isInUse: async () => (await keyfiles.unread()) === undefined && (await connections()).length > 0,

  async commands({ name, uplinks, addresses, gateways }) {
    const all = await connections()
    const ownOf = (uplink: string) => all.find((one) => own(one, 'interface-name') === uplink)
    const first = ownOf(uplinks[0] ?? '')
    const sections = (version: 4 | 6) => {
      const title = `ipv${version}`
      const kept = first?.text.split(/^(?=\[)/m).find((part) => part.startsWith(`[${title}]`))
      if (kept) return kept.trimEnd()
      const mine = addresses.filter((address) => isIpv6(address) === (version === 6))
      const gateway = gateways.find((one) => isIpv6(one) === (version === 6))
      const rows = mine.map((address, n) => `address${n + 1}=${address}${n === 0 && gateway ? `,${gateway}` : ''}`)
      return [`[${title}]`, ...rows, `method=${mine.length ? 'manual' : 'auto'}`].join('\n')
    }
    const head = (id: string, type: string, more: string) =>
      `[connection]\nid=${id}\ntype=${type}\ninterface-name=${id}\nautoconnect=true${more}`
    const bridge = [head(name, 'bridge', ''), '[bridge]\nstp=false', sections(4), sections(6)].join('\n\n')
    const ports = uplinks.map((uplink) => {
      const file = ownOf(uplink)?.file ?? `${DIR}/${uplink}.nmconnection`
      return writing(
        file.replace(VENDOR_DIR, DIR),
        head(uplink, 'ethernet', `\nmaster=${name}\nslave-type=bridge`),
        '600',
      )
    })
    return [keepCopy(name, DIR), writing(`${DIR}/${name}.nmconnection`, bridge, '600'), ...ports].join('\n')
  },
}

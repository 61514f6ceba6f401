// Files ifcfg-… of Red Hat, which the service `network` or NetworkManager reads.

import { namesIn, textOf } from '../files.ts'
import { isEnabled } from '../services.ts'
import { type BridgeDefinition, hasOneOf, isIpv6, keepCopy, type NetworkSettings, writing } from './settings.ts'

const DIR = '/etc/sysconfig/network-scripts'
/** Settings that move from a device to its bridge. */
const MOVES =
  /^(?:BOOTPROTO|IPADDR\d*|PREFIX\d*|NETMASK\d*|GATEWAY\d*|DNS\d*|DOMAIN|DEFROUTE|PEERDNS|IPV6\w*|DHCP\w*|METRIC)$/
const PLUGINS = ['/usr/lib64/NetworkManager', '/usr/lib/NetworkManager'] as const

type Ifcfg = { file: string; settings: Map<string, string> }

const unquoted = (text: string) => text.trim().replace(/^(["'])(.*)\1$/, '$2')
function settingsIn(text: string): Map<string, string> {
  const settings = new Map<string, string>()
  for (const row of text.split('\n')) {
    const [, key, value] = /^\s*([A-Za-z_][A-Za-z0-9_]*)=(.*)$/.exec(row) ?? []
    if (key) settings.set(key, unquoted(value!.replace(/\s+#.*$/, '')))
  }
  return settings
}
async function files(): Promise<Ifcfg[]> {
  const found: Ifcfg[] = []
  for (const name of await namesIn(DIR)) {
    if (!/^ifcfg-/.test(name) || /(?:~|\.(?:bak|orig|rpmnew|rpmsave|rpmorig))$/.test(name)) continue
    const file = `${DIR}/${name}`
    found.push({ file, settings: settingsIn((await textOf(file)) ?? '') })
  }
  return found
}
const deviceOf = ({ file, settings }: Ifcfg) => settings.get('DEVICE') ?? file.slice(`${DIR}/ifcfg-`.length)
const isNo = (text = '') => /^(?:no|n|false|0|off)$/i.test(text)

async function managerReads(): Promise<boolean> {
  if (!(await isEnabled('NetworkManager'))) return false
  for (const dir of PLUGINS)
    for (const version of await namesIn(dir))
      if (await hasOneOf(`${dir}/${version}/libnm-settings-plugin-ifcfg-rh.so`)) return true
  return false
}
const scriptsRead = async () =>
  (await hasOneOf('/etc/init.d/network', '/etc/rc.d/init.d/network')) && isEnabled('network')

export const networkScripts: NetworkSettings = {
  label: 'network-scripts',

  async bridges() {
    const all = await files()
    const scripts = await scriptsRead()
    const found = new Map<string, BridgeDefinition>()
    for (const one of all) {
      const { file, settings } = one
      if (settings.get('TYPE')?.toLowerCase() !== 'bridge' || isNo(settings.get('ONBOOT'))) continue
      if (isNo(settings.get('NM_CONTROLLED')) && !scripts) continue
      const name = deviceOf(one)
      const ports = all.filter((other) => other.settings.get('BRIDGE') === name && !isNo(other.settings.get('ONBOOT')))
      found.set(name, { file, ports: ports.map(deviceOf) })
    }
    return found
  },

  async unread() {
    if ((await scriptsRead()) || (await managerReads())) return undefined
    return 'neither the service network nor NetworkManager reads network-scripts'
  },

  async isInUse() {
    const devices = (await files()).map(deviceOf).filter((name) => name !== 'lo')
    return devices.length > 0 && (await networkScripts.unread()) === undefined
  },

  async commands({ name, uplinks, addresses, gateways }) {
    const all = await files()
    const moved: string[] = []
    const written: string[] = []
    for (const uplink of uplinks) {
      const own = all.find((one) => deviceOf(one) === uplink)
      const rows = own ? ((await textOf(own.file)) ?? '').split('\n') : [`DEVICE=${uplink}`, 'ONBOOT=yes']
      const isMoving = (row: string) => MOVES.test(/^\s*(\w+)=/.exec(row)?.[1] ?? '')
      moved.push(...rows.filter(isMoving))
      const staying = rows.filter((row) => row.trim() && !isMoving(row) && !/^\s*BRIDGE=/.test(row))
      written.push(writing(own?.file ?? `${DIR}/ifcfg-${uplink}`, [...staying, `BRIDGE=${name}`].join('\n')))
    }
    const seen = moved.some((row) => /^\s*(?:IPADDR|BOOTPROTO=["']?dhcp)/.test(row))
    const live = addresses.filter((address) => !isIpv6(address))
    const told = live.flatMap((address, n) => {
      const [ip, prefix] = address.split('/')
      return [`IPADDR${n || ''}=${ip}`, `PREFIX${n || ''}=${prefix}`]
    })
    const gateway = gateways.find((one) => !isIpv6(one))
    const own = seen ? moved : ['BOOTPROTO=none', ...told, ...(gateway ? [`GATEWAY=${gateway}`] : [])]
    const bridge = [`DEVICE=${name}`, 'TYPE=Bridge', 'ONBOOT=yes', 'STP=no', 'DELAY=0', ...own]
    return [keepCopy(name, DIR), writing(`${DIR}/ifcfg-${name}`, bridge.join('\n')), ...written].join('\n')
  },
}

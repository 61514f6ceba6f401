// Reads the files that cloud-init writes for each renderer, as the system behind it does.

/** Texts by path. */
export type Files = Record<string, string>
/** A network as a system would set it. `onLink`: the gateway is reached though no network of the card has it. */
export type Network = {
  addresses: string[]
  gateways: { via: string; onLink: boolean }[]
  resolvers: string[]
  problems: string[]
}

/** The network of the card `name` behind a consumer such as `eni debian`. */
export function networkIn(consumer: string, files: Files, name: string): Network {
  const [renderer = '', distribution = ''] = consumer.split(' ')
  if (files['error']) return { ...nothing(), problems: [files['error']] }
  const found = readers[renderer]!(files, name, distribution)
  const resolvers = found.resolvers.length ? found.resolvers : inResolvConf(files)
  return { ...found, addresses: found.addresses.sort(), resolvers: [...new Set(resolvers)].sort() }
}

const nothing = (): Network => ({ addresses: [], gateways: [], resolvers: [], problems: [] })
const isDefault = (to: string | undefined) => to === undefined || ['default', '0.0.0.0/0', '::/0'].includes(to)
const words = (text: string | undefined) => text?.split(/[\s;,]+/).filter(Boolean) ?? []
const linesOf = (text: string) =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line && !/^[#;]/.test(line))
const inResolvConf = (files: Files) =>
  linesOf(files['/etc/resolv.conf'] ?? '').flatMap((line) => line.match(/^nameserver (\S+)/)?.[1] ?? [])

type Sections = { title: string; values: [key: string, value: string][] }[]
function sectionsOf(text: string): Sections {
  const sections: Sections = [{ title: '', values: [] }]
  for (const line of linesOf(text)) {
    const title = line.match(/^\[(.+)\]$/)?.[1]
    if (title) sections.push({ title, values: [] })
    else sections.at(-1)!.values.push([line.split('=')[0]!, line.slice(line.indexOf('=') + 1)])
  }
  return sections
}
const bits = (netmask: string) =>
  netmask.split('.').reduce((sum, part) => sum + Number(part).toString(2).replaceAll('0', '').length, 0)

const readers: Record<string, (files: Files, name: string, distribution: string) => Network> = {
  netplan(files, name) {
    const text = files['/etc/netplan/50-cloud-init.yaml']
    const card = text && (Bun.YAML.parse(text) as Netplan).network.ethernets[name]
    if (!card) return nothing()
    const gateways = [card.gateway4, card.gateway6].flatMap((via) => (via ? [{ via, onLink: false }] : []))
    for (const route of card.routes ?? [])
      if (isDefault(route.to)) gateways.push({ via: route.via, onLink: route['on-link'] === true })
    return { addresses: card.addresses ?? [], gateways, resolvers: card.nameservers?.addresses ?? [], problems: [] }
  },

  networkd(files, name) {
    const found = nothing()
    for (const { title, values } of sectionsOf(files[`/etc/systemd/network/10-cloud-init-${name}.network`] ?? '')) {
      const all = (key: string) => values.filter(([k]) => k === key).map(([, value]) => value)
      // Of a key that a section has twice, the last counts.
      if (title === 'Address') found.addresses.push(...all('Address').slice(-1))
      if (title === 'Network') found.resolvers.push(...all('DNS').flatMap(words))
      const via = all('Gateway').at(-1)
      if (title === 'Route' && via && isDefault(all('Destination').at(-1)))
        found.gateways.push({ via, onLink: all('GatewayOnLink').at(-1) === 'yes' })
    }
    return found
  },

  // NetworkManager reaches a gateway of the profile over its device; one of a route it does not.
  'network-manager'(files, name) {
    const found = nothing()
    for (const { title, values } of sectionsOf(
      files[`/etc/NetworkManager/system-connections/cloud-init-${name}.nmconnection`] ?? '',
    ))
      for (const [key, value] of title === 'ipv4' || title === 'ipv6' ? values : []) {
        const isOther = value.includes(':') !== (title === 'ipv6')
        const [to = '', via = ''] = value.split(',')
        if (key === 'method' && value !== 'manual' && value !== 'disabled') found.problems.push(`${title} ${value}`)
        if (/^address/.test(key) && !/^address-data/.test(key)) found.addresses.push(value)
        if (key === 'dns') found.resolvers.push(...words(value))
        if (key === 'gateway') found.gateways.push({ via: value, onLink: true })
        if (/^route\d/.test(key) && isDefault(to)) {
          if (isOther) found.problems.push(`${title} has ${key}=${value}`)
          else found.gateways.push({ via, onLink: false })
        }
      }
    return found
  },

  // Debian's ifupdown adds `gateway` with "onlink"; that of Alpine does not.
  eni(files, name, distribution) {
    const found = nothing()
    let isOurs = false
    for (const line of linesOf(
      files['/etc/network/interfaces.d/50-cloud-init'] ?? files['/etc/network/interfaces'] ?? '',
    )) {
      const [key = '', ...rest] = line.split(/\s+/)
      if (key === 'iface') isOurs = rest[0]!.split(':')[0] === name
      if (key === 'auto' || !isOurs) continue
      if (key === 'address') found.addresses.push(rest[0]!)
      if (key === 'dns-nameservers') found.resolvers.push(...rest)
      if (key === 'gateway') found.gateways.push({ via: rest[0]!, onLink: distribution === 'debian' })
      const via = line.match(/^post-up .*default (?:gw|via) (\S+)/)?.[1]
      // Without a device: the kernel takes no address of the link.
      if (via && !via.startsWith('fe80:')) found.gateways.push({ via, onLink: false })
    }
    return found
  },

  // NetworkManager reads these files in EL 8 and 9: a gateway is reached over the device.
  sysconfig(files, name, distribution) {
    const found = nothing()
    const isSuse = distribution === 'opensuse'
    const path = isSuse ? '/etc/sysconfig/network/ifcfg-' : '/etc/sysconfig/network-scripts/ifcfg-'
    const values = Object.fromEntries(sectionsOf(files[path + name] ?? '')[0]!.values)
    for (const [key, address] of Object.entries(values)) {
      const label = key.match(/^IPADDR(_?\w*)$/)?.[1]
      if (label === undefined) continue
      if (address.includes(':')) found.addresses.push(address)
      else found.addresses.push(`${address}/${values[`PREFIX${label}`] ?? bits(values[`NETMASK${label}`] ?? '')}`)
    }
    found.addresses.push(...words(values['IPV6ADDR']), ...words(values['IPV6ADDR_SECONDARIES']))
    for (const via of [values['GATEWAY'], values['IPV6_DEFAULTGW']?.split('%')[0]])
      if (via && !isSuse) found.gateways.push({ via, onLink: true })
    for (const [key, value] of Object.entries(values)) if (/^DNS\d/.test(key)) found.resolvers.push(value)
    return found
  },
}

type Netplan = {
  network: {
    ethernets: Record<
      string,
      {
        addresses?: string[]
        gateway4?: string
        gateway6?: string
        routes?: { to: string; via: string; 'on-link'?: boolean }[]
        nameservers?: { addresses: string[] }
      }
    >
  }
}

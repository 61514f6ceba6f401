// The definition of a running vm as it is on the other node: paths, taps and bridges are those of the definition that
// that node made itself, and disks are without the layers that they stand on here. What the guest sees stays as it is.
import { attributeOf, childOf, childrenOf, type Element } from './strict-xml.ts'

/** Throws an `Error` where the other node's definition has no place for something that the vm has. */
export function placed(live: Element, there: Element): Element {
  const devicesThere = childOf(there, 'devices')?.children ?? []
  return {
    ...live,
    children: live.children.map((part) => {
      if (part.name === 'devices')
        return { ...part, children: part.children.map((device) => placedDevice(device, devicesThere)) }
      if (part.name === 'os') return { ...part, children: part.children.map((child) => placedFirmware(child, there)) }
      return part
    }),
  }
}

/** Code and variables of the firmware lie where the other node has them. */
function placedFirmware(child: Element, there: Element): Element {
  if (child.name !== 'loader' && child.name !== 'nvram') return child
  const other = childOf(childOf(there, 'os') ?? there, child.name)
  if (!other) throw new Error(`the other node gives the vm no ${child.name}`)
  return child.name === 'nvram' ? other : { ...child, text: other.text }
}

function placedDevice(device: Element, there: readonly Element[]): Element {
  const same = (is: (other: Element) => boolean) => {
    const other = there.find((one) => one.name === device.name && is(one))
    if (!other) throw new Error(`the other node has no place for ${nameOf(device)}`)
    return other
  }
  const taking = (from: Element, ...names: string[]) => ({
    ...device,
    children: device.children
      .filter((child) => child.name !== 'backingStore' || !childOf(child, 'source'))
      .map((child) => (names.includes(child.name) ? (childOf(from, child.name) ?? child) : child)),
  })
  switch (device.name) {
    case 'emulator':
      return same(() => true)
    case 'disk': {
      if (!childOf(device, 'source')) return device
      const serial = childOf(device, 'serial')?.text
      const target = attributeOf(device, 'target', 'dev')
      const other = same((one) =>
        serial ? childOf(one, 'serial')?.text === serial : attributeOf(one, 'target', 'dev') === target,
      )
      if (!childOf(other, 'source')) throw new Error(`the other node has nothing for ${nameOf(device)}`)
      const type = other.attributes.get('type')!
      const auth = childrenOf(other, 'auth')
      const kept = taking(other, 'source')
      // The format is that of the other disk, and so is the key of a disk of the network.
      const format = attributeOf(other, 'driver', 'type')
      return {
        ...kept,
        attributes: new Map([...device.attributes, ['type', type]]),
        children: [
          ...auth,
          ...kept.children
            .filter((child) => child.name !== 'auth')
            .map((child) =>
              child.name === 'driver' && format
                ? { ...child, attributes: new Map([...child.attributes, ['type', format]]) }
                : child,
            ),
        ],
      }
    }
    case 'interface': {
      const mac = attributeOf(device, 'mac', 'address')
      return taking(
        same((one) => attributeOf(one, 'mac', 'address') === mac),
        'source',
        'target',
      )
    }
    case 'serial':
    case 'console':
      return device.attributes.get('type') === 'unix'
        ? taking(
            same((one) => one.attributes.get('type') === 'unix'),
            'source',
            'log',
          )
        : device
    default:
      return device
  }
}

const nameOf = (device: Element) =>
  `the ${device.name} ${attributeOf(device, 'target', 'dev') ?? attributeOf(device, 'mac', 'address') ?? ''}`.trim()

/** The names of the disks that have one of these paths. */
export function disksToCopy(live: Element, paths: readonly string[]): string[] {
  const disks = childrenOf(childOf(live, 'devices') ?? live, 'disk')
  const found = disks.filter((disk) => {
    const source = childOf(disk, 'source')?.attributes
    const path = source?.get('file') ?? source?.get('dev') ?? source?.get('name')
    return path !== undefined && paths.includes(path)
  })
  return found.map((disk) => attributeOf(disk, 'target', 'dev') ?? '')
}

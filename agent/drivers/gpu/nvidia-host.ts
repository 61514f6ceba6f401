// The parts that a host with NVIDIA's cards has or lacks: cards on its bus, the driver, its programs, the toolkit for
// containers.
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { basename, join } from 'node:path'
import { find, run } from '../../host/exec.ts'
import { isOlder } from '../container/podman/requirements.ts'

/** Earlier ones let an image out of its container (CVE-2024-0132, CVE-2025-23359, CVE-2025-23266). */
export const LEAST_TOOLKIT = '1.17.8'

export type NvidiaHostParts = {
  /** Cards on the bus that this host drives itself; those that a vm has are not among them. */
  cardsOnBus: number
  /** Versions; undefined: it is not there. */
  driver: string | undefined
  toolkit: string | undefined
  hasSmi: boolean
  /** The device by which programs share memory with a card. */
  hasUvm: boolean
}

/** Looks at the host. Starts a process where the toolkit is installed. */
export async function nvidiaHost(driverDir = '/proc/driver/nvidia'): Promise<NvidiaHostParts> {
  return {
    cardsOnBus: cardsOnBus(),
    driver: driverIn(driverDir),
    toolkit: await toolkitVersion(),
    hasSmi: find('nvidia-smi') !== undefined,
    hasUvm: existsSync('/dev/nvidia-uvm'),
  }
}

/** Sentences: what is missing or too old for instances, each with the remedy. Empty on a host without cards. */
export function hostFindings({ cardsOnBus, driver, toolkit, hasSmi, hasUvm }: NvidiaHostParts): string[] {
  if (!cardsOnBus && !driver) return []
  if (!driver)
    return [
      'There are NVIDIA cards and their driver is not loaded: install it (nvidia-driver) and start the host again',
    ]
  return [
    ...(hasSmi ? [] : ['nvidia-smi is not installed: install nvidia-smi (Debian) or nvidia-utils (Ubuntu)']),
    ...(hasUvm ? [] : ['/dev/nvidia-uvm is missing, so no program can compute: run nvidia-modprobe -u -c 0']),
    ...(toolkit === undefined
      ? ['nvidia-ctk is not installed: install nvidia-container-toolkit-base from NVIDIA’s repository']
      : isOlder(toolkit, LEAST_TOOLKIT)
        ? [`nvidia-ctk ${toolkit} lets images out of their containers: install ${LEAST_TOOLKIT} or newer`]
        : []),
  ]
}

function driverIn(dir: string): string | undefined {
  const file = join(dir, 'version')
  return existsSync(file)
    ? (/Kernel Module\D*?\s([\d.]+)/.exec(readFileSync(file, 'utf8'))?.[1] ?? 'unknown')
    : undefined
}

async function toolkitVersion(): Promise<string | undefined> {
  if (!find('nvidia-ctk')) return undefined
  const { out } = await run('nvidia-ctk', ['--version'], { quietly: true, mayFail: true, limitSeconds: 10 })
  return /version v?([\d.]+\S*)/.exec(out)?.[1] ?? 'unknown'
}

const PCI = '/sys/bus/pci/devices'
const NVIDIA = '0x10de'
/** Controllers of displays: with and without a display. */
const CARD_CLASS = /^0x03(?:00|02)/

function cardsOnBus(): number {
  if (!existsSync(PCI)) return 0
  const read = (device: string, file: string) => readFileSync(join(PCI, device, file), 'utf8').trim()
  return readdirSync(PCI).filter((device) => {
    try {
      return (
        read(device, 'vendor') === NVIDIA && CARD_CLASS.test(read(device, 'class')) && driverOf(device) !== 'vfio-pci'
      )
    } catch {
      return false // It was taken out meanwhile.
    }
  }).length
}

const driverOf = (device: string) => {
  const link = join(PCI, device, 'driver')
  return existsSync(link) ? basename(readlinkSync(link)) : undefined
}

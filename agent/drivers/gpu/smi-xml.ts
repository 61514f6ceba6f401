// The report `nvidia-smi -q -x`. NVIDIA promises nothing about its form: fields come and go between drivers, values
// carry units, and a value that a card does not have is `N/A`, so every field may be missing here.
import type { CardSample } from '../../protocol/gpu.ts'

type Element = { name: string; id: string; text: string; children: Element[] }

/** A card as the report has it; undefined where the report has no value. */
export type SmiCard = {
  uuid: string
  model: string
  /** `0000:3b:00.0`. */
  bus: string
  driver: string
  serial: string
  memoryMb: number | undefined
  memoryUsedMb: number | undefined
  mig: 'none' | 'off' | 'on'
  persistent: boolean | undefined
  computeProhibited: boolean
  usePercent: number | undefined
  temperatureC: number | undefined
  powerW: number | undefined
  /** Errors of memory since the driver was loaded, all kinds of memory together. */
  correctedErrors: number
  uncorrectedErrors: number
  remapPending: boolean
  remapFailed: boolean
  /** Names of other fields that say `Yes` although they should not, such as a repair that waits. */
  flags: string[]
  /** The driver's own words; undefined where it wants nothing, null where it does not say, as those before 550. */
  recoveryAction: string | undefined | null
  link: { width: number; mostWidth: number } | undefined
  /** Programs that use the card. */
  processes: { pid: number; name: string }[]
}

/** The cards in the report. Throws where it is no such report. */
export function cardsIn(xml: string): SmiCard[] {
  const root = parsed(xml).children.find(({ name }) => name === 'nvidia_smi_log')
  if (!root) throw new Error('nvidia-smi did not write its report')
  const driver = textOf(root, 'driver_version') ?? ''
  return root.children.filter(({ name }) => name === 'gpu').flatMap((gpu) => cardOf(gpu, driver) ?? [])
}

function cardOf(gpu: Element, driver: string): SmiCard | undefined {
  const uuid = textOf(gpu, 'uuid')
  if (!uuid) return undefined
  const errors = countsIn(at(gpu, 'ecc_errors', 'volatile'))
  const width = numberOf(gpu, 'pci', 'pci_gpu_link_info', 'link_widths', 'current_link_width')
  const mostWidth = numberOf(gpu, 'pci', 'pci_gpu_link_info', 'link_widths', 'max_link_width')
  const action = textOf(gpu, 'gpu_recovery_action')
  return {
    uuid,
    model: textOf(gpu, 'product_name') ?? 'unknown',
    bus: busOf(textOf(gpu, 'pci', 'pci_bus_id') ?? gpu.id),
    driver,
    serial: textOf(gpu, 'serial') ?? '',
    memoryMb: numberOf(gpu, 'fb_memory_usage', 'total'),
    memoryUsedMb: numberOf(gpu, 'fb_memory_usage', 'used'),
    mig: migOf(textOf(gpu, 'mig_mode', 'current_mig')),
    persistent: enabledIn(textOf(gpu, 'persistence_mode')),
    computeProhibited: textOf(gpu, 'compute_mode') === 'Prohibited',
    usePercent: numberOf(gpu, 'utilization', 'gpu_util'),
    temperatureC: numberOf(gpu, 'temperature', 'gpu_temp'),
    powerW: powerOf(gpu),
    correctedErrors: errors.corrected,
    uncorrectedErrors: errors.uncorrected,
    remapPending: saysYes(gpu, 'remapped_rows', 'remapped_row_pending') || saysYes(gpu, 'retired_pages', PENDING_PAGES),
    remapFailed: saysYes(gpu, 'remapped_rows', 'remapped_row_failure'),
    flags: flagsIn(gpu),
    recoveryAction: action === undefined ? null : action === 'None' ? undefined : action,
    link: width && mostWidth ? { width, mostWidth } : undefined,
    processes: processesIn(gpu),
  }
}

/** The sample in a card's report; undefined where the card does not say how much of it is used. */
export function sampleIn(card: SmiCard): CardSample | undefined {
  const { uuid, usePercent, memoryUsedMb, temperatureC, powerW, correctedErrors, uncorrectedErrors } = card
  if (memoryUsedMb === undefined) return undefined
  return {
    uuid,
    usePercent: usePercent ?? 0,
    memoryUsedMb,
    temperatureC: temperatureC ?? 0,
    powerW: Math.round(powerW ?? 0),
    correctedErrors,
    uncorrectedErrors,
  }
}

/** `00000000:3B:00.0` as `0000:3b:00.0`, the form of the kernel. */
export function busOf(text: string): string {
  const [, domain = '', rest = ''] = /^([0-9a-f]{4,8}):([0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f])$/i.exec(text.trim()) ?? []
  return rest ? `${domain.slice(-4)}:${rest}`.toLowerCase() : text.trim().toLowerCase()
}

/** How many NVLinks each card has up, by UUID, from `nvidia-smi nvlink --status`. */
export function nvlinksIn(text: string): Map<string, number> {
  const found = new Map<string, number>()
  let uuid = ''
  for (const line of text.split('\n')) {
    uuid = /\(UUID: (GPU-[0-9a-zA-Z-]+)\)/.exec(line)?.[1] ?? uuid
    if (uuid && /^\s*Link \d+: [\d.]+ GB\/s/.test(line)) found.set(uuid, (found.get(uuid) ?? 0) + 1)
  }
  return found
}

// ---------------------------------------------------------------- fields
const migOf = (text: string | undefined) => (text === undefined ? 'none' : text === 'Enabled' ? 'on' : 'off')
const enabledIn = (text: string | undefined) => (text === undefined ? undefined : text === 'Enabled')
/** Cards before Ampere retire pages instead of rows, under a name that changed. */
const PENDING_PAGES = /^pending_(?:retirement|blacklist|page_blacklist)$/

/** Drivers before 530 have the first name, later ones the second, and newest ones split it in two. */
function powerOf(gpu: Element): number | undefined {
  for (const group of ['gpu_power_readings', 'power_readings'])
    for (const name of ['power_draw', 'average_power_draw', 'instant_power_draw']) {
      const watts = numberOf(gpu, group, name)
      if (watts !== undefined) return watts
    }
  return undefined
}

/** Fields that newer drivers have for memory that waits for a repair or has had too many errors. */
const FLAGS: Readonly<Record<string, string>> = {
  sram_threshold_exceeded: 'its inner memory had more errors than NVIDIA allows: replace it',
  unrepairable_memory: 'it has memory that cannot be repaired: replace it',
  channel_repair_pending: 'a repair of its memory waits for a reset',
  tpc_repair_pending: 'a repair of its processors waits for a reset',
  reset_required: 'its driver wants a reset',
  drain_and_reset_recommended: 'its driver wants a reset',
}

function flagsIn(element: Element): string[] {
  const own = element.text === 'Yes' ? FLAGS[element.name] : undefined
  return [...new Set([...(own ? [own] : []), ...element.children.flatMap(flagsIn)])]
}

/** Counters of errors by their names: the tree has other branches in each generation of cards. */
function countsIn(element: Element | undefined, inside = ''): { corrected: number; uncorrected: number } {
  const sums = { corrected: 0, uncorrected: 0 }
  for (const child of element?.children ?? []) {
    const kind = /uncorr|double_bit/.test(child.name)
      ? 'uncorrected'
      : /corr|single_bit/.test(child.name)
        ? 'corrected'
        : ''
    if (child.children.length) {
      const total = numberOf(child, 'total')
      const below = total === undefined ? countsIn(child, kind || inside) : undefined
      if (below) {
        sums.corrected += below.corrected
        sums.uncorrected += below.uncorrected
      } else if (kind === 'corrected' || kind === 'uncorrected') sums[kind] += total!
      continue
    }
    const named = kind || inside
    if (named === 'corrected' || named === 'uncorrected') sums[named] += numberIn(child.text) ?? 0
  }
  return sums
}

const processesIn = (gpu: Element) =>
  (at(gpu, 'processes')?.children ?? []).flatMap((process) => {
    const pid = numberOf(process, 'pid')
    return pid === undefined ? [] : [{ pid, name: textOf(process, 'process_name') ?? '' }]
  })

// ---------------------------------------------------------------- elements
type Step = string | RegExp

function at(element: Element | undefined, ...path: Step[]): Element | undefined {
  const [step, ...rest] = path
  if (!element || step === undefined) return element
  const next = element.children.find(({ name }) => (typeof step === 'string' ? name === step : step.test(name)))
  return at(next, ...rest)
}

/** The text of a field; undefined where the card has no such value, in any of the words for that. */
function textOf(element: Element, ...path: Step[]): string | undefined {
  const text = at(element, ...path)?.text
  return text === undefined || /^(?:|\[?N\/A\]?|Requested functionality .*|\[Not Supported\])$/.test(text)
    ? undefined
    : text
}

const numberIn = (text: string | undefined): number | undefined => {
  const number = Number.parseFloat(text ?? '')
  return Number.isFinite(number) ? number : undefined
}
const numberOf = (element: Element, ...path: Step[]) => numberIn(textOf(element, ...path))
const saysYes = (element: Element, ...path: Step[]) => textOf(element, ...path) === 'Yes'

const TOKEN = /<(\/?)([A-Za-z_][\w.-]*)([^>]*)>|<[^>]*>|([^<]+)/g
const entities: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" }

/** The elements of a document without a schema. Comments, instructions and what is not closed do no harm. */
function parsed(xml: string): Element {
  const root: Element = { name: '', id: '', text: '', children: [] }
  const open = [root]
  for (const [, closes, name, attributes = '', text] of xml.matchAll(TOKEN)) {
    const top = open.at(-1)!
    if (text !== undefined)
      top.text = (top.text + text.replace(/&(\w+);/g, (all, e: string) => entities[e] ?? all)).trim()
    else if (name === undefined) continue
    else if (closes) {
      const from = open.findLastIndex((element) => element.name === name)
      if (from > 0) open.length = from
    } else {
      const element: Element = { name, id: /\bid="([^"]*)"/.exec(attributes)?.[1] ?? '', text: '', children: [] }
      top.children.push(element)
      if (!attributes.endsWith('/')) open.push(element)
    }
  }
  return root
}

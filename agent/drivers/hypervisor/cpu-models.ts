// The CPU models that vms can have on this host: those whose every feature the hypervisor offers, by libvirt.
import { statSync } from 'node:fs'
import { find, run } from '../../host/exec.ts'
import { MOST_CPU_MODELS } from '../../protocol/wire.ts'
import type { Virtualisation } from './kvm-probe.ts'

const QEMU = 'qemu-system-x86_64'
const LIMIT_SECONDS = 10

let known: { asked: string; models: string[] } | undefined

/** Undefined where the host runs no vms, or libvirt does not answer. Asked once for each QEMU. */
export async function cpuModelsOfHost({ kind }: Virtualisation): Promise<string[] | undefined> {
  const qemu = find(QEMU)
  if (kind === 'none' || !qemu || !find('virsh')) return undefined
  const asked = `${kind} ${statSync(qemu).mtimeMs}`
  if (known?.asked === asked) return known.models
  const type = kind === 'kvm' ? 'kvm' : 'qemu'
  const wanted = ['--virttype', type, '--arch', 'x86_64', '--machine', 'q35']
  const { code, out } = await run('virsh', ['-c', 'qemu:///system', 'domcapabilities', ...wanted], {
    mayFail: true,
    quietly: true,
    limitSeconds: LIMIT_SECONDS,
  })
  if (code !== 0) return undefined
  const models = usableModelsIn(out)
  known = { asked, models }
  return models
}

/** The models of the mode `custom` that a host can offer in full, by name. */
export function usableModelsIn(capabilities: string): string[] {
  const custom = /<mode name='custom'[^>]*>([\s\S]*?)<\/mode>/.exec(capabilities)?.[1] ?? ''
  return [...custom.matchAll(/<model [^>]*usable='yes'[^>]*>([A-Za-z0-9][A-Za-z0-9._-]{0,59})<\/model>/g)]
    .map(([, name]) => name!)
    .toSorted()
    .slice(0, MOST_CPU_MODELS)
}

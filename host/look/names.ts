// Names that an installation looks up.
import { readdirSync } from 'node:fs'
import type { Flags } from '../flags.ts'
import { type Machine, textOf } from '../machine/machine.ts'
import { isInstalled } from '../machine/packages.ts'
import { identityFile } from '../machine/paths.ts'
import { instancePackages, nodePackages } from '../node/packages.ts'
import type { Problem } from './problem.ts'

/** A name server that does not answer is not waited for longer. */
const LIMIT_SECONDS = 2

/** `etc`: where apt's settings are. */
export function nameProblems(machine: Machine, flags: Flags, etc = '/etc/apt'): Problem[] {
  const { exec, paths } = machine
  if (flags.mode === 'controller' || textOf(identityFile(paths)) !== undefined) return []
  const texts = aptFiles(etc)
  // A proxy looks names up by itself.
  if (process.env['http_proxy'] || process.env['https_proxy'] || /^\s*Acquire::https?::Proxy\s+"[^"]/im.test(texts))
    return []
  const wanted = [...nodePackages(machine), ...(flags.gpu ? [...instancePackages, 'caddy'] : [])]
  if (wanted.every((name) => isInstalled(machine, name))) return []
  const host = /^(?:URIs:|deb\s.*?)\s*https?:\/\/([A-Za-z0-9.-]*[A-Za-z][A-Za-z0-9.-]*)/m.exec(texts)?.[1]
  if (!host || exec.ask('getent', ['ahosts', host], { limitSeconds: LIMIT_SECONDS }).code === 0) return []
  return [
    {
      problem: `No name server gives an address for ${host}, from which packages come.`,
      remedy: 'Look at /etc/resolv.conf and at the way to the name servers in it.',
    },
  ]
}

function aptFiles(etc: string): string {
  const below = (folder: string) => {
    try {
      return readdirSync(`${etc}/${folder}`)
        .toSorted()
        .map((name) => `${etc}/${folder}/${name}`)
    } catch {
      return []
    }
  }
  const files = [`${etc}/apt.conf`, ...below('apt.conf.d'), ...below('sources.list.d'), `${etc}/sources.list`]
  return files.map((file) => textOf(file) ?? '').join('\n')
}
